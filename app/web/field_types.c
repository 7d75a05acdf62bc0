#include "web/field_types.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

#include "base/clock.h"
#include "base/money.h"
#include "base/utf8.h"
#include "web/mended_link.h"
#include "web/origin.h"
#include "web/text.h"

enum { DAY_BYTES = sizeof "2026-11-20" - 1 };

const struct field_type FIELD_TEXT = { .read = field_text_read };

enum status field_text_read(struct field_input *in)
{
    if (in->typed.len == 0)
        return field_absent(in);
    enum status st = field_limits(in, (int64_t)in->typed.len);
    if (st == ST_OK)
        *(struct str *)in->out = in->typed;
    return st;
}

const struct field_type FIELD_LINE = { .read = field_line_read, .as_typed = true };

enum status field_line_read(struct field_input *in)
{
    struct str line;
    enum status st = utf8_clean(in->x->arena, in->typed, &line);
    if (st == ST_INVALID)
        return field_fail(in, in->field->malformed);
    if (st != ST_OK)
        return st;
    if (line.len == 0)
        return field_absent(in);
    st = field_limits(in, (int64_t)utf8_graphemes(line));
    if (st == ST_OK && in->field->code_points_max > 0 && (int64_t)utf8_codepoints(line) > in->field->code_points_max) {
        int64_t max = field_max(in->field, in->x->app->stores.config);
        st = field_fail_with(in, in->field->wide, arena_printf(in->x->arena, "%" PRId64, max));
    }
    if (st == ST_OK)
        *(struct str *)in->out = line;
    return st;
}

struct str field_choice_add(const struct field_input *in, struct str list, struct str word)
{
    return arena_printf(in->x->arena, "%.*s%s%.*s", STR_ARG(list), list.len > 0 ? ", " : "", STR_ARG(word));
}

static struct str words_text(const struct field_input *in)
{
    struct str text = STR(""), word;
    for (unsigned i = 0; text.ptr != NULL && (word = in->field->word(i)).ptr != NULL; i++)
        text = field_choice_add(in, text, word);
    return text;
}

static enum status word_read(struct field_input *in)
{
    if (in->typed.len == 0)
        return field_absent(in);
    unsigned i = 0;
    struct str word;
    while ((word = in->field->word(i)).ptr != NULL && !str_equal(word, in->typed))
        i++;
    if (word.ptr == NULL)
        return field_fail_with(in, in->field->malformed, words_text(in));
    memcpy(in->out, &i, sizeof i); /* gcc and clang use unsigned int for an enum without negative values */
    return ST_OK;
}

const struct field_type FIELD_WORD = { .read = word_read };

/* True for a decimal number without leading zeros, of any size. */
static bool is_large_number(struct str s)
{
    if (s.len == 0 || s.ptr[0] == '0')
        return false;
    for (size_t i = 0; i < s.len; i++)
        if (s.ptr[i] < '0' || s.ptr[i] > '9')
            return false;
    return true;
}

/* As field_limits, for uint64_t. Without a max, numbers above INT64_MAX are allowed. */
static enum status limits_u64(struct field_input *in, uint64_t n)
{
    return field_limits(in, n < INT64_MAX ? (int64_t)n : INT64_MAX);
}

static enum status count_read(struct field_input *in)
{
    if (in->typed.len == 0)
        return field_absent(in);
    uint64_t n = UINT64_MAX;
    if (!str_to_u64(in->typed, &n) && !is_large_number(in->typed))
        return field_fail(in, in->field->malformed);
    enum status st = limits_u64(in, n);
    if (st != ST_OK)
        return st;
    assert(n <= UINT32_MAX); /* the row's max is at most UINT32_MAX */
    *(uint32_t *)in->out = (uint32_t)n;
    return ST_OK;
}

const struct field_type FIELD_COUNT = { .read = count_read };

static enum status number_read(struct field_input *in)
{
    uint64_t n;
    if (in->typed.len == 0)
        return field_absent(in);
    if (!str_to_u64(mended_link_value(in->typed), &n))
        return field_fail(in, in->field->malformed);
    enum status st = limits_u64(in, n);
    if (st == ST_OK)
        *(uint64_t *)in->out = n;
    return st;
}

const struct field_type FIELD_NUMBER = { .read = number_read };

/* True for an amount of any size in the form of money_parse. */
static bool is_large_yuan(struct str s)
{
    int64_t fen;
    struct str fraction, whole = str_cut(s, '.', &fraction);
    return is_large_number(whole) && money_parse(str_skip(s, whole.len - 1), &fen) == ST_OK;
}

/* The digits of an amount as people write it: "¥1,234.50" and "1234.5元" without the signs, and without commas where
 * they separate thousands. STR_NONE without memory. */
