/* pages/send_form: the order that the form defines, and the messages of a refused form. */
#include "base/clock.h"
#include "packet/receivers.h"
#include "packet/rules.h"
#include "packet/split.h"
#include "pages/send_form.h"
#include "support/assert_text.h"
#include "support/test_arena.h"
#include "user/account.h"

enum { HOUR_MS = 3600 * 1000, DAY_MS = 24 * HOUR_MS };
static const int64_t NOW_MS = 1795161600000; /* 2026-11-20T08:00:00Z */

/* The typed texts, in the order of NAMES. NULL: as in USUAL. */
struct typed {
    const char *kind, *amount_of, *amount, *count, *greeting, *to, *split, *share_min, *lifetime, *cover, *opens_at,
        *phrase, *note, *request_key;
};
static const char *const NAMES[] = {
    "kind",      "amount_of", "amount", "count",    "greeting", "to",   "split",
    "share_min", "lifetime",  "cover",  "opens_at", "phrase",   "note", "request_key"
};
static const struct typed USUAL = { "lucky", "", "10.00", "10", "新年好", "", "", "", "", "", "", "", "", "" };
enum { FIELDS = ARRAY_LEN(NAMES) };

static struct config config;
static struct services services = { .stores.config = &config };
static struct send_order order;
static struct form_errors errors;

static int defaults(void **state)
{
    (void)state;
    config_defaults(&config);
    return 0;
}

static int setup(void **state)
{
    (void)defaults(state);
    return arena_setup(state);
}

static enum status form_order(const struct typed *form, struct arena *a)
{
    struct exchange x = { .app = &services, .arena = a, .now_ms = NOW_MS };
    const char *typed[FIELDS], *usual[FIELDS];
    memcpy(typed, form, sizeof typed);
    memcpy(usual, &USUAL, sizeof usual);
    x.form.count = FIELDS;
    for (size_t i = 0; i < FIELDS; i++)
        x.form.fields[i] = (struct form_field){ str_from(NAMES[i]), str_from(typed[i] == NULL ? usual[i] : typed[i]) };
    return send_order_read(&x, &order, &errors);
}

/* The messages of a form: "FIELD: NAME VALUE", joined by "; ". "": there is none. */
static const char *messages(const struct typed *form)
{
    arena_reset(arena);
    enum status st = form_order(form, arena);
    struct str all = STR("");
    for (size_t i = 0; i < errors.count; i++) {
        const struct form_error *e = &errors.items[i];
        all = arena_printf(arena, "%.*s%s%s: %s%s%.*s", STR_ARG(all), i > 0 ? "; " : "", e->field, e->text,
                           e->value.len > 0 ? " " : "", STR_ARG(e->value));
    }
    assert_int_equal(st, errors.count == 0 ? ST_OK : ST_INVALID);
    return arena_cstr(arena, all);
}

/* The order of a form with these texts, which must have no message. */
#define FINE(...) fine(&(const struct typed){ __VA_ARGS__ })
static const struct send_order *fine(const struct typed *form)
{
    assert_string_equal(messages(form), "");
    return &order;
}

/* Expects these messages for a form with these texts. */
#define REFUSED(wanted, ...) assert_string_equal(messages(&(const struct typed){ __VA_ARGS__ }), wanted)

/* Expects these receivers, each with a blank behind it but the last. */
static void assert_to(const struct send_order *o, const char *names)
{
    struct str got = STR("");
    for (size_t i = 0; i < o->to.count; i++)
        got = arena_printf(arena, "%.*s%s%.*s", STR_ARG(got), i == 0 ? "" : " ", STR_ARG(o->to.items[i]));
    assert_text(got, names);
}

