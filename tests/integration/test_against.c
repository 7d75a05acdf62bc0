/* A channel and its own list: each difference is found, and named once. */
#include "ledger/topup.h"
#include "money/against.h"
#include "support/test.h"
#include "test_money_world.h"

enum { TEXT_MAX = 4096 };

/* The differences as "KIND REFERENCE"; a missing row with the user, withdrawal or order that was found. */
struct told {
    char text[TEXT_MAX];
    size_t len;
    const char *meanwhile; /* a statement that somebody else executes after the first difference */
};

static enum status told_add(void *ctx, struct arena *a, const struct difference *d)
{
    struct told *t = ctx;
    const struct str reference = d->row.line != 0 ? d->row.reference : d->here.reference;
    (void)a;
    int len = snprintf(t->text + t->len, TEXT_MAX - t->len, "%s%s %.*s%s%s%s%s", t->len > 0 ? ", " : "",
                       difference_kind_name(d->kind), STR_ARG(reference), d->hint.user_id != 0 ? " user" : "",
                       d->hint.withdrawal != 0 ? " withdrawal" : "", d->hint.order != 0 ? " order" : "",
                       d->here.id != 0 && d->row.line != 0 ? " here" : "");
    assert_true(len > 0 && (size_t)len < TEXT_MAX - t->len);
    t->len += (size_t)len;
    if (t->meanwhile != NULL) {
        MYSQL *other = test_services_mysql(w->app);
        assert_int_equal(mysql_query(other, t->meanwhile), 0);
        mysql_close(other);
    }
    t->meanwhile = NULL;
    return ST_OK;
}

static void fault_fail(void *ctx, uint64_t line, struct str why)
{
    (void)ctx;
    fail_msg("line %" PRIu64 ": %.*s", line, STR_ARG(why));
}

/* The list with these rows, each filled up with empty cells. */
static struct str list_of(const char *rows)
{
    static char text[TEXT_MAX] = "\xef\xbb\xbfreference;amount;Kind;username;memo;bank's own\n";
    static size_t head;
    size_t len = head = head != 0 ? head : strlen(text);
    for (size_t cells = 1; *rows != '\0'; rows++) {
        assert_true(len + 8 < TEXT_MAX);
        cells += *rows == ';';
        for (; *rows == '\n' && cells < 6; cells++)
            text[len++] = ';';
        text[len++] = *rows;
        cells = *rows == '\n' ? 1 : cells;
    }
    return (struct str){ text, len };
}

/* Compares the channel with these rows; g has the time. */
static void compare(struct against *g, uint64_t channel, const char *rows, struct told *out)
{
    const struct str file = list_of(rows);
    out->len = 0;
    out->text[0] = '\0';
    g->file.stream = fmemopen((void *)(uintptr_t)file.ptr, file.len, "r"); /* only read */
    g->file.fault = fault_fail;
    g->channel_id = channel;
    g->found = told_add;
    g->ctx = out;
    assert_non_null(g->file.stream);
    assert_int_equal(against_check(g), ST_OK);
    assert_int_equal(against_compare(g, money_db()), ST_OK);
    (void)fclose(g->file.stream);
}

/* ---- a channel with a transfer of each kind ---- */

static void withdrawal_new(uint64_t channel, size_t user, int64_t fen, const char *key, const char *reference)
{
    struct withdrawal *found;
    size_t count;
    assert_int_equal(withdrawal_hold(money_db(), w->users[user], channel, fen, STR("x"), str_from(key), clock_now_ms()),
                     ST_OK);
    if (reference == NULL)
        return;
    assert_int_equal(withdrawal_pending(money_db(), w->arena, channel, 0, 1, &found, &count), ST_OK);
    struct withdrawal_end end = { .id = found[0].id, .post = true, .reference = str_from(reference) };
    end.reason = STR("");
    assert_int_equal(withdrawal_end(money_db(), w->arena, &end, &ANNA, clock_now_ms()), ST_OK);
}

static void reversed(uint64_t transfer, const char *reference)
{
    struct reversal r = { .transfer_id = transfer, .reference = str_from(reference), .memo = STR("") };
    assert_int_equal(external_reverse(money_db(), w->arena, &r, &ANNA, clock_now_ms()), ST_OK);
}

/* Here: credits C1 10.00, C2 20.00 and C3 5.00, which R3 reverses; debits D1 3.00 and D2 6.00, which R2 reverses; the
 * post P1 4.00 of users[1]; two pending withdrawals of users[0] of 7.00, one of users[1] of 8.00; an order of users[1]
 * of 9.00. All others are of users[0]. */
