/* Withdrawals, which are held, and posted or voided once; reversals; and what a deletion does with this money. */
#include <mysqld_error.h>

#include "support/test.h"
#include "test_lost_commit.h"
#include "test_money_world.h"
#include "user/deletion.h"

static const struct external_author BEN = { .name = { "ben", 3 }, .interface = INTERFACE_PAGE };

/* A withdrawal of users[user], which must be held; its id. */
static uint64_t held(size_t user, uint64_t channel, int64_t fen, const char *key)
{
    assert_int_equal(
        withdrawal_hold(money_db(), w->users[user], channel, fen, STR(ODD_TEXT), str_from(key), clock_now_ms()), ST_OK);
    return (uint64_t)world_number(w, "SELECT MAX(id) FROM withdrawal", 0);
}

static struct withdrawal_end post(uint64_t id, const char *reference)
{
    return (struct withdrawal_end){ .id = id, .post = true, .reference = str_from(reference) };
}

static struct withdrawal_end void_for(uint64_t id, const char *reason)
{
    return (struct withdrawal_end){ .id = id, .reason = str_from(reason) };
}

static enum status ended(struct withdrawal_end *end)
{
    return withdrawal_end(money_db(), w->arena, end, &BEN, clock_now_ms());
}

static void posted(uint64_t id, const char *reference)
{
    struct withdrawal_end end = post(id, reference);
    assert_int_equal(ended(&end), ST_OK);
}

/* ---- holding ---- */

WORLD_TEST(a_withdrawal_takes_the_money_at_once_and_once_for_each_key, 2)
{
    const uint64_t channel = channel_new(STR("bank"));
    const uint64_t id = held(0, channel, FUNDED_FEN, "key");
    struct withdrawal found;
    assert_wallets(0, 0, FUNDED_FEN);
    assert_ints({ world_balance(w, ACCOUNT_PENDING_ID), FUNDED_FEN }, { world_balance(w, channel), 0 });
    assert_int_equal(withdrawal_hold(money_db(), w->users[0], channel, FUNDED_FEN, STR("x"), STR("key"), 5), ST_EXISTS);
    (void)held(1, channel, 5, "key"); /* a key is of its user */
    assert_int_equal(withdrawal_find(money_db(), w->arena, id, &found), ST_OK);
    assert_ints({ found.id, id }, { found.user_id, w->users[0] }, { found.channel_id, channel },
                { found.amount_fen, FUNDED_FEN }, { found.state, WITHDRAWAL_PENDING }, { found.ended_ms, 0 },
                { found.created_ms > 0, 1 }, { found.author.len, 0 }, { found.reference.len, 0 });
    assert_true(str_equal(found.destination, STR(ODD_TEXT)) && str_equal(found.channel, STR("bank")));
    assert_true(str_starts(found.username, STR("demo")));
    assert_int_equal(withdrawal_find(money_db(), w->arena, id + 10, &found), ST_NOT_FOUND);
}

