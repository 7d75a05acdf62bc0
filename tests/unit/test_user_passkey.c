/* user/passkey: the site of a base_url, challenges, and the checks of what authenticators send. */
#include <sys/resource.h>

#include <sodium.h>

#include "passkey_vectors.h"
#include "support/test_arena.h"
#include "user/passkey.h"

#define KEY_OF(secret, purpose) ((struct key[]){ key_derive(STR(secret), purpose) })
#define KEY                     KEY_OF("a secret of at least 32 characters", KEY_CHALLENGES)
#define SESSION                 STR("hb:session:1")

enum { NOW_MS = 1700000000, HEAD_BYTES = 37, ID_BYTES = 32, MAX_RSS_KB = 200 * 1024 };

static const struct passkey_site SITE = { { "hongbao.example", 15 }, { "https://hongbao.example", 23 } };

static struct str bytes_of(const char *base64)
{
    size_t len, max = strlen(base64);
    char *bytes = arena_alloc(arena, max + 1);
    assert_non_null(bytes);
    assert_int_equal(sodium_base642bin((unsigned char *)bytes, max, base64, max, NULL, &len, NULL,
                                       sodium_base64_VARIANT_URLSAFE_NO_PADDING),
                     0);
    return (struct str){ bytes, len };
}

/* ---- sites ---- */

TEST(a_passkey_is_for_the_domain_of_the_base_url_where_browsers_allow_any)
{
    static const struct {
        const char *url, *id, *origin;
    } sites[] = { { "https://hongbao.example", "hongbao.example", "https://hongbao.example" },
                  { "https://HongBao.Example:443", "hongbao.example", "https://hongbao.example" },
                  { "https://a.example:8443/path", "a.example", "https://a.example:8443" },
                  { "http://localhost:8080", "localhost", "http://localhost:8080" },
                  { "http://localhost:80", "localhost", "http://localhost" },
                  { "http://127.0.0.1:8080", "localhost", "http://localhost:8080" },
                  { "http://[::1]:8080", "localhost", "http://localhost:8080" },
                  { "https://127.0.0.1", "localhost", "https://localhost" } };
    EACH (row, sites) {
        struct passkey_site site;
        assert_true(passkey_site_read(arena, str_from(row->url), &site));
        assert_true(str_equal(site.id, str_from(row->id)));
        assert_true(str_equal(site.origin, str_from(row->origin)));
    }
    EACH_TEXT (url, "http://hongbao.example", "http://192.0.2.1:8080", "https://192.0.2.1", "https://[2001:db8::1]",
               "https://[2001:db8::1", "https:/hongbao.example", "https://:8080", "http://localhost.evil.example") {
        struct passkey_site site;
        assert_false(passkey_site_read(arena, str_from(url), &site));
    }
}

/* ---- challenges ---- */

TEST(a_challenge_is_valid_for_its_ceremony_and_session_until_it_expires_and_a_changed_one_never)
{
    struct str first = passkey_challenge_new(arena, KEY, PASSKEY_LOGIN, SESSION, NOW_MS);
    struct str second = passkey_challenge_new(arena, KEY, PASSKEY_LOGIN, SESSION, NOW_MS);
    int64_t end_ms = NOW_MS + PASSKEY_CHALLENGE_S * 1000;
    const struct {
        const struct key *key;
        enum passkey_ceremony ceremony;
        struct str session;
        int64_t now_ms, until_ms;
    } rows[] = { { KEY, PASSKEY_LOGIN, SESSION, NOW_MS, end_ms },
                 { KEY, PASSKEY_LOGIN, SESSION, end_ms - 1, end_ms },
                 { KEY, PASSKEY_LOGIN, SESSION, end_ms, 0 },
                 { KEY, PASSKEY_REGISTER, SESSION, NOW_MS, 0 },
                 { KEY, PASSKEY_LOGIN, STR("hb:session:2"), NOW_MS, 0 },
                 { KEY, PASSKEY_LOGIN, STR(""), NOW_MS, 0 },
                 { KEY_OF("another secret", KEY_CHALLENGES), PASSKEY_LOGIN, SESSION, NOW_MS, 0 } };
    assert_int_equal(first.len, PASSKEY_CHALLENGE_LEN);
    assert_false(str_equal(first, second));
    EACH (row, rows)
        if (passkey_challenge_until_ms(row->key, row->ceremony, row->session, first, row->now_ms) != row->until_ms)
            fail_msg("row %zu", (size_t)(row - rows));
    char text[PASSKEY_CHALLENGE_LEN];
    struct str made = passkey_challenge_new(arena, KEY, PASSKEY_REGISTER, STR(""), NOW_MS);
    for (size_t i = 0; i < PASSKEY_CHALLENGE_LEN; i++) {
        memcpy(text, made.ptr, sizeof text);
        text[i] = text[i] == 'A' ? 'B' : 'A';
        struct str changed = { text, sizeof text };
        assert_int_equal(passkey_challenge_until_ms(KEY, PASSKEY_REGISTER, STR(""), changed, NOW_MS), 0);
    }
    static const struct str wrong[] = { { "", 0 }, { NULL, 0 }, { VECTOR_CHALLENGE, 64 }, { VECTOR_CHALLENGE, 63 } };
    for (size_t i = 0; i < ARRAY_LEN(wrong); i++)
        assert_int_equal(passkey_challenge_until_ms(KEY, PASSKEY_REGISTER, STR(""), wrong[i], NOW_MS), 0);
}