TEST(a_lucky_packet_is_ordered_by_its_total)
{
    const struct send_order *o = FINE(.kind = "lucky");
    assert_ints({ o->packet.kind, PACKET_LUCKY }, { o->packet.split, SPLIT_DOUBLE_AVERAGE },
                { o->packet.amount_fen, 1000 }, { o->packet.count, 10 }, { o->packet.share_max_fen, 20000 },
                { o->packet.share_min_fen, 1 }, { o->lifetime_ms, DAY_MS }, { o->lifetime_by_default, true },
                { o->packet.cover.len, 0 }, { o->phrase.folded.len, 0 }, { o->packet.opens_ms, 0 });
    assert_text(o->packet.greeting, "新年好");
    assert_to(o, "");
    assert_true(request_key_valid(o->packet.request_key));
}

TEST(an_even_packet_is_ordered_by_its_share_or_its_total)
{
    const struct send_order *o = FINE(.kind = "even", .amount = "1.23", .count = "7", .split = "gaussian");
    assert_int_equal(o->packet.amount_fen, 861);
    assert_int_equal(o->packet.split, SPLIT_EVEN); /* what does not apply is ignored */
    o = FINE(.kind = "even", .count = "3", .amount_of = "total");
    assert_int_equal(o->packet.amount_fen, 1000);
    assert_int_equal(o->packet.split, SPLIT_EVEN);
    assert_int_equal(FINE(.kind = "even", .count = "3", .amount_of = "share")->packet.amount_fen, 3000);
    assert_int_equal(FINE(.kind = "lucky", .count = "3", .amount_of = "all")->packet.amount_fen, 1000); /* ignored */
    REFUSED("amount_of: text/amount_of_unknown share, total", .kind = "even", .amount_of = "all");
    REFUSED("amount: text/amount_total_missing", .kind = "even", .amount_of = "total", .amount = "");
    REFUSED("amount: text/share_min", .kind = "even", .amount_of = "total", .amount = "0.02", .count = "3");
    REFUSED("amount: text/share_max 200", .kind = "even", .amount_of = "total", .amount = "600.01", .count = "3");
    REFUSED("amount: text/amount_one_missing", .kind = "exclusive", .amount_of = "total", .amount = "", .to = "ming");
}

TEST(an_exclusive_packet_is_one_share_and_an_unknown_kind_hides_the_fields_that_depend_on_it)
{
    const struct send_order *o = FINE(.kind = "exclusive", .amount = "52.00", .count = "99", .to = " xiaoming ");
    assert_ints({ o->packet.count, 1 }, { o->packet.amount_fen, 5200 }, { o->packet.split, SPLIT_EVEN });
    assert_to(o, "xiaoming");
    (void)FINE(.kind = "exclusive", .count = "", .to = "xiaoming");
    REFUSED("to: text/to_missing", .kind = "exclusive", .to = "  ");
    assert_int_equal(FINE(.kind = "")->packet.kind, PACKET_LUCKY);
    REFUSED("kind: text/kind_unknown lucky, even, exclusive", .kind = "LUCKY");
    REFUSED("kind: text/kind_unknown lucky, even, exclusive", .kind = "ev en");
    /* Fields that depend on the kind are not read, because the kind is unknown. */
    REFUSED("kind: text/kind_unknown lucky, even, exclusive; greeting: text/greeting_invalid", .kind = "?",
            .amount = "", .count = "", .greeting = "\xff", .split = "?");
}

/* test_packet_rules.c has the limits themselves. */
TEST(amounts_up_to_the_limits_are_accepted_and_others_refused_with_the_limit)
{
    assert_int_equal(FINE(.amount = "20000", .count = "100")->packet.amount_fen, 2000000);
    assert_int_equal(FINE(.kind = "even", .amount = "200.00", .count = "100")->packet.amount_fen, 2000000);
    REFUSED("amount: text/amount_total_missing", .amount = "");
    REFUSED("amount: text/amount_each_missing", .kind = "even", .amount = "");
    REFUSED("amount: text/share_min", .amount = "0.09");
    REFUSED("amount: text/share_min", .kind = "even", .amount = "0.00", .count = "3");
    REFUSED("amount: text/share_max 200", .amount = "200.01", .count = "1");
    REFUSED("amount: text/share_max 200", .kind = "even", .amount = "200.01", .count = "2");
    REFUSED("amount: text/total_max 20000", .amount = "20000.01", .count = "100");
    /* typed.json has texts that are no amount or no count, full-width ones, and the separators of names. */
    REFUSED("amount: text/amount_not_money", .amount = "1.234");
    EACH_TEXT (text, "10000000", "9999999999999999999999.99") {
        REFUSED("amount: text/total_max 20000", .amount = text);
        REFUSED("amount: text/share_max 200", .kind = "even", .amount = text, .count = "100");
    }
    REFUSED("share_min: text/share_min_max 1", .share_min = "99999999");
}

