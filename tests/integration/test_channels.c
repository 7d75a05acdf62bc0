/* Channels, credits and debits: each reference moves its money once. */
#include <mysqld_error.h>

#include "support/test.h"
#include "test_lost_commit.h"
#include "test_money_world.h"

/* ---- channels ---- */

WORLD_TEST(a_channel_is_made_once_for_each_name, 1)
{
    struct channel found, *all;
    size_t count;
    const struct str longest = STR("a2345678901234567890123456789-32");
    const uint64_t first = channel_new(STR("payroll"));
    assert_int_equal(channel_open(money_db(), STR("payroll"), STR("other"), STR("ben"), 5), ST_EXISTS);
    assert_ints({ first, 16 }, { channel_new(longest), 17 });
    assert_int_equal(channel_find(money_db(), w->arena, STR("payroll"), &found), ST_OK);
    assert_true(str_equal(found.note, STR("of a test")) && str_equal(found.author, STR("anna")));
    assert_ints({ found.balance_fen, 0 }, { found.created_ms > 0, 1 });
    assert_int_equal(channel_list(money_db(), w->arena, &all, &count), ST_OK);
    assert_ints({ count, 4 }, { all[0].id, CHANNEL_DEMO_ID }, { all[1].id, CHANNEL_FORFEITED_ID }, { all[2].id, 16 });
    assert_ints({ all[0].balance_fen, -FUNDED_FEN }); /* the money of the user */
    EACH_TEXT (name, "nobody", "PAYROLL", "\xff", "")
        assert_of(name, channel_find(money_db(), w->arena, str_from(name), &found) == ST_NOT_FOUND);
}

WORLD_TEST(a_channel_has_a_plain_name_and_an_author, 0)
{
    EACH_TEXT (name, "", "Bank", "1bank", "-bank", "my bank", "bank\n", "bänk", "红包", "bank_1", "\xff",
               "a23456789012345678901234567890123")
        assert_of(name, channel_open(money_db(), str_from(name), STR(""), STR("anna"), 5) == ST_INVALID &&
                            !channel_name_is_valid(str_from(name)));
    assert_int_equal(channel_open(money_db(), STR("bank"), STR(""), STR(""), 5), ST_INVALID);
    assert_int_equal(channel_open(money_db(), STR("bank"), STR("\xff"), STR("anna"), 5), ST_INVALID);
    world_sql(w, "INSERT INTO account (id, kind) VALUES (9999, 'channel')");
    world_sql(w, "INSERT INTO channel (id, name, author, created_ms) VALUES (9999, 'last', 'anna', 1)");
    assert_int_equal(channel_open(money_db(), STR("more"), STR(""), STR("anna"), 5), ST_INVALID);
    assert_int_equal(world_number(w, "SELECT COUNT(*) FROM account WHERE id BETWEEN 4 AND 9998", 0), 0);
}

WORLD_TEST(the_note_of_a_channel_can_be_changed, 0)
{
    struct channel found;
    const uint64_t id = channel_new(STR("payroll"));
    for (int repeat = 0; repeat < 2; repeat++)
        assert_int_equal(channel_note_set(money_db(), id, STR(ODD_TEXT)), ST_OK);
    assert_int_equal(channel_find(money_db(), w->arena, STR("payroll"), &found), ST_OK);
    assert_true(str_equal(found.note, STR(ODD_TEXT)));
    assert_int_equal(channel_note_set(money_db(), CHANNEL_DEMO_ID, STR("x")), ST_NOT_FOUND);
    assert_int_equal(channel_note_set(money_db(), 77, STR("x")), ST_NOT_FOUND);
    assert_int_equal(channel_note_set(money_db(), id, STR("\xff")), ST_INVALID);
}

/* ---- credits and debits ---- */

