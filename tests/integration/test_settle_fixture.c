#include "test_settle_fixture.h"
#include "support/stores_do.h"

#include "acts/fund.h"
#include "commands/demo.h"
#include "live/fence.h"
#include "live/keys.h"
#include "packet/store.h"
#include "settle/expire.h"
#include "settle/recover_stream.h"
#include "support/test_services.h"
#include "support/wait_until.h"

enum {
    WORDS_MAX = 16,
    TEXT_MAX = 4096,
    DRAIN_PASSES_MAX = 1000,
    WALK_PASSES_MAX = 200,
    HOUR_MS = 3600000,
    RECOVER_LATER_MS = 10000,
};

static const char *const tables[] = {
    "thanks",      "share_return", "grab",    "transfer",         "packet", "user_month",      "stream_cursor",
    "dead_letter", "account",      "user",    "username_retired", "token",  "packet_receiver", "external_transfer",
    "withdrawal",  "channel",      "service", "service_hour",     "topup",  "topup_payment"
};

/* Runs "BEFORE table BETWEEN [table]" for every table; twice: with the name at the end, too. */
static void tables_each(struct world *w, const char *before, const char *between, bool twice)
{
    world_sql(w, "SET FOREIGN_KEY_CHECKS = 0");
    for (size_t i = 0; i < ARRAY_LEN(tables); i++) {
        struct str sql = arena_printf(w->arena, "%s%s%s%s", before, tables[i], between, twice ? tables[i] : "");
        world_sql(w, sql.ptr);
    }
    world_sql(w, "SET FOREIGN_KEY_CHECKS = 1");
}

static void tables_empty(struct world *w)
{
    tables_each(w, "DELETE FROM ", "", false);
    world_sql(w, "INSERT INTO account (id, kind) VALUES (1, 'bank'), (2, 'channel'), (3, 'pending')");
    world_sql(w, "INSERT INTO channel (id, name, author, created_ms) VALUES (1, 'demo', 'migrate', 1),"
                 " (2, 'forfeited', 'migrate', 1)");
    (void)world_redis(w, 0, "FLUSHALL");
}

static struct services *role_open(struct world *w, const char *role)
{
    struct services *app = test_services_open_as(role);
    assert_non_null(app);
    app->stores.config = w->config;
    return app;
}

void world_fence_set(struct world *w)
{
    live_fences_set(w->page->stores.redis, w->config);
    live_fences_set(w->hot->stores.redis, w->config);
}

void world_begin(struct world *w, size_t user_count)
{
    *w = (struct world){ .app = test_services_open(), .arena = arena_new(1 << 16, (size_t)256 << 20) };
    assert_non_null(w->app);
    assert_non_null(w->arena);
    assert_true(user_count <= WORLD_USERS_MAX);
    w->config = test_services_config(w->app);
    w->config->demo = true;
    w->page = role_open(w, "page");
    w->hot = role_open(w, "hot");
    struct services *auth = role_open(w, "auth");
    w->settler = role_open(w, "settle");
    w->auditor = role_open(w, "audit");
    assert_true(clock_zone_set("Asia/Shanghai"));
    tables_empty(w);
    FILE *out = tmpfile();
    assert_non_null(out);
    assert_int_equal(demo_make(&auth->stores, (uint32_t)user_count, DEMO_MONEY_FEN, out), ST_OK); /* 0: none */
    rewind(out);
    for (size_t i = 0; i < user_count; i++) {
        unsigned long long id;
        assert_int_equal(fscanf(out, "%llu\t%*s\t%*s\n", &id), 1);
        w->users[i] = id;
    }
    (void)fclose(out);
    test_services_close(auth);
    world_sql(w, "UPDATE user SET face = 'rabbit', nickname = '小红' WHERE username LIKE 'demo%'");
    w->live = w->hot->stores.live;
    assert_int_equal(settle_new(&w->settler->stores, &w->settle), ST_OK);
    world_fence_set(w);
    world_check_redis(w);
}

