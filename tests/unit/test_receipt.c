/* packet/receipt, receipt_file, receipt_keys: the signed bytes, forged receipts, the JSON, the keys of a day. */
#include "base/typed.h"
#include "packet/receipt_keys.h"
#include "support/test_folder.h"

#define VECTOR_KEY             "A6EHv_POEL4dcN0Y50vAmWfk1jCbpQ1fHdyGZBJVMbg"
#define VECTOR_KEY_ID          "56475aa75463474c"
#define VECTOR_SIGNATURE       "gCQ47JxmEjymhPtyoREuSwCZZ8hkIp7JHbez3Z7N94ph5zWnX4ulqNhsfe4AbP-WIjxGOeJGlxoIDx7YVKpMCw"
#define COMMITMENT             "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
#define MEMBERS(version, more) MEMBERS_OF(version, "", more)
#define MEMBERS_OF(version, unit, more)                                                                                \
    "{\"receipt\":{\"version\":" version ",\"packet\":\"01h5x3qv8k2m7n4p6r9s0t1w2y\",\"share_no\":2,"                  \
    "\"amount_fen\":412," unit "\"user_id\":10007,\"username\":\"gang\",\"nickname\":\"阿刚\","                      \
    "\"grabbed_at\":\"2026-11-20T08:00:00.123Z\",\"sender_id\":10006,\"sender\":\"小明 = 明\","                     \
    "\"commitment\":\"" COMMITMENT "\",\"issued_by\":\"https://hongbao.example\"" more "},"
#define SIGNED "\"signature\":\"" VECTOR_SIGNATURE "\",\"key_id\":\"" VECTOR_KEY_ID "\"}"
#define JSON   MEMBERS("1", "") SIGNED

static struct receipt sample(void)
{
    return (struct receipt){ .packet = STR("01h5x3qv8k2m7n4p6r9s0t1w2y"),
                             .share_no = 2,
                             .amount_fen = 412,
                             .unit = STR("CNY"),
                             .unit_decimals = 2,
                             .user_id = 10007,
                             .username = STR("gang"),
                             .nickname = STR("阿刚"),
                             .grabbed_at = STR("2026-11-20T08:00:00.123Z"),
                             .sender_id = 10006,
                             .sender = STR("小明 = 明"),
                             .commitment = STR(COMMITMENT),
                             .issued_by = STR("https://hongbao.example") };
}

/* ---- bytes and signature ---- */

TEST(the_bytes_and_signature_are_those_of_the_reference)
{
    static const char expected[] = "hongbao receipt v1\n"
                                   "packet=01h5x3qv8k2m7n4p6r9s0t1w2y\n"
                                   "share_no=2\n"
                                   "amount_fen=412\n"
                                   "user_id=10007\n"
                                   "username=gang\n"
                                   "nickname=阿刚\n"
                                   "grabbed_at=2026-11-20T08:00:00.123Z\n"
                                   "sender_id=10006\n"
                                   "sender=小明 = 明\n"
                                   "commitment=" COMMITMENT "\n"
                                   "issued_by=https://hongbao.example\n";
    struct receipt r = sample();
    struct buf bytes = BUF_EMPTY;
    assert_true(receipt_bytes(&r, &bytes));
    assert_true(str_equal(buf_view(&bytes), str_from(expected)));

    uint8_t seed[RECEIPT_SEED_BYTES], signature[RECEIPT_SIGNATURE_BYTES];
    struct receipt_key key;
    char text[RECEIPT_TEXT_MAX];
    for (size_t i = 0; i < sizeof seed; i++)
        seed[i] = (uint8_t)i;
    receipt_public_key(seed, key.bytes);
    receipt_key_id_set(&key);
    receipt_text_write(key.bytes, sizeof key.bytes, text);
    assert_string_equal(text, VECTOR_KEY);
    assert_string_equal(key.id, VECTOR_KEY_ID);
    receipt_sign(seed, buf_view(&bytes), signature);
    receipt_text_write(signature, sizeof signature, text);
    assert_string_equal(text, VECTOR_SIGNATURE);
    assert_true(receipt_signed(key.bytes, buf_view(&bytes), signature));
    buf_free(&bytes);
}

