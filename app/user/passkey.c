#include "user/passkey.h"

#include <assert.h>
#include <jansson.h>
#include <sodium.h>
#include <string.h>

#include "base/array.h"
#include "user/passkey_fido.h"

enum {
    BASE64 = sodium_base64_VARIANT_URLSAFE_NO_PADDING,
    RANDOM_BYTES = 24,
    TIME_BYTES = 8,
    MAC_BYTES = 16,
    BOUND_BYTES = RANDOM_BYTES + TIME_BYTES,
    CHALLENGE_BYTES = BOUND_BYTES + MAC_BYTES,
    PORT_CHARS_MAX = 5,
};

static_assert(sodium_base64_ENCODED_LEN(CHALLENGE_BYTES, BASE64) == PASSKEY_CHALLENGE_LEN + 1, "48 bytes in base64url");

/* ---- the site ---- */

struct address {
    struct str scheme, host, port; /* host in lower case; an IPv6 address with its brackets; port may be empty */
};

static struct str lower(struct arena *a, struct str text)
{
    char *copy = arena_cstr(a, text);
    if (copy == NULL)
        return STR_NONE;
    for (char *c = copy; *c != '\0'; c++)
        if (*c >= 'A' && *c <= 'Z')
            *c = (char)(*c - 'A' + 'a');
    return (struct str){ copy, text.len };
}

static bool digits_and_dots(struct str text)
{
    for (size_t i = 0; i < text.len; i++)
        if (text.ptr[i] != '.' && (text.ptr[i] < '0' || text.ptr[i] > '9'))
            return false;
    return true;
}

static bool address_read(struct arena *a, struct str url, struct address *out)
{
    struct str rest, path;
    out->scheme = str_cut(url, ':', &rest);
    if (!str_skip_prefix(&rest, STR("//")))
        return false;
    struct str authority = lower(a, str_cut(rest, '/', &path));
    if (authority.ptr == NULL)
        return false;
    size_t end = authority.len > 0 && authority.ptr[0] == '[' ? str_index(authority, ']') : 0;
    struct str behind = str_skip(authority, end);
    size_t colon = end + str_index(behind, ':');
    out->host = str_slice(authority, 0, colon);
    out->port = colon < authority.len ? str_skip(authority, colon + 1) : STR("");
    return out->host.len > 0 && out->port.len <= PORT_CHARS_MAX;
}

bool passkey_site_read(struct arena *a, struct str base_url, struct passkey_site *out)
{
    struct address at;
    if (!address_read(a, base_url, &at))
        return false;
    bool https = str_equal(at.scheme, STR("https"));
    if (str_starts(at.host, STR("127.")) || str_equal(at.host, STR("[::1]")))
        at.host = STR("localhost");
    if (digits_and_dots(at.host) || at.host.ptr[0] == '[' || (!https && !str_equal(at.host, STR("localhost"))))
        return false;
    if (str_equal(at.port, https ? STR("443") : STR("80")))
        at.port = STR("");
    out->id = at.host;
    out->origin = arena_printf(a, "%.*s://%.*s%s%.*s", STR_ARG(at.scheme), STR_ARG(at.host), at.port.len > 0 ? ":" : "",
                               STR_ARG(at.port));
    return out->origin.ptr != NULL;
}

/* ---- challenges ---- */

static void challenge_mac(const struct key *key, enum passkey_ceremony ceremony, struct str session,
                          const unsigned char bound[BOUND_BYTES], unsigned char mac[MAC_BYTES])
{
    static const char *const purpose[] = { [PASSKEY_REGISTER] = "hongbao passkey register v1",
                                           [PASSKEY_LOGIN] = "hongbao passkey login v1",
                                           [PASSKEY_CONFIRM] = "hongbao passkey confirm v1",
                                           [PASSKEY_NEW_USER] = "hongbao passkey new user v1" };
    crypto_generichash_state state;

    crypto_generichash_init(&state, key->bytes, sizeof key->bytes, MAC_BYTES);
    crypto_generichash_update(&state, bound, BOUND_BYTES);
    /* with the NUL, so that two pairs of purpose and session never have the same bytes */
    crypto_generichash_update(&state, (const unsigned char *)purpose[ceremony], strlen(purpose[ceremony]) + 1);
    crypto_generichash_update(&state, (const unsigned char *)session.ptr, session.len);
    crypto_generichash_final(&state, mac, MAC_BYTES);
}

struct str passkey_challenge_new(struct arena *a, const struct key *key, enum passkey_ceremony ceremony,
                                 struct str session, int64_t now_ms)
{
    unsigned char bytes[CHALLENGE_BYTES];
    char text[PASSKEY_CHALLENGE_LEN + 1];
    uint64_t until_ms = (uint64_t)(now_ms + PASSKEY_CHALLENGE_S * 1000);

    random_bytes(bytes, RANDOM_BYTES);
    for (size_t i = 0; i < TIME_BYTES; i++)
        bytes[RANDOM_BYTES + i] = (unsigned char)(until_ms >> (8 * i));
    challenge_mac(key, ceremony, session, bytes, bytes + BOUND_BYTES);
    sodium_bin2base64(text, sizeof text, bytes, sizeof bytes, BASE64);
    return arena_str(a, (struct str){ text, PASSKEY_CHALLENGE_LEN });
}

int64_t passkey_challenge_until_ms(const struct key *key, enum passkey_ceremony ceremony, struct str session,
                                   struct str challenge, int64_t now_ms)
{
    unsigned char bytes[CHALLENGE_BYTES], mac[MAC_BYTES];
    size_t len;
    uint64_t until_ms = 0;

