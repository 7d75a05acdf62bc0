/* The calendar and the service's zone. */
#include <time.h>

#include "base/arena.h"
#include "base/clock.h"
#include "support/test.h"

static const int64_t EIGHT_HOURS_MS = 8 * 3600 * 1000;

static void assert_shown(int64_t ms, const char *text)
{
    char shown[CLOCK_TEXT_MAX];
    assert_int_equal(clock_rfc3339_format(ms, shown), strlen(text));
    assert_string_equal(shown, text);
}

TEST(instants_are_shown_in_utc_with_milliseconds_and_at_the_ends_of_the_format)
{
    assert_shown(0, "1970-01-01T00:00:00.000Z");
    assert_shown(-1, "1969-12-31T23:59:59.999Z");
    assert_shown(1795161600000, "2026-11-20T08:00:00.000Z");
    assert_shown(951782400007, "2000-02-29T00:00:00.007Z");
    assert_shown(4107542399999, "2100-02-28T23:59:59.999Z");
    assert_shown(4107542400000, "2100-03-01T00:00:00.000Z"); /* no leap year */
    assert_shown(253402300799999, "9999-12-31T23:59:59.999Z");
    assert_shown(253402300800000, "9999-12-31T23:59:59.999Z");
    assert_shown(INT64_MAX, "9999-12-31T23:59:59.999Z");
    assert_shown(INT64_MIN, "0000-01-01T00:00:00.000Z");
    struct arena *a = arena_new(48, 48);
    assert_true(str_equal(clock_rfc3339(a, 0), STR("1970-01-01T00:00:00.000Z")));
    assert_null(clock_rfc3339(a, 0).ptr);
    arena_free(a);
}

TEST(days_are_counted_by_the_gregorian_calendar)
{
    static const int lengths[] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };
    int64_t midnight_ms = -11676096000000 - EIGHT_HOURS_MS; /* of 1600-01-01 */
    assert_true(clock_zone_set("Etc/GMT-8"));               /* eight hours east, at all times */
    for (int year = 1600; year < 2401; year++) {
        for (int month = 1; month <= MONTHS_PER_YEAR; month++) {
            bool leap = month == 2 && year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
            assert_int_equal(clock_zone_month_start_ms(year, month), midnight_ms);
            for (int day = 1; day <= lengths[month - 1] + leap; day++, midnight_ms += 86400000) {
                struct clock_date first = clock_zone_date(midnight_ms), last = clock_zone_date(midnight_ms + 86399999);
                assert_ints({ first.year * 10000 + first.month * 100 + first.day, year * 10000 + month * 100 + day },
                            { last.year * 10000 + last.month * 100 + last.day, year * 10000 + month * 100 + day },
                            { first.hour * 10000 + first.minute * 100 + first.second, 0 },
                            { last.hour * 10000 + last.minute * 100 + last.second, 235959 });
            }
        }
    }
}

TEST(every_instant_has_a_date_and_new_years_grab_belongs_to_the_local_year)
{
    assert_true(clock_zone_set("UTC"));
    assert_int_equal(clock_zone_date(INT64_MAX).year, 292278994);
    assert_int_equal(clock_zone_date(INT64_MIN).year, -292275055);
    const int64_t evening_utc = 1798732799999; /* 2026-12-31T15:59:59.999Z: one ms before midnight in Shanghai */
    assert_true(clock_zone_set("Asia/Shanghai"));
    assert_int_equal(clock_zone_date(evening_utc).year, 2026);
    assert_int_equal(clock_zone_date(evening_utc + 1).year, 2027);
    assert_int_equal(clock_zone_year_start_ms(2027), evening_utc + 1);
    assert_true(clock_zone_set("UTC"));
    assert_int_equal(clock_zone_date(evening_utc + 1).year, 2026);
    assert_int_equal(clock_zone_year_start_ms(1970), 0);
}

/* How far the service's zone is east of UTC; ms is a whole second. */
static int64_t offset_s(int64_t ms)
{
    const struct clock_date d = clock_zone_date(ms);
    struct tm utc = { .tm_year = d.year - 1900,
                      .tm_mon = d.month - 1,
                      .tm_mday = d.day,
                      .tm_hour = d.hour,
                      .tm_min = d.minute,
                      .tm_sec = d.second };
    return timegm(&utc) - ms / 1000;
}

