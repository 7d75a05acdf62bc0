#include "base/typed.h"

#include <strings.h>

#include "base/array.h"
#include "base/base32.h"
#include "base/money.h"

enum {
    GROUP = 4, /* a comma and three digits */
    YEAR_DIGITS = 4,
    YEAR_MIN = 1970,
    HOURS = 24,
    MINUTES = 60,
    ZONE_MIN = -12 * MINUTES, /* in minutes ahead of UTC */
    ZONE_MAX = 14 * MINUTES,
    MS_PER_S = 1000
};

/* ---- numbers ---- */

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* The length of the longest of these signs at the end of s, or at its start. 0: none is there. A-Z are as a-z. */
static size_t sign_find(struct str s, const struct str *signs, size_t count, bool at_end)
{
    size_t longest = 0;
    for (size_t i = 0; i < count; i++) {
        const size_t len = signs[i].len;
        if (len > longest && len <= s.len && strncasecmp(s.ptr + (at_end ? s.len - len : 0), signs[i].ptr, len) == 0)
            longest = len;
    }
    return longest;
}

/* Takes one of the signs, and a blank before it, off the end of *s. */
static void unit_cut(struct str *s, const struct str *signs, size_t count)
{
    *s = str_trim(str_slice(*s, 0, s->len - sign_find(*s, signs, count, true)));
}

/* Digits, or groups of three with commas between; without digits the number is 0. UINT64_MAX: this number or a larger
 * one. */
static bool whole_read(struct str s, uint64_t *out)
{
    size_t first = str_index(s, ',');
    uint64_t n = 0;
    if (first < s.len && (first == 0 || first >= GROUP || (s.len - first) % GROUP != 0))
        return false;
    for (size_t i = 0; i < s.len; i++) {
        bool comma = i >= first && (i - first) % GROUP == 0;
        if (comma ? s.ptr[i] != ',' : !is_digit(s.ptr[i]))
            return false;
        if (!comma && (__builtin_mul_overflow(n, 10U, &n) || __builtin_add_overflow(n, (unsigned)(s.ptr[i] - '0'), &n)))
            n = UINT64_MAX;
    }
    *out = n;
    return true;
}

bool typed_count(struct str folded, uint64_t *out)
{
    static const struct str signs[] = { STR("\u4e2a"), STR("\u500b"), STR("\u4efd") }; /* ge, twice, and fen */
    unit_cut(&folded, signs, ARRAY_LEN(signs));
    return folded.len > 0 && whole_read(folded, out);
}

/* Takes the signs of the unit of money off *s: its symbol or code in front, and a name or the code behind. A unit whose
 * Chinese name ends in yuan is also called yuan and kuai, each simplified and traditional. */
static void money_signs_cut(struct str *s)
{
    const struct money_unit *unit = money_unit();
    const struct str code = str_from(unit->code), symbol = str_from(unit->symbol), name = str_from(unit->name_zh);
    const struct str before[] = { code, symbol, STR("￥") };
    const struct str behind[] = {
        name,          code,          str_from(unit->name_en), STR("\u5143"),       STR("\u5706"),
        STR("\u5713"), STR("\u5757"), STR("\u584a"),           STR("\u5757\u94b1"), STR("\u584a\u9322")
    };
    enum { OWN_NAMES = 3 };
    const bool is_yen = str_equal(symbol, STR("¥")), is_yuan = str_ends(name, behind[OWN_NAMES]);
    const size_t len = sign_find(*s, before, ARRAY_LEN(before) - !is_yen, false);
    *s = str_trim(str_slice(*s, len, s->len));
    unit_cut(s, behind, is_yuan ? ARRAY_LEN(behind) : OWN_NAMES);
}

bool typed_amount(struct str folded, int64_t *out_fen)
{
    const size_t decimals = (size_t)money_unit()->decimals;
    const uint64_t scale = (uint64_t)money_scale();
    uint64_t units, fen;
    struct str s = folded, fraction;
    money_signs_cut(&s);
    struct str whole = str_cut(s, '.', &fraction);
    if (whole.len + fraction.len == 0 || fraction.len > decimals || !whole_read(whole, &units) ||
        !whole_read(fraction, &fen))
        return false;
    for (size_t i = fraction.len; fraction.len > 0 && i < decimals; i++)
        fen *= 10;
    *out_fen = units > TYPED_AMOUNT_MAX_FEN / scale ? INT64_MAX : (int64_t)(units * scale + fen);
    return true;
}

/* ---- names and codes ---- */

struct str typed_name(struct arena *a, struct str folded)
{
    while (str_skip_prefix(&folded, STR("@")) || str_skip_prefix(&folded, STR(" ")))
        ;
    char *name = arena_cstr(a, folded);
    for (size_t i = 0; name != NULL && i < folded.len; i++)
        if (name[i] >= 'A' && name[i] <= 'Z')
            name[i] = (char)(name[i] - 'A' + 'a');
    return name == NULL ? STR_NONE : (struct str){ name, folded.len };
}