WORLD_TEST(a_credit_comes_from_its_channel_and_a_debit_goes_there, 2)
{
    const uint64_t payroll = channel_new(STR("payroll")), bank = channel_new(STR("bank"));
    const uint64_t id = moved_one(TRANSFER_CREDIT, payroll, 0, 700, "2026-11/1");
    moved_one(TRANSFER_DEBIT, bank, 0, 250, "2026-11/1"); /* a reference is of its channel */
    assert_wallets(0, FUNDED_FEN + 450, FUNDED_FEN);
    assert_ints({ world_balance(w, payroll), -700 }, { world_balance(w, bank), 250 });
    const struct external_transfer t = transfer_of(payroll, "2026-11/1");
    assert_ints({ t.id, id }, { t.kind, TRANSFER_CREDIT }, { t.user_id, w->users[0] }, { t.amount_fen, 700 },
                { t.interface, INTERFACE_COMMAND }, { t.reverses, 0 }, { t.reversed_by, 0 }, { t.created_ms > 0, 1 });
    assert_true(str_equal(t.author, STR("anna")) && str_equal(t.memo, STR("memo")));
    assert_ints({ transfer_of(bank, "2026-11/1").kind, TRANSFER_DEBIT },
                { transfer_of(bank, "2026-11/1").user_id, w->users[0] });
    struct external_transfer none;
    EACH_TEXT (reference, "2026-11/2", "2026-11/1 ", "", "é")
        assert_of(reference, external_find(money_db(), w->arena, bank, str_from(reference), &none) == ST_NOT_FOUND);
}

WORLD_TEST(each_interface_is_noted, 1)
{
    const uint64_t channel = channel_new(STR("payroll"));
    for (enum external_interface interface = 0; interface < EXTERNAL_INTERFACE_COUNT; interface++) {
        if (interface == INTERFACE_HTTP) /* of services alone: integration/services */
            continue;
        const struct str reference = arena_printf(w->arena, "by-%d", (int)interface);
        struct external_row row = row_of(0, 1, reference.ptr);
        const struct external_author author = { .name = STR(ODD_TEXT), .interface = interface };
        assert_int_equal(
            external_move(money_db(), w->arena, TRANSFER_CREDIT, channel, &row, 1, &author, clock_now_ms()), ST_OK);
        const struct external_transfer t = transfer_of(channel, reference.ptr);
        assert_int_equal(t.interface, interface);
        assert_true(str_equal(t.author, STR(ODD_TEXT)));
    }
}

WORLD_TEST(texts_come_back_as_they_were, 1)
{
    const uint64_t channel = channel_new(STR("payroll"));
    static const char *const references[] = {
        "~", "a b", "\"'\\`?%_$:/", "A", "a", "1234567890123456789012345678901234567890123456789012345678901234"
    };
    EACH (reference, references) { /* twice: a repeat compares with what is stored */
        for (int repeat = 0; repeat < 2; repeat++) {
            struct external_row row = row_of(0, 1, *reference);
            row.memo = STR(ODD_TEXT);
            assert_of(*reference, moved_all(TRANSFER_CREDIT, channel, &row, 1) == ST_OK && row.repeated == repeat);
        }
        assert_of(*reference, str_equal(transfer_of(channel, *reference).memo, STR(ODD_TEXT)));
    }
    struct buf longest = BUF_EMPTY;
    for (int i = 0; i < MEMO_CODE_POINTS_MAX; i++)
        buf_cstr(&longest, i % 2 == 0 ? "🧧" : "\xe2\x80\xa8"); /* U+2028 */
    const struct str memos[] = { buf_view(&longest), STR(" \t\n "), STR("\x01\x7f"), STR_NONE };
    EACH (memo, memos) {
        const struct str reference = arena_printf(w->arena, "memo %d", (int)(memo - memos));
        for (int repeat = 0; repeat < 2; repeat++) {
            struct external_row row = row_of(0, 1, reference.ptr);
            row.memo = *memo;
            assert_of(reference.ptr, moved_all(TRANSFER_CREDIT, channel, &row, 1) == ST_OK && row.repeated == repeat);
        }
        assert_of(reference.ptr, str_equal(transfer_of(channel, reference.ptr).memo, *memo));
    }
    buf_free(&longest);
}