TEST(counts_that_are_not_whole_or_out_of_range_are_refused_and_hide_no_wrong_amount)
{
    REFUSED("count: text/count_not_whole", .count = "1.5");
    REFUSED("count: text/count_missing", .count = "");
    REFUSED("count: text/count_zero", .count = "0");
    REFUSED("count: text/count_zero", .count = "00");
    REFUSED("count: text/count_max 100", .count = "101");
    REFUSED("count: text/count_max 100", .count = "99999999999999999999999");
    assert_int_equal(FINE(.amount = "８。８８", .count = "１００")->packet.count, 100);
    assert_int_equal(order.packet.amount_fen, 888);
    /* The amount is checked as far as possible without the count. */
#define NO_COUNT "count: text/count_not_whole"
    REFUSED(NO_COUNT "; amount: text/total_max 20000", .amount = "20000.01", .count = "x");
    REFUSED(NO_COUNT "; amount: text/share_max 200", .kind = "even", .amount = "200.01", .count = "x");
    REFUSED(NO_COUNT "; amount: text/share_min", .kind = "even", .amount = "0", .count = "x");
    REFUSED(NO_COUNT "; amount: text/share_min", .amount = "0", .count = "x");
    REFUSED(NO_COUNT, .amount = "20000", .count = "x");
}

TEST_WITH(the_limits_in_messages_come_from_the_settings, NULL, defaults)
{
    config.share_fen_max = 1250;
    config.packet_fen_max = 100001;
    config.packet_shares_max = 5000;
    REFUSED("amount: text/share_max 12.50", .kind = "even", .amount = "12.51", .count = "1");
    REFUSED("amount: text/total_max 1000.01", .amount = "1000.02", .count = "5000");
    REFUSED("count: text/count_max 5000", .amount = "1000.01", .count = "5001");
    assert_int_equal(FINE(.amount = "1000.01", .count = "5000")->packet.share_max_fen, 1250);
    config.packet_shares_max = 2;
    REFUSED("count: text/count_max 2", .kind = "even", .count = "", .to = "anna bert carl");
}

TEST(a_greeting_is_cleaned_and_counted_in_graphemes)
{
    char families[25 * 25 + 1] = ""; /* 25 graphemes, 175 code points */
    for (int i = 0; i < 25; i++)
        strcat(families, "👨‍👩‍👧‍👦");
    const char *const fit[] = { "一二三四五六七八九十一二三四五六七八九十一二三四五", families,
                                "12345678901234567890123456789012345678901234567890" }; /* two narrow ones are one */
    for (size_t i = 0; i < ARRAY_LEN(fit); i++)
        (void)FINE(.greeting = fit[i]);
    REFUSED("greeting: text/greeting_long 25", .greeting = "一二三四五六七八九十一二三四五六七八九十一二三四五六");
    REFUSED("greeting: text/greeting_long 25", .greeting = "12345678901234567890123456789012345678901234567890x");
    REFUSED("greeting: text/greeting_invalid", .greeting = "\xff");
    assert_text(FINE(.greeting = "")->packet.greeting, "text/greeting_default"); /* without a catalogue: its name */
    assert_text(FINE(.greeting = " \t ")->packet.greeting, "text/greeting_default");
    assert_true(order.greeting_by_default);
    assert_text(FINE(.greeting = "  a\r\nb  ")->packet.greeting, "a b");
    assert_false(order.greeting_by_default);
}

