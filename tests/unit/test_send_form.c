/* pages/send_form: the order that the form defines, and the messages of a refused form. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/random.h"
#include "packet/receivers.h"
#include "packet/rules.h"
#include "packet/split.h"
#include "pages/send_form.h"
#include "user/account.h"

static const int64_t NOW_MS = 1795161600000; /* 2026-11-20T08:00:00Z */

/* The typed texts. */
struct typed {
    struct str kind, amount_of, amount, count, greeting, to, split, share_min, lifetime, cover, opens_at, phrase,
        request_key;
};

struct fixture {
    struct arena *arena;
    struct config config;
    struct services services;
    struct typed form;
    struct send_order order;
    struct form_errors errors;
};

static int fixture_up(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);
    if (f == NULL)
        return -1;
    f->arena = arena_new(65536, 1 << 20);
    config_defaults(&f->config);
    f->services.stores.config = &f->config;
    f->form =
        (struct typed){ .kind = STR("lucky"), .amount = STR("10.00"), .count = STR("10"), .greeting = STR("新年好") };
    *state = f;
    return f->arena == NULL ? -1 : 0;
}

static int fixture_down(void **state)
{
    struct fixture *f = *state;
    arena_free(f->arena);
    free(f);
    return 0;
}

static enum status form_order(struct fixture *f, struct arena *a)
{
    const struct typed *t = &f->form;
    struct exchange x = { .app = &f->services, .arena = a, .now_ms = NOW_MS };
    const struct form_field fields[] = {
        { STR("kind"), t->kind },    { STR("amount_of"), t->amount_of },     { STR("amount"), t->amount },
        { STR("count"), t->count },  { STR("greeting"), t->greeting },       { STR("to"), t->to },
        { STR("split"), t->split },  { STR("share_min"), t->share_min },     { STR("lifetime"), t->lifetime },
        { STR("cover"), t->cover },  { STR("request_key"), t->request_key }, { STR("opens_at"), t->opens_at },
        { STR("phrase"), t->phrase }
    };
    memcpy(x.form.fields, fields, sizeof fields);
    x.form.count = ARRAY_LEN(fields);
    return send_order_read(&x, &f->order, &f->errors);
}

static void assert_fine(struct fixture *f)
{
    enum status st = form_order(f, f->arena);
    if (f->errors.count > 0)
        fail_msg("%s: %s", f->errors.items[0].field, f->errors.items[0].text);
    assert_int_equal(st, ST_OK);
}

/* Expects exactly one message, at field. message: the text's name, then a blank and its value if it has one. */
static void assert_refused(struct fixture *f, const char *field, const char *message)
{
    assert_int_equal(form_order(f, f->arena), ST_INVALID);
    assert_int_equal(f->errors.count, 1);
    assert_string_equal(f->errors.items[0].field, field);
    const struct form_error *error = &f->errors.items[0];
    struct str got =
        arena_printf(f->arena, "%s%s%.*s", error->text, error->value.len > 0 ? " " : "", STR_ARG(error->value));
    assert_true(str_equal(got, str_from(message)));
}

static void form_amount(struct fixture *f, const char *kind, const char *amount, const char *count)
{
    f->form.kind = str_from(kind);
    f->form.amount = str_from(amount);
    f->form.count = str_from(count);
}

static void a_lucky_packet_is_ordered_by_its_total(void **state)
{
    struct fixture *f = *state;
    assert_fine(f);
    assert_int_equal(f->order.kind, PACKET_LUCKY);
    assert_int_equal(f->order.split, SPLIT_DOUBLE_AVERAGE);
    assert_int_equal(f->order.amount_fen, 1000);
    assert_int_equal(f->order.count, 10);
    assert_true(str_equal(f->order.greeting, STR("新年好")));
    assert_int_equal(f->order.share_max_fen, 20000);
}

static void an_even_packet_is_ordered_by_its_share(void **state)
{
    struct fixture *f = *state;
    form_amount(f, "even", "1.23", "7");
    f->form.split = STR("gaussian"); /* does not apply: ignored */
    assert_fine(f);
    assert_int_equal(f->order.amount_fen, 861);
    assert_int_equal(f->order.split, SPLIT_EVEN);
}