WORLD_TEST(what_is_wrong_is_refused_and_nothing_changes, 2)
{
    const uint64_t channel = channel_new(STR("payroll"));
    char long_memo[MEMO_CODE_POINTS_MAX + 2];
    memset(long_memo, 'x', sizeof long_memo - 1);
    long_memo[sizeof long_memo - 1] = '\0';
    const uint64_t user = w->users[0];
    const struct {
        const char *what;
        enum transfer_kind kind;
        uint64_t channel_id, user_id;
        int64_t fen;
        const char *reference, *memo, *author;
        enum status status;
    } cases[] = {
        { "no channel", TRANSFER_CREDIT, 77, user, 5, "r", "", "anna", ST_NOT_FOUND },
        { "demo", TRANSFER_CREDIT, CHANNEL_DEMO_ID, user, 5, "r", "", "anna", ST_NOT_FOUND },
        { "demo, debit", TRANSFER_DEBIT, CHANNEL_DEMO_ID, user, 5, "r", "", "anna", ST_NOT_FOUND },
        { "pending", TRANSFER_CREDIT, ACCOUNT_PENDING_ID, user, 5, "r", "", "anna", ST_NOT_FOUND },
        { "no user", TRANSFER_CREDIT, channel, 5, 5, "r", "", "anna", ST_NOT_FOUND },
        { "zero", TRANSFER_CREDIT, channel, user, 0, "r", "", "anna", ST_INVALID },
        { "below zero", TRANSFER_DEBIT, channel, user, -5, "r", "", "anna", ST_INVALID },
        { "more than there is", TRANSFER_DEBIT, channel, user, FUNDED_FEN + 1, "r", "", "anna", ST_INVALID },
        { "overflow", TRANSFER_CREDIT, channel, user, INT64_MAX, "r", "", "anna", ST_INVALID },
        { "no reference", TRANSFER_CREDIT, channel, user, 5, "", "", "anna", ST_INVALID },
        { "blank in front", TRANSFER_CREDIT, channel, user, 5, " r", "", "anna", ST_INVALID },
        { "blank behind", TRANSFER_CREDIT, channel, user, 5, "r ", "", "anna", ST_INVALID },
        { "line break", TRANSFER_CREDIT, channel, user, 5, "r\n", "", "anna", ST_INVALID },
        { "DEL", TRANSFER_CREDIT, channel, user, 5, "r\x7f", "", "anna", ST_INVALID },
        { "not ASCII", TRANSFER_CREDIT, channel, user, 5, "ré", "", "anna", ST_INVALID },
        { "65 characters", TRANSFER_CREDIT, channel, user, 5,
          "12345678901234567890123456789012345678901234567890123456789012345", "", "anna", ST_INVALID },
        { "long memo", TRANSFER_CREDIT, channel, user, 5, "r", long_memo, "anna", ST_INVALID },
        { "memo not UTF-8", TRANSFER_CREDIT, channel, user, 5, "r", "\xff", "anna", ST_INVALID },
        { "no author", TRANSFER_CREDIT, channel, user, 5, "r", "", "", ST_INVALID },
        { "author not UTF-8", TRANSFER_CREDIT, channel, user, 5, "r", "", "\xff", ST_INVALID },
        { "long author", TRANSFER_CREDIT, channel, user, 5, "r", "",
          "12345678901234567890123456789012345678901234567890123456789012345", ST_INVALID },
    };
    const int64_t before = money_read();
    EACH (c, cases) {
        const struct external_author author = { .name = str_from(c->author), .interface = INTERFACE_PAGE };
        struct external_row rows[] = { row_of(1, 7, "good"),
                                       { .user_id = c->user_id,
                                         .amount_fen = c->fen,
                                         .reference = str_from(c->reference),
                                         .memo = str_from(c->memo) } };
        /* alone, and with a row that is right */
        for (size_t count = 1; count <= 2; count++) {
            struct external_row *first = count == 1 ? &rows[1] : rows;
            enum status st =
                external_move(money_db(), w->arena, c->kind, c->channel_id, first, count, &author, clock_now_ms());
            if (st != c->status || money_read() != before)
                fail_msg("%s: status %d", c->what, (int)st);
        }
    }
}

