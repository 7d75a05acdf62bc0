/* ledger/ledger with a real MySQL: transfers are atomic, covered by the balance, and made once. */
#include "base/clock.h"
#include "base/random.h"
#include "ledger/channel.h"
#include "ledger/ledger.h"
#include "test_wallet_app.h"
#include "user/store.h"

/* Creates a wallet whose id is between the ids of users and packets, so that it belongs to no other test. */
static uint64_t fresh_account(void)
{
    uint64_t id = (uint64_t)1 << 40 | random_u64() >> 26;
    account_make(app, id, "wallet");
    return account_kept(id);
}

static enum status transfer_body(struct db *db, void *ctx)
{
    return transfer_make(db, ctx);
}

static enum status transfer_fen(struct db *db, uint64_t from, uint64_t to, int64_t fen)
{
    struct transfer t = {
        .kind = TRANSFER_SEND, .debit_id = from, .credit_id = to, .amount_fen = fen, .created_ms = clock_now_ms()
    };
    return db_transaction(db, transfer_body, &t);
}

static enum status moved(uint64_t from, uint64_t to, int64_t fen)
{
    return transfer_fen(app->stores.db, from, to, fen);
}

static uint64_t funded_account(int64_t fen)
{
    uint64_t id = fresh_account();
    assert_int_equal(moved(CHANNEL_DEMO_ID, id, fen), ST_OK);
    return id;
}

static int64_t number_from(const char *sql, uint64_t id)
{
    struct db_rows rows;
    assert_int_equal(db_query(app->stores.db, arena, &rows, sql, DB_PARAMS(DB_U64(id), DB_U64(id))), ST_OK);
    return db_cell(&rows, 0, 0).ptr != NULL ? db_cell_i64(&rows, 0, 0) : 0;
}

TEST(a_transfer_works_in_both_directions)
{
    uint64_t one = funded_account(1000), other = funded_account(1000);
    assert_int_equal(moved(one, other, 300), ST_OK);
    assert_ints({ balance_of(one), 700 }, { balance_of(other), 1300 });
    assert_int_equal(moved(other, one, 1300), ST_OK);
    assert_ints({ balance_of(one), 2000 }, { balance_of(other), 0 });
}

TEST(a_transfer_of_more_than_the_balance_is_refused)
{
    uint64_t poor = funded_account(100), other = fresh_account();
    assert_int_equal(moved(poor, other, 101), ST_INVALID);
    assert_ints({ balance_of(poor), 100 }, { balance_of(other), 0 });
    assert_int_equal(moved(poor, other, 100), ST_OK);
    assert_int_equal(balance_of(poor), 0);
    assert_int_equal(moved(poor, other, 1), ST_INVALID);
}

TEST(only_the_bank_may_go_below_zero)
{
    uint64_t id = fresh_account();
    int64_t before = balance_of(CHANNEL_DEMO_ID);
    assert_int_equal(moved(CHANNEL_DEMO_ID, id, 500), ST_OK);
    assert_true(balance_of(CHANNEL_DEMO_ID) <= before - 500);
    assert_true(balance_of(CHANNEL_DEMO_ID) < 0);
    /* The constraint of the table refuses it, too. */
    assert_int_equal(
        db_exec(app->stores.db, NULL, "UPDATE account SET balance_fen = -1 WHERE id = ?", DB_PARAMS(DB_U64(id))),
        ST_INVALID);
}

TEST(a_transfer_with_a_missing_account_changes_nothing)
{
    uint64_t id = funded_account(100);
    assert_int_equal(moved(id, (uint64_t)1 << 49, 50), ST_NOT_FOUND);
    assert_int_equal(moved((uint64_t)1 << 49, id, 50), ST_INVALID);
    assert_int_equal(balance_of(id), 100);
    int64_t fen;
    assert_int_equal(ledger_balance(app->stores.db, arena, (uint64_t)1 << 49, &fen), ST_NOT_FOUND);
}

TEST(a_user_has_one_wallet)
{
    struct user user = { .username = arena_printf(arena, "wallet%llx", (unsigned long long)random_u64()),
                         .nickname = STR("x") };
    assert_int_equal(user_insert(app->stores.db, arena, &app->stores.config->keys, &user, clock_now_ms()), ST_OK);
    assert_int_equal(balance_of(user.id), 0);
    assert_int_equal(ledger_wallet(app->stores.db, user.id), ST_EXISTS);
    assert_int_equal(ledger_wallet(app->stores.db, (uint64_t)1 << 49), ST_NOT_FOUND);
}