WORLD_TEST(a_withdrawal_that_is_wrong_is_refused, 2)
{
    const uint64_t channel = channel_new(STR("bank"));
    char long_text[DESTINATION_CODE_POINTS_MAX + 2];
    memset(long_text, 'x', sizeof long_text - 1);
    long_text[sizeof long_text - 1] = '\0';
    world_sqlf(w, "UPDATE user SET deleting_ms = 1 WHERE id = %" PRIu64, w->users[1]);
    const struct {
        const char *what;
        uint64_t user_id, channel_id;
        int64_t fen;
        const char *destination, *key;
        enum status status;
    } cases[] = {
        { "no user", 77, channel, 5, "x", "k", ST_NOT_FOUND },
        { "a user who is being deleted", w->users[1], channel, 5, "x", "k", ST_NOT_FOUND },
        { "no channel", w->users[0], 77, 5, "x", "k", ST_NOT_FOUND },
        { "demo", w->users[0], CHANNEL_DEMO_ID, 5, "x", "k", ST_NOT_FOUND },
        { "zero", w->users[0], channel, 0, "x", "k", ST_INVALID },
        { "below zero", w->users[0], channel, -5, "x", "k", ST_INVALID },
        { "more than there is", w->users[0], channel, FUNDED_FEN + 1, "x", "k", ST_INVALID },
        { "nowhere to", w->users[0], channel, 5, "", "k", ST_INVALID },
        { "no key", w->users[0], channel, 5, "x", "", ST_INVALID },
        { "a key not of ASCII", w->users[0], channel, 5, "x", "é", ST_INVALID },
        { "a long key", w->users[0], channel, 5, "x",
          "12345678901234567890123456789012345678901234567890123456789012345", ST_INVALID },
        { "a long destination", w->users[0], channel, 5, long_text, "k", ST_INVALID },
        { "a destination not of UTF-8", w->users[0], channel, 5, "\xff", "k", ST_INVALID },
    };
    const int64_t before = money_read();
    EACH (c, cases) {
        enum status st = withdrawal_hold(money_db(), c->user_id, c->channel_id, c->fen, str_from(c->destination),
                                         str_from(c->key), clock_now_ms());
        if (st != c->status || money_read() != before)
            fail_msg("%s: status %d", c->what, (int)st);
    }
}

/* A channel pays no withdrawals until an operator says so, and none below its smallest amount; a repeat is a repeat
 * also when the channel is closed meanwhile. */
WORLD_TEST(a_channel_pays_what_its_operator_allows, 1)
{
    struct channel found, *all;
    size_t count;
    const uint64_t open = channel_new(STR("open")), closed = channel_new(STR("closed"));
    const struct channel_settings off = { .withdraws = false, .withdraw_min_fen = 300, .withdraw_hint = STR(ODD_TEXT) };
    assert_int_equal(channel_withdrawals_set(money_db(), closed, &off, CHANNEL_WITHDRAWS), ST_OK);
    assert_int_equal(channel_withdrawals_set(money_db(), open, &off, CHANNEL_WITHDRAW_MIN | CHANNEL_WITHDRAW_HINT),
                     ST_OK);
    assert_int_equal(channel_find(money_db(), w->arena, STR("open"), &found), ST_OK);
    assert_ints({ found.settings.withdraws, 1 }, { found.settings.withdraw_min_fen, 300 });
    assert_true(str_equal(found.settings.withdraw_hint, STR(ODD_TEXT)));
    assert_int_equal(channel_find(money_db(), w->arena, STR("closed"), &found), ST_OK);
    assert_ints({ found.settings.withdraws, 0 }, { found.settings.withdraw_min_fen, 1 });
    assert_int_equal(channel_withdraws_list(money_db(), w->arena, &all, &count), ST_OK);
    assert_ints({ count, 1 }, { all[0].id, open }, { all[0].settings.withdraw_min_fen, 300 });
    const uint64_t user = w->users[0];
    assert_int_equal(withdrawal_hold(money_db(), user, closed, 300, STR("x"), STR("k"), 5), ST_NOT_FOUND);
    assert_int_equal(withdrawal_hold(money_db(), user, open, 299, STR("x"), STR("k"), 5), ST_INVALID);
    (void)held(0, open, 300, "k");
    assert_int_equal(channel_withdrawals_set(money_db(), open, &off, CHANNEL_WITHDRAWS), ST_OK);
    assert_int_equal(withdrawal_hold(money_db(), user, open, 300, STR("x"), STR("k"), 5), ST_EXISTS);
    assert_int_equal(withdrawal_hold(money_db(), user, open, 300, STR("x"), STR("l"), 5), ST_NOT_FOUND);
    for (uint64_t id = CHANNEL_DEMO_ID; id <= CHANNEL_FORFEITED_ID; id++)
        assert_int_equal(channel_withdrawals_set(money_db(), id, &off, CHANNEL_WITHDRAWS), ST_NOT_FOUND);
    assert_int_equal(channel_withdrawals_set(money_db(), 77, &off, CHANNEL_WITHDRAWS), ST_NOT_FOUND);
    assert_int_equal(channel_withdrawals_set(money_db(), open, &(struct channel_settings){ 0 }, CHANNEL_WITHDRAW_MIN),
                     ST_INVALID);
    assert_int_equal(channel_withdrawals_set(money_db(), open,
                                             &(struct channel_settings){ .withdraw_hint = STR("\xff") },
                                             CHANNEL_WITHDRAW_HINT),
                     ST_INVALID);
}