static bool vector_signed(const struct receipt *r)
{
    uint8_t key[RECEIPT_KEY_BYTES], signature[RECEIPT_SIGNATURE_BYTES];
    struct buf bytes = BUF_EMPTY;
    assert_true(receipt_text_read(STR(VECTOR_KEY), key, sizeof key));
    assert_true(receipt_text_read(STR(VECTOR_SIGNATURE), signature, sizeof signature));
    bool good = receipt_bytes(r, &bytes) && receipt_signed(key, buf_view(&bytes), signature);
    buf_free(&bytes);
    return good;
}

TEST(a_change_of_any_field_is_found_and_a_text_that_could_end_its_line_has_no_bytes)
{
    struct receipt good = sample();
    assert_true(vector_signed(&good));
#define MUST_BE_FOUND(change)                                                                                          \
    do {                                                                                                               \
        struct receipt forged = good;                                                                                  \
        forged.change;                                                                                                 \
        if (vector_signed(&forged))                                                                                    \
            fail_msg("%s", #change);                                                                                   \
    } while (0)
    MUST_BE_FOUND(packet = STR("01h5x3qv8k2m7n4p6r9s0t1w2z"));
    MUST_BE_FOUND(share_no++);
    MUST_BE_FOUND(amount_fen++);
    MUST_BE_FOUND(unit = STR("HKD"));
    MUST_BE_FOUND(unit_decimals = 0);
    MUST_BE_FOUND(user_id++);
    MUST_BE_FOUND(username = STR("gang2"));
    MUST_BE_FOUND(nickname = STR("阿钢"));
    MUST_BE_FOUND(grabbed_at = STR("2026-11-20T08:00:00.124Z"));
    MUST_BE_FOUND(sender_id++);
    MUST_BE_FOUND(sender = STR("小明"));
    MUST_BE_FOUND(commitment = STR(""));
    MUST_BE_FOUND(issued_by = STR("https://hongbao.example.org"));
    static const struct str bad[] = {
        STR("gang\nnickname=阿刚"), STR("a\rb"), STR("\t"), STR("a\x7f"), { "a\0b", 3 }, STR_NONE
    };
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        struct receipt r = sample();
        struct buf bytes = BUF_EMPTY;
        r.username = bad[i];
        assert_false(receipt_bytes(&r, &bytes));
        assert_int_equal(bytes.len, 0);
    }
}

/* ---- another unit ---- */

TEST(another_unit_is_among_the_signed_lines_so_points_are_never_yuan)
{
    static const char expected[] = "hongbao receipt v2\n"
                                   "packet=01h5x3qv8k2m7n4p6r9s0t1w2y\n"
                                   "share_no=2\n"
                                   "amount_fen=412\n"
                                   "unit=POINT\n"
                                   "unit_decimals=0\n"
                                   "user_id=10007\n";
    static const struct {
        struct str unit;
        int decimals, version;
    } units[] = { { STR("CNY"), 2, 1 }, { STR("CNY"), 0, 2 }, { STR("HKD"), 2, 2 }, { STR("POINT"), 0, 2 } };
    struct receipt r = sample();
    struct buf bytes = BUF_EMPTY;
    EACH (row, units) {
        r.unit = row->unit;
        r.unit_decimals = row->decimals;
        assert_int_equal(receipt_version(&r), row->version);
    }
    assert_true(receipt_bytes(&r, &bytes));
    assert_true(str_starts(buf_view(&bytes), str_from(expected)));
    bytes.len = 0;
    r.unit = STR("POINT\nunit_decimals=2");
    assert_false(receipt_bytes(&r, &bytes));
    buf_free(&bytes);
}