static struct str handle(const char *secret, uint64_t user_id)
{
    struct str made = { arena_alloc(arena, PASSKEY_HANDLE_BYTES), PASSKEY_HANDLE_BYTES };
    passkey_handle_write((struct key[]){ key_derive(str_from(secret), KEY_HANDLES) }, user_id, (uint8_t *)made.ptr);
    return made;
}

TEST(a_user_handle_is_the_same_each_time_and_differs_between_users)
{
    static const uint8_t known[PASSKEY_HANDLE_BYTES] = {
        0x31, 0x97, 0x5f, 0x1e, 0xaf, 0x1d, 0x07, 0xe6, 0xf0, 0x85, 0xe4, 0x23, 0x94, 0xf0, 0xd9, 0x0b,
        0xaf, 0x77, 0xfc, 0xf8, 0xfa, 0xfb, 0xae, 0xc3, 0x23, 0x61, 0xb2, 0xb6, 0x4b, 0x08, 0xc2, 0xf0
    }; /* with Python: hashlib.blake2b */
    struct str first = handle("a secret of at least 32 characters", 10001);
    assert_true(str_equal(handle("a secret of at least 32 characters", 10001), first));
    assert_false(str_equal(handle("a secret of at least 32 characters", 10002), first));
    assert_false(str_equal(handle("another secret", 10001), first));
    assert_memory_equal(handle("0123456789abcdef0123456789abcdef", 10001).ptr, known, sizeof known);
}

/* ---- registrations and logins ---- */

struct vector {
    int algorithm;
    const char *create_data, *get_data, *get_signature;
    uint32_t created, got; /* counters */
};
static const struct vector VECTORS[] = {
    { -7, CHROMIUM_CREATE_DATA, CHROMIUM_GET_DATA, CHROMIUM_GET_SIGNATURE, 1, 2 },
    { -7, ES256_CREATE_DATA, ES256_GET_DATA, ES256_GET_SIGNATURE, 0, 7 },
    { -8, EDDSA_CREATE_DATA, EDDSA_GET_DATA, EDDSA_GET_SIGNATURE, 0, 7 },
    { -257, RS256_CREATE_DATA, RS256_GET_DATA, RS256_GET_SIGNATURE, 0, 7 },
};

static enum passkey_fault registered_at(const struct passkey_site *site, struct str client, struct str data,
                                        struct passkey_key *key)
{
    const struct passkey_answer answer = { client, data, STR("") };
    return passkey_register_check(arena, site, STR(VECTOR_CHALLENGE), &answer, key);
}

static enum passkey_fault registered(struct str client, struct str data)
{
    struct passkey_key key;
    return registered_at(&SITE, client, data, &key);
}

static struct passkey_key key_of(const struct vector *v)
{
    struct passkey_key key;
    assert_int_equal(registered_at(&SITE, bytes_of(CREATE_CLIENT), bytes_of(v->create_data), &key), PASSKEY_OK);
    return key;
}

static struct passkey_answer login_of(const struct vector *v)
{
    return (struct passkey_answer){ bytes_of(GET_CLIENT), bytes_of(v->get_data), bytes_of(v->get_signature) };
}

static enum passkey_fault logged_in(const struct passkey_answer *answer, const struct passkey_key *key)
{
    uint32_t count;
    return passkey_login_check(&SITE, STR(VECTOR_CHALLENGE), answer, key, &count);
}

TEST(passkeys_of_each_kind_are_registered_and_log_in)
{
    EACH (row, VECTORS) {
        struct passkey_key key = key_of(row);
        struct passkey_answer answer = login_of(row);
        uint32_t count = 99;
        assert_ints({ key.algorithm, row->algorithm }, { key.credential_id.len, ID_BYTES },
                    { key.sign_count, row->created });
        assert_int_equal(passkey_login_check(&SITE, STR(VECTOR_CHALLENGE), &answer, &key, &count), PASSKEY_OK);
        assert_int_equal(count, row->got);
    }
}