TEST(zones_come_from_the_database_and_are_named_by_their_offset)
{
    static const struct {
        const char *zone;
        int64_t ms, offset_s;
        const char *offset;
    } rows[] = { { "Asia/Shanghai", 1795161600000, 8 * 3600, "UTC+08:00" },
                 { "UTC", 1795161600000, 0, "UTC+00:00" },
                 { "Europe/Berlin", 1795161600000, 3600, "UTC+01:00" },
                 { "Europe/Berlin", 1782864000000, 7200, "UTC+02:00" }, /* summer time */
                 { "America/New_York", 1795161600000, -5 * 3600, "UTC-05:00" },
                 { "America/New_York", 1782864000000, -4 * 3600, "UTC-04:00" },
                 { "Asia/Kolkata", 1795161600000, 19800, "UTC+05:30" },
                 { "America/St_Johns", 1795161600000, -12600, "UTC-03:30" } };
    struct arena *a = arena_new(4096, 4096);
    EACH (row, rows) {
        assert_true(clock_zone_known(row->zone) && clock_zone_set(row->zone));
        struct str offset = clock_zone_offset(a, row->ms);
        if (offset_s(row->ms) != row->offset_s || !str_equal(offset, str_from(row->offset)))
            fail_msg("%s: %.*s instead of %s", row->zone, STR_ARG(offset), row->offset);
    }
    assert_true(clock_zone_set("UTC"));
    arena_free(a);
}

TEST(summer_begins_to_the_millisecond_however_often_it_is_asked)
{
    const int64_t begins_ms = 1774746000000, quarter_ms = 900000; /* 2026-03-29T01:00:00Z */
    assert_true(clock_zone_set("Europe/Berlin"));
    for (int i = 0; i < 3; i++) {
        assert_int_equal(clock_zone_date(begins_ms - 1).hour, 1);
        assert_int_equal(clock_zone_date(begins_ms).hour, 3);
        for (int64_t apart = 1; apart < 1000; apart++) {
            assert_int_equal(offset_s(begins_ms - apart * quarter_ms), 3600);
            assert_int_equal(offset_s(begins_ms + apart * quarter_ms - 1000), 7200);
        }
    }
    assert_int_equal(offset_s(-1000), 3600); /* before 1970 */
    assert_int_equal(offset_s(-quarter_ms), 3600);
}

TEST(a_month_and_a_day_begin_with_their_first_instant)
{
    /* Clocks changed at 00:00 on the first of a month: Asuncion 2023-10, Beirut 2012-04 (forward), Amman 1995-09, Lima
     * 1994-04 (back); Apia had no 30 December in 2011. */
    EACH_TEXT (zone, "Asia/Shanghai", "Europe/Berlin", "America/Asuncion", "America/Havana", "Asia/Beirut",
               "Asia/Amman", "America/Lima", "Pacific/Apia", "Africa/Cairo", "UTC") {
        assert_true(clock_zone_set(zone));
        for (int month = 0; month < MONTHS_PER_YEAR * 60; month++) {
            const int year = 1980 + month / MONTHS_PER_YEAR, no = month % MONTHS_PER_YEAR + 1;
            const int64_t start = clock_zone_month_start_ms(year, no);
            const struct clock_date first = clock_zone_date(start), before = clock_zone_date(start - 1);
            assert_int_equal(first.year * 12 + first.month, year * 12 + no);
            assert_int_equal(before.year * 12 + before.month, year * 12 + no - 1);
        }
    }
    assert_true(clock_zone_set("UTC"));
    EACH_TEXT (zone, "Asia/Shanghai", "America/Havana", "America/Asuncion", "Africa/Cairo", "UTC") {
        assert_true(clock_zone_set(zone));
        for (int day = 1; day <= 366 * 3; day++) {
            const int64_t start = clock_zone_day_start_ms(2013, 1, day);
            const struct clock_date first = clock_zone_date(start), before = clock_zone_date(start - 1);
            assert_int_not_equal(first.day, before.day);
            assert_true(clock_zone_day_start_ms(first.year, first.month, first.day) == start);
            assert_true(clock_zone_day_start_ms(2013, 1, day + 1) > start);
        }
    }
    assert_true(clock_zone_set("Asia/Shanghai"));
    assert_int_equal(clock_zone_day_start_ms(2026, 11, 20), 1795104000000);
    assert_true(clock_zone_set("UTC"));
}