/* The length in bytes of the separator of names at the start of s; 0: s does not start with one. */
static size_t mark_bytes(struct str s)
{
    static const struct str marks[] = { STR(" "), STR(","), STR(";"), STR("/"), STR("|"), STR("、"), STR("\uff64") };
    for (size_t i = 0; i < ARRAY_LEN(marks); i++)
        if (str_starts(s, marks[i]))
            return marks[i].len;
    return 0;
}

struct str typed_names_next(struct str *rest)
{
    size_t len = 0, mark;
    bool called = false; /* "@bob" */
    for (; str_starts(*rest, STR("@")) || mark_bytes(*rest) > 0; *rest = str_skip(*rest, mark)) {
        called = str_starts(*rest, STR("@"));
        mark = called ? 1 : mark_bytes(*rest);
    }
    while (len < rest->len && mark_bytes(str_skip(*rest, len)) == 0 && !(called && rest->ptr[len] == '@'))
        len++;
    struct str name = str_slice(*rest, 0, len);
    *rest = str_skip(*rest, len);
    return name;
}

bool typed_code(struct str folded, uint8_t *values, size_t count)
{
    size_t found = 0;
    for (size_t i = 0; i < folded.len; i++) {
        char c = folded.ptr[i];
        if (c == '-' || c == ' ')
            continue;
        int value = base32_value(c);
        if (value < 0 || found == count)
            return false;
        values[found++] = (uint8_t)value;
    }
    return found == count;
}

/* ---- days and times ---- */

/* Cuts at least min and at most max digits off the front of *rest. False: there are fewer. */
static bool digits_take(struct str *rest, size_t min, size_t max, int *out)
{
    size_t count = 0;
    int n = 0;
    for (; count < max && count < rest->len && is_digit(rest->ptr[count]); count++)
        n = 10 * n + (rest->ptr[count] - '0');
    if (count < min)
        return false;
    *rest = str_skip(*rest, count);
    *out = n;
    return true;
}

/* Cuts one of two characters off the front of *rest. */
static bool char_take(struct str *rest, char one, char other)
{
    if (rest->len == 0 || (rest->ptr[0] != one && rest->ptr[0] != other))
        return false;
    *rest = str_skip(*rest, 1);
    return true;
}

/* Cuts a name, which is in capitals, off the front of *rest. */
static bool name_take(struct str *rest, const char *name)
{
    struct str after = *rest;
    for (; *name != '\0'; name++)
        if (!char_take(&after, *name, (char)(*name - 'A' + 'a')))
            return false;
    *rest = after;
    return true;
}

/* Cuts a sign with blanks around it off the front of *rest. */
static bool sign_take(struct str *rest, struct str sign)
{
    struct str after = *rest;
    (void)char_take(&after, ' ', ' ');
    if (!str_skip_prefix(&after, sign))
        return false;
    (void)char_take(&after, ' ', ' ');
    *rest = after;
    return true;
}

/* Cuts a day off the front of *rest. *with_signs: its end is marked by the Chinese sign for day. */
static bool day_take(struct str *rest, struct clock_date *out, bool *with_signs)
{
    struct clock_date d = { 0 };
    if (!digits_take(rest, YEAR_DIGITS, YEAR_DIGITS, &d.year))
        return false;
    *with_signs = sign_take(rest, STR("\u5e74"));
    char mark = rest->len > 0 ? rest->ptr[0] : '\0';
    if (*with_signs) {
        if (!digits_take(rest, 1, 2, &d.month) || !sign_take(rest, STR("\u6708")) || !digits_take(rest, 1, 2, &d.day) ||
            !(sign_take(rest, STR("\u65e5")) || sign_take(rest, STR("\u53f7"))))
            return false;
    } else if ((mark != '-' && mark != '/' && mark != '.') || !char_take(rest, mark, mark) ||
               !digits_take(rest, 1, 2, &d.month) || !char_take(rest, mark, mark) || !digits_take(rest, 1, 2, &d.day)) {
        return false;
    }
    *out = d;
    return clock_day_exists(d.year, d.month, d.day);
}

bool typed_day(struct str folded, struct clock_date *out)
{
    struct clock_date d;
    bool with_signs;
    if (!day_take(&folded, &d, &with_signs) || folded.len > 0)
        return false;
    *out = d;
    return true;
}

bool typed_utc_day(struct str text, int64_t *out_ms)
{
    struct clock_date d;
    if (text.len != sizeof "2026-11-20" - 1 || text.ptr[YEAR_DIGITS] != '-' || !typed_day(text, &d) ||
        d.year < YEAR_MIN)
        return false;
    *out_ms = clock_utc_ms(d);
    return true;
}

/* ".123456": as many milliseconds; further digits are ignored. */
static bool fraction_take(struct str *rest, int *out_ms)
{
    int digit, unit = MS_PER_S / 10;
    *out_ms = 0;
    if (!char_take(rest, '.', '.'))
        return true;
    if (!digits_take(rest, 1, 1, &digit))
        return false;
    do {
        *out_ms += digit * unit;
        unit /= 10;
    } while (digits_take(rest, 1, 1, &digit));
    return true;
}