TEST(an_amount_is_above_zero_and_moves_between_two_accounts)
{
    uint64_t from = funded_account(100), to = fresh_account();
    assert_int_equal(moved(from, to, 0), ST_INVALID);
    assert_int_equal(moved(from, to, -5), ST_INVALID);
    assert_int_equal(moved(from, from, 5), ST_INVALID);
    assert_ints({ balance_of(from), 100 }, { balance_of(to), 0 });
}

TEST(a_transfer_of_a_packet_is_made_once)
{
    uint64_t from = funded_account(1000), to = fresh_account();
    struct transfer t = { .kind = TRANSFER_SEND,
                          .debit_id = from,
                          .credit_id = to,
                          .amount_fen = 10,
                          .packet_id = from,
                          .seq = 0,
                          .created_ms = clock_now_ms() };
    assert_int_equal(db_transaction(app->stores.db, transfer_body, &t), ST_OK);
    assert_int_equal(db_transaction(app->stores.db, transfer_body, &t), ST_EXISTS);
    t.seq = 1;
    assert_int_equal(db_transaction(app->stores.db, transfer_body, &t), ST_OK);
    t.kind = TRANSFER_REFUND;
    assert_int_equal(db_transaction(app->stores.db, transfer_body, &t), ST_OK);
    assert_ints({ balance_of(to), 30 }, { balance_of(from), 970 });
}

static uint64_t race_from, race_to;

static int take_ten(void *ctx)
{
    (void)ctx;
    return (int)transfer_fen(db_new(app->stores.config), race_from, race_to, 10);
}

TEST(concurrent_debits_take_no_more_than_the_balance)
{
    unsigned exits[RACE_RESULTS];
    race_from = funded_account(105);
    race_to = fresh_account();
    race_run(20, take_ten, NULL, exits);
    assert_ints({ exits[ST_OK], 10 }, { exits[ST_INVALID], 10 });
    assert_ints({ balance_of(race_from), 5 }, { balance_of(race_to), 100 });
}

enum { RACERS = 8, TURNS = 25 };

/* Half of the racers transfer in one direction, half in the other, all the time. */
static int one_way(void *ctx)
{
    struct db *db = db_new(app->stores.config);
    bool there = race_number() % 2 == 0;
    (void)ctx;
    for (int i = 0; i < TURNS; i++) {
        enum status st = transfer_fen(db, there ? race_from : race_to, there ? race_to : race_from, there ? 3 : 2);
        if (st != ST_OK)
            return (int)st;
    }
    return ST_OK;
}

/* The number of deadlocks since the server was started. */
static int64_t deadlocks(void)
{
    return number_from("SELECT variable_value FROM information_schema.global_status"
                       " WHERE variable_name = 'INNODB_DEADLOCKS' AND ? = ?",
                       0);
}

TEST(opposite_transfers_do_not_deadlock_and_a_balance_is_the_sum_of_its_transfers)
{
    unsigned exits[RACE_RESULTS];
    int64_t before = deadlocks();
    race_from = funded_account(1000);
    race_to = funded_account(1000);
    race_run(RACERS, one_way, NULL, exits);
    assert_int_equal(exits[ST_OK], RACERS);
    assert_int_equal(deadlocks(), before); /* db_transaction would hide a deadlock by a retry */
    const uint64_t ids[] = { race_from, race_to };
    for (size_t i = 0; i < 2; i++) {
        int64_t in = number_from("SELECT SUM(amount_fen) FROM transfer WHERE credit_id = ? AND debit_id <> ?", ids[i]);
        int64_t out = number_from("SELECT SUM(amount_fen) FROM transfer WHERE debit_id = ? AND credit_id <> ?", ids[i]);
        const int64_t left = 1000 + (i == 0 ? -1 : 1) * RACERS / 2 * TURNS;
        assert_ints({ balance_of(ids[i]), left }, { in - out, left });
    }
}

TESTS(app_setup, wallet_teardown)