/* Waits until the process is connected: after a lost connection it makes a new one at most every 100 ms. */
static void connection_wait(struct services *role)
{
    enum status st;
    WAIT_UNTIL((st = redis_ping(role->stores.redis)) != ST_UNAVAILABLE && st != ST_UNKNOWN);
    assert_int_equal(st, ST_OK);
}

void world_check_redis(struct world *w)
{
    struct recover r = { .full_walk = true };
    bool checked;
    connection_wait(w->settler);
    assert_int_equal(recover_fences(&r, w->settle, &checked), ST_OK);
    assert_true(checked);
    connection_wait(w->page); /* the pools read the fence key with their next round */
    connection_wait(w->hot);
}

void world_end(struct world *w)
{
    settle_free(w->settle);
    tables_empty(w); /* the next test starts with empty tables */
    arena_free(w->arena);
    test_services_close(w->page);
    test_services_close(w->hot);
    test_services_close(w->settler);
    test_services_close(w->auditor);
    test_services_close(w->app);
}

uint64_t world_send_to(struct world *w, size_t sender, enum packet_kind kind, int64_t total_fen, uint32_t count,
                       int64_t lifetime_ms, const size_t *to, size_t to_count)
{
    static unsigned sent;
    struct fund_packet funded;
    int64_t now_ms = clock_now_ms();
    const struct send_order order = { .packet = { .kind = kind,
                                                  .split = kind == PACKET_LUCKY ? SPLIT_DOUBLE_AVERAGE : SPLIT_EVEN,
                                                  .amount_fen = total_fen,
                                                  .share_min_fen = 1,
                                                  .share_max_fen = w->config->share_fen_max,
                                                  .count = count,
                                                  .greeting = STR("恭喜发财"),
                                                  .request_key = arena_printf(w->arena, "test-%u", ++sent) },
                                      .lifetime_ms = lifetime_ms > 0 ? lifetime_ms : 1 };
    const struct send_party from = { .id = w->users[sender], .name = STR("小明"), .face = face_from(STR("rabbit")) };
    struct receivers receivers = { arena_array(w->arena, to_count + 1, sizeof *receivers.items), to_count };
    for (size_t i = 0; i < to_count; i++)
        receivers.items[i] = (struct receiver){ .id = w->users[to[i]], .name = STR("小红") };
    assert_int_equal(fund_packet(&w->page->stores, w->arena, from, &receivers, &order, now_ms, &funded), ST_OK);
    assert_int_equal(funded.result, FUND_DONE);
    while (lifetime_ms <= 0 && clock_now_ms() <= funded.packet.expires_ms)
        ;
    if (world_redis(w, funded.packet.id, "EXISTS {pk}") == 1) /* as the settle worker does within a second */
        assert_int_equal(packet_mark_open(w->page->stores.db, funded.packet.id), ST_OK);
    return funded.packet.id;
}

uint64_t world_send(struct world *w, size_t sender, enum packet_kind kind, int64_t total_fen, uint32_t count,
                    int64_t lifetime_ms, int to)
{
    size_t one = to >= 0 ? (size_t)to : 0;
    return world_send_to(w, sender, kind, total_fen, count, lifetime_ms, &one, to >= 0 ? 1 : 0);
}

uint64_t world_even(struct world *w, int64_t total_fen, uint32_t count)
{
    return world_send(w, 0, PACKET_EVEN, total_fen, count, HOUR_MS, -1);
}

uint64_t world_even_settled(struct world *w, int64_t total_fen, uint32_t count, size_t settled)
{
    uint64_t id = world_even(w, total_fen, count);
    for (size_t user = 1; user <= settled; user++)
        assert_int_equal(world_grab(w, id, user).code, LIVE_GRABBED);
    assert_int_equal(world_drain(w), settled);
    return id;
}

/* Pays for a packet. Its partition is random: dozens may be sent before one is in the right partition. */
static uint64_t world_even_paid(struct world *w, int64_t total_fen, uint32_t count)
{
    world_sqlf(w, "CALL ledger_deposit(%llu, %lld, UUID(), UNIX_TIMESTAMP() * 1000)", (unsigned long long)w->users[0],
               (long long)total_fen);
    return world_even(w, total_fen, count);
}

