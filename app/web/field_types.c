#include "web/field_types.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

#include "base/clock.h"
#include "base/money.h"
#include "base/typed.h"
#include "base/utf8.h"
#include "web/mended_link.h"
#include "web/origin.h"
#include "web/text.h"

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

enum status field_line_read(struct field_input *in, field_line_cleaner *clean, field_line_meter *length)
{
    struct str line;
    enum status st = clean(in->x->arena, in->typed, &line);
    if (st == ST_INVALID)
        return field_fail(in, in->field->malformed);
    if (st != ST_OK)
        return st;
    if (line.len == 0)
        return field_absent(in);
    st = field_limits(in, (int64_t)length(line));
    if (st == ST_OK && in->field->code_points_max > 0 && (int64_t)utf8_codepoints(line) > in->field->code_points_max) {
        int64_t max = field_max(in->field, in->x->app->stores.config);
        st = field_fail_with(in, in->field->wide, arena_printf(in->x->arena, "%" PRId64, max));
    }
    if (st == ST_OK)
        *(struct str *)in->out = line;
    return st;
}

struct str field_text_write(const struct field_input *in, const void *value)
{
    (void)in;
    return *(const struct str *)value;
}

static enum status line_read(struct field_input *in)
{
    return field_line_read(in, utf8_clean_shown, utf8_graphemes);
}

const struct field_type FIELD_LINE = { .read = line_read, .as_typed = true, .write = field_text_write };

static enum status sentence_read(struct field_input *in)
{
    return field_line_read(in, utf8_clean_shown, utf8_width);
}

const struct field_type FIELD_SENTENCE = { .read = sentence_read, .as_typed = true, .write = field_text_write };

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

static struct str word_write(const struct field_input *in, const void *value)
{
    unsigned i;
    memcpy(&i, value, sizeof i);
    return in->field->word(i);
}

const struct field_type FIELD_WORD = { .read = word_read, .write = word_write };

/* As field_limits, for uint64_t. Without a max, numbers above INT64_MAX are allowed. */
static enum status limits_u64(struct field_input *in, uint64_t n)
{
    return field_limits(in, n < INT64_MAX ? (int64_t)n : INT64_MAX);
}

static enum status count_read(struct field_input *in)
{
    if (in->typed.len == 0)
        return field_absent(in);
    uint64_t n;
    if (!typed_count(in->typed, &n))
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
    if (!typed_count(mended_link_value(in->typed), &n))
        return field_fail(in, in->field->malformed);
    enum status st = limits_u64(in, n);
    if (st == ST_OK)
        *(uint64_t *)in->out = n;
    return st;
}

const struct field_type FIELD_NUMBER = { .read = number_read };

enum status field_amount_parse(struct field_input *in, int64_t *out_fen)
{
    return typed_amount(in->typed, out_fen) ? ST_OK : field_fail(in, in->field->malformed);
}

enum status field_amount_read(struct field_input *in, int64_t max_fen)
{
    int64_t fen = 0;
    if (in->typed.len == 0)
        return field_absent(in);
    enum status st = field_amount_parse(in, &fen);
    if (st != ST_OK)
        return st;
    if (fen < in->field->min)
        return field_fail(in, in->field->low);
    if (max_fen > 0 && fen > max_fen)
        return field_fail_with(in, in->field->high, text_number(in->x, money_limit_text(in->x->arena, max_fen)));
    *(int64_t *)in->out = fen;
    return ST_OK;
}

static enum status amount_read(struct field_input *in)
{
    return field_amount_read(in, field_max(in->field, in->x->app->stores.config));
}

const struct field_type FIELD_AMOUNT = { .read = amount_read };

static enum status day_read(struct field_input *in)
{
    struct clock_date d;
    if (in->typed.len == 0)
        return field_absent(in);
    if (!typed_day(in->typed, &d))
        return field_fail(in, in->field->malformed);
    enum status st = field_limits(in, d.year);
    if (st == ST_OK)
        *(int64_t *)in->out = clock_zone_day_start_ms(d.year, d.month, d.day);
    return st;
}

/* As <input type=date> has it. */
static struct str day_shown(struct arena *a, struct str folded)
{
    struct clock_date d;
    return typed_day(folded, &d) ? arena_printf(a, "%04d-%02d-%02d", d.year, d.month, d.day) : STR_NONE;
}

const struct field_type FIELD_DAY = { .read = day_read, .shown = day_shown };

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