TEST_WITH(a_greeting_with_stacked_marks_fits_its_column_and_a_lifetime_is_one_of_the_setting, NULL, defaults)
{
    enum { LETTERS = 30, MARKS = 40, GRAPHEMES_MAX = 25 };
    char marks[LETTERS * (1 + 2 * MARKS) + 1] = "";
    for (int i = 0; i < LETTERS; i++) {
        strcat(marks, "x");
        for (int j = 0; j < MARKS; j++)
            strcat(marks, "\xcc\x81");
    }
    const char *fit = marks + (LETTERS - GRAPHEMES_MAX) * (1 + 2 * MARKS);
    assert_true(FINE(.greeting = fit)->packet.greeting.len <= 2 * GREETING_CODE_POINTS_MAX);
    config.greeting_graphemes_max = LETTERS; /* a setting can't exceed the width of the column */
    REFUSED("greeting: text/greeting_long 30", .greeting = marks);
    (void)defaults(NULL);
    assert_int_equal(FINE(.lifetime = "24h")->lifetime_ms, DAY_MS);
    assert_false(order.lifetime_by_default);
    assert_int_equal(FINE(.lifetime = "7d")->lifetime_ms, 7 * (int64_t)DAY_MS);
    EACH_TEXT (text, "2h", "7", "7D", "1h 24h", "24 h", "604800000")
        REFUSED("lifetime: text/lifetime_unknown 1h, 24h, 3d, 7d", .lifetime = text);
    strcpy(config.packet_lifetimes, "2h");
    assert_int_equal(FINE(.lifetime = "2h")->lifetime_ms, 2 * HOUR_MS);
}

TEST(a_split_and_a_smallest_share_are_chosen_for_lucky_packets_only)
{
    assert_int_equal(FINE(.split = "uniform")->packet.split, SPLIT_UNIFORM);
    assert_int_equal(FINE(.split = "gaussian")->packet.split, SPLIT_GAUSSIAN);
    REFUSED("split: text/split_unknown double-average, uniform, gaussian", .split = "even");
    REFUSED("split: text/split_unknown double-average, uniform, gaussian", .split = "magic");
    assert_int_equal(FINE(.share_min = "０．５")->packet.share_min_fen, 50);
    (void)FINE(.share_min = "1.00"); /* 10.00 in 10: all the same */
    REFUSED("share_min: text/share_min_max 1", .share_min = "1.01");
    REFUSED("share_min: text/share_min_max 3.33", .count = "3", .share_min = "3.34");
    REFUSED("share_min: text/share_min", .count = "3", .share_min = "0");
    REFUSED("share_min: text/amount_not_money", .count = "3", .share_min = "-1");
    assert_int_equal(FINE(.kind = "even", .amount = "1", .count = "3", .share_min = "-1")->packet.share_min_fen, 1);
    REFUSED("count: text/count_zero", .count = "0", .share_min = "200"); /* may be fine with another count */
}

