/* Money from outside, moved by many at once: each with a connection of its own. */
#include <mysqld_error.h>
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#include "ledger/topup.h"
#include "money/transfers.h"
#include "support/test.h"
#include "support/wait_until.h"
#include "test_service_world.h"
#include "test_user_fixture.h"

/* MANY: more than the server of the tests takes connections. */
enum { MANY = 200, RACERS = 40, TRIES_MAX = 3000, TRY_US = 20000 };
/* What a racer answers beside a status. */
enum { WAS_REPEATED = RACE_RESULTS - 1 };

/* Whether the caller should try again: the server had no place for it, or others had the locks. */
static bool is_busy(enum status st)
{
    return st == ST_UNAVAILABLE || st == ST_CONFLICT;
}

/* Repeats a call until it is decided. */
static int decided(enum status (*call)(struct db *db, struct arena *a, bool *repeated))
{
    struct db *db = db_new(w->config);
    struct arena *a = arena_new(1 << 16, 1 << 24);
    enum status st = ST_UNAVAILABLE;
    bool repeated = false;
    for (int tries = 0; tries < TRIES_MAX && is_busy(st = call(db, a, &repeated)); tries++)
        (void)usleep(TRY_US);
    db_free(db); /* the next racer gets its place */
    arena_free(a);
    return st == ST_OK && repeated ? WAS_REPEATED : (int)st;
}

static uint64_t race_channel, race_id;

static enum status credit_call(struct db *db, struct arena *a, bool *repeated)
{
    struct external_row row = row_of(0, 5, "once");
    enum status st = external_move(db, a, TRANSFER_CREDIT, race_channel, &row, 1, &ANNA, clock_now_ms());
    *repeated = row.repeated;
    return st;
}

static enum status post_call(struct db *db, struct arena *a, bool *repeated)
{
    struct withdrawal_end end = { .id = race_id, .post = true, .reference = STR("paid") };
    enum status st = withdrawal_end(db, a, &end, &ANNA, clock_now_ms());
    *repeated = end.repeated;
    return st;
}

/* Half of them post, half of them void. */
static enum status end_call(struct db *db, struct arena *a, bool *repeated)
{
    struct withdrawal_end end = { .id = race_id, .post = race_number() % 2 == 0, .reference = STR("p") };
    end.reason = STR("v");
    enum status st = withdrawal_end(db, a, &end, &ANNA, clock_now_ms());
    *repeated = end.repeated;
    return st;
}

static enum status reverse_call(struct db *db, struct arena *a, bool *repeated)
{
    struct reversal r = { .transfer_id = race_id, .reference = STR("back"), .memo = STR("") };
    enum status st = external_reverse(db, a, &r, &ANNA, clock_now_ms());
    *repeated = r.repeated;
    return st;
}

/* All of them ask for the whole wallet, with one key. */
static enum status hold_call(struct db *db, struct arena *a, bool *repeated)
{
    (void)a;
    (void)repeated;
    return withdrawal_hold(db, w->users[0], race_channel, FUNDED_FEN, STR("x"), STR("k"), clock_now_ms());
}

static enum status open_call(struct db *db, struct arena *a, bool *repeated)
{
    (void)repeated;
    struct str name = arena_printf(a, "c%u", race_number() / 2); /* two ask for each name */
    return channel_open(db, name, STR(""), STR("anna"), clock_now_ms());
}

/* Each makes an order of its own. */
static enum status order_call(struct db *db, struct arena *a, bool *repeated)
{
    struct topup order = { .user_id = w->users[0], .channel.id = race_channel, .amount_fen = 5 };
    order.request_key = arena_printf(a, "%u", race_number());
    return topup_open(db, a, &order, repeated, clock_now_ms());
}

static int race_body(void *ctx)
{
    enum status (*const *call)(struct db *, struct arena *, bool *) = ctx;
    return decided(*call);
}

static void raced(unsigned racers, enum status (*call)(struct db *, struct arena *, bool *),
                  unsigned results[RACE_RESULTS])
{
    race_run(racers, race_body, &call, results);
    world_audit_clean(w);
}

WORLD_TEST(two_hundred_calls_with_one_reference_make_one_transfer, 1)
{
    unsigned exits[RACE_RESULTS];
    race_channel = channel_new(STR("bank"));
    raced(MANY, credit_call, exits);
    assert_ints({ exits[ST_OK], 1 }, { exits[WAS_REPEATED], MANY - 1 });
    assert_wallets(0, FUNDED_FEN + 5);
}