WORLD_TEST(a_repeat_changes_nothing_and_other_contents_are_refused, 2)
{
    const uint64_t channel = channel_new(STR("payroll"));
    const uint64_t credit = moved_one(TRANSFER_CREDIT, channel, 0, 700, "c");
    const uint64_t debit = moved_one(TRANSFER_DEBIT, channel, 0, FUNDED_FEN + 700, "d"); /* the wallet is empty now */
    const int64_t before = money_read();
    static const struct {
        enum transfer_kind kind;
        size_t user;
        int64_t fen;
        const char *reference, *memo;
        bool same;
    } cases[] = {
        { TRANSFER_CREDIT, 0, 700, "c", "memo", true },  { TRANSFER_DEBIT, 0, FUNDED_FEN + 700, "d", "memo", true },
        { TRANSFER_DEBIT, 0, 700, "c", "memo", false },  { TRANSFER_CREDIT, 1, 700, "c", "memo", false },
        { TRANSFER_CREDIT, 0, 701, "c", "memo", false }, { TRANSFER_CREDIT, 0, 700, "c", "memo ", false },
        { TRANSFER_CREDIT, 0, 700, "c", "", false },
    };
    EACH (c, cases) {
        struct external_row row = row_of(c->user, c->fen, c->reference);
        row.memo = str_from(c->memo);
        assert_int_equal(moved_all(c->kind, channel, &row, 1), c->same ? ST_OK : ST_EXISTS);
        assert_ints({ row.repeated, c->same }, { row.differs, !c->same },
                    { row.transfer_id, c->same ? c->kind == TRANSFER_CREDIT ? credit : debit : 0 });
        assert_int_equal(money_read(), before);
    }
    const struct external_author other = { .name = STR("ben"),
                                           .interface =
                                               INTERFACE_PAGE }; /* who asks again is not part of the contents */
    struct external_row row = row_of(0, 700, "c");
    assert_int_equal(external_move(money_db(), w->arena, TRANSFER_CREDIT, channel, &row, 1, &other, 5), ST_OK);
    assert_true(row.repeated && str_equal(transfer_of(channel, "c").author, STR("anna")));
}

/* ---- batches ---- */

WORLD_TEST(a_batch_makes_what_is_not_made_yet_or_nothing, 3)
{
    const uint64_t channel = channel_new(STR("payroll"));
    const uint64_t first = moved_one(TRANSFER_CREDIT, channel, 1, 5, "b");
    struct external_row rows[] = { row_of(2, 7, "c"), row_of(1, 5, "b"), row_of(2, 8, "a"), row_of(0, 9, "d") };
    struct external_row doubled[] = { row_of(2, 7, "c"), row_of(1, 5, "c") };
    struct external_row other[] = { row_of(2, 7, "x"), row_of(1, 6, "b") };
    const int64_t before = money_read();
    assert_int_equal(moved_all(TRANSFER_CREDIT, channel, doubled, 2), ST_EXISTS);
    assert_int_equal(moved_all(TRANSFER_CREDIT, channel, other, 2), ST_EXISTS);
    assert_int_equal(money_read(), before);
    assert_ints({ other[0].user_id, w->users[1] }, { other[0].differs, 1 }, { other[1].differs, 0 });
    assert_int_equal(moved_all(TRANSFER_CREDIT, channel, rows, ARRAY_LEN(rows)), ST_OK);
    assert_wallets(0, FUNDED_FEN + 9, FUNDED_FEN + 5, FUNDED_FEN + 15);
    EACH (row, rows) { /* in the order of the users */
        assert_int_equal(row->repeated, row->user_id == w->users[1]);
        assert_int_equal(row->transfer_id, transfer_of(channel, arena_cstr(w->arena, row->reference)).id);
        assert_true(row == rows || row->user_id >= (row - 1)->user_id);
    }
    assert_int_equal(rows[1].transfer_id, first);
    assert_int_equal(moved_all(TRANSFER_CREDIT, channel, rows, ARRAY_LEN(rows)), ST_OK);
    assert_true(rows[0].repeated && rows[3].repeated);
}