static void an_even_packet_can_be_ordered_by_its_total(void **state)
{
    struct fixture *f = *state;
    form_amount(f, "even", "10.00", "3");
    f->form.amount_of = STR("total");
    assert_fine(f);
    assert_int_equal(f->order.amount_fen, 1000);
    assert_int_equal(f->order.split, SPLIT_EVEN);
    f->form.amount_of = STR("share");
    assert_fine(f);
    assert_int_equal(f->order.amount_fen, 3000);
    f->form.amount_of = STR("all");
    assert_refused(f, "amount_of", "text/amount_of_unknown share, total");
    f->form.kind = STR("lucky"); /* does not apply: ignored */
    assert_fine(f);
    assert_int_equal(f->order.amount_fen, 1000);
    f->form.amount_of = STR("total");
    form_amount(f, "even", "", "3");
    assert_refused(f, "amount", "text/amount_total_missing");
    form_amount(f, "even", "0.02", "3");
    assert_refused(f, "amount", "text/share_min");
    form_amount(f, "even", "600.01", "3");
    assert_refused(f, "amount", "text/share_max 200");
    form_amount(f, "exclusive", "", "3");
    f->form.to = STR("xiaoming");
    assert_refused(f, "amount", "text/amount_one_missing");
}

/* Expects these receivers, each with a blank behind it but the last. */
static void assert_to(struct fixture *f, const char *names)
{
    struct buf got = BUF_EMPTY;
    for (size_t i = 0; i < f->order.to.count; i++) {
        buf_cstr(&got, i == 0 ? "" : " ");
        buf_str(&got, f->order.to.items[i]);
    }
    if (!str_equal(buf_view(&got), str_from(names)))
        fail_msg("%.*s instead of %s", STR_ARG(buf_view(&got)), names);
    buf_free(&got);
}

static void an_exclusive_packet_is_one_share_for_one_person(void **state)
{
    struct fixture *f = *state;
    form_amount(f, "exclusive", "52.00", "99");
    f->form.to = STR(" xiaoming ");
    assert_fine(f);
    assert_int_equal(f->order.count, 1);
    assert_int_equal(f->order.amount_fen, 5200);
    assert_int_equal(f->order.split, SPLIT_EVEN);
    assert_to(f, "xiaoming");
    f->form.count = STR("");
    assert_fine(f);
    f->form.to = STR("  ");
    assert_refused(f, "to", "text/to_missing");
}

static void an_empty_kind_is_lucky_and_an_unknown_one_is_refused(void **state)
{
    struct fixture *f = *state;
    f->form.kind = STR("");
    assert_fine(f);
    assert_int_equal(f->order.kind, PACKET_LUCKY);
    f->form.kind = STR("LUCKY");
    assert_refused(f, "kind", "text/kind_unknown lucky, even, exclusive");
    f->form.kind = STR("ev en");
    assert_refused(f, "kind", "text/kind_unknown lucky, even, exclusive");
}

static void amounts_beyond_the_limits_are_refused_with_the_limit(void **state)
{
    struct fixture *f = *state;
    static const struct {
        const char *kind, *amount, *count, *message;
    } refused[] = {
        { "lucky", "", "10", "text/amount_total_missing" },
        { "even", "", "10", "text/amount_each_missing" },
        { "lucky", "0.09", "10", "text/share_min" },
        { "lucky", "0", "1", "text/share_min" },
        { "even", "0.00", "3", "text/share_min" },
        { "lucky", "200.01", "1", "text/share_max 200" },
        { "lucky", "400.01", "2", "text/share_max 200" },
        { "even", "200.01", "2", "text/share_max 200" },
        { "even", "9999999.99", "100", "text/share_max 200" },
        { "lucky", "20000.01", "100", "text/total_max 20000" },
        { "lucky", "9999999.99", "100", "text/total_max 20000" },
    };
    for (size_t i = 0; i < ARRAY_LEN(refused); i++) {
        form_amount(f, refused[i].kind, refused[i].amount, refused[i].count);
        assert_refused(f, "amount", refused[i].message);
    }
}

