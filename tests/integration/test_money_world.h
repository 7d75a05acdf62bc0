/* Worlds with channels: tests of money from outside. */
#ifndef HB_TEST_MONEY_WORLD_H
#define HB_TEST_MONEY_WORLD_H

#include <inttypes.h>
#include <mysql.h>

#include "base/array.h"
#include "ledger/channel.h"
#include "ledger/external.h"
#include "ledger/withdrawal.h"
#include "support/test_services.h"
#include "test_world.h"

/* The texts that a memo, a reason or a destination may have. */
#define ODD_TEXT "it's \"5 < 6 & 7\" \\ \\n ? % 红包🧧"

static const struct external_author ANNA = { .name = { "anna", 4 }, .interface = INTERFACE_COMMAND };

static inline struct db *money_db(void)
{
    return w->app->stores.db;
}

/* A new channel, which allows withdrawals; its id. */
static inline uint64_t channel_new(struct str name)
{
    static const struct channel_settings settings = { .withdraws = true };
    struct channel made;
    assert_int_equal(channel_open(money_db(), name, STR("of a test"), STR("anna"), clock_now_ms()), ST_OK);
    assert_int_equal(channel_find(money_db(), w->arena, name, &made), ST_OK);
    assert_int_equal(channel_withdrawals_set(money_db(), made.id, &settings, CHANNEL_WITHDRAWS), ST_OK);
    return made.id;
}

static inline struct external_row row_of(size_t user, int64_t amount_fen, const char *reference)
{
    return (struct external_row){
        .user_id = w->users[user], .amount_fen = amount_fen, .reference = str_from(reference), .memo = STR("memo")
    };
}

static inline enum status moved_all(enum transfer_kind kind, uint64_t channel_id, struct external_row *rows,
                                    size_t count)
{
    return external_move(money_db(), w->arena, kind, channel_id, rows, count, &ANNA, clock_now_ms());
}

/* One credit or debit, which must be made; its transfer. */
static inline uint64_t moved_one(enum transfer_kind kind, uint64_t channel_id, size_t user, int64_t amount_fen,
                                 const char *reference)
{
    struct external_row row = row_of(user, amount_fen, reference);
    assert_int_equal(moved_all(kind, channel_id, &row, 1), ST_OK);
    assert_false(row.repeated);
    assert_true(row.transfer_id > 0);
    return row.transfer_id;
}

/* The transfer of a reference. */
static inline struct external_transfer transfer_of(uint64_t channel_id, const char *reference)
{
    struct external_transfer found;
    assert_int_equal(external_find(money_db(), w->arena, channel_id, str_from(reference), &found), ST_OK);
    return found;
}

/* A number that says whether any row of money has changed. */
static inline int64_t money_read(void)
{
    return world_number(w,
                        "SELECT (SELECT COUNT(*) FROM transfer) + (SELECT COUNT(*) FROM external_transfer) +"
                        " (SELECT COUNT(*) FROM channel) + (SELECT COUNT(*) FROM account) +"
                        " (SELECT SUM(CRC32(CONCAT_WS(' ', id, kind, balance_fen))) FROM account) +"
                        " (SELECT COALESCE(SUM(CRC32(CONCAT_WS(' ', id, state, reason))), 0) FROM withdrawal)",
                        0);
}

/* Runs statements as an administrator, past the checks of the program, after `names`, which sets variables. Each has
 * this error, and changes nothing. */
struct sql_refusal {
    const char *sql;
    unsigned code;
};

static inline void sql_refused(const char *names, const struct sql_refusal *cases, size_t count)
{
    MYSQL *admin = test_services_mysql(w->app);
    EACH_TEXT (text, "SET NAMES utf8mb4", names)
        assert_of(text, mysql_query(admin, text) == 0);
    const int64_t before = money_read();
    for (size_t i = 0; i < count; i++) {
        const unsigned code = mysql_query(admin, cases[i].sql) == 0 ? 0 : mysql_errno(admin);
        if (code != cases[i].code || money_read() != before)
            fail_msg("%s: %u %s", cases[i].sql, code, mysql_error(admin));
    }
    mysql_close(admin);
}

/* What the routines signal (sql/migrations). */
enum { ROUTINE_REFUSED = 31001, ROUTINE_NOT_FOUND = 31002 };

#endif
