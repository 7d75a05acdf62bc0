#include "commands/demo.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/money.h"
#include "base/random.h"
#include "base/typed.h"
#include "commands/stores.h"
#include "ledger/ledger.h"
#include "live/stores.h"
#include "user/session.h"
#include "user/session_list.h"

enum { ROWS_PER_STATEMENT = 500, USERNAME_MAX = 40, NICKNAME_MAX = 40 };
static const size_t ARENA_CHUNK_BYTES = (size_t)256 << 10;
static const size_t ARENA_LIMIT_BYTES = (size_t)16 << 20;

static const char *const GIVEN_NAMES[] = { "小明", "小红", "阿强", "丽丽", "大伟", "静静", "阿杰",
                                           "婷婷", "小龙", "晓燕", "阿豪", "佳佳", "建国", "秀英",
                                           "小虎", "雪梅", "志强", "欣怡", "俊杰", "梦洁" };

struct person {
    uint64_t id;
    char username[USERNAME_MAX];
    char nickname[NICKNAME_MAX];
    char token[SESSION_TOKEN_MAX];
};

/* The users that one transaction creates. */
struct batch {
    struct stores *stores;
    struct arena *arena;
    struct person *people;
    size_t count;
    int64_t money_fen, now_ms;
    struct buf sql;
};

static enum status users_insert(struct batch *g, struct db *db)
{
    buf_reset(&g->sql);
    buf_cstr(&g->sql, "INSERT INTO user (username, nickname, created_ms) VALUES ");
    for (size_t i = 0; i < g->count; i++) {
        db_comma(&g->sql, i);
        buf_printf(&g->sql, "('%s','%s',%" PRId64 ")", g->people[i].username, g->people[i].nickname, g->now_ms);
    }
    return db_exec_buf(db, NULL, &g->sql);
}

/* Reads the ids back instead of computing them from the first: a server may leave gaps. */
static enum status users_ids(struct batch *g, struct db *db)
{
    struct db_rows rows;
    const struct str first = str_from(g->people[0].username), last = str_from(g->people[g->count - 1].username);
    enum status st =
        db_query(db, g->arena, &rows, "SELECT id, username FROM user WHERE username BETWEEN ? AND ? ORDER BY username",
                 DB_PARAMS(DB_TEXT(first), DB_TEXT(last)));
    if (st == ST_OK && rows.count != g->count)
        st = ST_CORRUPT;
    for (size_t i = 0; st == ST_OK && i < g->count; i++) {
        if (!str_equal(db_cell(&rows, i, 1), str_from(g->people[i].username)))
            return ST_CORRUPT;
        g->people[i].id = db_cell_u64(&rows, i, 0);
    }
    return st;
}

/* The wallets, with their money. */
static enum status wallets_open(struct batch *g, struct db *db)
{
    enum status st = ST_OK;
    if (g->money_fen == 0) {
        for (size_t i = 0; st == ST_OK && i < g->count; i++)
            st = ledger_wallet(db, g->people[i].id);
        return st;
    }
    buf_reset(&g->sql);
    for (size_t i = 0; i < g->count; i++)
        buf_printf(&g->sql, "%c%" PRIu64, i == 0 ? '[' : ',', g->people[i].id);
    buf_char(&g->sql, ']');
    return g->sql.failed ? ST_NO_MEMORY : ledger_demo(db, buf_view(&g->sql), g->money_fen, g->now_ms);
}

static enum status batch_body(struct db *db, void *ctx)
{
    struct batch *g = ctx;
    enum status st = users_insert(g, db);
    if (st == ST_OK)
        st = users_ids(g, db);
    return st == ST_OK ? wallets_open(g, db) : st;
}

static enum status sessions_store(struct batch *g)
{
    struct redis_call *calls = arena_array(g->arena, 3 * g->count, sizeof *calls);
    enum status st = calls == NULL ? ST_NO_MEMORY : ST_OK;
    for (size_t i = 0; st == ST_OK && i < g->count; i++) {
        struct person *p = &g->people[i];
        const struct session session = { .user_id = p->id,
                                         .created_ms = g->now_ms,
                                         .seen_ms = g->now_ms,
                                         .username = str_from(p->username),
                                         .nickname = str_from(p->nickname),
                                         .listed = true };
        char key[SESSION_KEY_MAX], ttl[24];
        session_token_new(p->token);
        session_key_write(str_from(p->token), key);
        (void)snprintf(ttl, sizeof ttl, "%" PRId64, session_ttl_ms(g->stores->config, &session, g->now_ms));
        struct str value = session_value_text(g->arena, &session);
        const struct str set[] = { STR("SET"), str_from(key), value, STR("PX"), str_from(ttl) };
        session_list_queue(g->stores, g->arena, &calls[3 * i], set[1], &session);
        if (value.ptr == NULL)
            st = ST_NO_MEMORY;
        else
            redis_queue(g->stores->redis, &calls[3 * i + 2], set, 5);
    }
    redis_round(g->stores->redis);
    for (size_t i = 0; calls != NULL && i < 3 * g->count; i++) {
        if (st == ST_OK)
            st = calls[i].status;
        redis_call_free(&calls[i]);
    }
    return st;
}