WORLD_TEST(a_batch_of_debits_must_be_paid_whole, 2)
{
    const uint64_t channel = channel_new(STR("payroll"));
    struct external_row rows[] = { row_of(0, FUNDED_FEN - 1, "a"), row_of(1, 5, "b"), row_of(0, 2, "c") };
    assert_int_equal(moved_all(TRANSFER_DEBIT, channel, rows, ARRAY_LEN(rows)), ST_INVALID);
    assert_wallets(0, FUNDED_FEN, FUNDED_FEN);
    EACH (row, rows)
        if (row->amount_fen == 2)
            row->amount_fen = 1;
    assert_int_equal(moved_all(TRANSFER_DEBIT, channel, rows, ARRAY_LEN(rows)), ST_OK);
    assert_wallets(0, 0, FUNDED_FEN - 5);
}

/* The JSON of the largest batch has 2.4 MB, and a server may take no more than 1 MiB at once. */
WORLD_TEST(the_largest_batch_with_the_longest_texts_is_made_whole, 1)
{
    struct buf memo = BUF_EMPTY;
    const uint64_t channel = channel_new(STR("payroll"));
    struct external_row *rows = arena_array(w->arena, EXTERNAL_ROWS_MAX, sizeof *rows);
    for (int i = 0; i < MEMO_CODE_POINTS_MAX; i++)
        buf_char(&memo, '<');
    for (size_t i = 0; i < EXTERNAL_ROWS_MAX; i++) {
        rows[i] = row_of(0, 1, arena_printf(w->arena, "%zu", i).ptr);
        rows[i].memo = buf_view(&memo);
    }
    rows[EXTERNAL_ROWS_MAX - 1].amount_fen = INT64_MAX; /* of the last call */
    rows[EXTERNAL_ROWS_MAX - 1].reference = STR("~");
    assert_int_equal(moved_all(TRANSFER_CREDIT, channel, rows, EXTERNAL_ROWS_MAX), ST_INVALID);
    assert_wallets(0, FUNDED_FEN);
    rows[EXTERNAL_ROWS_MAX - 1].amount_fen = 1;
    assert_int_equal(moved_all(TRANSFER_CREDIT, channel, rows, EXTERNAL_ROWS_MAX), ST_OK);
    assert_wallets(0, FUNDED_FEN + EXTERNAL_ROWS_MAX);
    buf_free(&memo);
}

/* ---- users who leave ---- */

WORLD_TEST(a_user_who_is_being_deleted_gets_and_pays_nothing_but_a_repeat_is_answered, 2)
{
    const uint64_t channel = channel_new(STR("payroll"));
    moved_one(TRANSFER_CREDIT, channel, 1, 5, "before");
    world_sqlf(w, "UPDATE user SET deleting_ms = 1 WHERE id = %" PRIu64, w->users[1]);
    const int64_t before = money_read();
    struct external_row rows[] = { row_of(0, 5, "a"), row_of(1, 5, "b") }, again = row_of(1, 5, "before");
    assert_int_equal(moved_all(TRANSFER_CREDIT, channel, rows, 2), ST_NOT_FOUND);
    assert_int_equal(moved_all(TRANSFER_DEBIT, channel, rows, 2), ST_NOT_FOUND);
    assert_int_equal(moved_all(TRANSFER_CREDIT, channel, &again, 1), ST_OK);
    assert_true(again.repeated);
    assert_int_equal(money_read(), before);
}