TEST(an_instant_is_in_one_day_also_where_clocks_change)
{
    /* 23 and 25 hours, a day that begins at 1:00, and a zone whose clocks go back at midnight. */
    static const struct {
        const char *zone;
        struct clock_date date;
        int hours;
    } rows[] = {
        { "Europe/Berlin", { 2026, 3, 29, 12, 0, 0 }, 23 },    { "Europe/Berlin", { 2026, 10, 25, 12, 0, 0 }, 25 },
        { "America/Havana", { 2026, 3, 8, 12, 0, 0 }, 23 },    { "America/Havana", { 2026, 11, 1, 12, 0, 0 }, 25 },
        { "America/Asuncion", { 2013, 3, 23, 12, 0, 0 }, 25 }, { "Asia/Shanghai", { 2026, 12, 31, 12, 0, 0 }, 24 },
    };
    EACH (row, rows) {
        int64_t from_ms, to_ms, noon_ms, next_ms, end_ms;
        assert_true(clock_zone_set(row->zone));
        assert_true(clock_zone_instant(row->date, &noon_ms));
        clock_zone_day(noon_ms, &from_ms, &to_ms);
        assert_int_equal(to_ms - from_ms, row->hours * INT64_C(3600000));
        for (int64_t ms = from_ms; ms < to_ms; ms += 1800000) { /* also in an hour that is there twice */
            clock_zone_day(ms, &next_ms, &end_ms);
            assert_ints({ next_ms, from_ms }, { end_ms, to_ms });
        }
        clock_zone_day(from_ms - 1, &next_ms, &end_ms);
        assert_int_equal(end_ms, from_ms);
        clock_zone_day(to_ms, &next_ms, &end_ms);
        assert_int_equal(next_ms, to_ms);
    }
    assert_true(clock_zone_set("UTC"));
}

TEST(only_days_of_the_calendar_exist)
{
    assert_true(clock_day_exists(2024, 2, 29));
    assert_true(clock_day_exists(2026, 12, 31));
    assert_false(clock_day_exists(2025, 2, 29));
    assert_false(clock_day_exists(2026, 4, 31));
    assert_false(clock_day_exists(2026, 13, 1));
    assert_false(clock_day_exists(2026, 0, 1));
    assert_false(clock_day_exists(2026, 1, 0));
    assert_false(clock_day_exists(2026, 1, 99));
}

TEST(unknown_zones_are_refused_and_change_nothing)
{
    /* right/ counts leap seconds. */
    struct str rest = STR("|Mars/Olympus|asia/shanghai|/etc/passwd|../../../etc/passwd|Asia|CST-8;x|Asia/Shanghai |"
                          "zone.tab|Asia//../UTC|right/Asia/Shanghai");
    assert_true(clock_zone_set("Asia/Shanghai"));
    while (rest.ptr != NULL) {
        char bad[64];
        struct str zone = str_cut(rest, '|', &rest);
        (void)snprintf(bad, sizeof bad, "%.*s", STR_ARG(zone));
        if (clock_zone_known(bad) || clock_zone_set(bad))
            fail_msg("\"%s\" is a zone", bad);
    }
    assert_int_equal(clock_zone_date(0).hour, 8);
    /* A folder without zones knows UTC and nothing else. */
    assert_int_equal(setenv("TZDIR", "/nonexistent", 1), 0);
    assert_false(clock_zone_known("Asia/Shanghai"));
    assert_true(clock_zone_known("UTC"));
    assert_int_equal(unsetenv("TZDIR"), 0);
}