/* Reads the minutes behind the sign for the hour: "30", "30" or "5" with the sign for minutes, or nothing. */
static bool minute_take(struct str *rest, int *out)
{
    static const struct str sign = STR("\u5206");
    if (digits_take(rest, 2, 2, out)) {
        (void)sign_take(rest, sign);
        return true;
    }
    return !digits_take(rest, 1, 1, out) || sign_take(rest, sign);
}

/* Cuts the sign for the hour, dian or shi, each simplified and traditional, off the front of *rest. */
static bool hour_sign_take(struct str *rest)
{
    return sign_take(rest, STR("\u70b9")) || sign_take(rest, STR("\u9ede")) || sign_take(rest, STR("\u65f6")) ||
           sign_take(rest, STR("\u6642"));
}

/* Cuts a time of the day off the front of *rest. *seconds: whether the text has seconds. */
static bool time_take(struct str *rest, struct clock_date *d, int *ms, bool *seconds)
{
    *seconds = false;
    if (!digits_take(rest, 1, 2, &d->hour))
        return false;
    if (hour_sign_take(rest)) {
        if (!minute_take(rest, &d->minute))
            return false;
    } else {
        if (!char_take(rest, ':', ':') || !digits_take(rest, 2, 2, &d->minute))
            return false;
        *seconds = char_take(rest, ':', ':');
        if (*seconds && (!digits_take(rest, 2, 2, &d->second) || !fraction_take(rest, ms)))
            return false;
    }
    bool day_end = d->hour == HOURS && d->minute + d->second + *ms == 0;
    return (d->hour < HOURS || day_end) && d->minute < MINUTES && d->second < MINUTES;
}

/* The hours and minutes of a zone, which end the text: "8", "08", "830", "0830", "8:30". */
static bool offset_read(struct str rest, int *out_minutes)
{
    int hours = 0, minutes = 0;
    bool short_hours = rest.len == 3 && str_index(rest, ':') == rest.len;
    if (!digits_take(&rest, 1, short_hours ? 1 : 2, &hours) ||
        ((char_take(&rest, ':', ':') || rest.len > 0) && !digits_take(&rest, 2, 2, &minutes)))
        return false;
    *out_minutes = hours * MINUTES + minutes;
    return rest.len == 0 && minutes < MINUTES;
}

/* A zone, which ends the text, as minutes ahead of UTC. strict: a "T" stands before the time. seconds: the time has
 * seconds. */
static bool zone_read(struct str rest, bool strict, bool seconds, int *out_minutes)
{
    int minutes;
    bool blank = str_skip_prefix(&rest, STR(" "));
    bool bracket = str_starts(rest, STR("(")) && str_ends(rest, STR(")"));
    if (bracket)
        rest = str_slice(rest, 1, rest.len - 1);
    *out_minutes = 0;
    if (name_take(&rest, "Z"))
        return rest.len == 0;
    bool named = name_take(&rest, "UTC") || name_take(&rest, "GMT");
    if (named && rest.len == 0)
        return true;
    if (named)
        (void)str_skip_prefix(&rest, STR(" "));
    bool apart = named || bracket; /* not the end of a span */
    bool west = str_skip_prefix(&rest, STR("-")), east = !west && str_skip_prefix(&rest, STR("+"));
    bool was_plus = blank && !apart && strict && seconds && rest.len == sizeof "08:00" - 1;
    if (west ? !(apart || seconds || (strict && !blank)) : !(east || was_plus))
        return false;
    if (!offset_read(rest, &minutes))
        return false;
    *out_minutes = west ? -minutes : minutes;
    return *out_minutes >= ZONE_MIN && *out_minutes <= ZONE_MAX;
}

enum status typed_time(struct str folded, int64_t *out_ms)
{
    struct clock_date d;
    struct str rest = folded;
    int ms = 0, zone_minutes;
    bool with_signs, seconds;
    if (!day_take(&rest, &d, &with_signs) || d.year < YEAR_MIN)
        return ST_INVALID;
    if (rest.len == 0) {
        *out_ms = clock_zone_day_start_ms(d.year, d.month, d.day);
        return ST_OK;
    }
    bool strict = char_take(&rest, 'T', 't');
    if ((!strict && !char_take(&rest, ' ', ' ') && !with_signs) || !time_take(&rest, &d, &ms, &seconds))
        return ST_INVALID;
    int64_t instant_ms;
    if (rest.len == 0) {
        if (!clock_zone_instant(d, &instant_ms))
            return ST_NOT_FOUND;
    } else if (zone_read(rest, strict, seconds, &zone_minutes)) {
        instant_ms = clock_utc_ms(d) - (int64_t)zone_minutes * MINUTES * MS_PER_S;
    } else {
        return ST_INVALID;
    }
    *out_ms = instant_ms + ms;
    return ST_OK;
}