static const struct caller *race_caller;

/* Half of them ask with a reference of their own, for more together than the service may move. */
static enum status service_call(struct db *db, struct arena *a, bool *repeated)
{
    const unsigned no = race_number();
    struct external_row row = row_of(0, 5, no % 2 == 0 ? "once" : arena_printf(a, "own-%u", no).ptr);
    enum status st = external_move(db, a, TRANSFER_CREDIT, race_channel, &row, 1, &race_caller->author, clock_now_ms());
    *repeated = row.repeated;
    return st;
}

WORLD_TEST(two_hundred_calls_of_a_service_make_one_transfer_for_each_reference_up_to_its_limit, 1)
{
    enum { ALLOWED = 20 };
    unsigned exits[RACE_RESULTS];
    race_channel = channel_new(STR("bank"));
    race_caller = caller_new(STR("shop"), ALL_SCOPES, race_channel, ALLOWED * 5);
    raced(MANY, service_call, exits);
    const int64_t made = world_number(w, "SELECT COUNT(*) FROM external_transfer", 0);
    assert_ints({ made, ALLOWED }, { exits[ST_OK], ALLOWED },
                { exits[ST_OK] + exits[WAS_REPEATED] + exits[ST_LIMITED], MANY },
                { moved_fen(STR("shop")), ALLOWED * 5 });
    assert_wallets(0, FUNDED_FEN + ALLOWED * 5);
}

WORLD_TEST(a_transfer_is_reversed_once, 1)
{
    unsigned exits[RACE_RESULTS];
    race_channel = channel_new(STR("bank"));
    race_id = moved_one(TRANSFER_CREDIT, race_channel, 0, 5, "once");
    raced(RACERS, reverse_call, exits);
    assert_ints({ exits[ST_OK], 1 }, { exits[WAS_REPEATED], RACERS - 1 });
    assert_wallets(0, FUNDED_FEN);
}

WORLD_TEST(a_withdrawal_is_held_and_ended_once, 1)
{
    unsigned exits[RACE_RESULTS];
    race_channel = channel_new(STR("bank"));
    raced(RACERS, hold_call, exits);
    assert_ints({ exits[ST_OK], 1 }, { exits[ST_EXISTS], RACERS - 1 });
    assert_wallets(0, 0);
    race_id = (uint64_t)world_number(w, "SELECT id FROM withdrawal", 0);
    raced(RACERS, post_call, exits);
    assert_ints({ exits[ST_OK], 1 }, { exits[WAS_REPEATED], RACERS - 1 });
    assert_int_equal(world_balance(w, race_channel), FUNDED_FEN);
    moved_one(TRANSFER_CREDIT, race_channel, 0, FUNDED_FEN, "more");
    assert_int_equal(
        withdrawal_hold(money_db(), w->users[0], race_channel, FUNDED_FEN, STR("x"), STR("2"), clock_now_ms()), ST_OK);
    race_id = (uint64_t)world_number(w, "SELECT MAX(id) FROM withdrawal", 0);
    raced(RACERS, end_call, exits); /* one way has won */
    assert_ints({ exits[ST_OK], 1 }, { exits[WAS_REPEATED], RACERS / 2 - 1 }, { exits[ST_EXISTS], RACERS / 2 });
}

WORLD_TEST(of_the_orders_that_a_user_makes_at_once_twenty_wait, 1)
{
    enum { WAITING_MAX = 20 };
    unsigned exits[RACE_RESULTS];
    race_channel = channel_new(STR("cards"));
    assert_int_equal(topup_url_set(money_db(), race_channel, STR("https://pay.example/")), ST_OK);
    raced(RACERS, order_call, exits);
    assert_ints({ exits[ST_OK], WAITING_MAX }, { exits[ST_INVALID], RACERS - WAITING_MAX },
                { world_number(w, "SELECT COUNT(*) FROM topup", 0), WAITING_MAX });
}

WORLD_TEST(channels_that_are_made_at_once_have_ids_of_their_own, 0)
{
    unsigned exits[RACE_RESULTS];
    raced(RACERS, open_call, exits);
    assert_ints({ exits[ST_OK], RACERS / 2 }, { exits[ST_EXISTS], RACERS / 2 });
    assert_int_equal(world_number(w, "SELECT COUNT(*) FROM channel WHERE id BETWEEN 16 AND 35", 0), RACERS / 2);
}