static void amounts_at_the_limits_are_accepted(void **state)
{
    struct fixture *f = *state;
    static const struct {
        const char *kind, *amount, *count;
        int64_t total;
    } fine[] = { { "lucky", "0.01", "1", 1 },          { "lucky", "1", "100", 100 },
                 { "lucky", "200", "1", 20000 },       { "lucky", "20000", "100", 2000000 },
                 { "even", "200.00", "100", 2000000 }, { "even", "0.1", "1", 10 } };
    for (size_t i = 0; i < ARRAY_LEN(fine); i++) {
        form_amount(f, fine[i].kind, fine[i].amount, fine[i].count);
        assert_fine(f);
        assert_int_equal(f->order.amount_fen, fine[i].total);
    }
}

static void malformed_amounts_are_refused(void **state)
{
    struct fixture *f = *state;
    static const char *const bad[] = { "-1",
                                       "+1",
                                       "1e3",
                                       "1.234",
                                       "0x10",
                                       "1,0",
                                       ".",
                                       "NaN",
                                       "١٢",
                                       "1.2.3",
                                       "一",
                                       "￥￥1",
                                       "1_0",
                                       "1/2",
                                       "∞",
                                       "1 1",
                                       "9999999999999999999999.999" };
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        f->form.amount = str_from(bad[i]);
        assert_refused(f, "amount", "text/amount_not_money");
    }
}

static void an_amount_of_any_size_is_named_too_large(void **state)
{
    struct fixture *f = *state;
    static const char *const large[] = { "10000000", "99999999.5", "9999999999999999999999.99" };
    for (size_t i = 0; i < ARRAY_LEN(large); i++) {
        form_amount(f, "lucky", large[i], "10");
        assert_refused(f, "amount", "text/total_max 20000");
        form_amount(f, "even", large[i], "100");
        assert_refused(f, "amount", "text/share_max 200");
    }
    form_amount(f, "lucky", "10", "10");
    f->form.share_min = STR("99999999");
    assert_refused(f, "share_min", "text/share_min_max 1");
}

static void full_width_digits_are_read_as_digits(void **state)
{
    struct fixture *f = *state;
    form_amount(f, "lucky", "８。８８", "１０");
    assert_fine(f);
    assert_int_equal(f->order.amount_fen, 888);
    assert_int_equal(f->order.count, 10);
    form_amount(f, "even", "０．０１", "３");
    assert_fine(f);
    assert_int_equal(f->order.amount_fen, 3);
}

static void counts_that_are_not_whole_or_out_of_range_are_refused(void **state)
{
    struct fixture *f = *state;
    static const struct {
        const char *count, *message;
    } refused[] = {
        { "", "text/count_missing" },        { "0", "text/count_zero" },
        { "101", "text/count_max 100" },     { "99999999999999999999999", "text/count_max 100" },
        { "-1", "text/count_not_whole" },    { "1.5", "text/count_not_whole" },
        { "1e2", "text/count_not_whole" },   { "5 5", "text/count_not_whole" },
        { "0007x", "text/count_not_whole" }, { "十", "text/count_not_whole" },
        { "00", "text/count_zero" },
    };
    for (size_t i = 0; i < ARRAY_LEN(refused); i++) {
        f->form.count = str_from(refused[i].count);
        assert_refused(f, "count", refused[i].message);
    }
    f->form.count = STR("100");
    assert_fine(f);
}

static void the_limits_in_messages_come_from_the_settings(void **state)
{
    struct fixture *f = *state;
    f->config.share_fen_max = 1250;
    f->config.packet_fen_max = 100001;
    f->config.packet_shares_max = 5000;
    form_amount(f, "even", "12.51", "1");
    assert_refused(f, "amount", "text/share_max 12.50");
    form_amount(f, "lucky", "1000.02", "5000");
    assert_refused(f, "amount", "text/total_max 1000.01");
    form_amount(f, "lucky", "1000.01", "5001");
    assert_refused(f, "count", "text/count_max 5000");
    form_amount(f, "lucky", "1000.01", "5000");
    assert_fine(f);
    assert_int_equal(f->order.share_max_fen, 1250);
}