uint64_t world_send_beside(struct world *w, uint64_t packet_id, int64_t total_fen, uint32_t count)
{
    uint64_t id;
    do
        id = world_even_paid(w, total_fen, count);
    while (world_partition(w, id) != world_partition(w, packet_id));
    return id;
}

uint64_t world_send_apart(struct world *w, uint64_t packet_id, int64_t total_fen, uint32_t count)
{
    uint64_t id;
    do
        id = world_even_paid(w, total_fen, count);
    while (world_partition(w, id) == world_partition(w, packet_id));
    return id;
}

struct str world_badge(struct world *w, const char *nickname)
{
    struct face face = face_from(STR("rabbit"));
    struct str badge = badge_text(w->arena, str_from(nickname), &face);
    assert_true(badge.len > strlen(nickname));
    return badge;
}

struct live_grab world_grab(struct world *w, uint64_t packet_id, size_t user)
{
    struct redis_call call = { 0 };
    struct live_grab grab;
    live_grab_queue(&w->live, &call, packet_id, w->users[user], world_badge(w, "小,强"),
                    NULL); /* names may contain commas */
    redis_round(w->hot->stores.redis);
    assert_int_equal(live_grab_read(&call, &grab), ST_OK);
    redis_call_free(&call);
    return grab;
}

void world_grab_all(struct world *w, uint64_t packet_id, size_t first, size_t count)
{
    struct redis_call *calls = calloc(count, sizeof *calls);
    assert_non_null(calls);
    for (size_t i = 0; i < count; i++)
        live_grab_queue(&w->live, &calls[i], packet_id, w->users[first + i], world_badge(w, "小强"), NULL);
    redis_round(w->hot->stores.redis);
    for (size_t i = 0; i < count; i++) {
        struct live_grab grab;
        assert_int_equal(live_grab_read(&calls[i], &grab), ST_OK);
        assert_int_equal(grab.code, LIVE_GRABBED);
        redis_call_free(&calls[i]);
    }
    free(calls);
}

enum status settle_drain(struct settle *s, unsigned passes_max, uint64_t *events)
{
    *events = 0;
    for (unsigned pass = 0; pass < passes_max; pass++) {
        uint64_t settled;
        enum status st = settle_pass(s, &settled);
        if (st == ST_OK)
            st = recover_gaps(s);
        if (st != ST_OK)
            return st;
        *events += settled;
        if (settled == 0 && !s->pass_due)
            return ST_OK;
    }
    return ST_CONFLICT;
}

bool settle_is_stopped(const struct settle *s)
{
    for (uint32_t i = 0; i < s->partition_count; i++)
        if (s->partitions[i].stopped)
            return true;
    return false;
}

uint64_t world_drain(struct world *w)
{
    uint64_t events;
    assert_int_equal(settle_drain(w->settle, DRAIN_PASSES_MAX, &events), ST_OK);
    return events;
}

uint64_t world_drain_clean(struct world *w)
{
    const uint64_t events = world_drain(w);
    world_audit_clean(w);
    return events;
}

struct recover_done world_recover(struct world *w)
{
    struct recover r = { .full_walk = true };
    struct recover_done done = { 0 };
    for (int pass = 0; r.full_walk && pass < WALK_PASSES_MAX; pass++)
        assert_int_equal(recover_pass(&r, w->settle, clock_now_ms() + RECOVER_LATER_MS, &done), ST_OK);
    assert_false(r.full_walk);
    return done;
}

uint64_t world_expire(struct world *w, struct recover_done *done)
{
    struct expire e = { 0 };
    struct recover_done ignored = { 0 };
    uint64_t closed = 0;
    for (int pass = 0; pass < WALK_PASSES_MAX; pass++) {
        assert_int_equal(expire_pass(&e, w->settle, clock_now_ms(), &closed, done != NULL ? done : &ignored), ST_OK);
        if (e.packet_id == 0)
            return closed;
    }
    fail_msg("the walk over the due packets does not end");
    return 0;
}