WORLD_TEST(a_disabled_user_gets_nothing_paid_out, 1)
{
    const uint64_t channel = channel_new(STR("bank"));
    world_sqlf(w, "UPDATE user SET disabled_ms = 1 WHERE id = %" PRIu64, w->users[0]);
    assert_int_equal(withdrawal_hold(money_db(), w->users[0], channel, 5, STR("x"), STR("k"), 5), ST_NOT_FOUND);
    world_sqlf(w, "UPDATE user SET disabled_ms = NULL WHERE id = %" PRIu64, w->users[0]);
    (void)held(0, channel, 5, "k");
}

/* Whatever a routine forgets. */
WORLD_TEST(the_table_takes_a_key_of_a_user_once, 1)
{
    static const struct sql_refusal again[] = {
        { "INSERT INTO withdrawal (user_id, channel_id, amount_fen, destination, request_key, state, hold_id,"
          " created_ms) SELECT user_id, channel_id, amount_fen, destination, request_key, state,"
          " (SELECT MIN(id) FROM transfer), created_ms FROM withdrawal",
          ER_DUP_ENTRY },
    };
    (void)held(0, channel_new(STR("bank")), 5, "key");
    sql_refused("SET @none = 0", again, ARRAY_LEN(again));
}

WORLD_TEST(pending_withdrawals_are_listed_oldest_first, 1)
{
    enum { COUNT = 7, PAGE_ROWS = 3 };
    const uint64_t channel = channel_new(STR("bank"));
    struct withdrawal *list;
    uint64_t ids[COUNT], after = 0;
    size_t count, seen = 0;
    for (size_t i = 0; i < COUNT; i++)
        ids[i] = held(0, channel, (int64_t)i + 1, arena_printf(w->arena, "%zu", i).ptr);
    posted(ids[1], "r");
    struct withdrawal_end end = void_for(ids[4], "");
    assert_int_equal(ended(&end), ST_OK);
    static const size_t left[] = { 0, 2, 3, 5, 6 };
    do {
        assert_int_equal(withdrawal_pending(money_db(), w->arena, 0, after, PAGE_ROWS, &list, &count), ST_OK);
        for (size_t i = 0; i < count; i++, seen++)
            assert_ints({ list[i].id, ids[left[seen]] }, { list[i].amount_fen, left[seen] + 1 });
        after = count > 0 ? list[count - 1].id : 0;
    } while (count > 0);
    assert_int_equal(seen, ARRAY_LEN(left));
}

/* ---- the end ---- */

WORLD_TEST(a_posted_withdrawal_goes_to_its_channel_and_a_voided_one_back, 2)
{
    const uint64_t channel = channel_new(STR("bank"));
    struct withdrawal_end paid = post(held(0, channel, 700, "1"), "paid"),
                          not_paid = void_for(held(1, channel, 300, "1"), ODD_TEXT);
    assert_int_equal(ended(&paid), ST_OK);
    assert_int_equal(ended(&not_paid), ST_OK);
    assert_wallets(0, FUNDED_FEN - 700, FUNDED_FEN);
    assert_ints({ world_balance(w, channel), 700 }, { world_balance(w, ACCOUNT_PENDING_ID), 0 });
    assert_ints({ paid.repeated, 0 }, { paid.now.state, WITHDRAWAL_POSTED }, { paid.now.ended_ms > 0, 1 },
                { not_paid.repeated, 0 }, { not_paid.now.state, WITHDRAWAL_VOIDED });
    assert_true(str_equal(paid.now.reference, STR("paid")) && str_equal(paid.now.author, STR("ben")));
    assert_true(str_equal(not_paid.now.reason, STR(ODD_TEXT)) && not_paid.now.reference.len == 0);
    const struct external_transfer t = transfer_of(channel, "paid");
    assert_ints({ t.kind, TRANSFER_POST }, { t.user_id, w->users[0] }, { t.amount_fen, 700 },
                { t.interface, INTERFACE_PAGE });
    EACH_TEXT (name, "pending", "posted", "voided")
        assert_of(name, str_equal(str_from(name),
                                  str_from(withdrawal_state_name((enum withdrawal_state)(at_name - list_name)))));
}

