/* Services of the operator's programs: what a token may do, and what the routines refuse. */
#include <mysqld_error.h>

#include "support/test.h"
#include "test_service_world.h"

static uint64_t held(uint64_t channel, int64_t fen, const char *key)
{
    assert_int_equal(withdrawal_hold(money_db(), w->users[0], channel, fen, STR("x"), str_from(key), clock_now_ms()),
                     ST_OK);
    return (uint64_t)world_number(w, "SELECT MAX(id) FROM withdrawal", 0);
}

static enum status ended(const struct caller *c, struct withdrawal_end *end)
{
    return withdrawal_end(money_db(), w->arena, end, &c->author, clock_now_ms());
}

static enum status posted(const struct caller *c, uint64_t id, const char *reference)
{
    struct withdrawal_end end = { .id = id, .post = true, .reference = str_from(reference) };
    return ended(c, &end);
}

static enum status voided(const struct caller *c, uint64_t id, const char *reason)
{
    struct withdrawal_end end = { .id = id, .reason = str_from(reason) };
    return ended(c, &end);
}

/* ---- services ---- */

WORLD_TEST(a_token_finds_its_service_until_it_is_revoked, 0)
{
    const uint64_t channel = channel_new(STR("bank"));
    const struct caller *c = caller_new(STR("shop"), SERVICE_READ | SERVICE_CREDIT, channel, 500);
    struct service found;
    assert_int_equal(service_find(money_db(), w->arena, c->hash, &found), ST_OK);
    assert_ints({ found.scopes, SERVICE_READ | SERVICE_CREDIT }, { found.channel_id, channel },
                { found.day_max_fen, 500 }, { found.used_ms, 0 });
    assert_true(str_equal(found.name, STR("shop")) && str_equal(found.channel, STR("bank")));
    for (int repeat = 0; repeat < 2; repeat++) {
        assert_int_equal(service_revoke(money_db(), STR("shop")), ST_OK);
        assert_int_equal(service_find(money_db(), w->arena, c->hash, &found), ST_NOT_FOUND);
    }
    assert_int_equal(service_revoke(money_db(), STR("shopping")), ST_NOT_FOUND);
    struct caller again; /* a name is never used again: it stands in transfers */
    assert_int_equal(caller_add(&again, STR("shop"), SERVICE_READ, channel, 0), ST_EXISTS);
}

WORLD_TEST(services_are_listed_with_those_that_are_revoked, 0)
{
    const uint64_t channel = channel_new(STR("bank"));
    struct service *list;
    size_t count;
    (void)caller_new(STR("zoo"), ALL_SCOPES, channel, 0);
    (void)caller_new(STR("ant"), SERVICE_DEBIT, channel, 7);
    assert_int_equal(service_revoke(money_db(), STR("zoo")), ST_OK);
    assert_int_equal(service_list(money_db(), w->arena, &list, &count), ST_OK);
    assert_ints({ count, 2 }, { list[0].scopes, SERVICE_DEBIT }, { list[0].revoked_ms, 0 }, { list[0].day_max_fen, 7 },
                { list[1].scopes, ALL_SCOPES }, { list[1].revoked_ms >= list[1].created_ms, 1 });
    assert_true(str_equal(list[0].author, STR("anna")) && str_equal(list[1].name, STR("zoo")));
}