static void a_greeting_is_cleaned_and_counted_in_graphemes(void **state)
{
    struct fixture *f = *state;
    f->form.greeting = STR("");
    assert_fine(f);
    assert_true(str_equal(f->order.greeting, STR("text/greeting_default"))); /* without a catalogue: its name */
    f->form.greeting = STR(" \t ");
    assert_fine(f);
    assert_true(f->order.greeting_by_default);
    assert_true(str_equal(f->order.greeting, STR("text/greeting_default")));
    f->form.greeting = STR("  a\r\nb  ");
    assert_fine(f);
    assert_false(f->order.greeting_by_default);
    assert_true(str_equal(f->order.greeting, STR("a b")));
    f->form.greeting = STR("一二三四五六七八九十一二三四五六七八九十一二三四五");
    assert_fine(f);
    f->form.greeting = STR("一二三四五六七八九十一二三四五六七八九十一二三四五六");
    assert_refused(f, "greeting", "text/greeting_long 25");
    f->form.greeting = STR("12345678901234567890123456789012345678901234567890"); /* two narrow ones are one */
    assert_fine(f);
    f->form.greeting = STR("12345678901234567890123456789012345678901234567890x");
    assert_refused(f, "greeting", "text/greeting_long 25");
    /* 25 families: 25 graphemes, 175 code points. */
    char families[25 * 25 + 1] = "";
    for (int i = 0; i < 25; i++)
        strcat(families, "👨‍👩‍👧‍👦");
    f->form.greeting = str_from(families);
    assert_fine(f);
    f->form.greeting = STR("\xff");
    assert_refused(f, "greeting", "text/greeting_invalid");
}

static void a_greeting_with_stacked_marks_fits_its_column(void **state)
{
    struct fixture *f = *state;
    enum { LETTERS = 30, MARKS = 40 };
    char marks[LETTERS * (1 + 2 * MARKS) + 1] = "";
    for (int i = 0; i < LETTERS; i++) {
        strcat(marks, "x");
        for (int j = 0; j < MARKS; j++)
            strcat(marks, "\xcc\x81");
    }
    f->form.greeting = (struct str){ marks, 25 * (1 + 2 * MARKS) }; /* 25 graphemes */
    assert_fine(f);
    assert_true(f->order.greeting.len <= 2 * GREETING_CODE_POINTS_MAX);
    f->config.greeting_graphemes_max = LETTERS;
    f->form.greeting = str_from(marks); /* a setting can't widen the column */
    assert_refused(f, "greeting", "text/greeting_long 30");
}

static void a_split_is_chosen_for_lucky_packets_only(void **state)
{
    struct fixture *f = *state;
    f->form.split = STR("uniform");
    assert_fine(f);
    assert_int_equal(f->order.split, SPLIT_UNIFORM);
    f->form.split = STR("gaussian");
    assert_fine(f);
    assert_int_equal(f->order.split, SPLIT_GAUSSIAN);
    f->form.split = STR("even");
    assert_refused(f, "split", "text/split_unknown double-average, uniform, gaussian");
    f->form.split = STR("magic");
    assert_refused(f, "split", "text/split_unknown double-average, uniform, gaussian");
}

static void a_smallest_share_is_chosen_for_lucky_packets_only(void **state)
{
    struct fixture *f = *state;
    assert_fine(f);
    assert_int_equal(f->order.share_min_fen, 1);
    f->form.share_min = STR("０．５");
    assert_fine(f);
    assert_int_equal(f->order.share_min_fen, 50);
    f->form.share_min = STR("1.00"); /* 10.00 in 10: all the same */
    assert_fine(f);
    f->form.share_min = STR("1.01");
    assert_refused(f, "share_min", "text/share_min_max 1");
    f->form.count = STR("3");
    f->form.share_min = STR("3.34");
    assert_refused(f, "share_min", "text/share_min_max 3.33");
    f->form.share_min = STR("0");
    assert_refused(f, "share_min", "text/share_min");
    f->form.share_min = STR("-1");
    assert_refused(f, "share_min", "text/amount_not_money");
    form_amount(f, "even", "1", "3");
    assert_fine(f);
    assert_int_equal(f->order.share_min_fen, 1);
    form_amount(f, "lucky", "10", "0");
    f->form.share_min = STR("200"); /* may be fine with another count */
    assert_refused(f, "count", "text/count_zero");
}

