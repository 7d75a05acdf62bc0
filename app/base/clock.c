#include "base/clock.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/array.h"

enum { MS_PER_S = 1000, US_PER_S = 1000000, TM_YEAR_0 = 1900, ZONE_PATH_MAX = 256, ZONE_OFFSETS = 64 };

static const int64_t QUARTER_MS = INT64_C(15) * 60 * MS_PER_S;
static const int64_t MS_PER_DAY = INT64_C(24) * 60 * 60 * MS_PER_S;
static const int64_t RFC3339_FIRST_MS = -62167219200000; /* 0000-01-01T00:00:00.000Z */
static const int64_t RFC3339_LAST_MS = 253402300799999;  /* 9999-12-31T23:59:59.999Z */

static int64_t clock_read_ms(clockid_t clock)
{
    struct timespec t;

    int rc = clock_gettime(clock, &t);
    assert(rc == 0);
    return (int64_t)t.tv_sec * MS_PER_S + t.tv_nsec / 1000000;
}

int64_t clock_now_ms(void)
{
    return clock_read_ms(CLOCK_REALTIME);
}

int64_t clock_monotonic_ms(void)
{
    return clock_read_ms(CLOCK_MONOTONIC);
}

int64_t clock_monotonic_us(void)
{
    struct timespec t;

    int rc = clock_gettime(CLOCK_MONOTONIC, &t);
    assert(rc == 0);
    return (int64_t)t.tv_sec * US_PER_S + t.tv_nsec / 1000;
}

/* Division that rounds towards minus infinity; b > 0. */
static int64_t floor_div(int64_t a, int64_t b)
{
    return a / b - (a % b < 0);
}

/* The date of an instant, offset_s seconds east of UTC. */
static struct clock_date date_at(int64_t ms, int32_t offset_s)
{
    time_t local_s = (time_t)(floor_div(ms, MS_PER_S) + offset_s);
    struct tm tm;
    const struct tm *done = gmtime_r(&local_s, &tm);

    assert(done != NULL); /* milliseconds in 64 bits reach the year 292 million, which fits an int */
    return (struct clock_date){ .year = tm.tm_year + TM_YEAR_0,
                                .month = tm.tm_mon + 1,
                                .day = tm.tm_mday,
                                .hour = tm.tm_hour,
                                .minute = tm.tm_min,
                                .second = tm.tm_sec };
}

/* The first instant of a day, offset_s seconds east of UTC. */
static int64_t day_start_ms(int year, int month, int day, int32_t offset_s)
{
    assert(month >= 1 && month <= MONTHS_PER_YEAR);
    struct tm first = { .tm_year = year - TM_YEAR_0, .tm_mon = month - 1, .tm_mday = day };
    return ((int64_t)timegm(&first) - offset_s) * MS_PER_S;
}

int64_t clock_utc_ms(struct clock_date d)
{
    return day_start_ms(d.year, d.month, d.day, 0) + ((d.hour * INT64_C(60) + d.minute) * 60 + d.second) * MS_PER_S;
}

/* Writes n with that many digits; returns the place behind them. */
static char *digits_write(char *out, int n, int digits)
{
    for (int i = digits - 1; i >= 0; i--) {
        out[i] = (char)('0' + n % 10);
        n /= 10;
    }
    return out + digits;
}

/* Writes "2026-11-20"; returns the place behind it. */
static char *day_write(char *at, struct clock_date d)
{
    at = digits_write(at, d.year, 4);
    *at++ = '-';
    at = digits_write(at, d.month, 2);
    *at++ = '-';
    return digits_write(at, d.day, 2);
}

/* Writes "16:00"; returns the place behind it. */
static char *minute_write(char *at, struct clock_date d)
{
    at = digits_write(at, d.hour, 2);
    *at++ = ':';
    return digits_write(at, d.minute, 2);
}

/* The instant, or the nearest one in the years 0 to 9999. */
static int64_t four_digits_ms(int64_t ms)
{
    if (ms < RFC3339_FIRST_MS)
        return RFC3339_FIRST_MS;
    return ms > RFC3339_LAST_MS ? RFC3339_LAST_MS : ms;
}