WORLD_TEST(a_service_that_is_wrong_is_not_added, 0)
{
    const uint64_t channel = channel_new(STR("bank"));
    const struct {
        const char *name;
        unsigned scopes;
        uint64_t channel;
        enum status status;
    } cases[] = {
        { "", SERVICE_READ, channel, ST_INVALID },
        { "1shop", SERVICE_READ, channel, ST_INVALID },
        { "Shop", SERVICE_READ, channel, ST_INVALID },
        { "shop\n", SERVICE_READ, channel, ST_INVALID },
        { "123456789012345678901234567890123", SERVICE_READ, channel, ST_INVALID },
        { "shop", 0, channel, ST_INVALID },
        { "shop", SERVICE_READ, CHANNEL_DEMO_ID, ST_NOT_FOUND },
        { "shop", SERVICE_READ, 9999, ST_NOT_FOUND },
        { "shop", SERVICE_READ, ACCOUNT_PENDING_ID, ST_NOT_FOUND },
    };
    EACH (c, cases) {
        struct caller caller;
        assert_int_equal(caller_add(&caller, str_from(c->name), c->scopes, c->channel, 0), c->status);
    }
    assert_int_equal(world_number(w, "SELECT COUNT(*) FROM service", 0), 0);
}

WORLD_TEST(the_time_of_the_last_use_is_noted_once_a_minute, 0)
{
    const struct caller *c = caller_new(STR("shop"), SERVICE_READ, channel_new(STR("bank")), 0);
    struct service found;
    assert_int_equal(service_used(money_db(), c->hash), ST_OK);
    assert_int_equal(service_find(money_db(), w->arena, c->hash, &found), ST_OK);
    const int64_t first_ms = found.used_ms;
    assert_true(first_ms >= found.created_ms);
    world_sql(w, "UPDATE service SET used_ms = used_ms - 1000");
    assert_int_equal(service_used(money_db(), c->hash), ST_OK);
    assert_int_equal(world_number(w, "SELECT used_ms FROM service", 0), first_ms - 1000);
    world_sql(w, "UPDATE service SET used_ms = used_ms - 3600000");
    assert_int_equal(service_used(money_db(), c->hash), ST_OK);
    assert_true(world_number(w, "SELECT used_ms FROM service", 0) >= first_ms);
}

/* ---- moving money ---- */

WORLD_TEST(a_service_moves_money_of_its_channel_once, 1)
{
    const uint64_t channel = channel_new(STR("bank"));
    const struct caller *c = caller_new(STR("shop"), ALL_SCOPES, channel, 0);
    for (int repeat = 0; repeat < 2; repeat++) {
        struct external_row row = row_of(0, 700, "in");
        assert_int_equal(called(c, TRANSFER_CREDIT, channel, &row), ST_OK);
        assert_ints({ row.repeated, repeat }, { row.transfer_id > 0, 1 });
        assert_int_equal(call_made(c, TRANSFER_DEBIT, channel, 200, "out"), ST_OK);
    }
    assert_int_equal(call_made(c, TRANSFER_CREDIT, channel, 701, "in"), ST_EXISTS);
    assert_wallets(0, FUNDED_FEN + 500);
    assert_int_equal(moved_fen(STR("shop")), 900);
    const struct external_transfer t = transfer_of(channel, "in");
    assert_int_equal(t.interface, INTERFACE_HTTP);
    assert_true(str_equal(t.author, STR("service:shop")) && str_equal(t.memo, STR("memo")));
}

WORLD_TEST(a_service_ends_withdrawals_of_its_channel_once, 1)
{
    const uint64_t channel = channel_new(STR("bank")), other = channel_new(STR("other"));
    const struct caller *c = caller_new(STR("shop"), SERVICE_WITHDRAW, channel, 0);
    const uint64_t paid = held(channel, 300, "1"), unpaid = held(channel, 50, "2"), others = held(other, 5, "3");
    for (int repeat = 0; repeat < 2; repeat++) {
        struct withdrawal_end end = { .id = paid, .post = true, .reference = STR("p") };
        assert_int_equal(ended(c, &end), ST_OK);
        assert_ints({ end.repeated, repeat }, { end.now.state, WITHDRAWAL_POSTED });
        assert_int_equal(voided(c, unpaid, "no such account"), ST_OK);
    }
    assert_ints({ posted(c, paid, "q"), ST_EXISTS }, { voided(c, paid, "x"), ST_EXISTS },
                { posted(c, others, "r"), ST_DENIED }, { voided(c, others, "x"), ST_DENIED },
                { posted(c, 77, "r"), ST_NOT_FOUND }, { moved_fen(STR("shop")), 350 });
    assert_true(str_equal(transfer_of(channel, "p").author, STR("service:shop")));
    assert_wallets(0, FUNDED_FEN - 305);
}