void world_time_runs_out(struct world *w, uint64_t packet_id)
{
    const long long over_ms = clock_now_ms() - 1;
    world_sqlf(w, "UPDATE packet SET expires_ms = %lld WHERE id = %llu", over_ms, (unsigned long long)packet_id);
    assert_int_equal(world_redisf(w, packet_id, "HSET {pk} expires_ms %lld", over_ms), 0); /* the field existed */
}

void world_partitions_set(struct world *w, int64_t partitions)
{
    struct services *all[] = { w->app, w->page, w->hot, w->settler, w->auditor };
    for (size_t i = 0; i < ARRAY_LEN(all); i++)
        all[i]->stores.live.partitions = partitions;
    w->config->partitions = w->live.partitions = partitions;
}

void world_restart_worker(struct world *w)
{
    settle_free(w->settle);
    assert_int_equal(settle_new(&w->settler->stores, &w->settle), ST_OK);
}

int64_t world_number(struct world *w, const char *sql, uint64_t id)
{
    struct db_rows rows;
    const struct db_param param = DB_U64(id);
    assert_int_equal(db_query(w->app->stores.db, w->arena, &rows, sql, &param, strchr(sql, '?') == NULL ? 0 : 1),
                     ST_OK);
    assert_true(rows.count >= 1);
    return db_cell(&rows, 0, 0).ptr == NULL ? 0 : db_cell_i64(&rows, 0, 0);
}

void world_sql(struct world *w, const char *sql)
{
    sql_do(w->app->stores.db, sql);
}

void world_sqlf(struct world *w, const char *format, ...)
{
    char sql[TEXT_MAX];
    va_list args;
    va_start(args, format);
    assert_in_range(vsnprintf(sql, sizeof sql, format, args), 1, sizeof sql - 1);
    va_end(args);
    world_sql(w, sql);
}

static void redis_words(struct world *w, struct services *role, uint64_t packet_id, const char *words,
                        struct redis_call *call)
{
    static const char *const marks[LIVE_KEY_COUNT] = { "{pk}", "{sh}", "{gr}", "{or}", "{ev}", "{se}" };
    struct str args[WORDS_MAX], rest = str_from(words);
    struct live_keys keys;
    char fence[LIVE_KEY_MAX], site[LIVE_KEY_MAX];
    size_t count = 0;
    live_keys(&keys, packet_id, w->config->partitions);
    while (rest.ptr != NULL) {
        assert_true(count < WORDS_MAX);
        args[count] = str_cut(rest, ' ', &rest);
        for (size_t k = 0; k < LIVE_KEY_COUNT; k++)
            if (str_equal(args[count], str_from(marks[k])))
                args[count] = keys.key[k];
        if (str_equal(args[count], STR("{fe}")))
            args[count] = live_fence_key(fence, packet_partition(packet_id, w->config->partitions));
        if (str_equal(args[count], STR("{si}")))
            args[count] = live_site_key(site, packet_partition(packet_id, w->config->partitions));
        count++;
    }
    *call = (struct redis_call){ 0 };
    assert_int_equal(redis_do(role->stores.redis, call, args, count), ST_OK);
}

int64_t world_redisf(struct world *w, uint64_t packet_id, const char *format, ...)
{
    char words[TEXT_MAX];
    va_list args;
    va_start(args, format);
    assert_in_range(vsnprintf(words, sizeof words, format, args), 1, sizeof words - 1);
    va_end(args);
    return world_redis(w, packet_id, words);
}

int64_t world_redis(struct world *w, uint64_t packet_id, const char *words)
{
    return world_redis_as(w, w->app, packet_id, words);
}

