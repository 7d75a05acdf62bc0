/* The operator of the torture test: commands of the treasury, each repeated until it has succeeded. At most one call
 * fails in a run, so the second try succeeds, and what it does is done once. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"
#include "commands/money.h"
#include "ledger/channel.h"
#include "ledger/external.h"
#include "ledger/topup.h"
#include "ledger/withdrawal.h"
#include "mysql/db.h"
#include "torture.h"

enum { TRIES = 3, WORDS_MAX = 12, ARENA_BYTES = 1 << 20, PAYEE = 4, IMPORTED = 3 };

static const char CHANNEL[] = TORTURE_CHANNEL;

static struct {
    const struct config *config;
    struct db *db; /* undisturbed: to look up ids */
    struct arena *arena;
} desk;

static void expect(bool ok, const char *what)
{
    if (ok)
        return;
    (void)fprintf(stderr, "torture: the treasury: %s\n", what);
    exit(1);
}

/* Runs `hongbao money WORDS` until it succeeds. The list ends with NULL. */
static void money(const char *const *words)
{
    int code = 1;
    for (int i = 0; i < TRIES && code != 0; i++) {
        char *argv[WORDS_MAX + 1] = { (char *)"money" };
        int argc = 1;
        for (; words[argc - 1] != NULL; argc++)
            argv[argc] = (char *)words[argc - 1];
        torture_on();
        code = money_command(desk.config, argc, argv);
        torture_off();
    }
    expect(code == 0, words[0]);
}
#define MONEY(...) money((const char *const[]){ __VA_ARGS__, NULL })

static struct channel channel_of_desk(void)
{
    struct channel channel;
    expect(channel_find(desk.db, desk.arena, str_from(CHANNEL), &channel) == ST_OK, "there is no channel");
    return channel;
}

static const char *transfer_of(const char *reference)
{
    struct external_transfer found;
    expect(external_find(desk.db, desk.arena, channel_of_desk().id, str_from(reference), &found) == ST_OK,
           "a reference has no transfer");
    return TEXT("%" PRIu64, found.id);
}

static void import(const char *key, const char *username)
{
    char path[] = "/tmp/hongbao-torture-XXXXXX";
    int fd = mkstemp(path);
    FILE *out = fd < 0 ? NULL : fdopen(fd, "w");
    expect(out != NULL && fputs("username,amount,reference\n", out) >= 0, "no file");
    for (int i = 0; i < IMPORTED; i++)
        (void)fprintf(out, "%s,0.50,%s-i%d\n", username, key, i);
    expect(fclose(out) == 0, "no file");
    MONEY("import", path, "--channel", CHANNEL);
    (void)unlink(path);
}

/* Takes 0.10 out of the payee's wallet; the number of the withdrawal. */
static const char *hold(const char *key)
{
    const uint64_t channel_id = channel_of_desk().id;
    enum status st = ST_UNKNOWN;
    for (int i = 0; i < TRIES && st != ST_OK && st != ST_EXISTS; i++) {
        torture_on();
        st = withdrawal_hold(desk.db, torture->users[PAYEE].id, channel_id, 10, STR("bank"), str_from(key),
                             clock_now_ms());
        torture_off();
    }
    expect(st == ST_OK || st == ST_EXISTS, "a withdrawal is not held");
    struct db_rows rows;
    expect(db_query(desk.db, desk.arena, &rows, "SELECT id FROM withdrawal WHERE user_id = ? AND request_key = ?",
                    DB_PARAMS(DB_U64(torture->users[PAYEE].id), DB_TEXT(str_from(key)))) == ST_OK &&
               rows.count == 1,
           "a withdrawal has no row");
    return TEXT("%" PRIu64, db_cell_u64(&rows, 0, 0));
}

/* An order of the payee of 0.20; its number. */
static const char *order(const char *key)
{
    struct topup made = { .user_id = torture->users[PAYEE].id,
                          .channel = { .id = channel_of_desk().id },
                          .amount_fen = 20,
                          .request_key = str_from(key) };
    bool repeated;
    enum status st = ST_UNKNOWN;
    for (int i = 0; i < TRIES && st != ST_OK; i++) {
        torture_on();
        st = topup_open(desk.db, desk.arena, &made, &repeated, clock_now_ms());
        torture_off();
    }
    expect(st == ST_OK, "an order is not made");
    return TEXT("%" PRIu64, made.id);
}

static int64_t balance(void)
{
    int64_t fen;
    expect(ledger_balance(desk.db, desk.arena, torture->users[PAYEE].id, &fen) == ST_OK, "no balance");
    return fen;
}

static void desk_open(const struct config *config)
{
    desk.config = config;
    desk.db = db_new(config);
    desk.arena = arena_new(ARENA_BYTES, ARENA_BYTES);
    expect(desk.db != NULL && desk.arena != NULL, "no memory");
}

static void desk_close(void)
{
    arena_free(desk.arena);
    db_free(desk.db);
}

void treasury_void(const struct config *config)
{
    struct db_rows rows;
    desk_open(config);
    expect(db_query(desk.db, desk.arena, &rows, "SELECT id FROM withdrawal WHERE user_id = ? AND state = 'pending'",
                    DB_PARAMS(DB_U64(torture->users[TORTURE_NEWCOMER].id))) == ST_OK &&
               rows.count == 1,
           "the newcomer has not one pending withdrawal");
    MONEY("void", TEXT("%" PRIu64, db_cell_u64(&rows, 0, 0)), "--reason", "wrong account");
    desk_close();
}

void treasury_work(const struct config *config, const char *key)
{
    const char *username = torture->users[PAYEE].username;
    desk_open(config);
    const int64_t before = balance();
    MONEY("channel", CHANNEL, "--note", "ACME", "--withdrawals", "on", "--withdraw-min", "0.10", "--topup-url",
          "https://pay.example/");
    MONEY("credit", username, "3.00", "--channel", CHANNEL, "--reference", TEXT("%s-c", key), "--memo", "工资");
    MONEY("debit", username, "1.00", "--channel", CHANNEL, "--reference", TEXT("%s-d", key));
    import(key, username);
    MONEY("reverse", transfer_of(TEXT("%s-d", key)), "--reference", TEXT("%s-r", key));
    const char *posted = hold(TEXT("%s-p", key)), *voided = hold(TEXT("%s-v", key));
    MONEY("withdrawals", "--json");
    MONEY("post", posted, "--reference", TEXT("%s-p", key));
    MONEY("void", voided, "--reason", "wrong account");
    const char *ordered = order(TEXT("%s-t", key));
    MONEY("topups", "--json");
    MONEY("paid", ordered, "--reference", TEXT("%s-t", key), "--amount", "0.25");
    MONEY("transfers", "--channel", CHANNEL, "--csv");
    MONEY("report", "--json");
    expect(balance() == before + 300 - 100 + 100 + 50 * IMPORTED - 10 + 25, "the payee has another balance");
    desk_close();
}