TEST(a_signature_counts_for_its_key_and_bytes_alone)
{
    for (size_t i = 0; i < ARRAY_LEN(VECTORS); i++) {
        struct passkey_key key = key_of(&VECTORS[i]), other = key_of(&VECTORS[i == 0 ? 1 : 0]);
        struct passkey_answer answer = login_of(&VECTORS[i]), changed = answer;
        assert_int_equal(logged_in(&answer, &other), PASSKEY_SIGNATURE);
        other = key;
        other.algorithm = key.algorithm == -7 ? -8 : -7;
        assert_int_equal(logged_in(&answer, &other), PASSKEY_SIGNATURE);
        char *bytes = arena_cstr(arena, answer.signature);
        bytes[answer.signature.len - 1] ^= 1;
        changed.signature.ptr = bytes;
        assert_int_equal(logged_in(&changed, &key), PASSKEY_SIGNATURE);
        changed.signature = STR("");
        assert_int_equal(logged_in(&changed, &key), PASSKEY_SIGNATURE);
        changed = answer;
        bytes = arena_alloc(arena, HEAD_BYTES);
        memcpy(bytes, answer.data.ptr, HEAD_BYTES);
        bytes[HEAD_BYTES - 1] ^= 1; /* the counter */
        changed.data = (struct str){ bytes, HEAD_BYTES };
        assert_int_equal(logged_in(&changed, &key), PASSKEY_SIGNATURE);
    }
}

TEST(what_is_signed_but_not_for_this_login_or_site_is_refused)
{
    static const struct {
        const char *data, *signature;
        enum passkey_fault fault;
    } refused[] = { { ES256_DOMAIN_DATA, ES256_DOMAIN_SIGNATURE, PASSKEY_DOMAIN },
                    { ES256_PRESENT_DATA, ES256_PRESENT_SIGNATURE, PASSKEY_UNVERIFIED },
                    { ES256_ABSENT_DATA, ES256_ABSENT_SIGNATURE, PASSKEY_UNVERIFIED },
                    { ES256_EXTENSIONS_DATA, ES256_EXTENSIONS_SIGNATURE, PASSKEY_MALFORMED } };
    struct passkey_key key = key_of(&VECTORS[1]);
    EACH (row, refused) {
        struct passkey_answer answer = login_of(&VECTORS[1]);
        answer.data = bytes_of(row->data);
        answer.signature = bytes_of(row->signature);
        assert_int_equal(logged_in(&answer, &key), row->fault);
    }
    static const struct passkey_site other = { { "example", 7 }, { "https://hongbao.example", 23 } };
    assert_int_equal(registered_at(&other, bytes_of(CREATE_CLIENT), bytes_of(ES256_CREATE_DATA), &key), PASSKEY_DOMAIN);
}

TEST(client_data_of_another_page_or_ceremony_is_refused)
{
#define HEAD "{\"type\":\"webauthn.create\",\"challenge\":\"" VECTOR_CHALLENGE "\""
#define HERE "\"origin\":\"https://hongbao.example\""
    static const struct {
        const char *json;
        enum passkey_fault fault;
    } cases[] = { { HEAD "," HERE "}", PASSKEY_OK },
                  { HEAD "," HERE ",\"crossOrigin\":false,\"other\":[{}]}", PASSKEY_OK },
                  { HEAD "," HERE ",\"crossOrigin\":true}", PASSKEY_ORIGIN },
                  { HEAD "," HERE ",\"crossOrigin\":\"no\"}", PASSKEY_ORIGIN },
                  { HEAD "," HERE ",\"topOrigin\":\"https://hongbao.example\"}", PASSKEY_ORIGIN },
                  { HEAD ",\"origin\":\"http://hongbao.example\"}", PASSKEY_ORIGIN },
                  { HEAD ",\"origin\":\"https://hongbao.example:8443\"}", PASSKEY_ORIGIN },
                  { HEAD ",\"origin\":\"https://a.hongbao.example\"}", PASSKEY_ORIGIN },
                  { HEAD ",\"origin\":[\"https://hongbao.example\"]}", PASSKEY_ORIGIN },
                  { HEAD "}", PASSKEY_ORIGIN },
                  { HEAD "," HERE "," HERE "}", PASSKEY_MALFORMED },
                  { HEAD "," HERE, PASSKEY_MALFORMED },
                  { "{\"type\":\"webauthn.get\",\"challenge\":\"" VECTOR_CHALLENGE "\"," HERE "}", PASSKEY_MALFORMED },
                  { "{\"type\":\"webauthn.create\",\"challenge\":\"UUUU\"," HERE "}", PASSKEY_CHALLENGE },
                  { "{\"type\":\"webauthn.create\",\"challenge\":1," HERE "}", PASSKEY_CHALLENGE },
                  { "[]", PASSKEY_MALFORMED },
                  { "1", PASSKEY_MALFORMED },
                  { "", PASSKEY_MALFORMED } };
    const struct str data = bytes_of(ES256_CREATE_DATA);
    EACH (row, cases)
        if (registered(str_from(row->json), data) != row->fault)
            fail_msg("%s", row->json);
    assert_int_equal(registered(bytes_of(GET_CLIENT), data), PASSKEY_MALFORMED);
    char long_json[PASSKEY_CLIENT_MAX + 2];
    int len = snprintf(long_json, sizeof long_json, "%s", HEAD "," HERE "}");
    memset(long_json + len, ' ', sizeof long_json - (size_t)len);
    assert_int_equal(registered((struct str){ long_json, PASSKEY_CLIENT_MAX }, data), PASSKEY_OK);
    assert_int_equal(registered((struct str){ long_json, PASSKEY_CLIENT_MAX + 1 }, data), PASSKEY_MALFORMED);
}