TEST(the_json_of_another_unit_is_of_version_2_and_names_it)
{
    struct receipt_signed_file file;
#define POINT "\"unit\":\"POINT\",\"unit_decimals\":0,"
    assert_int_equal(receipt_file_read(arena, STR(MEMBERS_OF("2", POINT, "") SIGNED), &file), ST_OK);
    assert_true(str_equal(file.receipt.unit, STR("POINT")));
    assert_int_equal(file.receipt.unit_decimals, 0);
    assert_int_equal(receipt_file_read(arena, STR(JSON), &file), ST_OK);
    assert_true(str_equal(file.receipt.unit, STR("CNY")));
    assert_int_equal(file.receipt.unit_decimals, 2);
    EACH_TEXT (bad, MEMBERS_OF("1", POINT, "") SIGNED, MEMBERS_OF("3", POINT, "") SIGNED,
               MEMBERS_OF("2", "\"unit\":\"POINT\",", "") SIGNED, MEMBERS_OF("2", "\"unit_decimals\":0,", "") SIGNED,
               MEMBERS_OF("1", "\"unit_decimals\":2,", "") SIGNED,
               MEMBERS_OF("2", "\"unit\":\"CNY\",\"unit_decimals\":2,", "") SIGNED,
               MEMBERS_OF("2", "\"unit\":\"POINT\",\"unit_decimals\":3,", "") SIGNED,
               MEMBERS_OF("2", "\"unit\":\"POINT\",\"unit_decimals\":-1,", "") SIGNED,
               MEMBERS_OF("1", "\"unit\":null,", "") SIGNED)
        assert_of(bad, receipt_file_read(arena, str_from(bad), &file) == ST_INVALID);
}

/* ---- JSON ---- */

TEST(a_receipt_is_read_from_json_that_its_signature_covers)
{
    struct receipt_signed_file file;
    char text[RECEIPT_TEXT_MAX];
    assert_int_equal(receipt_file_read(arena, STR(JSON), &file), ST_OK);
    assert_true(vector_signed(&file.receipt));
    receipt_text_write(file.signature, sizeof file.signature, text);
    assert_string_equal(text, VECTOR_SIGNATURE);
    assert_true(str_equal(file.key_id, STR(VECTOR_KEY_ID)));
    EACH_TEXT (bad, "", "{}", "[]", JSON "x", MEMBERS("2", "") SIGNED, MEMBERS("\"1\"", "") SIGNED,
               MEMBERS("1", ",\"note\":\"9999\"") SIGNED, MEMBERS("1", ",\"share_no\":3") SIGNED,
               MEMBERS("1", "") "\"signature\":\"" VECTOR_SIGNATURE "\",\"key_id\":\"" VECTOR_KEY_ID "\",\"more\":1}",
               MEMBERS("1", "") "\"signature\":\"" VECTOR_KEY "\",\"key_id\":\"" VECTOR_KEY_ID "\"}",
               MEMBERS("1", "") "\"signature\":\"" VECTOR_SIGNATURE "=\",\"key_id\":\"" VECTOR_KEY_ID "\"}",
               MEMBERS("1", "") "\"signature\":\"" VECTOR_SIGNATURE "\"}")
        assert_int_equal(receipt_file_read(arena, str_from(bad), &file), ST_INVALID);
}

#define KEY(id, from, until)                                                                                           \
    "{\"key_id\":\"" id "\",\"public_key\":\"" VECTOR_KEY "\",\"from\":" from ",\"until\":" until "}"

TEST(a_list_of_keys_is_read_whole_or_not_at_all)
{
    struct receipt_key keys[2];
    size_t count;
    EACH_TEXT (text, "", "{\"keys\":{}}", "{\"keys\":[1]}", "{\"keys\":[],\"more\":[]}",
               "{\"keys\":[" KEY("56475aa75463474d", "null", "null") "]}", /* the id of another key */
               "{\"keys\":[" KEY(VECTOR_KEY_ID, "1", "null") "]}",
               "{\"keys\":[" KEY(VECTOR_KEY_ID, "\"a time that is longer than any time\"", "null") "]}",
               "{\"keys\":[" KEY(VECTOR_KEY_ID, "null", "null") "," KEY(VECTOR_KEY_ID, "null", "null") "," KEY(
                   VECTOR_KEY_ID, "null", "null") "]}" /* more than 2 */)
        assert_int_equal(receipt_keys_read(str_from(text), keys, 2, &count), ST_INVALID);
    assert_int_equal(receipt_keys_read(STR("{\"keys\":[]}"), keys, 2, &count), ST_OK);
    assert_int_equal(count, 0);
    assert_int_equal(
        receipt_keys_read(STR("{\"keys\":[" KEY(VECTOR_KEY_ID, "\"2026-01-01T00:00:00.000Z\"", "null") "]}"), keys, 2,
                          &count),
        ST_OK);
    assert_int_equal(count, 1);
    assert_string_equal(keys[0].id, VECTOR_KEY_ID);
    assert_string_equal(keys[0].from, "2026-01-01T00:00:00.000Z");
    assert_string_equal(keys[0].until, "");
}