/* ---- one statement that waits in the middle ---- */

/* A statement of an administrator, on a connection of its own. */
struct half_way {
    pthread_t thread;
    MYSQL *mysql;
    const char *sql;
    unsigned code; /* the server's error; 0: done */
};

static void *half_way_run(void *ctx)
{
    struct half_way *h = ctx;
    h->code = mysql_query(h->mysql, h->sql) == 0 ? 0 : mysql_errno(h->mysql);
    return NULL;
}

static void half_way_begin(struct half_way *h, const char *sql)
{
    *h = (struct half_way){ .mysql = test_services_mysql(w->app), .sql = sql };
    assert_int_equal(mysql_query(h->mysql, "SET autocommit = 0, innodb_lock_wait_timeout = 600"), 0);
    (void)mysql_query(h->mysql, "SET innodb_snapshot_isolation = ON"); /* as the program; some servers lack it */
    assert_int_equal(pthread_create(&h->thread, NULL, half_way_run, h), 0);
}

/* Its error. */
static unsigned half_way_end(struct half_way *h)
{
    assert_int_equal(pthread_join(h->thread, NULL), 0);
    (void)mysql_query(h->mysql, h->code == 0 ? "COMMIT" : "ROLLBACK");
    mysql_close(h->mysql);
    return h->code;
}

static int64_t row_lock_waits(void)
{
    return world_number(w,
                        "SELECT CAST(variable_value AS SIGNED) FROM information_schema.global_status"
                        " WHERE variable_name = 'INNODB_ROW_LOCK_CURRENT_WAITS'",
                        0);
}

/* An import and the refunds of a batch add many rows of transfer with one statement. */
WORLD_TEST(a_send_does_not_wait_for_a_statement_that_adds_many_transfers, 2)
{
    MYSQL *gate = test_services_mysql(w->app);
    struct half_way adding;
    assert_int_equal(mysql_query(gate, "DO GET_LOCK('half', 0)"), 0);
    half_way_begin(&adding, arena_printf(w->arena,
                                         "INSERT INTO transfer (kind, debit_id, credit_id, amount_fen, request_key,"
                                         " created_ms) SELECT 'deposit', 1, %" PRIu64 ", IF(n = 1, 1, GET_LOCK('half',"
                                         " 600) - 1), n, 1 FROM (SELECT 1 AS n UNION ALL SELECT 2) AS two",
                                         w->users[1])
                                .ptr); /* the second amount is refused: nothing stays */
    WAIT_UNTIL(world_number(w, "SELECT COUNT(*) FROM information_schema.processlist WHERE state = 'User lock'", 0) ==
               1);
    assert_true(world_send(w, 0, PACKET_EVEN, 100, 1, HOUR_MS, -1) > 0);
    assert_int_equal(mysql_query(gate, "DO RELEASE_LOCK('half')"), 0);
    assert_int_equal(half_way_end(&adding), ER_CONSTRAINT_FAILED);
    mysql_close(gate);
}

/* The owner may not lose what came while the deletion waited. */
WORLD_TEST(a_deletion_that_waited_for_a_credit_asks_about_its_money, 1)
{
    const uint64_t channel = channel_new(STR("bank")), user = w->users[0];
    MYSQL *payer = test_services_mysql(w->app);
    struct half_way deleting;
    moved_one(TRANSFER_DEBIT, channel, 0, FUNDED_FEN, "all");
    world_sqlf(w, "UPDATE user SET password_hash = 'hash' WHERE id = %" PRIu64, user);
    struct str credit = arena_printf(
        w->arena, "CALL ledger_external('credit', %" PRIu64 ", '[[%" PRIu64 ",5,\"late\",\"\"]]', 'anna', 'page', 1)",
        channel, user);
    EACH_TEXT (sql, "BEGIN", credit.ptr)
        assert_of(sql, mysql_query(payer, sql) == 0);
    half_way_begin(&deleting,
                   arena_printf(w->arena, "CALL user_delete(%" PRIu64 ", 'hash', REPEAT('x', 32), FALSE)", user).ptr);
    WAIT_UNTIL(row_lock_waits() == 1);
    assert_int_equal(mysql_query(payer, "COMMIT"), 0);
    assert_int_equal(half_way_end(&deleting), ROUTINE_REFUSED);
    assert_int_equal(world_number(w, "SELECT deleting_ms IS NULL FROM user WHERE id = ?", user), 1);
    mysql_close(payer);
}