/* The registration with these flags and this CBOR in place of the key. */
static enum passkey_fault registered_with(unsigned char flags, const char *cbor, size_t len)
{
    struct str whole = bytes_of(ES256_CREATE_DATA);
    size_t head = HEAD_BYTES + 16 + 2 + ID_BYTES;
    char *bytes = arena_alloc(arena, head + len);
    assert_non_null(bytes);
    memcpy(bytes, whole.ptr, head);
    bytes[HEAD_BYTES - 5] = (char)flags;
    memcpy(bytes + head, cbor, len);
    return registered(bytes_of(CREATE_CLIENT), (struct str){ bytes, head + len });
}

/* Each cut is separate memory, so that the sanitizers notice a read behind its end. */
TEST(a_registration_that_is_cut_off_or_has_no_key_is_refused)
{
    EACH (row, VECTORS) {
        struct str client = bytes_of(CREATE_CLIENT), data = bytes_of(row->create_data);
        for (size_t len = 0; len < data.len; len++) {
            char *cut = test_malloc(len + 1);
            memcpy(cut, data.ptr, len);
            assert_int_not_equal(registered(client, (struct str){ cut, len }), PASSKEY_OK);
            test_free(cut);
        }
    }
    assert_int_equal(registered_with(0x45, "\x80", 1), PASSKEY_ALGORITHM);
    assert_int_equal(registered_with(0x45, "\xa0", 1), PASSKEY_ALGORITHM);
    assert_int_equal(registered_with(0x45, "\xff", 1), PASSKEY_ALGORITHM);
    assert_int_equal(registered_with(0x45, "\x1c", 1), PASSKEY_MALFORMED);
    assert_int_equal(registered_with(0x05, "\xa0", 1), PASSKEY_MALFORMED);
    assert_int_equal(registered_with(0x45, "\xa1\x03\x38\x22", 4), PASSKEY_ALGORITHM); /* ES384 */
    assert_int_equal(registered_with(0xc5, "\xa0", 1), PASSKEY_ALGORITHM);
    char point[77]; /* which is not on the curve */
    struct str whole = bytes_of(ES256_CREATE_DATA);
    memcpy(point, whole.ptr + whole.len - sizeof point, sizeof point);
    point[sizeof point - 1] ^= 1;
    assert_int_equal(registered_with(0x45, point, sizeof point), PASSKEY_ALGORITHM);
}

TEST(a_counter_may_only_grow_or_stay_absent_and_a_few_bytes_take_no_memory)
{
    assert_true(passkey_count_grows(0, 0));
    assert_true(passkey_count_grows(0, 1));
    assert_true(passkey_count_grows(7, 8));
    assert_true(passkey_count_grows(7, UINT32_MAX));
    assert_false(passkey_count_grows(7, 7));
    assert_false(passkey_count_grows(7, 6));
    assert_false(passkey_count_grows(7, 0));
    assert_string_equal(passkey_fault_name(PASSKEY_DOMAIN), "domain");
    /* libcbor clears memory for the claimed number of items: here a gigabyte. */
    static const char claims[][10] = { "\x9b\0\0\0\0\x08\0\0\0", "\xbb\0\0\0\0\x08\0\0\0", "\x5b\0\0\0\0\x40\0\0\0" };
    struct rusage usage;
    for (size_t i = 0; i < ARRAY_LEN(claims); i++)
        assert_int_equal(registered_with(0x45, claims[i], sizeof claims[i] - 1), PASSKEY_MALFORMED);
    assert_int_equal(getrusage(RUSAGE_SELF, &usage), 0);
    assert_true(usage.ru_maxrss < MAX_RSS_KB);
}

TESTS(arena_setup, arena_teardown)