    if (challenge.len != PASSKEY_CHALLENGE_LEN ||
        sodium_base642bin(bytes, sizeof bytes, challenge.ptr, challenge.len, NULL, &len, NULL, BASE64) != 0 ||
        len != sizeof bytes)
        return 0;
    challenge_mac(key, ceremony, session, bytes, mac);
    if (sodium_memcmp(mac, bytes + BOUND_BYTES, sizeof mac) != 0)
        return 0;
    for (size_t i = 0; i < TIME_BYTES; i++)
        until_ms |= (uint64_t)bytes[RANDOM_BYTES + i] << (8 * i);
    return (int64_t)until_ms > now_ms ? (int64_t)until_ms : 0;
}

static void handle_write(const struct key *key, struct str of, const char *purpose, uint8_t out[PASSKEY_HANDLE_BYTES])
{
    crypto_generichash_state state;
    crypto_generichash_init(&state, key->bytes, sizeof key->bytes, PASSKEY_HANDLE_BYTES);
    crypto_generichash_update(&state, (const unsigned char *)of.ptr, of.len);
    crypto_generichash_update(&state, (const unsigned char *)purpose, strlen(purpose) + 1);
    crypto_generichash_final(&state, out, PASSKEY_HANDLE_BYTES);
}

void passkey_handle_write(const struct key *key, uint64_t user_id, uint8_t out[PASSKEY_HANDLE_BYTES])
{
    char wire[sizeof user_id];
    for (size_t i = 0; i < sizeof wire; i++)
        wire[i] = (char)(unsigned char)(user_id >> (8 * i));
    handle_write(key, (struct str){ wire, sizeof wire }, "hongbao passkey user v1", out);
}

void passkey_handle_new(const struct key *key, struct str challenge, uint8_t out[PASSKEY_HANDLE_BYTES])
{
    handle_write(key, challenge, "hongbao passkey new user v1", out);
}

/* ---- the checks ---- */

const char *passkey_fault_name(enum passkey_fault fault)
{
    static const char *const names[PASSKEY_FAULTS] = {
        [PASSKEY_OK] = "ok",
        [PASSKEY_MALFORMED] = "malformed",
        [PASSKEY_CHALLENGE] = "challenge",
        [PASSKEY_ORIGIN] = "origin",
        [PASSKEY_DOMAIN] = "domain",
        [PASSKEY_UNVERIFIED] = "unverified",
        [PASSKEY_ALGORITHM] = "algorithm",
        [PASSKEY_SIGNATURE] = "signature",
        [PASSKEY_NO_MEMORY] = "no memory",
    };
    assert((size_t)fault < ARRAY_LEN(names));
    return names[fault];
}

/* True when the member is this text. */
static bool member_is(const json_t *root, const char *name, struct str text)
{
    const json_t *member = json_object_get(root, name);
    return json_is_string(member) &&
           str_equal((struct str){ json_string_value(member), json_string_length(member) }, text);
}

/* WebAuthn 7.1, steps 7–11, and 7.2, steps 10–14. Unknown members are allowed (5.8.1). */
static enum passkey_fault client_data_check(const json_t *root, enum passkey_ceremony ceremony,
                                            const struct passkey_site *site, struct str challenge)
{
    const json_t *cross = json_object_get(root, "crossOrigin");
    if (!member_is(root, "type", ceremony == PASSKEY_LOGIN ? STR("webauthn.get") : STR("webauthn.create")))
        return PASSKEY_MALFORMED;
    if (!member_is(root, "challenge", challenge))
        return PASSKEY_CHALLENGE;
    if (!member_is(root, "origin", site->origin) || (cross != NULL && !json_is_false(cross)) ||
        json_object_get(root, "topOrigin") != NULL)
        return PASSKEY_ORIGIN;
    return PASSKEY_OK;
}

static enum passkey_fault client_data_read(struct str json, enum passkey_ceremony ceremony,
                                           const struct passkey_site *site, struct str challenge)
{
    json_error_t error;
    if (json.len > PASSKEY_CLIENT_MAX)
        return PASSKEY_MALFORMED;
    json_t *root = json_loadb(json.ptr, json.len, JSON_REJECT_DUPLICATES, &error);
    if (root == NULL)
        return json_error_code(&error) == json_error_out_of_memory ? PASSKEY_NO_MEMORY : PASSKEY_MALFORMED;
    enum passkey_fault fault = client_data_check(root, ceremony, site, challenge);
    json_decref(root);
    return fault;
}

enum passkey_fault passkey_register_check(struct arena *a, const struct passkey_site *site, struct str challenge,
                                          const struct passkey_answer *answer, struct passkey_key *out)
{
    enum passkey_fault fault = client_data_read(answer->client_data, PASSKEY_REGISTER, site, challenge);
    if (fault == PASSKEY_OK)
        fault = passkey_data_check(answer->data, site->id, PASSKEY_REGISTER);
    return fault == PASSKEY_OK ? passkey_key_read(a, answer->data, out) : fault;
}

enum passkey_fault passkey_login_check(const struct passkey_site *site, struct str challenge,
                                       const struct passkey_answer *answer, const struct passkey_key *key,
                                       uint32_t *sign_count)
{
    enum passkey_fault fault = client_data_read(answer->client_data, PASSKEY_LOGIN, site, challenge);
    if (fault == PASSKEY_OK)
        fault = passkey_data_check(answer->data, site->id, PASSKEY_LOGIN);
    return fault == PASSKEY_OK ? passkey_signature_check(answer, site->id, key, sign_count) : fault;
}

bool passkey_count_grows(uint32_t stored, uint32_t received)
{
    return received > stored || (received == 0 && stored == 0);
}