static void a_lifetime_is_one_of_the_setting_or_the_default(void **state)
{
    struct fixture *f = *state;
    assert_fine(f);
    assert_int_equal(f->order.lifetime_ms, 86400000);
    assert_true(f->order.lifetime_by_default);
    f->form.lifetime = STR("24h");
    assert_fine(f);
    assert_int_equal(f->order.lifetime_ms, 86400000);
    assert_false(f->order.lifetime_by_default);
    f->form.lifetime = STR("7d");
    assert_fine(f);
    assert_int_equal(f->order.lifetime_ms, 604800000);
    static const char *const bad[] = { "2h", "7", "7D", "1h 24h", "24 h", "604800000" };
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        f->form.lifetime = str_from(bad[i]);
        assert_refused(f, "lifetime", "text/lifetime_unknown 1h, 24h, 3d, 7d");
    }
    strcpy(f->config.packet_lifetimes, "2h");
    f->form.lifetime = STR("2h");
    assert_fine(f);
    assert_int_equal(f->order.lifetime_ms, 7200000);
}

static void a_receiver_may_be_typed_in_full_width(void **state)
{
    struct fixture *f = *state;
    char typed[3 * USERNAME_BYTES_MAX + 3] = "";
    for (int i = 0; i < USERNAME_BYTES_MAX; i++)
        strcat(typed, "ａ");
    f->form.kind = STR("exclusive");
    f->form.to = str_from(typed);
    assert_fine(f);
    assert_int_equal(f->order.to.count, 1);
    assert_int_equal(f->order.to.items[0].len, USERNAME_BYTES_MAX);
    assert_int_equal(f->order.to.items[0].ptr[0], 'a');
    f->form.to = STR("Xiao Ming");
    assert_refused(f, "to", "text/to_one");
}

static void several_receivers_are_separated_by_blanks_commas_or_lines(void **state)
{
    struct fixture *f = *state;
    f->form.count = STR("2");
    assert_fine(f);
    assert_to(f, "");
    f->form.to = STR(" ming, hong\r\ngang,,ming\tＬＩ，wu、zhao\u3000qian；sun ");
    assert_fine(f);
    assert_to(f, "ming hong gang li wu zhao qian sun");
    f->form.to = STR("@ming\u00a0＠hong\u2028gang\u200b\u2003\ufeffming");
    assert_fine(f);
    assert_to(f, "ming hong gang");
    f->form.to = STR("ming hong");
    f->form.kind = STR("even");
    assert_fine(f);
    f->form.to = STR("Ming X -Hong Ming");
    assert_fine(f);
    assert_to(f, "ming x -hong"); /* the handler refuses them with the names that nobody has */
}

static void a_packet_has_at_most_a_hundred_receivers(void **state)
{
    struct fixture *f = *state;
    struct buf names = BUF_EMPTY;
    for (int i = 0; i < RECEIVERS_MAX; i++)
        buf_printf(&names, "user%d ", i);
    f->form.to = buf_view(&names);
    assert_fine(f);
    assert_int_equal(f->order.to.count, RECEIVERS_MAX);
    buf_cstr(&names, "user7"); /* named before */
    f->form.to = buf_view(&names);
    assert_fine(f);
    buf_cstr(&names, " one-more");
    f->form.to = buf_view(&names);
    assert_refused(f, "to", "text/to_many 100");
    f->form.count = STR("");
    f->form.amount = STR("500");
    f->form.share_min = STR("3"); /* neither is compared with a number of receivers that is wrong */
    assert_refused(f, "to", "text/to_many 100");
    buf_free(&names);
}

static void there_are_as_many_shares_as_receivers_or_fewer(void **state)
{
    struct fixture *f = *state;
    f->form.to = STR("ming hong gang");
    f->form.count = STR("");
    assert_fine(f);
    assert_int_equal(f->order.count, 3);
    f->form.count = STR("3");
    assert_fine(f);
    f->form.count = STR("1");
    assert_fine(f);
    assert_int_equal(f->order.count, 1);
    f->form.count = STR("4");
    assert_refused(f, "count", "text/count_over_to 3");
}