/* ---- lost replies ---- */

WORLD_TEST(a_credit_is_made_once_after_a_lost_commit_or_reply, 2)
{
    const uint64_t channel = channel_new(STR("payroll"));
    EACH (lost, LOST_COMMITS) {
        const int64_t before_fen = world_balance(w, w->users[0]);
        struct external_row rows[] = { row_of(0, 5, arena_printf(w->arena, "0-%p", (const void *)lost).ptr),
                                       row_of(0, 6, arena_printf(w->arena, "1-%p", (const void *)lost).ptr) };
        losses_plan(lost->first, lost->second, lost->third);
        const enum status st = moved_all(TRANSFER_CREDIT, channel, rows, 2);
        if (st != lost->status)
            fail_msg("case %zu: status %d", (size_t)(lost - LOST_COMMITS), (int)st);
        losses_left = 0;
        if (st == ST_UNKNOWN)
            assert_int_equal(moved_all(TRANSFER_CREDIT, channel, rows, 2), ST_OK);
        assert_int_equal(world_balance(w, w->users[0]) - before_fen, st == ST_UNAVAILABLE ? 0 : 11);
        if (st != ST_UNAVAILABLE)
            assert_true(rows[0].transfer_id > 0 && rows[1].transfer_id > 0);
    }
}

/* ---- what the routine itself refuses ---- */