static struct str yuan_digits(struct arena *a, struct str typed)
{
    struct str s = str_trim(typed);
    if (str_skip_prefix(&s, STR("¥")) || str_skip_prefix(&s, STR("￥")))
        s = str_trim(s);
    const struct str yuan = STR("\xe5\x85\x83"); /* the character for yuan */
    if (s.len > yuan.len && str_equal(str_skip(s, s.len - yuan.len), yuan))
        s = str_trim((struct str){ s.ptr, s.len - yuan.len });
    struct str fraction, whole = str_cut(s, '.', &fraction);
    size_t first = str_find(whole, STR(",")); /* digits before the first comma */
    if (first >= whole.len)
        return s;
    char *digits = arena_alloc(a, s.len + 1);
    size_t len = 0;
    if (digits == NULL)
        return STR_NONE;
    for (size_t i = 0; i < s.len; i++) {
        bool comma = i < whole.len && s.ptr[i] == ',';
        if (comma != (i < whole.len && i >= first && (i - first) % 4 == 0))
            return s; /* not between thousands */
        if (!comma)
            digits[len++] = s.ptr[i];
    }
    return first >= 1 && first <= 3 && (whole.len - first) % 4 == 0 ? (struct str){ digits, len } : s;
}

enum status field_yuan_parse(struct field_input *in, int64_t *out_fen)
{
    struct str yuan = yuan_digits(in->x->arena, in->typed);
    if (yuan.ptr == NULL)
        return ST_NO_MEMORY;
    if (money_parse(yuan, out_fen) == ST_OK)
        return ST_OK;
    if (!is_large_yuan(yuan))
        return field_fail(in, in->field->malformed);
    *out_fen = INT64_MAX;
    return ST_OK;
}

enum status field_yuan_read(struct field_input *in, int64_t max_fen)
{
    int64_t fen = 0;
    if (in->typed.len == 0)
        return field_absent(in);
    enum status st = field_yuan_parse(in, &fen);
    if (st != ST_OK)
        return st;
    if (fen < in->field->min)
        return field_fail(in, in->field->low);
    if (max_fen > 0 && fen > max_fen)
        return field_fail_with(in, in->field->high, text_number(in->x, money_limit_text(in->x->arena, max_fen)));
    *(int64_t *)in->out = fen;
    return ST_OK;
}

static enum status yuan_read(struct field_input *in)
{
    return field_yuan_read(in, field_max(in->field, in->x->app->stores.config));
}

const struct field_type FIELD_YUAN = { .read = yuan_read };

/* Reads exactly that many ASCII digits at the position `from`. False: other characters. */
static bool digits_read(struct str s, size_t from, size_t digits, int *out)
{
    *out = 0;
    for (size_t i = from; i < from + digits; i++) {
        if (s.ptr[i] < '0' || s.ptr[i] > '9')
            return false;
        *out = *out * 10 + (s.ptr[i] - '0');
    }
    return true;
}

static enum status day_read(struct field_input *in)
{
    int year, month, day;
    struct str day_text = in->typed;
    if (day_text.len == 0)
        return field_absent(in);
    if (day_text.len != DAY_BYTES || day_text.ptr[4] != '-' || day_text.ptr[7] != '-' ||
        !digits_read(day_text, 0, 4, &year) || !digits_read(day_text, 5, 2, &month) ||
        !digits_read(day_text, 8, 2, &day) || !clock_day_exists(year, month, day))
        return field_fail(in, in->field->malformed);
    enum status st = field_limits(in, year);
    if (st == ST_OK)
        *(int64_t *)in->out = clock_zone_day_start_ms(year, month, day);
    return st;
}

const struct field_type FIELD_DAY = { .read = day_read };

static enum status request_key_read(struct field_input *in)
{
    bool valid = request_key_valid(in->typed);
    struct str key = valid ? in->typed : request_key_new(in->x->arena);
    if (key.ptr == NULL)
        return ST_NO_MEMORY;
    *(struct str *)in->out = key;
    return valid || in->typed.len == 0 ? ST_OK : field_fail(in, in->field->malformed);
}

const struct field_type FIELD_REQUEST_KEY = { .read = request_key_read };

static enum status link_key_read(struct field_input *in)
{
    in->typed = mended_link_value(in->typed);
    return field_text_read(in);
}

const struct field_type FIELD_LINK_KEY = { .read = link_key_read };

static enum status local_path_read(struct field_input *in)
{
    *(struct str *)in->out = origin_path_is_local(in->typed) ? in->typed : STR("");
    return ST_OK;
}

const struct field_type FIELD_LOCAL_PATH = { .read = local_path_read, .as_typed = true };