static void a_malformed_request_key_is_refused(void **state)
{
    struct fixture *f = *state;
    char key[REQUEST_KEY_MAX + 2] = "";
    memset(key, 'k', REQUEST_KEY_MAX);
    f->form.request_key = str_from(key);
    assert_fine(f);
    key[REQUEST_KEY_MAX] = 'k';
    f->form.request_key = str_from(key);
    assert_refused(f, "request_key", "text/request_key_invalid");
    f->form.request_key = STR("a b");
    assert_refused(f, "request_key", "text/request_key_invalid");
}

static void an_absent_or_malformed_key_is_replaced_by_a_new_one(void **state)
{
    struct fixture *f = *state;
    assert_fine(f);
    assert_true(request_key_valid(f->order.request_key));
    f->form.request_key = STR("a b");
    assert_refused(f, "request_key", "text/request_key_invalid");
    assert_true(request_key_valid(f->order.request_key));
}

/* Fields that depend on the kind are not read, because the kind is unknown. */
static void an_unknown_kind_hides_the_fields_that_depend_on_it(void **state)
{
    struct fixture *f = *state;
    f->form = (struct typed){ .kind = STR("?"), .greeting = STR("\xff"), .split = STR("?") };
    assert_int_equal(form_order(f, f->arena), ST_INVALID);
    assert_int_equal(f->errors.count, 2);
    assert_string_equal(f->errors.items[0].field, "kind");
    assert_string_equal(f->errors.items[1].field, "greeting");
}

/* The amount is checked as far as possible without the count. */
static void a_wrong_count_does_not_hide_a_wrong_amount(void **state)
{
    struct fixture *f = *state;
    static const struct {
        const char *kind, *amount, *message;
    } refused[] = { { "lucky", "20000.01", "text/total_max" },
                    { "even", "200.01", "text/share_max" },
                    { "even", "0", "text/share_min" },
                    { "lucky", "0", "text/share_min" },
                    { "lucky", "20000", NULL } };
    for (size_t i = 0; i < ARRAY_LEN(refused); i++) {
        form_amount(f, refused[i].kind, refused[i].amount, "x");
        assert_int_equal(form_order(f, f->arena), ST_INVALID);
        assert_int_equal(f->errors.count, refused[i].message == NULL ? 1 : 2);
        assert_string_equal(f->errors.items[0].field, "count");
        if (refused[i].message != NULL)
            assert_string_equal(f->errors.items[1].text, refused[i].message);
    }
}

static void a_phrase_has_at_most_twenty_graphemes(void **state)
{
    struct fixture *f = *state;
    assert_fine(f);
    assert_int_equal(f->order.phrase.folded.len, 0);
    f->form.phrase = STR("  Ｏpen\u3000Sesame ");
    assert_fine(f);
    assert_true(str_equal(f->order.phrase.shown, STR("Ｏpen Sesame")));
    assert_true(str_equal(f->order.phrase.folded, STR("open sesame")));
    f->form.phrase = STR("一二三四五六七八九十一二三四五六七八九👨‍👩‍👧");
    assert_fine(f);
    f->form.phrase = STR("一二三四五六七八九十一二三四五六七八九十一");
    assert_refused(f, "phrase", "text/phrase_long 20");
    f->form.phrase = STR("   ");
    assert_refused(f, "phrase", "text/phrase_invalid");
    f->form.phrase = STR("新\ufffc年\ue000"); /* as packet/phrase folds what is typed to open it */
    assert_fine(f);
    assert_true(str_equal(f->order.phrase.folded, f->form.phrase));
    struct buf families = BUF_EMPTY; /* few graphemes, but more code points than can be stored */
    for (int i = 0; i < 12; i++)
        buf_cstr(&families, "👨🏽‍👩🏽‍👧🏽‍👦🏽");
    f->form.phrase = buf_view(&families);
    assert_refused(f, "phrase", "text/phrase_long 20");
    buf_free(&families);
}