static enum status batch_write(const struct batch *g, FILE *out)
{
    const char *prefix = strncmp(g->stores->config->base_url, "https://", 8) == 0 ? COOKIE_HOST_PREFIX : "";
    for (size_t i = 0; i < g->count; i++) {
        const struct person *p = &g->people[i];
        if (fprintf(out, "%" PRIu64 "\t%s\t%ssid=%s\n", p->id, p->username, prefix, p->token) < 0)
            return ST_UNAVAILABLE;
    }
    return ST_OK;
}

/* Usernames sort in the order of the batch, so that users_ids can read the ids back in that order. */
static void batch_name(struct batch *g, uint64_t run, uint32_t first)
{
    for (size_t i = 0; i < g->count; i++) {
        struct person *p = &g->people[i];
        uint32_t number = first + (uint32_t)i;
        (void)snprintf(p->username, sizeof p->username, "demo%08" PRIx32 "-%07" PRIu32, (uint32_t)run, number + 1);
        (void)snprintf(p->nickname, sizeof p->nickname, "%s%" PRIu32, GIVEN_NAMES[number % ARRAY_LEN(GIVEN_NAMES)],
                       number + 1);
    }
}

enum status demo_make(struct stores *stores, uint32_t count, int64_t money_fen, FILE *out)
{
    struct batch g = { .stores = stores, .money_fen = money_fen };
    const uint64_t run = random_u64();
    enum status st = ST_OK;
    g.arena = arena_new(ARENA_CHUNK_BYTES, ARENA_LIMIT_BYTES);
    g.people = calloc(ROWS_PER_STATEMENT, sizeof *g.people);
    if (g.arena == NULL || g.people == NULL)
        st = ST_NO_MEMORY;
    for (uint32_t first = 0; st == ST_OK && first < count; first += ROWS_PER_STATEMENT) {
        arena_reset(g.arena);
        g.count = count - first < ROWS_PER_STATEMENT ? count - first : ROWS_PER_STATEMENT;
        g.now_ms = clock_now_ms();
        batch_name(&g, run, first);
        st = db_transaction(stores->db, batch_body, &g);
        if (st == ST_OK)
            st = sessions_store(&g);
        if (st == ST_OK)
            st = batch_write(&g, out);
    }
    if (fflush(out) != 0 && st == ST_OK)
        st = ST_UNAVAILABLE;
    buf_free(&g.sql);
    free(g.people);
    arena_free(g.arena);
    return st;
}

static int usage(void)
{
    (void)fputs("usage: hongbao demo --users N [--amount AMOUNT] --out FILE\n", stderr);
    return 2;
}

int demo_command(const struct config *config, int argc, char **argv)
{
    uint64_t count = 0;
    int64_t money_fen = DEMO_MONEY_FEN / 100 * money_scale();
    const char *path = NULL;
    for (int i = 1; i < argc; i += 2) {
        if (i + 1 < argc && strcmp(argv[i], "--users") == 0 && str_to_u64(str_from(argv[i + 1]), &count) &&
            count >= 1 && count <= DEMO_USERS_MAX)
            continue;
        if (i + 1 < argc && strcmp(argv[i], "--amount") == 0 && typed_amount(str_from(argv[i + 1]), &money_fen) &&
            money_fen < INT64_MAX)
            continue;
        if (i + 1 < argc && strcmp(argv[i], "--out") == 0)
            path = argv[i + 1];
        else
            return usage();
    }
    if (count == 0 || path == NULL)
        return usage();
    if (!config->demo) {
        (void)fputs("hongbao demo: only with demo = on\n", stderr);
        return 1;
    }
    struct stores stores;
    if (!command_stores_open(&stores, config, "demo"))
        return 1;
    FILE *out = strcmp(path, "-") == 0 ? stdout : fopen(path, "we");
    if (out == NULL) {
        (void)fprintf(stderr, "hongbao demo: %s can't be written\n", path);
        stores_close(&stores);
        return 1;
    }
    enum status st = demo_make(&stores, (uint32_t)count, money_fen, out);
    if (out != stdout && fclose(out) != 0 && st == ST_OK)
        st = ST_UNAVAILABLE;
    if (st != ST_OK)
        (void)fprintf(stderr, "hongbao demo: %s\n", status_name(st));
    if (st == ST_UNAVAILABLE)
        command_stores_tell(config, "demo");
    stores_close(&stores);
    return st == ST_OK ? 0 : 1;
}