/* Each is refused, and moves nothing. */
WORLD_TEST(a_token_that_does_not_allow_a_call_moves_nothing, 1)
{
    const uint64_t channel = channel_new(STR("bank")), other = channel_new(STR("other"));
    const struct caller *all = caller_new(STR("all"), ALL_SCOPES, channel, 0);
    const struct caller *credits = caller_new(STR("credits"), SERVICE_CREDIT, channel, 0);
    const struct caller *debits = caller_new(STR("debits"), SERVICE_DEBIT | SERVICE_TOPUP, channel, 0);
    const struct caller *reads = caller_new(STR("reads"), SERVICE_READ, channel, 0);
    const struct caller *revoked = caller_new(STR("revoked"), ALL_SCOPES, channel, 0);
    struct caller guessed = *all;
    const uint64_t id = held(channel, 5, "1");
    guessed.hash[0] ^= 1;
    guessed.author.token_hash.ptr = (const char *)guessed.hash;
    assert_int_equal(service_revoke(money_db(), STR("revoked")), ST_OK);
    const struct {
        const struct caller *caller;
        enum transfer_kind kind; /* withdraw: the withdrawal is posted and voided */
        uint64_t channel;
    } cases[] = {
        { all, TRANSFER_CREDIT, other },          { all, TRANSFER_DEBIT, other },
        { credits, TRANSFER_DEBIT, channel },     { credits, TRANSFER_WITHDRAW, channel },
        { debits, TRANSFER_CREDIT, channel },     { debits, TRANSFER_WITHDRAW, channel },
        { reads, TRANSFER_CREDIT, channel },      { reads, TRANSFER_DEBIT, channel },
        { reads, TRANSFER_WITHDRAW, channel },    { revoked, TRANSFER_CREDIT, channel },
        { revoked, TRANSFER_DEBIT, channel },     { revoked, TRANSFER_WITHDRAW, channel },
        { &guessed, TRANSFER_CREDIT, channel },   { &guessed, TRANSFER_DEBIT, channel },
        { &guessed, TRANSFER_WITHDRAW, channel },
    };
    const int64_t before = money_read();
    EACH (c, cases) {
        enum status st = c->kind == TRANSFER_WITHDRAW ? posted(c->caller, id, "r")
                                                      : call_made(c->caller, c->kind, c->channel, 5, "r");
        if (c->kind == TRANSFER_WITHDRAW && st == ST_DENIED)
            st = voided(c->caller, id, "x");
        if (st != ST_DENIED || money_read() != before)
            fail_msg("%.*s, %s: %s", STR_ARG(c->caller->service.name), transfer_kind_name(c->kind), status_name(st));
    }
    assert_int_equal(world_number(w, "SELECT COUNT(*) FROM service_hour", 0), 0);
}