/* typed.json has the separators of names. */
TEST(up_to_a_hundred_receivers_are_read_each_once_for_as_many_shares_or_fewer)
{
    assert_to(FINE(.count = "2", .to = " ming, @hong\r\ngang,,ming\tＬＩ，wu、zhao\u3000qian；sun "),
              "ming hong gang li wu zhao qian sun");
    (void)FINE(.kind = "even", .count = "2", .to = "ming hong");
    /* The handler refuses them, together with names to which no user belongs. */
    assert_to(FINE(.kind = "even", .count = "2", .to = "Ming X -Hong Ming"), "ming x -hong");
    char typed[3 * USERNAME_BYTES_MAX + 3] = "", wanted[USERNAME_BYTES_MAX + 1] = "";
    for (int i = 0; i < USERNAME_BYTES_MAX; i++) {
        strcat(typed, "ａ");
        strcat(wanted, "a");
    }
    assert_to(FINE(.kind = "exclusive", .to = typed), wanted);
    REFUSED("to: text/to_one", .kind = "exclusive", .to = "Xiao Ming");
    assert_int_equal(FINE(.to = "ming hong gang", .count = "")->packet.count, 3);
    assert_int_equal(FINE(.to = "ming hong gang", .count = "3")->packet.count, 3);
    assert_int_equal(FINE(.to = "ming hong gang", .count = "1")->packet.count, 1);
    REFUSED("count: text/count_over_to 3", .to = "ming hong gang", .count = "4");
    struct buf names = BUF_EMPTY;
    for (int i = 0; i < RECEIVERS_MAX; i++)
        buf_printf(&names, "user%d ", i);
    buf_printf(&names, "user7"); /* named before */
    buf_char(&names, '\0');
    assert_int_equal(FINE(.to = names.ptr)->to.count, RECEIVERS_MAX);
    names.ptr[names.len - 1] = ' ';
    buf_cstr(&names, "one-more");
    buf_char(&names, '\0');
    REFUSED("to: text/to_many 100", .to = names.ptr);
    /* Neither is compared with a wrong number of receivers. */
    REFUSED("to: text/to_many 100", .to = names.ptr, .count = "", .amount = "500", .share_min = "3");
    buf_free(&names);
}

TEST(a_malformed_request_key_is_refused_and_replaced_by_a_new_one)
{
    char key[REQUEST_KEY_MAX + 2] = "";
    memset(key, 'k', REQUEST_KEY_MAX);
    assert_text(FINE(.request_key = key)->packet.request_key, key);
    key[REQUEST_KEY_MAX] = 'k';
    REFUSED("request_key: text/request_key_invalid", .request_key = key);
    REFUSED("request_key: text/request_key_invalid", .request_key = "a b");
    assert_true(request_key_valid(order.packet.request_key));
}

TEST(a_phrase_has_at_most_twenty_graphemes)
{
    assert_text(FINE(.phrase = "  Ｏpen\u3000Sesame ")->phrase.shown, "Ｏpen Sesame");
    assert_text(order.phrase.folded, "open sesame");
    (void)FINE(.phrase = "一二三四五六七八九十一二三四五六七八九👨‍👩‍👧");
    /* Folded as packet/phrase folds the phrase that is typed to open the packet. */
    assert_text(FINE(.phrase = "新\ufffc年\ue000")->phrase.folded, "新\ufffc年\ue000");
    REFUSED("phrase: text/phrase_long 20", .phrase = "一二三四五六七八九十一二三四五六七八九十一");
    REFUSED("phrase: text/phrase_invalid", .phrase = "   ");
    char families[12 * 41 + 1] = ""; /* few graphemes, but more code points than can be stored */
    for (int i = 0; i < 12; i++)
        strcat(families, "👨🏽‍👩🏽‍👧🏽‍👦🏽");
    REFUSED("phrase: text/phrase_long 20", .phrase = families);
}

TEST(an_opening_is_shown_again_as_its_input_has_it)
{
    static const char *const rows[][2] = { { "2026/12/1 20：00", "2026-12-01T20:00" },
                                           { "2026-12-01 20:00:05 Z", "2026-12-01T21:00:05" },
                                           { "2026-10-25 02:30", "2026-10-25T02:30" },
                                           { "2026-10-25 02:30 +01:00",
                                             "2026-10-25 02:30 +01:00" }, /* the second of two */
                                           { "2026-12-01 20:00:05.5", "2026-12-01 20:00:05.5" },
                                           { "tomorrow", "tomorrow" } };
    assert_true(clock_zone_set("Europe/Berlin"));
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct form form = { .count = 1, .fields = { { STR("opens_at"), str_from(rows[i][0]) } } };
        struct model m;
        model_init(&m, arena);
        form_typed_model(&m, &m.root, send_fields, &form);
        assert_text(value_get(&m.root, STR("opens_at"), value_hash(STR("opens_at")))->as.text, rows[i][1]);
    }
    assert_true(clock_zone_set("UTC"));
}

