/* Time. Instants are int64_t milliseconds since 1970 UTC (`…_ms`). Pure rules take the time as an argument; only io/
 * and above read the clock. */
#ifndef HB_BASE_CLOCK_H
#define HB_BASE_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/str.h"

int64_t clock_now_ms(void);       /* wall clock */
int64_t clock_monotonic_ms(void); /* for deadlines and durations */
int64_t clock_monotonic_us(void); /* the same in microseconds */

/* How far the clocks of the site's processes and stores may differ. A time that is further ahead counts as in the
 * future, also in the rows that the audit reads (audit/audit_internal.h). */
enum { CLOCKS_DIFFER_MS = 600000 };

/* Bytes that hold any clock_rfc3339_format result with its NUL. */
#define CLOCK_TEXT_MAX 32
/* RFC 3339 UTC with milliseconds: "2026-11-20T08:00:00.000Z". out: CLOCK_TEXT_MAX bytes, caller's; returns the
 * length. RFC 3339 knows the years 0 to 9999: an instant outside is shown as the nearest one inside. */
size_t clock_rfc3339_format(int64_t ms, char *out);
/* The same in the arena; STR_NONE without memory. */
struct str clock_rfc3339(struct arena *a, int64_t ms);

/* Reads a span of time: a number of 1 to 6 digits without leading zeros, and its unit: "90s", "5m", "24h", "7d". False:
 * anything else; *out_ms is untouched. */
bool clock_span(struct str text, int64_t *out_ms);
/* True when the system's tz database has the zone ("Asia/Shanghai"). "UTC" is always known; the zones with leap seconds
 * ("right/…") never are. */
bool clock_zone_known(const char *name);
/* Sets the service's zone: the variable TZ of the process. Called once at start, before there are threads. False when
 * the zone is not known; nothing is changed then. */
bool clock_zone_set(const char *name);

enum { MONTHS_PER_YEAR = 12 };
struct clock_date {
    int year, month, day, hour, minute, second; /* month and day from 1 */
};
/* The instant of a date that is in UTC. */
int64_t clock_utc_ms(struct clock_date d);
/* The instant of a date of the service's zone. In an hour that its clocks repeat, always the earlier instant. False:
 * the clocks skip this time; *out_ms is unchanged. */
bool clock_zone_instant(struct clock_date d, int64_t *out_ms);
/* False: the calendar has no such day. */
bool clock_day_exists(int year, int month, int day);
/* The calendar date of an instant in the service's zone, and the first instant of a day, month (1 … 12) or year there,
 * also where clocks change in the night in which it begins. Day 32 of January is the first of February. */
struct clock_date clock_zone_date(int64_t ms);
int64_t clock_zone_day_start_ms(int year, int month, int day);
/* The first instant of the day there that has the instant ms, and the first instant of the next day. */
void clock_zone_day(int64_t ms, int64_t *from_ms, int64_t *to_ms);
int64_t clock_zone_month_start_ms(int year, int month);
int64_t clock_zone_year_start_ms(int year);
/* The date and minute there, for a page: "2026-11-20 16:00", in the arena; the years as clock_rfc3339_format. STR_NONE
 * without memory. */
struct str clock_zone_minute(struct arena *a, int64_t ms);
/* The same with seconds, for a table: "2026-11-20 16:00:05". */
struct str clock_zone_second(struct arena *a, int64_t ms);
/* The same with a T, and seconds unless they are 0, as <input type=datetime-local> has it: "2026-11-20T16:00". */
struct str clock_zone_input(struct arena *a, int64_t ms);
/* How far the zone's clocks are ahead of UTC at this instant: "UTC+08:00". In the arena; STR_NONE without memory. */
struct str clock_zone_offset(struct arena *a, int64_t ms);

#endif