/* Everything that a service moves counts together. The rows of hours are moved in place of the clock. */
WORLD_TEST(a_service_moves_no_more_in_a_day_than_its_limit, 1)
{
    const uint64_t channel = channel_new(STR("bank"));
    const struct caller *c = caller_new(STR("shop"), ALL_SCOPES, channel, 1000);
    const uint64_t paid = held(channel, 200, "1"), unpaid = held(channel, 100, "2"), third = held(channel, 1, "3");
    assert_ints({ call_made(c, TRANSFER_CREDIT, channel, 400, "a"), ST_OK },
                { call_made(c, TRANSFER_DEBIT, channel, 300, "b"), ST_OK }, { posted(c, paid, "p"), ST_OK },
                { voided(c, unpaid, "x"), ST_OK });
    const int64_t before = money_read();
    assert_ints({ call_made(c, TRANSFER_CREDIT, channel, 1, "c"), ST_LIMITED },
                { call_made(c, TRANSFER_DEBIT, channel, 1, "c"), ST_LIMITED }, { posted(c, third, "c"), ST_LIMITED },
                { voided(c, third, "c"), ST_LIMITED }, { call_made(c, TRANSFER_CREDIT, channel, 400, "a"), ST_OK },
                { posted(c, paid, "p"), ST_OK }, { voided(c, unpaid, "x"), ST_OK }, { money_read(), before });
    world_sql(w, "UPDATE service_hour SET hour = hour - 24");
    assert_int_equal(call_made(c, TRANSFER_CREDIT, channel, 1, "c"), ST_LIMITED);
    world_sql(w, "UPDATE service_hour SET hour = hour - 1");
    assert_int_equal(call_made(c, TRANSFER_CREDIT, channel, 1001, "c"), ST_LIMITED);
    assert_int_equal(call_made(c, TRANSFER_CREDIT, channel, 1000, "c"), ST_OK);
    assert_int_equal(posted(c, third, "d"), ST_LIMITED);
    assert_int_equal(moved_fen(STR("shop")), 2000);
    world_sql(w, "UPDATE service_hour SET hour = hour + 1000"); /* the clock was set back */
    assert_int_equal(posted(c, third, "d"), ST_LIMITED);
}

/* ---- what the routines themselves refuse ---- */