WORLD_TEST(a_withdrawal_ends_once, 1)
{
    const uint64_t channel = channel_new(STR("bank"));
    const uint64_t paid = held(0, channel, 700, "1"), not_paid = held(0, channel, 300, "2"),
                   waits = held(0, channel, 100, "3");
    moved_one(TRANSFER_CREDIT, channel, 0, 5, "credit");
    struct withdrawal_end first = post(paid, "paid"), other = void_for(not_paid, "wrong number");
    assert_int_equal(ended(&first), ST_OK);
    assert_int_equal(ended(&other), ST_OK);
    const struct {
        const char *what;
        struct withdrawal_end end;
        enum status status;
        enum withdrawal_state state;
    } cases[] = {
        { "posted again", post(paid, "paid"), ST_OK, WITHDRAWAL_POSTED },
        { "posted with another reference", post(paid, "paid 2"), ST_EXISTS, WITHDRAWAL_POSTED },
        { "posted, then voided", void_for(paid, ""), ST_EXISTS, WITHDRAWAL_POSTED },
        { "voided again", void_for(not_paid, "wrong number"), ST_OK, WITHDRAWAL_VOIDED },
        { "voided for another reason", void_for(not_paid, ""), ST_EXISTS, WITHDRAWAL_VOIDED },
        { "voided, then posted", post(not_paid, "paid 2"), ST_EXISTS, WITHDRAWAL_VOIDED },
        { "the reference of another post", post(waits, "paid"), ST_EXISTS, WITHDRAWAL_PENDING },
        { "the reference of a credit", post(waits, "credit"), ST_EXISTS, WITHDRAWAL_PENDING },
        { "no reference", post(waits, ""), ST_INVALID, WITHDRAWAL_PENDING },
        { "a blank at the end", post(waits, "paid "), ST_INVALID, WITHDRAWAL_PENDING },
        { "a line break", post(waits, "paid\n"), ST_INVALID, WITHDRAWAL_PENDING },
        { "a reason not of UTF-8", void_for(waits, "\xff"), ST_INVALID, WITHDRAWAL_PENDING },
        { "none", post(waits + 100, "paid 2"), ST_NOT_FOUND, WITHDRAWAL_PENDING },
        { "none, no reference", post(waits + 100, ""), ST_NOT_FOUND, WITHDRAWAL_PENDING },
    };
    const int64_t before = money_read();
    EACH (c, cases) {
        struct withdrawal_end end = c->end;
        const enum status st = ended(&end);
        if (st != c->status || end.repeated != (st == ST_OK) || end.now.state != c->state ||
            end.now.id != (st == ST_NOT_FOUND ? 0 : end.id) || money_read() != before)
            fail_msg("%s: status %d", c->what, (int)st);
    }
    const struct external_author nobody = { .name = STR(""), .interface = INTERFACE_COMMAND };
    struct withdrawal_end end = post(waits, "paid 2");
    assert_int_equal(withdrawal_end(money_db(), w->arena, &end, &nobody, 5), ST_INVALID);
    assert_int_equal(money_read(), before);
}

