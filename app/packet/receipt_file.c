#include "packet/receipt_file.h"

#include <assert.h>
#include <jansson.h>
#include <string.h>

#include "base/money.h"
#include "base/random.h"
#include "packet/draw.h"

enum { BASE64 = sodium_base64_VARIANT_URLSAFE_NO_PADDING };
_Static_assert(sodium_base64_ENCODED_LEN(RECEIPT_SIGNATURE_BYTES, BASE64) == RECEIPT_TEXT_MAX, "a signature as text");

void receipt_key_id_set(struct receipt_key *key)
{
    uint8_t hash[HASH_BYTES];
    hash_sha256(key->bytes, sizeof key->bytes, hash);
    sodium_bin2hex(key->id, sizeof key->id, hash, RECEIPT_KEY_ID_LEN / 2);
}

void receipt_text_write(const uint8_t *bytes, size_t len, char out[RECEIPT_TEXT_MAX])
{
    sodium_bin2base64(out, RECEIPT_TEXT_MAX, bytes, len, BASE64);
}

bool receipt_text_read(struct str text, uint8_t *bytes, size_t len)
{
    size_t read;
    return text.len < RECEIPT_TEXT_MAX &&
           sodium_base642bin(bytes, len, text.ptr, text.len, NULL, &read, NULL, BASE64) == 0 && read == len;
}

/* Returns a new reference, or NULL; *st says why. */
static json_t *json_read(struct str json, enum status *st)
{
    json_error_t error;
    json_t *root = json_loadb(json.ptr, json.len, JSON_REJECT_DUPLICATES, &error);
    *st = root != NULL ? ST_OK : json_error_code(&error) == json_error_out_of_memory ? ST_NO_MEMORY : ST_INVALID;
    return root;
}

/* ---- a receipt ---- */

enum { UNIT_ABSENT = -1 };

/* The members as jansson has them. */
struct members {
    json_int_t version, share_no, amount_fen, unit_decimals, user_id, sender_id;
    const char *unit; /* NULL: none, as in version 1 */
    const char *packet, *username, *nickname, *grabbed_at, *sender, *commitment, *issued_by, *signature, *key_id;
};

static bool members_unpack(json_t *root, struct members *m)
{
    return json_unpack_ex(root, NULL, JSON_STRICT,
                          "{s:{s:I,s:s,s:I,s:I,s?s,s?I,s:I,s:s,s:s,s:s,s:I,s:s,s:s,s:s},s:s,s:s}", "receipt", "version",
                          &m->version, "packet", &m->packet, "share_no", &m->share_no, "amount_fen", &m->amount_fen,
                          "unit", &m->unit, "unit_decimals", &m->unit_decimals, "user_id", &m->user_id, "username",
                          &m->username, "nickname", &m->nickname, "grabbed_at", &m->grabbed_at, "sender_id",
                          &m->sender_id, "sender", &m->sender, "commitment", &m->commitment, "issued_by", &m->issued_by,
                          "signature", &m->signature, "key_id", &m->key_id) == 0;
}

static struct str copy_of(struct arena *a, const char *text)
{
    return arena_str(a, str_from(text));
}

/* Reads the unit, which version 1 does not name. False: the members do not fit the version. */
static bool unit_read(struct arena *a, const struct members *m, struct receipt *out)
{
    const bool named = m->unit != NULL && m->unit_decimals >= 0 && m->unit_decimals <= MONEY_DECIMALS_MAX;
    const bool absent = m->unit == NULL && m->unit_decimals == UNIT_ABSENT;
    out->unit = named ? copy_of(a, m->unit) : STR("CNY");
    out->unit_decimals = named ? (int)m->unit_decimals : 2;
    return (named || absent) && named == (m->version == 2) && receipt_version(out) == m->version;
}

static enum status members_read(struct arena *a, const struct members *m, struct receipt_signed_file *out)
{
    if (m->share_no < 0 || m->amount_fen < 0 || m->user_id < 0 || m->sender_id < 0 ||
        !receipt_text_read(str_from(m->signature), out->signature, sizeof out->signature))
        return ST_INVALID;
    out->receipt = (struct receipt){ .packet = copy_of(a, m->packet),
                                     .share_no = (uint64_t)m->share_no,
                                     .amount_fen = m->amount_fen,
                                     .user_id = (uint64_t)m->user_id,
                                     .username = copy_of(a, m->username),
                                     .nickname = copy_of(a, m->nickname),
                                     .grabbed_at = copy_of(a, m->grabbed_at),
                                     .sender_id = (uint64_t)m->sender_id,
                                     .sender = copy_of(a, m->sender),
                                     .commitment = copy_of(a, m->commitment),
                                     .issued_by = copy_of(a, m->issued_by) };
    out->key_id = copy_of(a, m->key_id);
    const bool fits = unit_read(a, m, &out->receipt);
    return arena_failed(a) ? ST_NO_MEMORY : fits ? ST_OK : ST_INVALID;
}

enum status receipt_file_read(struct arena *a, struct str json, struct receipt_signed_file *out)
{
    enum status st;
    struct members m = { .unit_decimals = UNIT_ABSENT };
    json_t *root = json_read(json, &st);
    if (st == ST_OK)
        st = members_unpack(root, &m) ? members_read(a, &m, out) : ST_INVALID;
    json_decref(root);
    return st;
}

/* ---- a list of keys ---- */

/* Copies a time; null gives an empty text. False: something else. */
static bool time_read(const json_t *value, char out[CLOCK_TEXT_MAX])
{
    size_t len = json_string_length(value);
    if ((!json_is_string(value) && !json_is_null(value)) || len >= CLOCK_TEXT_MAX)
        return false;
    memcpy(out, len == 0 ? "" : json_string_value(value), len + 1);
    return true;
}

static bool key_read(json_t *item, struct receipt_key *key)
{
    const char *id, *bytes;
    json_t *from, *until;
    if (json_unpack_ex(item, NULL, JSON_STRICT, "{s:s,s:s,s:o,s:o}", "key_id", &id, "public_key", &bytes, "from", &from,
                       "until", &until) != 0 ||
        !receipt_text_read(str_from(bytes), key->bytes, sizeof key->bytes) || !time_read(from, key->from) ||
        !time_read(until, key->until))
        return false;
    receipt_key_id_set(key);
    return strcmp(key->id, id) == 0;
}

enum status receipt_keys_read(struct str json, struct receipt_key *out, size_t max, size_t *count)
{
    enum status st;
    json_t *list, *root = json_read(json, &st);
    *count = 0;
    if (st != ST_OK)
        return st;
    if (json_unpack_ex(root, NULL, JSON_STRICT, "{s:o}", "keys", &list) != 0 || !json_is_array(list) ||
        json_array_size(list) > max)
        st = ST_INVALID;
    for (size_t i = 0; st == ST_OK && i < json_array_size(list); i++)
        st = key_read(json_array_get(list, i), &out[(*count)++]) ? ST_OK : ST_INVALID;
    json_decref(root);
    return st;
}