WORLD_TEST(the_routines_for_services_refuse_what_the_program_never_asks_for, 1)
{
    static const struct sql_refusal cases[] = {
        { "CALL service_external(NULL, 'credit', @c, @u, 5, 'r', '', 1)", SERVICE_UNKNOWN },
        { "CALL service_external('', 'credit', @c, @u, 5, 'r', '', 1)", SERVICE_UNKNOWN },
        { "CALL service_external(@h, NULL, @c, @u, 5, 'r', '', 1)", SERVICE_DENIED },
        { "CALL service_external(@h, '', @c, @u, 5, 'r', '', 1)", SERVICE_DENIED },
        { "CALL service_external(@h, 'reverse', @c, @u, 5, 'r', '', 1)", SERVICE_DENIED },
        { "CALL service_external(@h, 'credit,debit', @c, @u, 5, 'r', '', 1)", ER_DATA_TOO_LONG },
        { "CALL service_external(@h, 'credit', NULL, @u, 5, 'r', '', 1)", SERVICE_DENIED },
        { "CALL service_external(@h, 'credit', 1, @u, 5, 'r', '', 1)", SERVICE_DENIED },
        { "CALL service_external(@h, 'read', @c, @u, 5, 'r', '', 1)", ROUTINE_REFUSED },
        { "CALL service_external(@h, 'withdraw', @c, @u, 5, 'r', '', 1)", ROUTINE_REFUSED },
        { "CALL service_external(@h, 'topup', @c, @u, 5, 'r', '', 1)", ROUTINE_REFUSED },
        { "CALL service_external(@h, 'credit', @c, NULL, 5, 'r', '', 1)", ROUTINE_NOT_FOUND },
        { "CALL service_external(@h, 'credit', @c, @c, 5, 'r', '', 1)", ROUTINE_NOT_FOUND },
        { "CALL service_external(@h, 'credit', @c, @u, NULL, 'r', '', 1)", ROUTINE_REFUSED },
        { "CALL service_external(@h, 'credit', @c, @u, 0, 'r', '', 1)", ROUTINE_REFUSED },
        { "CALL service_external(@h, 'credit', @c, @u, -5, 'r', '', 1)", ROUTINE_REFUSED },
        { "CALL service_external(@h, 'credit', @c, @u, 5, NULL, '', 1)", ROUTINE_REFUSED },
        { "CALL service_external(@h, 'credit', @c, @u, 5, '', '', 1)", ROUTINE_REFUSED },
        { "CALL service_external(@h, 'credit', @c, @u, 5, 'r\\n', '', 1)", ROUTINE_REFUSED },
        { "CALL service_external(@h, 'credit', @c, @u, 5, 'r', REPEAT('x', 401), 1)", ER_DATA_TOO_LONG },
        { "CALL service_withdrawal_end(NULL, @w, FALSE, NULL, 'x', 1)", SERVICE_UNKNOWN },
        { "CALL service_withdrawal_end(@h, NULL, FALSE, NULL, 'x', 1)", SERVICE_DENIED },
        { "CALL service_withdrawal_end(@h, @w, NULL, 'r', 'x', 1)", ROUTINE_REFUSED },
        { "CALL service_withdrawal_end(@h, @w, TRUE, NULL, 'x', 1)", ROUTINE_REFUSED },
        { "CALL service_withdrawal_end(@h, @w, TRUE, '', NULL, 1)", ROUTINE_REFUSED },
        { "CALL service_add('b', REPEAT('x', 33), 'read', @c, NULL, '', 'anna')", ER_DATA_TOO_LONG },
        { "CALL service_add('b', NULL, 'read', @c, NULL, '', 'anna')", ER_BAD_NULL_ERROR },
        { "CALL service_add('b', @other, NULL, @c, NULL, '', 'anna')", ER_BAD_NULL_ERROR },
        { "CALL service_add('b', @other, 'all', @c, NULL, '', 'anna')", WARN_DATA_TRUNCATED },
        { "CALL service_add('b', @other, 'read', @c, 0, '', 'anna')", ER_CONSTRAINT_FAILED },
        { "CALL service_add('b', @other, 'read', @c, NULL, '', '')", ROUTINE_REFUSED },
        { "CALL service_add('b', @h, 'read', @c, NULL, '', 'anna')", ER_DUP_ENTRY },
        { "CALL service_add('b', @other, 'read', 2, NULL, '', 'anna')", ROUTINE_NOT_FOUND },
        { "CALL service_revoke(NULL)", ROUTINE_NOT_FOUND },
    };
    const uint64_t channel = channel_new(STR("bank"));
    const struct caller *c = caller_new(STR("shop"), ALL_SCOPES, channel, 0);
    const uint64_t id = held(channel, 5, "1");
    char hex[2 * HASH_BYTES + 1];
    for (size_t i = 0; i < HASH_BYTES; i++)
        (void)snprintf(hex + 2 * i, 3, "%02x", c->hash[i]);
    const char *names = arena_printf(w->arena,
                                     "SET @c = %" PRIu64 ", @u = %" PRIu64 ", @w = %" PRIu64
                                     ", @h = UNHEX('%s'), @other = REPEAT('x', 32)",
                                     channel, w->users[0], id, hex)
                            .ptr;
    sql_refused(names, cases, ARRAY_LEN(cases));
    assert_int_equal(world_number(w, "SELECT COUNT(*) FROM service", 0), 1);
}

/* A pool can't choose the time of a transfer, nor of the limit of a day. */
WORLD_TEST(a_time_that_is_far_from_the_clock_counts_as_now, 1)
{
    const uint64_t channel = channel_new(STR("bank"));
    const struct caller *c = caller_new(STR("shop"), ALL_SCOPES, channel, 0);
    const int64_t now_ms = clock_now_ms(), day_ms = 86400 * 1000;
    const int64_t times[] = { 0, -1, now_ms - day_ms, now_ms + day_ms, INT64_MAX };
    for (size_t i = 0; i < ARRAY_LEN(times); i++) {
        const char *reference = arena_printf(w->arena, "r%zu", i).ptr;
        struct external_row row = row_of(0, 5, reference);
        assert_int_equal(external_move(money_db(), w->arena, TRANSFER_CREDIT, channel, &row, 1, &c->author, times[i]),
                         ST_OK);
        assert_in_range(transfer_of(channel, reference).created_ms, now_ms - 600000, now_ms + 600000);
    }
}

TESTS(NULL, NULL)
