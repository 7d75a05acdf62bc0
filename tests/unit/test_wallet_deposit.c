/* wallet/deposit and ledger, the parts without I/O: the form, and the names of transfer kinds. */
#include "ledger/ledger.h"
#include "support/test_arena.h"
#include "wallet/deposit.h"

static struct config config;
static struct services services = { .stores = { .config = &config } };

static int setup(void **state)
{
    config.deposit_fen_max = 100000;
    return arena_setup(state);
}

/* Reads the form with these typed texts. Members of d that are not read keep their values. */
static enum status form_with(struct str amount, struct str request_key, struct deposit *d, struct form_errors *errors)
{
    struct exchange x = { .app = &services, .arena = arena };
    x.form.count = 2;
    x.form.fields[0] = (struct form_field){ STR("amount"), amount };
    x.form.fields[1] = (struct form_field){ STR("request_key"), request_key };
    *d = (struct deposit){ .amount_fen = -1 };
    return form_read(&x, deposit_fields, d, errors);
}

static struct deposit deposit_of(struct str amount)
{
    struct deposit d;
    struct form_errors errors;
    assert_int_equal(form_with(amount, STR("k"), &d, &errors), ST_OK);
    return d;
}

static void assert_refused(struct str typed, const char *wanted)
{
    struct deposit d;
    struct form_errors errors;
    assert_int_equal(form_with(typed, STR("k"), &d, &errors), ST_INVALID);
    assert_ints({ d.amount_fen, -1 }, { errors.count, 1 });
    assert_string_equal(errors.items[0].field, "amount");
    assert_string_equal(errors.items[0].text, wanted);
    if (strcmp(wanted, "text/deposit_max") == 0)
        assert_true(str_equal(errors.items[0].value, STR("1000"))); /* the limit as an amount */
}

TEST(amounts_up_to_the_limit_are_accepted_and_others_refused_with_a_message)
{
    assert_int_equal(deposit_of(STR("0.01")).amount_fen, 1);
    assert_int_equal(deposit_of(STR("1000")).amount_fen, 100000);
    assert_int_equal(deposit_of(STR("\u3000１２。５ ")).amount_fen, 1250);
    /* typed.json has more cases. */
    assert_refused(STR("1.234"), "text/deposit_not_money");
    assert_refused(STR("1\0"), "text/deposit_not_money");
    assert_refused(STR(""), "text/deposit_missing");
    assert_refused(STR("0"), "text/deposit_zero");
    assert_refused(STR("0.00"), "text/deposit_zero");
    assert_refused(STR("1000.01"), "text/deposit_max");
    assert_refused(STR("10000000"), "text/deposit_max");
    assert_refused(STR("099999999999999999"), "text/deposit_max");
    assert_refused(STR("99999999999999999999.50"), "text/deposit_max");
    assert_refused(STR("99999999999999999999.505"), "text/deposit_not_money");
}

TEST(a_form_without_a_valid_key_gets_a_new_one_and_a_transfer_kind_is_read_back)
{
    struct deposit d;
    struct form_errors errors;
    assert_int_equal(form_with(STR("1"), STR("my-key"), &d, &errors), ST_OK);
    assert_true(str_equal(d.request_key, STR("my-key")));
    assert_int_equal(form_with(STR("1"), STR(""), &d, &errors), ST_OK);
    assert_true(request_key_valid(d.request_key));
    assert_int_equal(form_with(STR("1"), STR("not a key"), &d, &errors), ST_INVALID);
    assert_string_equal(errors.items[0].field, "request_key");
    assert_string_equal(errors.items[0].text, "text/form_stale");
    assert_true(request_key_valid(d.request_key));
    enum transfer_kind kind;
    for (enum transfer_kind k = 0; k < TRANSFER_KIND_COUNT; k++) {
        assert_true(transfer_kind_read(str_from(transfer_kind_name(k)), &kind));
        assert_int_equal(kind, k);
    }
    assert_string_equal(transfer_kind_name(TRANSFER_REFUND), "refund");
    assert_false(transfer_kind_read(STR("gift"), &kind));
    assert_false(transfer_kind_read(STR(""), &kind));
}

TESTS(setup, arena_teardown)