WORLD_TEST(a_withdrawal_ends_once_after_a_lost_commit_or_reply, 1)
{
    const uint64_t channel = channel_new(STR("bank"));
    for (int paid = 0; paid < 2; paid++) {
        EACH (lost, LOST_COMMITS) {
            const struct str text = arena_printf(w->arena, "%d-%p", paid, (const void *)lost);
            struct withdrawal_end end = { .id = held(0, channel, 10, text.ptr), .post = paid };
            end.reference = end.reason = text;
            losses_plan(lost->first, lost->second, lost->third);
            const enum status st = ended(&end);
            if (st != lost->status)
                fail_msg("case %zu: status %d", (size_t)(lost - LOST_COMMITS), (int)st);
            losses_left = 0;
            assert_int_equal(ended(&end), ST_OK);
            assert_int_equal(end.now.state, paid ? WITHDRAWAL_POSTED : WITHDRAWAL_VOIDED);
        }
    }
    assert_ints({ world_balance(w, channel), 10 * ARRAY_LEN(LOST_COMMITS) });
}

/* ---- reversals ---- */

static struct reversal reversal_of(uint64_t transfer, const char *reference)
{
    return (struct reversal){ .transfer_id = transfer, .reference = str_from(reference), .memo = STR(ODD_TEXT) };
}

static enum status reversed(struct reversal *r)
{
    return external_reverse(money_db(), w->arena, r, &BEN, clock_now_ms());
}

WORLD_TEST(a_credit_a_debit_and_a_post_are_reversed_once, 3)
{
    static const char *const originals[] = { "credit", "debit", "post" };
    const uint64_t channel = channel_new(STR("bank"));
    moved_one(TRANSFER_CREDIT, channel, 0, 700, "credit");
    moved_one(TRANSFER_DEBIT, channel, 1, 300, "debit");
    posted(held(2, channel, 100, "1"), "post");
    for (size_t i = 0; i < ARRAY_LEN(originals); i++) {
        const uint64_t id = transfer_of(channel, originals[i]).id;
        const char *reference = arena_printf(w->arena, "back %zu", i).ptr;
        struct reversal r = reversal_of(id, reference), other_memo = r, other = reversal_of(id, "other");
        assert_int_equal(reversed(&r), ST_OK);
        assert_ints({ r.repeated, 0 }, { r.made.kind, TRANSFER_REVERSE }, { r.made.reverses, id },
                    { r.made.user_id, w->users[i] },
                    { r.made.amount_fen, i == 0   ? 700
                                         : i == 1 ? 300
                                                  : 100 },
                    { r.made.interface, INTERFACE_PAGE }, { transfer_of(channel, originals[i]).reversed_by, r.made.id },
                    { transfer_of(channel, reference).id, r.made.id });
        assert_true(str_equal(r.made.memo, STR(ODD_TEXT)) && str_equal(r.made.author, STR("ben")));
        const int64_t before = money_read();
        assert_int_equal(reversed(&r), ST_OK);
        assert_ints({ r.repeated, 1 }, { r.made.reverses, id });
        other_memo.memo = STR("");
        assert_int_equal(reversed(&other_memo), ST_EXISTS);
        assert_int_equal(reversed(&other), ST_EXISTS);
        assert_ints({ other_memo.made.id, r.made.id }, { other.made.id, r.made.id });
        struct reversal again = reversal_of(r.made.id, "again");
        assert_int_equal(reversed(&again), ST_NOT_FOUND);
        assert_false(again.is_leaving);
        assert_int_equal(money_read(), before);
    }
    assert_wallets(0, FUNDED_FEN, FUNDED_FEN, FUNDED_FEN);
    assert_int_equal(world_balance(w, channel), 0);
    assert_int_equal(world_number(w, "SELECT COUNT(*) FROM withdrawal WHERE state = 'posted'", 0), 1);
}