TEST(an_opening_is_scheduled_at_most_thirty_days_ahead)
{
    static const struct {
        const char *zone, *typed;
        int64_t after_ms;
    } rows[] = { { "UTC", "2026-11-20T10:00:00Z", 2 * HOUR_MS },
                 { "UTC", " 2026-11-20T18:00:00+08:00 ", 2 * HOUR_MS },
                 { "UTC", "2026-12-20T08:00:00Z", RULES_OPENS_AHEAD_MAX_MS },
                 { "UTC", "2026-11-20T07:00:00Z", -HOUR_MS }, /* the handler refuses it, unless it is a repeat */
                 { "UTC", "\u00a0２０２６－１１－２１Ｔ０８：００：００Ｚ\u200b", DAY_MS },
                 { "Asia/Shanghai", "2026/11/21\u300016：00", DAY_MS },
                 { "Asia/Shanghai", "2026-11-20 18:00 +08:00", 2 * HOUR_MS } };
    EACH (row, rows) {
        assert_true(clock_zone_set(row->zone));
        if (FINE(.opens_at = row->typed)->packet.opens_ms != NOW_MS + row->after_ms)
            fail_msg("%s is %lld", row->typed, (long long)order.packet.opens_ms);
    }
    assert_true(clock_zone_set("America/Santiago")); /* skips the first hour of 6 September */
    REFUSED("opens_at: text/opens_skipped", .opens_at = "2026-09-06 00:30");
    assert_true(clock_zone_set("UTC"));
    REFUSED("opens_at: text/opens_late", .opens_at = "2026-12-20T08:00:00.001Z");
    REFUSED("opens_at: text/opens_invalid", .opens_at = "tomorrow");
}

TEST(every_wrong_field_gets_a_message_at_once_and_without_memory_none)
{
    (void)messages(&(struct typed){ .kind = "exclusive", .amount = "", .greeting = "\xc3", .request_key = "!" });
    assert_int_equal(errors.count, 4);
    (void)messages(&(struct typed){ .amount = "x", .count = "y", .greeting = "\xc3", .request_key = "!" });
    assert_int_equal(errors.count, 4);
    struct arena *small = arena_new(16, 16);
    assert_non_null(small);
    assert_int_equal(form_order(&USUAL, small), ST_NO_MEMORY);
    arena_free(small);
}

TEST(a_cover_is_one_of_the_list_and_brings_its_greeting)
{
    static const char own[] = "@0123456789abcdefghjkmnpqrs"; /* the handler checks to whom it belongs */
    assert_text(FINE(.cover = "birthday")->packet.cover, "birthday");
    assert_text(order.packet.greeting, "新年好");
    assert_text(FINE(.cover = "birthday", .greeting = "")->packet.greeting, "text/greeting_birthday");
    assert_text(FINE(.cover = own, .greeting = "")->packet.cover, own);
    assert_text(order.packet.greeting, "text/greeting_default");
    assert_text(FINE(.cover = "plain")->packet.cover, "");
    REFUSED("cover: text/cover_unknown plain, spring-festival, mid-autumn, birthday, wedding, baby, new-job, thanks",
            .cover = "Birthday");
}

TEST(a_note_is_a_line_of_at_most_fifty_graphemes)
{
    char fifty[50 * 3 + 4] = "";
    for (int i = 0; i < 50; i++)
        strcat(fifty, "注");
    assert_int_equal(FINE(.note = "")->packet.note.len, 0);
    assert_text(FINE(.note = "  team lunch  ")->packet.note, "team lunch");
    assert_text(FINE(.note = fifty)->packet.note, fifty);
    REFUSED("note: text/note_long 50", .note = strcat(fifty, "注"));
    assert_int_equal(FINE(.note = "   ")->packet.note.len, 0);
    REFUSED("note: text/note_invalid", .note = "a\xff");
}

TESTS(setup, arena_teardown)