static uint64_t bank_new(void)
{
    const uint64_t bank = channel_new(STR("bank"));
    for (int i = 0; i < 2; i++)
        world_sqlf(w, "UPDATE user SET username = CONCAT('u', id - %" PRIu64 ") WHERE id = %" PRIu64, w->users[0],
                   w->users[i]);
    struct topup order = { .user_id = w->users[1], .channel.id = bank, .amount_fen = 900, .request_key = STR("order") };
    bool repeated;
    (void)moved_one(TRANSFER_CREDIT, bank, 0, 1000, "C1");
    (void)moved_one(TRANSFER_CREDIT, bank, 0, 2000, "C2");
    reversed(moved_one(TRANSFER_CREDIT, bank, 0, 500, "C3"), "R3");
    (void)moved_one(TRANSFER_DEBIT, bank, 0, 300, "D1");
    reversed(moved_one(TRANSFER_DEBIT, bank, 0, 600, "D2"), "R2");
    withdrawal_new(bank, 1, 400, "posted", "P1");
    withdrawal_new(bank, 0, 700, "first", NULL);
    withdrawal_new(bank, 0, 700, "second", NULL);
    withdrawal_new(bank, 1, 800, "third", NULL);
    assert_int_equal(topup_url_set(money_db(), bank, STR("https://pay.example/")), ST_OK);
    assert_int_equal(topup_open(money_db(), w->arena, &order, &repeated, clock_now_ms()), ST_OK);
    return bank;
}

/* Their rows in the list of the bank. */
#define FIRST "C1;10;;u0\nC2;20\n"
#define BACK  "C3;5\nR3;-5\nD2;-6\nR2;+6\n"
#define LAST  "D1;-3.00;;u0\nP1;4;post;u1\n"

WORLD_TEST(each_difference_is_named, 2)
{
    static const struct {
        const char *rows, *wanted;
    } cases[] = {
        { FIRST BACK LAST, "" },
        { FIRST LAST, "" }, /* what was reversed has moved nothing outside */
        { "C1;10;credit\nC2;20;in\nC3;5;CREDIT\nR3;5;reverse\nD2;6;debit\nR2;6;reverse\nD1;3;out\nP1;-4;Out\n", "" },
        { FIRST LAST "C3;5\nC3;-5\n", "" }, /* a reversal under the reference of the payment */
        { FIRST LAST "C3;-5\nC3;5\n", "" },
        { FIRST LAST "D2;-6\nD2;6\n", "" },
        /* not here */
        { FIRST LAST "X;1;;u1\nY;-1;;u1\nZ;1\nV;1;reverse\n", "missing X user, missing Y user, missing Z, missing V" },
        { FIRST LAST "X;1;;nobody-here\nY;-7;;nobody-here\n", "missing X, missing Y" },
        { FIRST LAST "X;-7;;u0\nY;-7;;u0\nZ;-7;;u0\nV;-7;;u1\n",
          "missing X user withdrawal, missing Y user withdrawal, missing Z user, missing V user" },
        { FIRST LAST "X;-8\nY;-8;;u1\n", "missing X withdrawal, missing Y user" },
        { FIRST LAST "X;9;;u1\nY;9;;u1\nZ;9;;u0\nV;9\n",
          "missing X user order, missing Y user, missing Z user, missing V" },
        { FIRST LAST "X;5;;;top-up 1\nY;5;;u0;top-up 1\nZ;5;;;top-up 2\n",
          "missing X user order, missing Y user, missing Z" },
        /* not in the list */
        { LAST, "unlisted C1, unlisted C2" },
        { FIRST, "unlisted D1, unlisted P1" },
        { FIRST LAST "C3;5\nR2;6\n", "unlisted R3, unlisted D2" },
        { FIRST LAST "R3;-5\nD2;-6\n", "unlisted C3, unlisted R2" },
        { "", "unlisted C1, unlisted C2, unlisted D1, unlisted P1" },
        /* otherwise */
        { "C1;10.01\nC2;20\n" LAST, "amount C1 here" },
        { FIRST "D1;-2\nP1;-5\n", "amount D1 here, amount P1 here" },
        { FIRST LAST "C1;-4\n", "amount C1 here" },
        { "C1;10;;u1\nC2;20;;nobody-here\n" LAST, "user C1 here, user C2 here" },
        { FIRST LAST "C1;-10\nD1;3\n", "reversed C1 here, reversed D1 here" },
        { "C1;-10\nC2;20\n" LAST, "reversed C1 here, unlisted C1" },
        { FIRST LAST "C3;5\nR3;5\nD2;-6\nR2;6\n", "reversed R3 here, unlisted R3" },
        { FIRST LAST "C1;10\nC2;20\nD1;-3\n", "twice C1, twice C2, twice D1" },
        { FIRST LAST "X;1\nX;1\nX;-1\n", "missing X, twice X, reversed X" },
    };
    const uint64_t bank = bank_new();
    world_sql(w, "UPDATE topup SET id = 1");
    EACH (c, cases) {
        struct told told = { .len = 0 };
        struct against g = { .until_ms = INT64_MAX };
        compare(&g, bank, c->rows, &told);
        if (strcmp(told.text, c->wanted) != 0)
            fail_msg("%s: \"%s\" instead of \"%s\"", c->rows, told.text, c->wanted);
        assert_ints({ g.here, 8 }, { g.file.faults, 0 }, { g.differences > 0, c->wanted[0] != '\0' });
    }
}