WORLD_TEST(a_reversal_that_is_wrong_is_refused, 2)
{
    const uint64_t channel = channel_new(STR("bank"));
    const uint64_t credit = moved_one(TRANSFER_CREDIT, channel, 0, 700, "credit");
    const uint64_t leaver = moved_one(TRANSFER_DEBIT, channel, 1, 300, "debit");
    const uint64_t deposit = (uint64_t)world_number(w, "SELECT MIN(id) FROM transfer WHERE kind = 'deposit'", 0);
    moved_one(TRANSFER_DEBIT, channel, 0, FUNDED_FEN + 1, "spent");
    world_sqlf(w, "UPDATE user SET deleting_ms = 1 WHERE id = %" PRIu64, w->users[1]);
    const struct {
        const char *what;
        uint64_t id;
        const char *reference;
        enum status status;
    } cases[] = {
        { "a wallet that can't pay", credit, "back", ST_INVALID },
        { "a user who is being deleted", leaver, "back", ST_NOT_FOUND },
        { "none", credit + 1000, "back", ST_NOT_FOUND },
        { "demo money", deposit, "back", ST_NOT_FOUND },
        { "no reference", credit, "", ST_INVALID },
        { "a blank", credit, " back", ST_INVALID },
        { "the reference of the credit", credit, "credit", ST_EXISTS },
        { "the reference of another transfer", credit, "spent", ST_EXISTS },
    };
    const int64_t before = money_read();
    EACH (c, cases) {
        struct reversal r = reversal_of(c->id, c->reference);
        const enum status st = reversed(&r);
        if (st != c->status || money_read() != before || r.is_leaving != (c->id == leaver))
            fail_msg("%s: status %d", c->what, (int)st);
    }
}

/* Nothing is paid in there. */
WORLD_TEST(the_channel_forfeited_pays_no_more_than_it_has, 2)
{
    struct reversal r = reversal_of(moved_one(TRANSFER_DEBIT, CHANNEL_FORFEITED_ID, 0, 100, "in"), "back");
    const struct external_row more = row_of(0, 101, "out"), one = row_of(0, 60, "out"), again = row_of(1, 41, "again");
    const struct {
        struct external_row rows[2];
        size_t count;
        enum status status;
        int64_t has_fen;
    } credits[] = {
        { { more }, 1, ST_INVALID, 100 }, { { one, again }, 2, ST_INVALID, 100 },
        { { one }, 1, ST_OK, 40 },        { { again }, 1, ST_INVALID, 40 },
        { { one }, 1, ST_OK, 40 }, /* a repeat */
    };
    EACH (c, credits) {
        struct external_row rows[] = { c->rows[0], c->rows[1] };
        assert_int_equal(moved_all(TRANSFER_CREDIT, CHANNEL_FORFEITED_ID, rows, c->count), c->status);
        assert_int_equal(world_balance(w, CHANNEL_FORFEITED_ID), c->has_fen);
    }
    assert_int_equal(reversed(&r), ST_INVALID);
    moved_one(TRANSFER_DEBIT, CHANNEL_FORFEITED_ID, 1, 60, "more");
    assert_int_equal(reversed(&r), ST_OK);
    assert_int_equal(world_balance(w, CHANNEL_FORFEITED_ID), 0);
}

WORLD_TEST(a_repeated_reversal_is_answered_when_the_wallet_is_empty_or_its_user_leaves, 1)
{
    const uint64_t channel = channel_new(STR("bank"));
    struct reversal r = reversal_of(moved_one(TRANSFER_CREDIT, channel, 0, 700, "credit"), "back");
    assert_int_equal(reversed(&r), ST_OK);
    moved_one(TRANSFER_DEBIT, channel, 0, FUNDED_FEN, "rest");
    world_sqlf(w, "UPDATE user SET deleting_ms = 1 WHERE id = %" PRIu64, w->users[0]);
    assert_int_equal(reversed(&r), ST_OK);
    assert_true(r.repeated);
}

WORLD_TEST(a_reversal_is_made_once_after_a_lost_commit_or_reply, 1)
{
    const uint64_t channel = channel_new(STR("bank"));
    EACH (lost, LOST_COMMITS) {
        const struct str text = arena_printf(w->arena, "%p", (const void *)lost);
        struct reversal r = reversal_of(moved_one(TRANSFER_CREDIT, channel, 0, 10, text.ptr), "");
        r.reference = arena_printf(w->arena, "back %p", (const void *)lost);
        losses_plan(lost->first, lost->second, lost->third);
        const enum status st = reversed(&r);
        if (st != lost->status)
            fail_msg("case %zu: status %d", (size_t)(lost - LOST_COMMITS), (int)st);
        losses_left = 0;
        assert_int_equal(reversed(&r), ST_OK);
        assert_int_equal(r.made.reverses, r.transfer_id);
    }
    assert_wallets(0, FUNDED_FEN);
}

