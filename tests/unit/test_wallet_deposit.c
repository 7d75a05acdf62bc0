/* wallet/deposit and wallet/ledger, the parts without I/O: amounts and words. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/array.h"
#include "ledger/ledger.h"
#include "wallet/deposit.h"

static struct arena *arena;
static struct config config;

static int setup(void **state)
{
    (void)state;
    config.deposit_fen_max = 100000;
    arena = arena_new(4096, 1 << 20);
    return arena == NULL;
}

static int teardown(void **state)
{
    (void)state;
    arena_free(arena);
    return 0;
}

static void assert_amount(struct str typed, int64_t wanted_fen)
{
    int64_t fen = -1;
    struct form_errors errors = { .count = 0 };
    assert_int_equal(deposit_amount_read(arena, &config, typed, &fen, &errors), ST_OK);
    assert_int_equal(fen, wanted_fen);
}

static void assert_refused(struct str typed, const char *wanted)
{
    int64_t fen = -1;
    struct form_errors errors = { .count = 0 };
    assert_int_equal(deposit_amount_read(arena, &config, typed, &fen, &errors), ST_INVALID);
    assert_int_equal(fen, -1);
    assert_int_equal(errors.count, 1);
    assert_string_equal(errors.items[0].field, "amount");
    assert_string_equal(errors.items[0].text, wanted);
}

static void amounts_up_to_the_limit_are_taken(void **state)
{
    (void)state;
    assert_amount(STR("0.01"), 1);
    assert_amount(STR("12.3"), 1230);
    assert_amount(STR("1000"), 100000);
    assert_amount(STR("１２．３４"), 1234);
    assert_amount(STR("１２。５"), 1250);
}

static void other_amounts_are_refused_in_words(void **state)
{
    (void)state;
    static const struct str malformed[] = { STR("-1"),   STR("+1"),   STR(" 1"),    STR("1 "),
                                            STR("1e3"),  STR("0x10"), STR("01"),    STR("1,0"),
                                            STR(".5"),   STR("1."),   STR("1.234"), STR("٣"),
                                            STR("一百"), STR("NaN"),  STR("1\0"),   STR("99999999999999999999") };
    for (size_t i = 0; i < ARRAY_LEN(malformed); i++)
        assert_refused(malformed[i], "text/deposit_not_money");
    assert_refused(STR(""), "text/deposit_missing");
    assert_refused(STR("0"), "text/deposit_zero");
    assert_refused(STR("0.00"), "text/deposit_zero");
    assert_refused(STR("1000.01"), "text/deposit_max");
}

static void transfer_kinds_and_words_agree(void **state)
{
    (void)state;
    enum transfer_kind kind;
    for (enum transfer_kind k = 0; k < TRANSFER_KIND_COUNT; k++) {
        assert_true(transfer_kind_read(str_from(transfer_kind_name(k)), &kind));
        assert_int_equal(kind, k);
    }
    assert_string_equal(transfer_kind_name(TRANSFER_REFUND), "refund");
    assert_false(transfer_kind_read(STR("gift"), &kind));
    assert_false(transfer_kind_read(STR(""), &kind));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(amounts_up_to_the_limit_are_taken),
        cmocka_unit_test(other_amounts_are_refused_in_words),
        cmocka_unit_test(transfer_kinds_and_words_agree),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
