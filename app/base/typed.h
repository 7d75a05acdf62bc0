/* The readers of what people type: one for each kind, for forms, filters and commands alike. tests/unit/typed.json has
 * cases of each; static/typed.js reads numbers, amounts and names in the same way, for the page. All take the text as
 * utf8_fold_pasted gives it (web/fields folds the fields of forms), and leave *out alone when they refuse it. Pure,
 * except that times without a zone are of the service's zone. Other folders have the readers of passphrases
 * (packet/phrase.h), of lines (utf8_clean_shown) and of links (web/mended_link.h). */
#ifndef HB_BASE_TYPED_H
#define HB_BASE_TYPED_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/status.h"
#include "base/str.h"

/* A whole number: "3", "03", "1,000", with the unit of things behind it ("3个", "3 份"). UINT64_MAX: this number or a
 * larger one. False: anything else, also a sign, a fraction and an exponent. */
bool typed_count(struct str folded, uint64_t *out);
enum { TYPED_AMOUNT_MAX_FEN = 999999999 };
/* An amount of the site's unit (base/money.h) with at most its decimals: "12.34", ".5", "2.", "¥1,234.50", "5元", "5块".
 * The unit's symbol may stand in front, its names behind, its code on either side, all in any case of A-Z. INT64_MAX:
 * more than TYPED_AMOUNT_MAX_FEN. False: anything else. */
bool typed_amount(struct str folded, int64_t *out_fen);

/* A name without each '@' in front, A–Z as a–z. In the arena; STR_NONE without memory. */
struct str typed_name(struct arena *a, struct str folded);
/* Cuts the next name off the front of a list, for typed_name. Blanks, commas, semicolons, '/' and '|' separate names.
 * An '@' does so only behind a name that begins with '@': "@bob@carol" are two names, "bob@example.com" is one. Empty:
 * there is no further name. */
struct str typed_names_next(struct str *rest);

/* The values of the count characters of a code in base32, in any case; hyphens and blanks may stand anywhere. False:
 * another number of characters, or a character that base32 does not have. */
bool typed_code(struct str folded, uint8_t *values, size_t count);

/* A day of the calendar: "2026-11-20", "2026/1/2", "2026.1.2", or with the Chinese signs for year, month and day.
 * Hour, minute and second are 0. */
bool typed_day(struct str folded, struct clock_date *out);
/* A day as settings have it, "2026-11-20": its first instant in UTC. */
bool typed_utc_day(struct str text, int64_t *out_ms);
/* An instant of the years 1970 to 9999: RFC 3339, also without seconds; or a day as typed_day reads it, alone (its
 * first instant) or with "T" or a blank and the time ("20:00", "8:30:05", or with the Chinese signs for hour and
 * minute). 24:00 is the end of the day. A zone from -12:00 to +14:00 may stand behind the time: "Z", "+08:00", "+0800",
 * "+8", "UTC+8", also behind a blank or in brackets. A text that may be a span of times ("20:00-8") is refused: a minus
 * and a number are a zone only behind seconds, or directly behind a time with "T". The plus of "T20:00:00+08:00" may
 * have become a blank, as in a form that was not encoded. Without a zone the time is of the service's zone, and of an
 * hour that its clocks repeat the earlier one. ST_INVALID: anything else · ST_NOT_FOUND: the clocks of the zone skip
 * this time. */
enum status typed_time(struct str folded, int64_t *out_ms);

#endif