/* ---- a user who leaves ---- */

/* users[0], who has a password, asks for the deletion of the account. */
static enum deletion_result deletion_asked(bool give_up)
{
    enum deletion_result result;
    struct services *auth = test_services_open_as("auth");
    assert_non_null(auth);
    world_sqlf(w, "UPDATE user SET username = 'leaver', password_hash = 'hash' WHERE id = %" PRIu64, w->users[0]);
    assert_int_equal(deletion_begin(&auth->stores, w->arena, w->users[0], STR("leaver"), STR("hash"), give_up, &result),
                     ST_OK);
    test_services_close(auth);
    return result;
}

/* Whether the worker ends the deletion in a few passes, some time later. */
static bool deletion_ends(void)
{
    struct deletion_walk walk = { 0 };
    for (int pass = 0; pass < 5; pass++)
        assert_int_equal(deletion_pass(&walk, &w->settler->stores, clock_now_ms() + DELETION_WAIT_MS + 1000), ST_OK);
    return world_number(w, "SELECT deleted_ms > 0 FROM user WHERE id = ?", w->users[0]) == 1;
}

WORLD_TEST(a_pending_withdrawal_is_money_and_a_deletion_waits_for_it, 1)
{
    const uint64_t channel = channel_new(STR("bank"));
    const uint64_t paid = held(0, channel, 700, "1"), not_paid = held(0, channel, FUNDED_FEN - 700, "2");
    assert_wallets(0, 0);
    assert_int_equal(deletion_asked(false), DELETION_MONEY_LEFT);
    assert_int_equal(deletion_asked(true), DELETION_BEGUN);
    assert_false(deletion_ends());
    posted(paid, "paid");
    assert_false(deletion_ends());
    struct withdrawal_end end = void_for(not_paid, "no such account");
    assert_int_equal(ended(&end), ST_OK);
    assert_wallets(0, FUNDED_FEN - 700);
    assert_true(deletion_ends());
    assert_wallets(0, 0);
    assert_int_equal(
        world_number(w, "SELECT COUNT(*) FROM withdrawal WHERE user_id = ? AND destination = ''", w->users[0]), 2);
    assert_ints({ world_balance(w, CHANNEL_FORFEITED_ID), FUNDED_FEN - 700 }, { world_balance(w, channel), 700 });
}

WORLD_TEST(what_a_deleted_user_has_left_is_demo_money_where_there_is_no_other, 1)
{
    assert_int_equal(deletion_asked(true), DELETION_BEGUN);
    assert_true(deletion_ends());
    assert_ints({ world_balance(w, CHANNEL_DEMO_ID), 0 }, { world_balance(w, CHANNEL_FORFEITED_ID), 0 });
}

/* ---- what the routines themselves refuse ---- */