/* ---- the keys of the service ---- */

static int64_t day(const char *text)
{
    int64_t ms;
    assert_true(typed_utc_day(str_from(text), &ms));
    return ms;
}

static void config_set(struct config *c, const char *secret, const char *days, const char *file)
{
    config_defaults(c);
    keys_derive(str_from(secret), false, &c->keys);
    (void)snprintf(c->receipt_key_days, sizeof c->receipt_key_days, "%s", days);
    (void)snprintf(c->receipt_keys_file, sizeof c->receipt_keys_file, "%s", file);
}

static void keys_open(struct receipt_keys *keys, const char *secret, const char *days, const char *file)
{
    struct config c;
    char error[512];
    config_set(&c, secret, days, file);
    assert_int_equal(receipt_keys_open(keys, &c, error, sizeof error), ST_OK);
}

TEST(from_each_day_on_a_new_key_signs_and_the_earlier_ones_stay_known_also_by_a_file)
{
    struct receipt_keys keys, before;
    uint8_t signature[RECEIPT_SIGNATURE_BYTES];
    keys_open(&keys, "a secret of a test, long enough for it", "2026-01-01 2027-02-28", "");
    keys_open(&before, "a secret of a test, long enough for it", "2026-01-01", "");
    assert_int_equal(keys.count, 2);
    assert_string_equal(keys.items[0].from, "2026-01-01T00:00:00.000Z");
    assert_string_equal(keys.items[0].until, "2027-02-28T00:00:00.000Z");
    assert_string_equal(keys.items[1].from, "2027-02-28T00:00:00.000Z");
    assert_string_equal(keys.items[1].until, "");
    assert_string_equal(keys.items[0].id, before.items[0].id);
    assert_string_not_equal(keys.items[0].id, keys.items[1].id);
    const struct {
        int64_t now_ms;
        size_t key;
    } cases[] = { { 0, 0 }, { day("2026-01-01"), 0 }, { day("2027-02-28") - 1, 0 }, { day("2027-02-28"), 1 } };
    EACH (row, cases) {
        const struct receipt_key *key = receipt_keys_sign(&keys, row->now_ms, STR("bytes"), signature);
        assert_ptr_equal(key, &keys.items[row->key]);
        assert_true(receipt_signed(key->bytes, STR("bytes"), signature));
        assert_ptr_equal(receipt_keys_find(&keys, str_from(key->id)), key);
    }
    assert_null(receipt_keys_find(&keys, STR("0000000000000000")));
    folder_write_as("keys.json",
                    "{\"keys\":[" KEY(VECTOR_KEY_ID, "null", "null") "," KEY(VECTOR_KEY_ID, "null", "null") "]}", 0600);
    struct receipt_keys other;
    keys_open(&keys, "a secret of a test, long enough for it", "2026-01-01", folder_file);
    keys_open(&other, "another secret of a test, long enough ", "2026-01-01", "");
    assert_int_equal(keys.own_count, 1);
    assert_int_equal(keys.count, 2); /* each key once */
    assert_non_null(receipt_keys_find(&keys, STR(VECTOR_KEY_ID)));
    assert_string_not_equal(keys.items[0].id, other.items[0].id);
    unlink(folder_file);

    struct config c;
    char error[512];
    config_set(&c, "a secret of a test, long enough for it", "2026-01-01", folder_file);
    assert_int_equal(receipt_keys_open(&keys, &c, error, sizeof error), ST_INVALID);
    assert_non_null(strstr(error, folder_file));
}

TESTS(folder_setup, folder_teardown)