WORLD_TEST(the_routines_refuse_what_the_program_never_asks_for, 1)
{
    static const struct sql_refusal cases[] = {
        { "CALL ledger_external('credit', @c, '[]', 'anna', 'command', 1)", ROUTINE_REFUSED },
        { "CALL ledger_external('credit', @c, NULL, 'anna', 'command', 1)", ROUTINE_REFUSED },
        { "CALL ledger_external('deposit', @c, CONCAT('[[', @u, ',5,\"r\",\"\"]]'), 'anna', 'command', 1)",
          ROUTINE_REFUSED },
        { "CALL ledger_external(NULL, @c, CONCAT('[[', @u, ',5,\"r\",\"\"]]'), 'anna', 'command', 1)",
          ROUTINE_REFUSED },
        { "CALL ledger_external('credit', @c, CONCAT('[[', @u, ',0,\"r\",\"\"]]'), 'anna', 'command', 1)",
          ROUTINE_REFUSED },
        { "CALL ledger_external('credit', @c, CONCAT('[[', @u, ',-5,\"r\",\"\"]]'), 'anna', 'command', 1)",
          ROUTINE_REFUSED },
        { "CALL ledger_external('credit', @c, CONCAT('[[', @u, ',null,\"r\",\"\"]]'), 'anna', 'command', 1)",
          ROUTINE_REFUSED },
        { "CALL ledger_external('credit', @c, CONCAT('[[', @u, ',9223372036854775808,\"r\"]]'), 'a', 'http', 1)",
          ROUTINE_REFUSED },
        { "CALL ledger_external('credit', @c, CONCAT('[[', @u, ',5,null,\"\"]]'), 'anna', 'command', 1)",
          ROUTINE_REFUSED },
        { "CALL ledger_external('credit', @c, CONCAT('[[', @u, ',5,\"\",\"\"]]'), 'anna', 'command', 1)",
          ROUTINE_REFUSED },
        { "CALL ledger_external('credit', @c, CONCAT('[[', @u, ',5,\" r\",\"\"]]'), 'anna', 'command', 1)",
          ROUTINE_REFUSED },
        { "CALL ledger_external('credit', @c, CONCAT('[[', @u, ',5,\"r \",\"\"]]'), 'anna', 'command', 1)",
          ROUTINE_REFUSED },
        { "CALL ledger_external('credit', @c, CONCAT('[[', @u, ',5,\"r\\\\n\",\"\"]]'), 'anna', 'http', 1)",
          ROUTINE_REFUSED },
        /* the Kelvin sign, which is a k without regard to case */
        { "CALL ledger_external('credit', @c, CONCAT('[[', @u, ',5,\"\u212a\",\"\"]]'), 'anna', 'command', 1)",
          ROUTINE_REFUSED },
        { "CALL ledger_external('credit', @c, CONCAT('[[', @u, ',5,\"', REPEAT('r', 65), '\"]]'), 'a', 'http', 1)",
          ROUTINE_REFUSED },
        { "CALL ledger_external('credit', @c, CONCAT('[[', @u, ',5,\"r\",\"', REPEAT('m', 401), '\"]]'), 'a', 'http',"
          " 1)",
          ROUTINE_REFUSED },
        { "CALL ledger_external('credit', @c, CONCAT('[[', @u, ',5,\"r\",\"\"]]'), '', 'command', 1)",
          ROUTINE_REFUSED },
        { "CALL ledger_external('credit', @c, CONCAT('[[', @u, ',5,\"r\",\"\"]]'), NULL, 'command', 1)",
          ROUTINE_REFUSED },
        { "CALL ledger_external('credit', @c, CONCAT('[[', @u, ',5,\"r\",\"\"]]'), 'anna', 'mail', 1)",
          WARN_DATA_TRUNCATED },
        { "CALL ledger_external('credit', @c, CONCAT('[[', @u, ',5,\"r\"],[', @u, ',5,\"r\"]]'), 'a', 'http', 1)",
          ER_DUP_ENTRY },
        { "CALL ledger_external('credit', @c, CONCAT('[[', @u, ',5,\"R1\",\"\"]]'), 'anna', 'command', 1)",
          ER_DUP_ENTRY },
        { "CALL ledger_external('debit', @c, CONCAT('[[', @u, ',5,\"R1\",\"\"]]'), 'anna', 'command', 1)",
          ER_DUP_ENTRY },
        { "CALL ledger_external('credit', @c, CONCAT('[[', @u + 1, ',5,\"r\",\"\"]]'), 'anna', 'command', 1)",
          ROUTINE_NOT_FOUND },
        { "CALL ledger_external('credit', @c, '[[16,5,\"r\",\"\"]]', 'anna', 'command', 1)", ROUTINE_NOT_FOUND },
        { "CALL ledger_external('credit', NULL, CONCAT('[[', @u, ',5,\"r\",\"\"]]'), 'anna', 'command', 1)",
          ROUTINE_NOT_FOUND },
        { "CALL ledger_external('credit', 1, CONCAT('[[', @u, ',5,\"r\",\"\"]]'), 'anna', 'command', 1)",
          ROUTINE_NOT_FOUND },
        { "CALL channel_open(NULL, '', 'anna', 1)", ROUTINE_REFUSED },
        { "CALL channel_open('bank', '', NULL, 1)", ROUTINE_REFUSED },
        { "CALL channel_open('bank\\n', '', 'anna', 1)", ROUTINE_REFUSED },
        { "CALL channel_open('payroll', '', 'anna', 1)", ER_DUP_ENTRY },
        { "CALL channel_note(NULL, 'x')", ROUTINE_NOT_FOUND },
    };
    const uint64_t channel = channel_new(STR("payroll"));
    moved_one(TRANSFER_CREDIT, channel, 0, 5, "R1");
    sql_refused(arena_printf(w->arena, "SET @c = %" PRIu64 ", @u = %" PRIu64, channel, w->users[0]).ptr, cases,
                ARRAY_LEN(cases));
}

TESTS(NULL, NULL)