WORLD_TEST(since_is_about_the_transfers_here_alone, 2)
{
    static const struct {
        int64_t since_ms, until_ms;
        const char *rows, *wanted;
    } cases[] = {
        { 2000, INT64_MAX, "", "unlisted C2" },
        { 2001, INT64_MAX, "", "" },
        { 1000, 2000, "", "unlisted C1" },
        { 2000, INT64_MAX, "C1;10\nC2;20\n", "" },
        { 3000, INT64_MAX, "C1;11\nX;1\n", "amount C1 here, missing X" },
    };
    const uint64_t bank = channel_new(STR("bank")), other = channel_new(STR("other"));
    (void)moved_one(TRANSFER_CREDIT, bank, 0, 1000, "C1");
    (void)moved_one(TRANSFER_CREDIT, bank, 0, 2000, "C2");
    (void)moved_one(TRANSFER_CREDIT, other, 0, 2000, "X");
    world_sql(w, "UPDATE external_transfer SET created_ms = IF(reference = 'C1', 1000, 2000)");
    EACH (c, cases) {
        struct told told = { .len = 0 };
        struct against g = { .since_ms = c->since_ms, .until_ms = c->until_ms };
        compare(&g, bank, c->rows, &told);
        assert_string_equal(told.text, c->wanted);
    }
    world_sql(w, "UPDATE external_transfer AS x JOIN transfer AS t ON t.id = x.transfer_id"
                 " SET x.created_ms = t.created_ms");
}

/* A reversal of an older payment moves money of its own day. */
WORLD_TEST(half_of_a_reversed_pair_is_no_pair, 2)
{
    static const struct {
        int64_t since_ms, until_ms;
        const char *rows, *wanted;
    } cases[] = {
        { 0, INT64_MAX, "", "" },
        { 2000, INT64_MAX, "", "unlisted R1" },
        { 2000, INT64_MAX, "R1;-10\n", "" },
        { 2000, INT64_MAX, "R1;10;reverse\n", "" },
        { 2000, INT64_MAX, "C1;-10\n", "" }, /* under the reference of the payment */
        { 2000, INT64_MAX, "C1;10\n", "unlisted R1" },
        { 0, 2000, "", "unlisted C1" },
        { 0, 2000, "C1;10\n", "" },
    };
    const uint64_t bank = channel_new(STR("bank"));
    reversed(moved_one(TRANSFER_CREDIT, bank, 0, 1000, "C1"), "R1");
    world_sql(w, "UPDATE external_transfer SET created_ms = IF(reference = 'C1', 1000, 2000)");
    EACH (c, cases) {
        struct told told = { .len = 0 };
        struct against g = { .since_ms = c->since_ms, .until_ms = c->until_ms };
        compare(&g, bank, c->rows, &told);
        if (strcmp(told.text, c->wanted) != 0)
            fail_msg("%s: \"%s\" instead of \"%s\"", c->rows, told.text, c->wanted);
    }
    world_sql(w, "UPDATE external_transfer AS x JOIN transfer AS t ON t.id = x.transfer_id"
                 " SET x.created_ms = t.created_ms");
}

WORLD_TEST(all_is_compared_as_of_one_moment, 2)
{
    struct told told = { .meanwhile = "UPDATE external_transfer SET reference = CONCAT('new-', reference)" };
    struct against g = { .until_ms = INT64_MAX };
    const uint64_t bank = bank_new();
    compare(&g, bank, "X;1\n" FIRST LAST, &told);
    assert_string_equal(told.text, "missing X");
    assert_null(told.meanwhile);
    compare(&g, bank, FIRST LAST, &told);
    assert_string_equal(told.text, "missing C1 user, missing C2, missing D1 user, missing P1 user,"
                                   " unlisted new-C1, unlisted new-C2, unlisted new-D1, unlisted new-P1");
    world_sql(w, "UPDATE external_transfer SET reference = SUBSTR(reference, 5)");
}

TESTS(NULL, NULL)