static void assert_opening_shown(struct fixture *f, const char *typed, const char *shown)
{
    struct form form = { .count = 1, .fields = { { STR("opens_at"), str_from(typed) } } };
    struct model m;
    model_init(&m, f->arena);
    form_typed_model(&m, &m.root, send_fields, &form);
    struct str got = value_get(&m.root, STR("opens_at"), value_hash(STR("opens_at")))->as.text;
    if (!str_equal(got, str_from(shown)))
        fail_msg("%s: %.*s instead of %s", typed, STR_ARG(got), shown);
}

static void an_opening_is_shown_again_as_its_input_has_it(void **state)
{
    struct fixture *f = *state;
    assert_true(clock_zone_set("Europe/Berlin"));
    assert_opening_shown(f, "2026/12/1 20：00", "2026-12-01T20:00");
    assert_opening_shown(f, "2026-12-01 20:00:05 Z", "2026-12-01T21:00:05");
    assert_opening_shown(f, "2026-10-25 02:30", "2026-10-25T02:30");
    assert_opening_shown(f, "2026-10-25 02:30 +01:00", "2026-10-25 02:30 +01:00"); /* the second of two */
    assert_opening_shown(f, "2026-12-01 20:00:05.5", "2026-12-01 20:00:05.5");
    assert_opening_shown(f, "tomorrow", "tomorrow");
    assert_true(clock_zone_set("UTC"));
}

static void assert_opens(struct fixture *f, const char *typed, int64_t opens_ms)
{
    f->form.opens_at = str_from(typed);
    assert_fine(f);
    assert_int_equal(f->order.opens_ms, opens_ms);
}

static void an_opening_is_scheduled_at_most_thirty_days_ahead(void **state)
{
    struct fixture *f = *state;
    assert_opens(f, "", 0);
    assert_opens(f, "2026-11-20T10:00:00Z", NOW_MS + 2 * 3600 * 1000);
    assert_opens(f, " 2026-11-20T18:00:00+08:00 ", NOW_MS + 2 * 3600 * 1000);
    assert_opens(f, "2026-12-20T08:00:00Z", NOW_MS + RULES_OPENS_AHEAD_MAX_MS);
    assert_opens(f, "2026-11-20T07:00:00Z", NOW_MS - 3600 * 1000); /* the handler refuses it, unless it is a repeat */
    f->form.opens_at = STR("2026-12-20T08:00:00.001Z");
    assert_refused(f, "opens_at", "text/opens_late");
    assert_opens(f, "\u00a0２０２６－１１－２１Ｔ０８：００：００Ｚ\u200b", NOW_MS + 24 * 3600 * 1000);
    assert_true(clock_zone_set("Asia/Shanghai"));
    assert_opens(f, "2026/11/21\u300016：00", NOW_MS + 24 * 3600 * 1000);
    assert_opens(f, "2026-11-20 18:00 +08:00", NOW_MS + 2 * 3600 * 1000);
    assert_true(clock_zone_set("America/Santiago")); /* skips the first hour of 6 September */
    f->form.opens_at = STR("2026-09-06 00:30");
    assert_refused(f, "opens_at", "text/opens_skipped");
    assert_true(clock_zone_set("UTC"));
    f->form.opens_at = STR("tomorrow");
    assert_refused(f, "opens_at", "text/opens_invalid");
}

static void every_wrong_field_gets_a_message_at_once(void **state)
{
    struct fixture *f = *state;
    f->form = (struct typed){ .kind = STR("exclusive"), .greeting = STR("\xc3"), .request_key = STR("!") };
    assert_int_equal(form_order(f, f->arena), ST_INVALID);
    assert_int_equal(f->errors.count, 4);
    form_amount(f, "lucky", "x", "y");
    assert_int_equal(form_order(f, f->arena), ST_INVALID);
    assert_int_equal(f->errors.count, 4);
}