/* It may not be refused because what it waited for is newer than what it has read (0020). */
WORLD_TEST(a_service_that_waited_for_a_credit_moves_its_money, 2)
{
    const uint64_t channel = channel_new(STR("bank"));
    const struct caller *caller = caller_new(STR("shop"), ALL_SCOPES, channel, 0);
    MYSQL *payer = test_services_mysql(w->app);
    char hex[2 * HASH_BYTES + 1];
    struct half_way calling;
    for (size_t i = 0; i < HASH_BYTES; i++)
        (void)snprintf(hex + 2 * i, 3, "%02x", caller->hash[i]);
    struct str credit = arena_printf(
        w->arena, "CALL ledger_external('credit', %" PRIu64 ", '[[%" PRIu64 ",5,\"other\",\"\"]]', 'anna', 'page', 1)",
        channel, w->users[1]);
    EACH_TEXT (sql, "BEGIN", credit.ptr)
        assert_of(sql, mysql_query(payer, sql) == 0);
    half_way_begin(&calling,
                   arena_printf(w->arena,
                                "CALL service_external(X'%s', 'credit', %" PRIu64 ", %" PRIu64 ", 7, 'own', '', NULL)",
                                hex, channel, w->users[0])
                       .ptr);
    WAIT_UNTIL(row_lock_waits() == 1);
    assert_int_equal(mysql_query(payer, "COMMIT"), 0);
    assert_int_equal(half_way_end(&calling), 0);
    mysql_close(payer);
    assert_wallets(0, FUNDED_FEN + 7, FUNDED_FEN + 5);
}

/* ---- lists that are followed ---- */

/* The ids of the next page of a list, one a row. */
static size_t transfers_next(void *ctx, uint64_t *ids)
{
    struct transfers_query *query = ctx;
    struct transfer_line *lines;
    size_t count;
    assert_int_equal(transfers_page(money_db(), w->arena, query, &lines, &count), ST_OK);
    for (size_t i = 0; i < count; i++)
        ids[i] = lines[i].id;
    return count;
}

struct pending_query {
    uint64_t channel, after;
};

static size_t pending_next(void *ctx, uint64_t *ids)
{
    struct pending_query *query = ctx;
    struct withdrawal *page;
    size_t count;
    assert_int_equal(
        withdrawal_pending(money_db(), w->arena, query->channel, query->after, TRANSFERS_PAGE_ROWS, &page, &count),
        ST_OK);
    for (size_t i = 0; i < count; i++)
        ids[i] = query->after = page[i].id;
    return count;
}

/* Makes a row by a transaction that stays open, and another row beside it; follows the list meanwhile. The later row
 * may not be seen before the open one, whose id is smaller. */
static void list_followed(const char *open_sql, const char *beside_sql, size_t (*next)(void *ctx, uint64_t *ids),
                          void *query)
{
    MYSQL *open = test_services_mysql(w->app);
    uint64_t ids[TRANSFERS_PAGE_ROWS];
    struct half_way beside;
    EACH_TEXT (sql, "BEGIN", open_sql)
        assert_of(sql, mysql_query(open, sql) == 0);
    half_way_begin(&beside, beside_sql);
    WAIT_UNTIL(row_lock_waits() == 1);
    assert_int_equal(next(query, ids), 0);
    assert_int_equal(mysql_query(open, "COMMIT"), 0);
    assert_int_equal(half_way_end(&beside), 0);
    mysql_close(open);
    assert_int_equal(next(query, ids), 2);
    assert_true(ids[0] < ids[1]);
    assert_int_equal(next(query, ids), 0);
}

WORLD_TEST(who_follows_the_transfers_of_a_channel_misses_none_that_is_committed_late_or_has_an_earlier_time, 2)
{
    const uint64_t channel = channel_new(STR("bank"));
    struct transfers_query query = { .channel_id = channel, .until_ms = INT64_MAX };
    uint64_t ids[TRANSFERS_PAGE_ROWS];
    const char *calls[2];
    for (size_t i = 0; i < ARRAY_LEN(calls); i++)
        calls[i] = arena_printf(w->arena,
                                "CALL ledger_external('credit', %" PRIu64 ", '[[%" PRIu64 ",5,\"%zu\",\"\"]]', 'anna',"
                                " 'page', %zu)",
                                channel, w->users[i], i, 2 - i)
                       .ptr; /* the second one says the earlier time */
    moved_one(TRANSFER_CREDIT, channel, 0, 5, "now");
    assert_int_equal(transfers_next(&query, ids), 1);
    list_followed(calls[0], calls[1], transfers_next, &query);
}

