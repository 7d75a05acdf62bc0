#include "ledger/service.h"

#include <assert.h>
#include <sodium.h>
#include <string.h>

#include "base/utf8.h"

#define TOKEN_PREFIX "hbs_"

enum { PREFIX_LEN = sizeof TOKEN_PREFIX - 1, TOKEN_BYTES = 32 };

static_assert(PREFIX_LEN + sodium_base64_ENCODED_LEN(TOKEN_BYTES, sodium_base64_VARIANT_URLSAFE_NO_PADDING) ==
                  SERVICE_TOKEN_MAX,
              "a token is the prefix and 32 bytes in base64url");

/* ---- scopes ---- */

static const char *const SCOPE_NAMES[SERVICE_SCOPES] = { "credit", "debit", "read", "withdraw", "topup" };

const char *service_scope_name(enum service_scope scope)
{
    unsigned i = 0;
    while (1U << i != (unsigned)scope)
        i++;
    assert(i < SERVICE_SCOPES);
    return SCOPE_NAMES[i];
}

/* 0: there is none of this name. */
static unsigned scope_read(struct str name)
{
    for (unsigned i = 0; i < SERVICE_SCOPES; i++)
        if (str_equal(name, str_from(SCOPE_NAMES[i])))
            return 1U << i;
    return 0;
}

unsigned service_scopes_read(struct str text)
{
    unsigned scopes = 0;
    size_t at = 0;
    while (at < text.len) {
        const size_t from = at;
        while (at < text.len && text.ptr[at] != ' ' && text.ptr[at] != ',')
            at++;
        const unsigned scope = scope_read(str_slice(text, from, at));
        if (scope == 0 && at > from)
            return 0;
        scopes |= scope;
        at++;
    }
    return scopes;
}

struct str service_scopes_text(struct arena *a, unsigned scopes, char between)
{
    struct str text = STR("");
    for (unsigned i = 0; i < SERVICE_SCOPES && text.ptr != NULL; i++) {
        const char separator[] = { between, '\0' };
        if ((scopes & 1U << i) != 0)
            text = arena_printf(a, "%.*s%s%s", STR_ARG(text), text.len > 0 ? separator : "", SCOPE_NAMES[i]);
    }
    return text;
}

/* ---- tokens ---- */

void service_token_new(char *token, uint8_t hash[HASH_BYTES])
{
    unsigned char bytes[TOKEN_BYTES];
    random_bytes(bytes, sizeof bytes);
    memcpy(token, TOKEN_PREFIX, PREFIX_LEN);
    sodium_bin2base64(token + PREFIX_LEN, SERVICE_TOKEN_MAX - PREFIX_LEN, bytes, sizeof bytes,
                      sodium_base64_VARIANT_URLSAFE_NO_PADDING);
    sodium_memzero(bytes, sizeof bytes);
    hash_sha256(token, SERVICE_TOKEN_LEN, hash);
}

bool service_token_is_valid(struct str token)
{
    unsigned char bytes[TOKEN_BYTES];
    size_t len = 0;
    return token.len == SERVICE_TOKEN_LEN && str_starts(token, STR(TOKEN_PREFIX)) &&
           sodium_base642bin(bytes, sizeof bytes, token.ptr + PREFIX_LEN, token.len - PREFIX_LEN, NULL, &len, NULL,
                             sodium_base64_VARIANT_URLSAFE_NO_PADDING) == 0 &&
           len == sizeof bytes;
}

static struct str hash_bytes(const uint8_t hash[HASH_BYTES])
{
    return (struct str){ (const char *)hash, HASH_BYTES };
}

struct external_author service_author(struct arena *a, const struct service *service, const uint8_t hash[HASH_BYTES])
{
    return (struct external_author){ .name = arena_printf(a, "service:%.*s", STR_ARG(service->name)),
                                     .interface = INTERFACE_HTTP,
                                     .token_hash = hash_bytes(hash) };
}

/* ---- the operator ---- */