TEST(a_page_shows_the_minute_of_the_zone)
{
    struct arena *a = arena_new(1024, 1024);
    assert_true(clock_zone_set("Asia/Shanghai"));
    assert_true(str_equal(clock_zone_minute(a, 1795161600000), STR("2026-11-20 16:00")));
    assert_true(str_equal(clock_zone_minute(a, 1798732799999), STR("2026-12-31 23:59")));
    assert_true(str_equal(clock_zone_second(a, 1798732799999), STR("2026-12-31 23:59:59")));
    assert_true(str_equal(clock_zone_minute(a, 1798732800000), STR("2027-01-01 00:00")));
    assert_true(str_equal(clock_zone_minute(a, 253402300799999), STR("9999-12-31 23:59")));
    assert_true(str_equal(clock_zone_minute(a, INT64_MAX), STR("9999-12-31 23:59")));
    assert_true(clock_zone_set("America/New_York")); /* in year 0 by local mean time, west of UTC */
    assert_true(str_equal(clock_zone_minute(a, -62167219200000), STR("0000-01-01 00:00")));
    assert_true(str_equal(clock_zone_minute(a, INT64_MIN), STR("0000-01-01 00:00")));
    assert_true(clock_zone_set("UTC"));
    arena_free(a);
    a = arena_new(48, 48);
    assert_true(str_equal(clock_zone_minute(a, 0), STR("1970-01-01 00:00")));
    assert_null(clock_zone_minute(a, 0).ptr);
    arena_free(a);
}

TEST(spans_are_read_with_their_unit)
{
    static const struct {
        const char *text;
        int64_t ms;
    } spans[] = { { "0s", 0 },
                  { "90s", 90000 },
                  { "5m", 300000 },
                  { "1h", 3600000 },
                  { "24h", 86400000 },
                  { "7d", 604800000 },
                  { "999999d", INT64_C(86399913600000) } };
    int64_t ms = 0;
    EACH (row, spans) {
        assert_true(clock_span(str_from(row->text), &ms));
        assert_int_equal(ms, row->ms);
    }
    EACH_TEXT (word, "", "1", "h", "1x", "01h", "-1h", "1.5h", " 1h", "1h ", "1hh", "1000000s", "1H")
        assert_of(word, !clock_span(str_from(word), &ms));
    assert_false(clock_span(STR_NONE, &ms));
    assert_int_equal(ms, spans[ARRAY_LEN(spans) - 1].ms);
}

/* The instant of a time of the zone; -1: its clocks skip it. */
static int64_t instant(const char *zone, struct clock_date d)
{
    int64_t ms = -1;
    assert_true(clock_zone_set(zone));
    return clock_zone_instant(d, &ms) ? ms : -1;
}

TEST(of_an_hour_that_comes_twice_the_earlier_one_counts_and_a_skipped_one_is_no_instant)
{
    const struct clock_date twice = { 2026, 10, 25, 2, 30, 0 }, summer = { 2026, 7, 1, 12, 0, 0 },
                            winter = { 2026, 12, 1, 12, 0, 0 };
    for (int i = 0; i < 2; i++) {
        assert_int_equal(instant("Europe/Berlin", twice), 1792888200000); /* 00:30Z, not 01:30Z */
        assert_int_equal(instant("Europe/Berlin", i == 0 ? summer : winter), i == 0 ? 1782900000000 : 1796122800000);
    }
    assert_int_equal(instant("Europe/Berlin", twice), 1792888200000);
    assert_int_equal(instant("America/New_York", (struct clock_date){ 2026, 11, 1, 1, 59, 59 }), 1793512799000);
    /* The clocks of Lord Howe go back by half an hour only. */
    assert_int_equal(instant("Australia/Lord_Howe", (struct clock_date){ 2026, 4, 5, 1, 45, 0 }), 1775313900000);
    assert_true(clock_zone_set("UTC"));
    assert_int_equal(instant("Europe/Berlin", (struct clock_date){ 2026, 3, 29, 1, 59, 59 }), 1774745999000);
    assert_int_equal(instant("Europe/Berlin", (struct clock_date){ 2026, 3, 29, 2, 0, 0 }), -1);
    assert_int_equal(instant("Europe/Berlin", (struct clock_date){ 2026, 3, 29, 2, 59, 59 }), -1);
    assert_int_equal(instant("Europe/Berlin", (struct clock_date){ 2026, 3, 29, 3, 0, 0 }), 1774746000000);
    assert_int_equal(instant("Pacific/Apia", (struct clock_date){ 2011, 12, 30, 12, 0, 0 }), -1); /* a whole day */
    assert_int_equal(instant("Africa/Cairo", (struct clock_date){ 2026, 4, 24, 0, 30, 0 }), -1);
    assert_true(clock_zone_set("UTC"));
}

TEST(both_clocks_run)
{
    int64_t a = clock_monotonic_ms(), b = clock_monotonic_ms();
    assert_true(b >= a);
    assert_true(clock_now_ms() > 1704067200000); /* 2024 */
}

TESTS(NULL, NULL)