WORLD_TEST(who_follows_the_pending_withdrawals_misses_none_that_is_committed_late, 2)
{
    const uint64_t channel = channel_new(STR("bank"));
    struct pending_query query = { .channel = channel };
    const char *calls[2];
    for (size_t i = 0; i < ARRAY_LEN(calls); i++)
        calls[i] = arena_printf(w->arena, "CALL withdrawal_hold(%" PRIu64 ", %" PRIu64 ", 5, 'x', 'k', %zu)",
                                w->users[i], channel, 2 - i)
                       .ptr;
    list_followed(calls[0], calls[1], pending_next, &query);
}

/* ---- batches beside packets ---- */

enum { USERS = 8, BATCHES = 30, ROWS = 40, BATCHERS = 4 };

/* Two of each channel: one credits, one debits. */
struct batcher {
    pthread_t thread;
    size_t no;
    uint64_t channel_id;
    enum transfer_kind kind;
    enum status st;
    unsigned conflicts;
};
static atomic_size_t batchers_left;

static enum status batch_move(struct batcher *b, struct db *db, struct arena *a, int batch)
{
    struct external_row rows[ROWS];
    for (size_t i = 0; i < ROWS; i++)
        rows[i] = row_of((i * (b->no + 3)) % USERS, 3, arena_printf(a, "%zu-%d-%zu", b->no, batch, i).ptr);
    return external_move(db, a, b->kind, b->channel_id, rows, ROWS, &ANNA, clock_now_ms());
}

static void *batches_move(void *ctx)
{
    struct batcher *b = ctx;
    struct db *db = db_new(w->config);
    struct arena *a = arena_new(1 << 16, 1 << 24);
    for (int batch = 0; batch < BATCHES && b->st == ST_OK; batch++) {
        for (int tries = 0; tries < TRIES_MAX && is_busy(b->st = batch_move(b, db, a, batch)); tries++)
            b->conflicts++;
        arena_reset(a);
    }
    db_free(db);
    arena_free(a);
    atomic_fetch_sub(&batchers_left, 1);
    return NULL;
}

/* Packets are sent, opened and settled until the batches are done. */
static uint64_t packets_meanwhile(void)
{
    uint64_t settled = 0;
    for (size_t sender = 0; atomic_load(&batchers_left) > 0; sender = (sender + 1) % USERS) {
        const uint64_t id = world_send(w, sender, PACKET_EVEN, 40, USERS, HOUR_MS, -1);
        world_grab_all(w, id, 0, USERS);
        settled += world_drain(w);
    }
    return settled;
}

WORLD_TEST(batches_of_two_channels_and_packets_of_the_same_users_lose_no_fen, USERS)
{
    const uint64_t channels[] = { channel_new(STR("bank")), channel_new(STR("payroll")) };
    struct batcher batchers[BATCHERS];
    atomic_store(&batchers_left, BATCHERS);
    for (size_t i = 0; i < BATCHERS; i++) {
        batchers[i] = (struct batcher){ .no = i,
                                        .channel_id = channels[i / 2],
                                        .kind = i % 2 == 0 ? TRANSFER_CREDIT : TRANSFER_DEBIT };
        assert_int_equal(pthread_create(&batchers[i].thread, NULL, batches_move, &batchers[i]), 0);
    }
    const uint64_t settled = packets_meanwhile();
    EACH (b, batchers) {
        assert_int_equal(pthread_join(b->thread, NULL), 0);
        assert_ints({ b->st, ST_OK }, { b->conflicts, 0 });
    }
    assert_true(settled >= USERS);
    (void)world_drain(w);
    assert_ints({ world_number(w, "SELECT COUNT(*) FROM external_transfer", 0), BATCHERS * BATCHES * ROWS },
                { world_balance(w, channels[0]), 0 }, { world_balance(w, channels[1]), 0 });
    assert_int_equal(world_number(w, "SELECT SUM(balance_fen) FROM account WHERE kind IN ('wallet', 'escrow')", 0),
                     USERS * FUNDED_FEN);
}

TESTS(NULL, NULL)