enum status service_add(struct db *db, const struct service *service, const uint8_t hash[HASH_BYTES])
{
    char text[SERVICE_SCOPES * 16];
    size_t len = 0;
    if (!utf8_valid(service->name) || !utf8_valid(service->author) || !utf8_valid(service->addresses))
        return ST_INVALID;
    for (unsigned i = 0; i < SERVICE_SCOPES; i++)
        if ((service->scopes & 1U << i) != 0)
            len += (size_t)snprintf(text + len, sizeof text - len, "%s%s", len > 0 ? "," : "", SCOPE_NAMES[i]);
    return db_exec_retried(db, "CALL service_add(?, ?, ?, ?, ?, ?, ?)",
                           DB_PARAMS(DB_TEXT(service->name), DB_BYTES(hash_bytes(hash)),
                                     DB_TEXT(((struct str){ text, len })), DB_U64(service->channel_id),
                                     service->day_max_fen > 0 ? DB_I64(service->day_max_fen) : DB_NULL,
                                     DB_TEXT(service->addresses), DB_TEXT(service->author)));
}

enum status service_revoke(struct db *db, struct str name)
{
    if (!utf8_valid(name))
        return ST_NOT_FOUND;
    return db_exec_retried(db, "CALL service_revoke(?)", DB_PARAMS(DB_TEXT(name)));
}

/* ---- reading ---- */

enum {
    COLUMN_ID,
    COLUMN_NAME,
    COLUMN_SCOPES,
    COLUMN_CHANNEL_ID,
    COLUMN_CHANNEL,
    COLUMN_DAY_MAX,
    COLUMN_ADDRESSES,
    COLUMN_USED,
    COLUMN_CREATED,
    COLUMN_AUTHOR,
    COLUMN_REVOKED
};

#define SERVICE_COLUMNS                                                                                                \
    "SELECT s.id, s.name, s.scopes, s.channel_id, c.name, COALESCE(s.day_max_fen, 0), s.addresses,"                    \
    " COALESCE(s.used_ms, 0), s.created_ms"
#define SERVICE_TABLES " FROM service AS s JOIN channel AS c ON c.id = s.channel_id"

static struct service service_from(const struct db_rows *rows, size_t row)
{
    struct service s = { .id = db_cell_u64(rows, row, COLUMN_ID),
                         .name = db_cell(rows, row, COLUMN_NAME),
                         .scopes = service_scopes_read(db_cell(rows, row, COLUMN_SCOPES)),
                         .channel_id = db_cell_u64(rows, row, COLUMN_CHANNEL_ID),
                         .channel = db_cell(rows, row, COLUMN_CHANNEL),
                         .day_max_fen = db_cell_i64(rows, row, COLUMN_DAY_MAX),
                         .addresses = db_cell(rows, row, COLUMN_ADDRESSES),
                         .used_ms = db_cell_i64(rows, row, COLUMN_USED),
                         .created_ms = db_cell_i64(rows, row, COLUMN_CREATED) };
    if (rows->columns > COLUMN_AUTHOR) {
        s.author = db_cell(rows, row, COLUMN_AUTHOR);
        s.revoked_ms = db_cell_i64(rows, row, COLUMN_REVOKED);
    }
    return s;
}

enum status service_list(struct db *db, struct arena *a, struct service **out, size_t *count)
{
    struct db_rows rows;
    enum status st =
        db_query(db, a, &rows,
                 SERVICE_COLUMNS ", s.author, COALESCE(s.revoked_ms, 0)" SERVICE_TABLES " ORDER BY s.name", NULL, 0);
    if (st != ST_OK)
        return st;
    *out = arena_array(a, rows.count + 1, sizeof **out);
    if (*out == NULL)
        return ST_NO_MEMORY;
    for (size_t i = 0; i < rows.count; i++)
        (*out)[i] = service_from(&rows, i);
    *count = rows.count;
    return ST_OK;
}

enum status service_find(struct db *db, struct arena *a, const uint8_t hash[HASH_BYTES], struct service *out)
{
    struct db_rows rows;
    enum status st = db_find(db, a, &rows, SERVICE_COLUMNS SERVICE_TABLES " WHERE s.id = service_of(?)",
                             DB_PARAMS(DB_BYTES(hash_bytes(hash))));
    if (st == ST_OK)
        *out = service_from(&rows, 0);
    return st;
}

enum status service_used(struct db *db, const uint8_t hash[HASH_BYTES])
{
    return db_exec(db, NULL, "CALL service_used(?)", DB_PARAMS(DB_BYTES(hash_bytes(hash))));
}