static void a_cover_is_one_of_the_list_and_brings_its_greeting(void **state)
{
    struct fixture *f = *state;
    assert_fine(f);
    assert_int_equal(f->order.cover.len, 0);
    f->form.cover = STR("birthday");
    assert_fine(f);
    assert_true(str_equal(f->order.cover, STR("birthday")));
    assert_true(str_equal(f->order.greeting, STR("新年好")));
    f->form.greeting = STR("");
    assert_fine(f);
    assert_true(str_equal(f->order.greeting, STR("text/greeting_birthday")));
    f->form.cover = STR("@0123456789abcdefghjkmnpqrs"); /* whose it is, the handler finds out */
    assert_fine(f);
    assert_true(str_equal(f->order.cover, STR("@0123456789abcdefghjkmnpqrs")));
    assert_true(str_equal(f->order.greeting, STR("text/greeting_default")));
    f->form.cover = STR("plain");
    assert_fine(f);
    assert_int_equal(f->order.cover.len, 0);
    f->form.cover = STR("Birthday");
    assert_refused(f, "cover",
                   "text/cover_unknown plain, spring-festival, mid-autumn, birthday, wedding, baby, new-job, thanks");
}

static void more_receivers_than_a_packet_may_have_shares_are_refused(void **state)
{
    struct fixture *f = *state;
    f->config.packet_shares_max = 2;
    f->form.kind = STR("even");
    f->form.count = STR("");
    f->form.to = STR("anna bert carl");
    (void)form_order(f, f->arena);
    assert_int_equal(f->errors.count, 1);
    assert_true(form_failed(&f->errors, "count"));
}

static void without_memory_nothing_is_ordered(void **state)
{
    struct fixture *f = *state;
    struct arena *small = arena_new(16, 16);
    assert_non_null(small);
    assert_int_equal(form_order(f, small), ST_NO_MEMORY);
    arena_free(small);
}

#define FORM_TEST(name) cmocka_unit_test_setup_teardown(name, fixture_up, fixture_down)

int main(void)
{
    static const struct CMUnitTest tests[] = {
        FORM_TEST(an_opening_is_shown_again_as_its_input_has_it),
        FORM_TEST(a_lucky_packet_is_ordered_by_its_total),
        FORM_TEST(an_even_packet_is_ordered_by_its_share),
        FORM_TEST(an_even_packet_can_be_ordered_by_its_total),
        FORM_TEST(an_exclusive_packet_is_one_share_for_one_person),
        FORM_TEST(an_empty_kind_is_lucky_and_an_unknown_one_is_refused),
        FORM_TEST(amounts_beyond_the_limits_are_refused_with_the_limit),
        FORM_TEST(amounts_at_the_limits_are_accepted),
        FORM_TEST(malformed_amounts_are_refused),
        FORM_TEST(an_amount_of_any_size_is_named_too_large),
        FORM_TEST(full_width_digits_are_read_as_digits),
        FORM_TEST(counts_that_are_not_whole_or_out_of_range_are_refused),
        FORM_TEST(the_limits_in_messages_come_from_the_settings),
        FORM_TEST(a_greeting_is_cleaned_and_counted_in_graphemes),
        FORM_TEST(a_greeting_with_stacked_marks_fits_its_column),
        FORM_TEST(a_split_is_chosen_for_lucky_packets_only),
        FORM_TEST(a_smallest_share_is_chosen_for_lucky_packets_only),
        FORM_TEST(a_lifetime_is_one_of_the_setting_or_the_default),
        FORM_TEST(a_receiver_may_be_typed_in_full_width),
        FORM_TEST(several_receivers_are_separated_by_blanks_commas_or_lines),
        FORM_TEST(a_packet_has_at_most_a_hundred_receivers),
        FORM_TEST(there_are_as_many_shares_as_receivers_or_fewer),
        FORM_TEST(a_malformed_request_key_is_refused),
        FORM_TEST(an_absent_or_malformed_key_is_replaced_by_a_new_one),
        FORM_TEST(an_unknown_kind_hides_the_fields_that_depend_on_it),
        FORM_TEST(a_wrong_count_does_not_hide_a_wrong_amount),
        FORM_TEST(a_phrase_has_at_most_twenty_graphemes),
        FORM_TEST(an_opening_is_scheduled_at_most_thirty_days_ahead),
        FORM_TEST(every_wrong_field_gets_a_message_at_once),
        FORM_TEST(a_cover_is_one_of_the_list_and_brings_its_greeting),
        FORM_TEST(more_receivers_than_a_packet_may_have_shares_are_refused),
        FORM_TEST(without_memory_nothing_is_ordered),
    };
    return random_init() ? cmocka_run_group_tests_name("send_form", tests, NULL, NULL) : 1;
}
