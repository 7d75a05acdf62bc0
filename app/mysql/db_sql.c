#include "mysql/db_sql_internal.h"

#include <assert.h>
#include <sodium.h>
#include <string.h>

static void text_append(MYSQL *handle, struct buf *out, struct str text)
{
    /* The client library may double every byte, and writes a NUL behind. */
    if (text.len > (SIZE_MAX - 3) / 2 || !buf_reserve(out, 2 * text.len + 3)) {
        out->failed = true;
        return;
    }
    buf_char(out, '\'');
    unsigned long written = 0;
    if (text.len > 0)
        written = mysql_real_escape_string(handle, out->ptr + out->len, text.ptr, (unsigned long)text.len);
    if (written > 2 * text.len) { /* (unsigned long)-1: escaping failed */
        out->failed = true;
        return;
    }
    out->len += written;
    buf_char(out, '\'');
}

static void bytes_append(struct buf *out, struct str bytes)
{
    size_t size = 2 * bytes.len + 1; /* with the NUL of bin2hex */
    buf_cstr(out, "X'");
    if (!buf_reserve(out, size))
        return;
    (void)sodium_bin2hex(out->ptr + out->len, size, (const unsigned char *)bytes.ptr, bytes.len);
    out->len += size - 1;
    buf_char(out, '\'');
}

void db_sql_literal(MYSQL *handle, struct buf *out, const struct db_param *param)
{
    switch (param->type) {
    case DB_PARAM_NULL: buf_cstr(out, "NULL"); break;
    case DB_PARAM_I64: buf_i64(out, param->as.i64); break;
    case DB_PARAM_U64: buf_u64(out, param->as.u64); break;
    case DB_PARAM_TEXT: text_append(handle, out, param->as.text); break;
    case DB_PARAM_BYTES: bytes_append(out, param->as.text); break;
    }
}

void db_sql_expand(MYSQL *handle, struct buf *out, const char *sql, const struct db_param *params, size_t count)
{
    size_t used = 0;
    char quote = '\0'; /* the open quote; NUL: outside of quotes */
    const char *start = sql;
    const char *p = sql;
    for (; *p != '\0'; p++) {
        assert(*p != '\\'); /* this loop does not parse escapes; our statements have none */
        if (quote != '\0') {
            if (*p == quote)
                quote = '\0';
        } else if (*p == '\'' || *p == '"' || *p == '`') {
            quote = *p;
        } else if (*p == '?') {
            assert(used < count);
            buf_bytes(out, start, (size_t)(p - start));
            db_sql_literal(handle, out, &params[used++]);
            start = p + 1;
        }
    }
    buf_bytes(out, start, (size_t)(p - start));
    assert(used == count && quote == '\0');
}

static bool is_of_name(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.' ||
           c == '$' || c == '@' || (unsigned char)c >= 0x80;
}

static bool follows(struct str sql, size_t at, struct str word)
{
    return at >= word.len && memcmp(sql.ptr + at - word.len, word.ptr, word.len) == 0;
}

/* The length of the whole number at this position, if it becomes a parameter; 0: it does not. A number of LIMIT stays,
 * because plans depend on it. */
static size_t number_len(struct str sql, size_t at)
{
    size_t end = at;
    if ((at > 0 && is_of_name(sql.ptr[at - 1])) || follows(sql, at, STR("LIMIT ")))
        return 0;
    while (end < sql.len && sql.ptr[end] >= '0' && sql.ptr[end] <= '9')
        end++;
    return end < sql.len && is_of_name(sql.ptr[end]) ? 0 : end - at;
}

bool db_sql_lift(struct buf *lifted, struct str sql, struct db_numbers *out)
{
    char quote = '\0';     /* as in db_sql_expand */
    bool in_order = false; /* after ORDER BY and GROUP BY a number is a column, and can't become a ? */
    size_t from = 0;
    out->count = 0;
    for (size_t at = 0; at < sql.len; at++) {
        char c = sql.ptr[at];
        if (c == '\\' || (quote == '\0' && c == '?'))
            return false;
        if (quote != '\0' || c == '\'' || c == '"' || c == '`') {
            quote = quote == '\0' ? c : c == quote ? '\0' : quote;
            continue;
        }
        in_order = (in_order && c != ')') || follows(sql, at, STR(" BY "));
        size_t len = in_order || c < '0' || c > '9' ? 0 : number_len(sql, at);
        if (len == 0)
            continue;
        if (out->count == DB_NUMBERS_MAX || !str_to_u64(str_slice(sql, at, at + len), &out->values[out->count++]))
            return false;
        buf_bytes(lifted, sql.ptr + from, at - from);
        buf_char(lifted, '?');
        from = at + len;
        at = from - 1;
    }
    buf_bytes(lifted, sql.ptr + from, sql.len - from);
    return quote == '\0' && !lifted->failed;
}