int64_t world_redis_as(struct world *w, struct services *role, uint64_t packet_id, const char *words)
{
    struct redis_call call;
    int64_t n = -1;
    redis_words(w, role, packet_id, words, &call);
    if (call.reply->type == REDIS_REPLY_ARRAY)
        n = (int64_t)call.reply->elements;
    else
        (void)redis_reply_i64(call.reply, &n);
    redis_call_free(&call);
    return n;
}

struct str world_redis_text(struct world *w, uint64_t packet_id, const char *words)
{
    struct redis_call call;
    redis_words(w, w->app, packet_id, words, &call);
    struct str text = redis_reply_str(call.reply);
    if (text.ptr != NULL)
        text = arena_str(w->arena, text);
    redis_call_free(&call);
    return text;
}

void world_tables_keep(struct world *w)
{
    tables_each(w, "CREATE OR REPLACE TEMPORARY TABLE kept_", " AS SELECT * FROM ", true);
}

void world_tables_restore(struct world *w)
{
    tables_each(w, "DELETE FROM ", "", false);
    tables_each(w, "INSERT INTO ", " SELECT * FROM kept_", true);
    tables_each(w, "DROP TEMPORARY TABLE kept_", "", false);
}

void world_lose_tail(struct world *w, uint64_t packet_id)
{
    (void)world_redis(w, packet_id, "DEL {ev}");
    (void)world_redis_text(w, packet_id, "XADD {ev} 5-1 g old");
    (void)world_redis(w, packet_id, "RPOP {or}");
    struct str words = arena_printf(w->arena, "HDEL {gr} %llu", (unsigned long long)w->users[2]);
    (void)world_redis(w, packet_id, words.ptr);
}

int64_t world_letters(struct world *w, uint64_t packet_id)
{
    return world_number(w, "SELECT COUNT(*) FROM dead_letter WHERE resolved_ms IS NULL AND ? IN (0, packet_id)",
                        packet_id);
}

int64_t world_balance(struct world *w, uint64_t account_id)
{
    return world_number(w, "SELECT balance_fen FROM account WHERE id = ?", account_id);
}

struct packet world_packet(struct world *w, uint64_t packet_id)
{
    struct packet p;
    assert_int_equal(packet_find(w->app->stores.db, w->arena, packet_id, &p), ST_OK);
    return p;
}

void world_audit_clean(struct world *w)
{
    static struct audit audit;
    audit.packet_id = 0;
    assert_int_equal(audit_run(&w->auditor->stores, &audit), ST_OK);
    if (!audit_clean(&audit))
        audit_print(&audit, false, stderr);
    assert_true(audit_clean(&audit));
}

uint64_t world_audit_violations(struct world *w, const char *check)
{
    static struct audit audit;
    audit.packet_id = 0;
    assert_int_equal(audit_run(&w->auditor->stores, &audit), ST_OK);
    for (enum audit_check i = 0; i < AUDIT_CHECK_COUNT; i++)
        if (strcmp(audit_check_name(i), check) == 0)
            return audit.checks[i].violations;
    fail_msg("there is no check %s", check);
    return 0;
}

bool audit_names_subject(const struct audit *audit, enum audit_check check, const char *subject)
{
    for (uint64_t i = 0; i < audit->checks[check].violations && i < AUDIT_ROWS_MAX; i++)
        if (strcmp(audit->checks[check].rows[i].subject, subject) == 0)
            return true;
    return false;
}

bool audit_names(const struct audit *audit, enum audit_check check, const char *kind, uint64_t id)
{
    char subject[AUDIT_SUBJECT_MAX];
    (void)snprintf(subject, sizeof subject, "%s %llu", kind, (unsigned long long)id);
    return audit_names_subject(audit, check, subject);
}

bool world_audit_names(struct world *w, enum audit_check check, const char *kind, uint64_t id)
{
    static struct audit audit;
    audit.packet_id = 0;
    assert_int_equal(audit_run(&w->auditor->stores, &audit), ST_OK);
    return audit_names(&audit, check, kind, id);
}

struct settle_partition *world_partition(struct world *w, uint64_t packet_id)
{
    return &w->settle->partitions[packet_partition(packet_id, w->config->partitions)];
}