WORLD_TEST(the_routines_refuse_what_the_program_never_asks_for, 1)
{
    static const struct sql_refusal cases[] = {
        { "CALL withdrawal_hold(@u, @c, 5, 'x', NULL, 1)", ROUTINE_REFUSED },
        { "CALL withdrawal_hold(@u, @c, NULL, 'x', 'k', 1)", ROUTINE_REFUSED },
        { "CALL withdrawal_hold(@u, @c, 5, NULL, 'k', 1)", ROUTINE_REFUSED },
        { "CALL withdrawal_hold(NULL, @c, 5, 'x', 'k', 1)", ROUTINE_NOT_FOUND },
        { "CALL withdrawal_hold(@u, NULL, 5, 'x', 'k', 1)", ROUTINE_NOT_FOUND },
        { "CALL withdrawal_hold(@u, 3, 5, 'x', 'k', 1)", ROUTINE_NOT_FOUND },
        { "CALL channel_withdrawals(NULL, TRUE, 1, '')", ROUTINE_NOT_FOUND },
        { "CALL channel_withdrawals(2, TRUE, 1, '')", ROUTINE_NOT_FOUND },
        { "CALL channel_withdrawals(@c, TRUE, 0, '')", ROUTINE_REFUSED },
        { "CALL channel_withdrawals(@c, TRUE, -1, '')", ROUTINE_REFUSED },
        { "CALL channel_withdrawals(@c, TRUE, 1, REPEAT('x', 201))", ER_DATA_TOO_LONG },
        { "CALL withdrawal_end(@w, TRUE, NULL, NULL, 'anna', 'command', 1)", ROUTINE_REFUSED },
        { "CALL withdrawal_end(@w, TRUE, '', NULL, 'anna', 'command', 1)", ROUTINE_REFUSED },
        { "CALL withdrawal_end(@w, TRUE, ' r', NULL, 'anna', 'command', 1)", ROUTINE_REFUSED },
        { "CALL withdrawal_end(@w, TRUE, 'r ', NULL, 'anna', 'command', 1)", ROUTINE_REFUSED },
        { "CALL withdrawal_end(@w, TRUE, 'r\\n', NULL, 'anna', 'command', 1)", ROUTINE_REFUSED },
        { "CALL withdrawal_end(@w, TRUE, 'r', NULL, '', 'command', 1)", ROUTINE_REFUSED },
        { "CALL withdrawal_end(@w, TRUE, 'r', NULL, NULL, 'command', 1)", ROUTINE_REFUSED },
        { "CALL withdrawal_end(@w, NULL, 'r', NULL, 'anna', 'command', 1)", ROUTINE_REFUSED },
        { "CALL withdrawal_end(@w, FALSE, NULL, REPEAT('x', 201), 'anna', 'command', 1)", ER_DATA_TOO_LONG },
        { "CALL withdrawal_end(@w, TRUE, 'r', NULL, 'anna', 'mail', 1)", WARN_DATA_TRUNCATED },
        { "CALL withdrawal_end(@w, TRUE, 'credit', NULL, 'anna', 'command', 1)", ER_DUP_ENTRY },
        { "CALL withdrawal_end(NULL, TRUE, 'r', NULL, 'anna', 'command', 1)", ROUTINE_NOT_FOUND },
        { "CALL ledger_reverse(@t, NULL, '', 'anna', 'command', 1)", ROUTINE_REFUSED },
        { "CALL ledger_reverse(@t, '', '', 'anna', 'command', 1)", ROUTINE_REFUSED },
        { "CALL ledger_reverse(@t, 'r\\n', '', 'anna', 'command', 1)", ROUTINE_REFUSED },
        { "CALL ledger_reverse(@t, 'r', '', '', 'command', 1)", ROUTINE_REFUSED },
        { "CALL ledger_reverse(@t, 'r', REPEAT('x', 401), 'anna', 'command', 1)", ER_DATA_TOO_LONG },
        { "CALL ledger_reverse(@t, 'r', '', 'anna', 'mail', 1)", WARN_DATA_TRUNCATED },
        { "CALL ledger_reverse(@t, 'credit', '', 'anna', 'command', 1)", ER_DUP_ENTRY },
        { "CALL ledger_reverse(NULL, 'r', '', 'anna', 'command', 1)", ROUTINE_NOT_FOUND },
    };
    const uint64_t channel = channel_new(STR("bank")), credit = moved_one(TRANSFER_CREDIT, channel, 0, 700, "credit");
    const uint64_t id = held(0, channel, 5, "1");
    sql_refused(arena_printf(w->arena, "SET @c = %" PRIu64 ", @u = %" PRIu64 ", @t = %" PRIu64 ", @w = %" PRIu64,
                             channel, w->users[0], credit, id)
                    .ptr,
                cases, ARRAY_LEN(cases));
}

TESTS(NULL, NULL)