size_t clock_rfc3339_format(int64_t ms, char *out)
{
    ms = four_digits_ms(ms);
    struct clock_date d = date_at(ms, 0);
    char *at = day_write(out, d);
    *at++ = 'T';
    at = minute_write(at, d);
    *at++ = ':';
    at = digits_write(at, d.second, 2);
    *at++ = '.';
    at = digits_write(at, (int)(ms - floor_div(ms, MS_PER_S) * MS_PER_S), 3);
    *at++ = 'Z';
    *at = '\0';
    return (size_t)(at - out);
}

struct str clock_rfc3339(struct arena *a, int64_t ms)
{
    char *text = arena_alloc(a, CLOCK_TEXT_MAX);

    return text != NULL ? (struct str){ text, clock_rfc3339_format(ms, text) } : STR_NONE;
}

/* ---- the zone ---- */

bool clock_zone_known(const char *name)
{
    static const char name_chars[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_+-/";
    const char *folder = getenv("TZDIR");
    char path[ZONE_PATH_MAX];

    /* Only names below the folder: no dots, and no '/' in front. The zones below right/ count leap seconds, which the
     * system's time does not. */
    if (name[0] == '\0' || name[0] == '/' || name[strspn(name, name_chars)] != '\0' || strncmp(name, "right/", 6) == 0)
        return false;
    if (strcmp(name, "UTC") == 0)
        return true;
    int n = snprintf(path, sizeof path, "%s/%s", folder != NULL ? folder : "/usr/share/zoneinfo", name);
    if (n < 0 || (size_t)n >= sizeof path)
        return false;
    FILE *file = fopen(path, "re");
    if (file == NULL)
        return false;
    char magic[4];
    bool known = fread(magic, 1, sizeof magic, file) == sizeof magic && memcmp(magic, "TZif", sizeof magic) == 0;
    fclose(file);
    return known;
}

/* A cache of offsets: localtime_r computes the zone's rule anew for each instant. The instants of a page lie in few
 * quarters of an hour, and a zone changes its offset only at a quarter. Not thread-safe; a process has one thread. */
static struct {
    int64_t quarter; /* since 1970, plus 1; 0: unused */
    int32_t offset_s;
} zone_offsets[ZONE_OFFSETS];

bool clock_zone_set(const char *name)
{
    char value[ZONE_PATH_MAX + 1];

    if (!clock_zone_known(name))
        return false;
    /* "UTC0" needs no database; the colon says that the name is a file of it, not a POSIX rule. */
    if (strcmp(name, "UTC") == 0)
        snprintf(value, sizeof value, "UTC0");
    else
        snprintf(value, sizeof value, ":%s", name);
    if (setenv("TZ", value, 1) != 0)
        return false;
    tzset();
    memset(zone_offsets, 0, sizeof zone_offsets);
    return true;
}

/* Offset of the service's zone at an instant, seconds east of UTC. */
static int32_t zone_offset_s(int64_t ms)
{
    int64_t quarter = floor_div(ms, QUARTER_MS) + 1;
    size_t at = (uint64_t)quarter % ZONE_OFFSETS;

    if (zone_offsets[at].quarter != quarter || quarter == 0) {
        time_t s = (time_t)floor_div(ms, MS_PER_S);
        struct tm local;
        zone_offsets[at].offset_s = localtime_r(&s, &local) != NULL ? (int32_t)local.tm_gmtoff : 0;
        zone_offsets[at].quarter = quarter;
    }
    return zone_offsets[at].offset_s;
}

struct clock_date clock_zone_date(int64_t ms)
{
    return date_at(ms, zone_offset_s(ms));
}

/* Writes "2026-11-20 16:00" and, when asked for, ":05". */
static struct str zone_text(struct arena *a, int64_t ms, bool seconds)
{
    char *text = arena_alloc(a, CLOCK_TEXT_MAX);

    if (text == NULL)
        return STR_NONE;
    /* The zone can shift an instant at either end beyond it, so the local time is limited, too. */
    ms = four_digits_ms(ms);
    struct clock_date d = date_at(four_digits_ms(ms + (int64_t)zone_offset_s(ms) * MS_PER_S), 0);
    char *at = day_write(text, d);
    *at++ = ' ';
    at = minute_write(at, d);
    if (seconds) {
        *at++ = ':';
        at = digits_write(at, d.second, 2);
    }
    return (struct str){ text, (size_t)(at - text) };
}

struct str clock_zone_minute(struct arena *a, int64_t ms)
{
    return zone_text(a, ms, false);
}

struct str clock_zone_second(struct arena *a, int64_t ms)
{
    return zone_text(a, ms, true);
}

struct str clock_zone_input(struct arena *a, int64_t ms)
{
    struct str text = zone_text(a, ms, floor_div(ms, MS_PER_S) % 60 != 0);
    struct str time, day = str_cut(str_or_empty(text), ' ', &time);
    return text.ptr == NULL ? STR_NONE : arena_printf(a, "%.*sT%.*s", STR_ARG(day), STR_ARG(time));
}

struct str clock_zone_offset(struct arena *a, int64_t ms)
{
    enum { MINUTE_S = 60, HOUR_S = 3600 };
    int s = zone_offset_s(four_digits_ms(ms));
    unsigned ahead_s = s < 0 ? (unsigned)-s : (unsigned)s;
    return arena_printf(a, "UTC%c%02u:%02u", s < 0 ? '-' : '+', ahead_s / HOUR_S, ahead_s % HOUR_S / MINUTE_S);
}

bool clock_span(struct str text, int64_t *out_ms)
{
    enum { DIGITS_MAX = 6 };
    static const struct {
        char letter;
        int64_t ms;
    } units[] = { { 's', MS_PER_S }, { 'm', 60 * MS_PER_S }, { 'h', 3600 * MS_PER_S }, { 'd', MS_PER_DAY } };
    uint64_t n;
    if (text.len < 2 || text.len > DIGITS_MAX + 1 || !str_to_u64(str_slice(text, 0, text.len - 1), &n))
        return false;
    for (size_t i = 0; i < ARRAY_LEN(units); i++) {
        if (text.ptr[text.len - 1] == units[i].letter) {
            *out_ms = (int64_t)n * units[i].ms;
            return true;
        }
    }
    return false;
}

int64_t clock_zone_day_start_ms(int year, int month, int day)
{
    /* Clocks may change in that night, so there are two possible midnights: one by the offset of the day before, one by
     * the offset of the day after. The earlier one is right if it is in that day. */
    int64_t near_ms = day_start_ms(year, month, day, 0);
    int64_t one_ms = day_start_ms(year, month, day, zone_offset_s(near_ms - MS_PER_DAY));
    int64_t other_ms = day_start_ms(year, month, day, zone_offset_s(near_ms + MS_PER_DAY));
    int64_t earlier_ms = one_ms < other_ms ? one_ms : other_ms, later_ms = one_ms < other_ms ? other_ms : one_ms;
    return clock_zone_date(earlier_ms).day == date_at(near_ms, 0).day ? earlier_ms : later_ms;
}

void clock_zone_day(int64_t ms, int64_t *from_ms, int64_t *to_ms)
{
    const struct clock_date d = clock_zone_date(ms);
    *from_ms = clock_zone_day_start_ms(d.year, d.month, d.day);
    *to_ms = clock_zone_day_start_ms(d.year, d.month, d.day + 1);
}

bool clock_zone_instant(struct clock_date d, int64_t *out_ms)
{
    /* Two instants are possible, as above. An instant is right when the zone then has the offset by which it was
     * computed; in a gap neither is. The offset of the day before is tried first: in a repeated hour it gives the
     * earlier instant. */
    int64_t near_ms = clock_utc_ms(d);
    const int32_t offsets_s[] = { zone_offset_s(near_ms - MS_PER_DAY), zone_offset_s(near_ms + MS_PER_DAY) };
    for (size_t i = 0; i < ARRAY_LEN(offsets_s); i++) {
        int64_t ms = near_ms - (int64_t)offsets_s[i] * MS_PER_S;
        if (zone_offset_s(ms) == offsets_s[i]) {
            *out_ms = ms;
            return true;
        }
    }
    return false;
}

bool clock_day_exists(int year, int month, int day)
{
    if (month < 1 || month > MONTHS_PER_YEAR || day < 1)
        return false;
    struct clock_date d = date_at(day_start_ms(year, month, day, 0), 0);
    return d.month == month && d.day == day;
}

int64_t clock_zone_month_start_ms(int year, int month)
{
    return clock_zone_day_start_ms(year, month, 1);
}

int64_t clock_zone_year_start_ms(int year)
{
    return clock_zone_month_start_ms(year, 1);
}
