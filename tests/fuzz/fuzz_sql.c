/* Texts and bytes as literals of SQL: a statement has exactly the given values, and text behind a literal is not part
 * of it. With HB_CONFIG a server reads the literals and must return the same bytes; without it, a reader does that
 * follows the server's manual. The first byte chooses the type. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "fuzz.h"
#include "mysql/db.h"
#include "mysql/db_sql_internal.h"

/* Reads a literal '…' up to its closing quote; returns what follows. */
static struct str literal_read(struct str sql, struct buf *out)
{
    assert(str_skip_prefix(&sql, STR("'")));
    for (;;) {
        assert(sql.len > 0);
        char c = sql.ptr[0], next = sql.len > 1 ? sql.ptr[1] : '\0';
        if (c == '\'' && next != '\'')
            return str_skip(sql, 1);
        bool pair = c == '\'' || c == '\\';
        if (c == '\\') {
            const char *place = next == '\0' ? NULL : strchr("0n r t Z b", next);
            c = place == NULL ? next : "\0\n \r \t \x1a \b"[place - "0n r t Z b"];
            assert(sql.len > 1);
        }
        buf_char(out, c);
        sql = str_skip(sql, pair ? 2 : 1);
    }
}

static void offline_check(struct str text)
{
    static MYSQL *handle;
    struct buf sql = { .limit = (size_t)1 << 24 }, got = { .limit = (size_t)1 << 24 };
    if (handle == NULL) {
        handle = mysql_init(NULL);
        assert(handle != NULL && mysql_options(handle, MYSQL_SET_CHARSET_NAME, "utf8mb4") == 0);
    }
    db_sql_expand(handle, &sql, "SELECT '?', ?, ?", DB_PARAMS(DB_TEXT(text), DB_I64((int64_t)text.len)));
    assert(!sql.failed);
    struct str rest = buf_view(&sql);
    assert(str_skip_prefix(&rest, STR("SELECT '?', ")));
    rest = literal_read(rest, &got);
    assert(str_equal(buf_view(&got), text) && str_starts(rest, STR(", ")));
    buf_reset(&got);
    buf_u64(&got, text.len);
    assert(str_equal(str_skip(rest, 2), buf_view(&got)));
    buf_free(&sql);
    buf_free(&got);
}

static struct db *server(void)
{
    static struct config config;
    static struct db *db;
    static bool tried;
    char error[512];
    const char *path = getenv("HB_CONFIG");
    if (tried || path == NULL)
        return db;
    tried = true;
    config_defaults(&config);
    enum status st = config_load(&config, path, NULL, error, sizeof error);
    if (st != ST_OK)
        (void)fprintf(stderr, "%s\n", error);
    assert(st == ST_OK);
    db = db_new(&config);
    return db;
}

/* The server compares the two values, and returns both. Texts of the program are valid UTF-8. */
static void server_check(struct db *db, struct str text, bool bytes)
{
    struct db_rows rows;
    enum status st = db_query(db, fuzz_arena, &rows, "SELECT HEX(?), ?, ?, 'end?'",
                              DB_PARAMS(DB_BYTES(text), bytes ? DB_BYTES(text) : DB_TEXT(text), DB_U64(text.len)));
    assert(st == ST_OK && rows.count == 1 && rows.columns == 4);
    struct str hex = db_cell(&rows, 0, 0);
    assert(hex.len == 2 * text.len);
    for (size_t i = 0; i < text.len; i++) {
        char two[3] = { hex.ptr[2 * i], hex.ptr[2 * i + 1], '\0' };
        assert((unsigned char)strtoul(two, NULL, 16) == (unsigned char)text.ptr[i]);
    }
    assert(str_equal(db_cell(&rows, 0, 1), text) && db_cell_u64(&rows, 0, 2) == text.len);
    assert(str_equal(db_cell(&rows, 0, 3), STR("end?")));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_bytes in = { data, size };
    bool bytes = fuzz_take(&in, 1) % 2 == 1;
    struct str text = fuzz_text(in.next, in.left);
    fuzz_begin();
    offline_check(text);
    if (server() != NULL && (bytes || utf8_valid(text)))
        server_check(server(), text, bytes);
    return 0;
}
