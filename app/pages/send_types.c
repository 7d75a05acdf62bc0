#include "pages/send_types.h"

#include "base/clock.h"
#include "base/money.h"
#include "base/typed.h"
#include "packet/cover.h"
#include "packet/order.h"
#include "packet/rules.h"
#include "user/account.h"
#include "web/field_types.h"
#include "web/text.h"

enum { MINUTE_MS = 60000 }; /* the form's times have no seconds */

/* ---- conditions of fields ---- */

bool send_kind_is_known(const struct field_input *in)
{
    return !form_failed(in->errors, "kind");
}

static bool kind_is(const struct field_input *in, enum packet_kind kind)
{
    const struct send_order *order = in->values;
    return send_kind_is_known(in) && order->packet.kind == kind;
}

bool send_is_lucky(const struct field_input *in)
{
    return kind_is(in, PACKET_LUCKY);
}

bool send_is_even(const struct field_input *in)
{
    return kind_is(in, PACKET_EVEN);
}

static bool is_exclusive(const struct field_input *in)
{
    return kind_is(in, PACKET_EXCLUSIVE);
}

bool send_is_for_several(const struct field_input *in)
{
    return send_kind_is_known(in) && !is_exclusive(in);
}

/* ---- receivers and count ---- */

static enum status to_read(struct field_input *in)
{
    struct str_list *to = in->out;
    enum status st = FIELD_USERNAMES.read(in);
    if (st != ST_OK || !is_exclusive(in) || to->count == 1)
        return st;
    return field_fail(in, to->count == 0 ? in->field->missing : "text/to_one");
}

/* The usernames with blanks between them. */
static struct str to_write(const struct field_input *in, const void *value)
{
    const struct str_list *to = value;
    struct str text = STR("");
    for (size_t i = 0; i < to->count; i++)
        text = arena_printf(in->x->arena, "%.*s%s%.*s", STR_ARG(text), i > 0 ? " " : "", STR_ARG(to->items[i]));
    return text;
}

const struct field_type SEND_TO = { .read = to_read, .write = to_write, .like = &FIELD_USERNAMES };

static enum status count_read(struct field_input *in)
{
    const struct send_order *order = in->values;
    uint32_t *count = in->out;
    if (in->typed.len == 0) {
        *count = (uint32_t)order->to.count;
        if (order->to.count > 0)
            return field_limits(in, (int64_t)order->to.count);
        return form_failed(in->errors, "to") ? ST_OK : field_fail(in, in->field->missing);
    }
    enum status st = FIELD_COUNT.read(in);
    if (st == ST_OK && order->to.count > 0 && *count > order->to.count)
        st = field_fail_with(in, "text/count_over_to", arena_printf(in->x->arena, "%zu", order->to.count));
    return st;
}

/* With named receivers the field stays empty: then each of them gets a share, also if one of the earlier packet's
 * receivers was deleted. */
static struct str count_write(const struct field_input *in, const void *value)
{
    const struct send_order *order = in->values;
    const uint32_t *count = value;
    bool by_default = order->packet.receiver_count > 0 && *count > order->to.count;
    return by_default ? STR("") : arena_printf(in->x->arena, "%u", *count);
}

const struct field_type SEND_COUNT = { .read = count_read, .write = count_write, .like = &FIELD_COUNT };

/* ---- the amount ---- */

static struct str limit_text(struct field_input *in, int64_t fen)
{
    return text_number(in->x, money_limit_text(in->x->arena, fen));
}

static const char *amount_missing(const struct field_input *in, bool is_total)
{
    if (is_exclusive(in))
        return "text/amount_one_missing";
    return is_total ? "text/amount_total_missing" : "text/amount_each_missing";
}

static bool amount_is_total(const struct field_input *in)
{
    const struct send_order *order = in->values;
    return send_is_lucky(in) || (send_is_even(in) && order->amount_of == AMOUNT_OF_TOTAL);
}

static enum status amount_read(struct field_input *in)
{
    const struct send_order *order = in->values;
    const struct config *config = in->x->app->stores.config;
    int64_t fen = 0;
    bool is_total = amount_is_total(in);
    if (in->typed.len == 0)
        return field_fail(in, amount_missing(in, is_total));
    enum status st = field_amount_parse(in, &fen);
    if (st != ST_OK)
        return st;

    struct rules_amount amount = { .fen = fen,
                                   .is_total = is_total,
                                   .count = form_failed(in->errors, "count") ? 0 : order->packet.count };
    struct rules_sum sum = rules_check(config, &amount);
    switch (sum.fault) {
    case RULES_SHARE_MIN: return field_fail(in, "text/share_min");
    case RULES_SHARE_MAX: return field_fail_with(in, "text/share_max", limit_text(in, sum.limit_fen));
    case RULES_TOTAL_MAX: return field_fail_with(in, "text/total_max", limit_text(in, sum.limit_fen));
    case RULES_OK: break;
    }
    *(int64_t *)in->out = sum.total_fen;
    return ST_OK;
}

static struct str amount_write(const struct field_input *in, const void *value)
{
    const struct send_order *order = in->values;
    const int64_t *fen = value;
    return money_text(in->x->arena, amount_is_total(in) ? *fen : *fen / order->packet.count);
}

const struct field_type SEND_AMOUNT = { .read = amount_read, .write = amount_write, .like = &FIELD_AMOUNT };

static enum status share_min_read(struct field_input *in)
{
    const struct send_order *order = in->values;
    const struct packet *p = &order->packet;
    const struct config *config = in->x->app->stores.config;
    bool total_known = !form_failed(in->errors, "amount") && !form_failed(in->errors, "count") && p->count > 0;
    return field_amount_read(in, total_known ? rules_share_min_fen_max(config, p->amount_fen, p->count)
                                             : config->share_fen_max);
}

static struct str share_min_write(const struct field_input *in, const void *value)
{
    const int64_t *fen = value;
    return *fen > in->field->min ? money_text(in->x->arena, *fen) : STR("");
}

const struct field_type SEND_SHARE_MIN = { .read = share_min_read, .write = share_min_write, .like = &FIELD_AMOUNT };

/* ---- the lifetime ---- */

struct str send_lifetime_word(const struct config *config, int64_t lifetime_ms)
{
    struct str word;
    int64_t ms;
    for (size_t i = 0; rules_lifetime(config, i, &word, &ms); i++)
        if (ms == lifetime_ms)
            return word;
    return STR("");
}

/* The choices: "5m, 1h". STR_NONE without memory. */
static struct str lifetimes_text(const struct field_input *in)
{
    struct str text = STR(""), word;
    int64_t ms;
    for (size_t i = 0; text.ptr != NULL && rules_lifetime(in->x->app->stores.config, i, &word, &ms); i++)
        text = field_choice_add(in, text, word);
    return text;
}

static enum status lifetime_read(struct field_input *in)
{
    struct str word;
    int64_t ms;
    if (in->typed.len == 0)
        return field_absent(in);
    for (size_t i = 0; rules_lifetime(in->x->app->stores.config, i, &word, &ms); i++) {
        if (str_equal(word, in->typed)) {
            *(int64_t *)in->out = ms;
            return ST_OK;
        }
    }
    return field_fail_with(in, in->field->malformed, lifetimes_text(in));
}

/* The word of the lifetime; empty when the setting does not list it. */
static struct str lifetime_write(const struct field_input *in, const void *value)
{
    return send_lifetime_word(in->x->app->stores.config, *(const int64_t *)value);
}

const struct field_type SEND_LIFETIME = { .read = lifetime_read, .write = lifetime_write };

/* ---- the scheduled opening ---- */

static enum status opens_read(struct field_input *in)
{
    int64_t ms;
    if (in->typed.len == 0)
        return field_absent(in);
    enum status st = typed_time(in->typed, &ms);
    if (st != ST_OK)
        return field_fail(in, st == ST_NOT_FOUND ? "text/opens_skipped" : in->field->malformed);
    if (ms > in->x->now_ms + RULES_OPENS_AHEAD_MAX_MS)
        return field_fail(in, in->field->high);
    *(int64_t *)in->out = ms;
    return ST_OK;
}

/* The input can't show the second time of an hour that comes twice. */
static struct str opens_shown(struct arena *a, struct str folded)
{
    int64_t ms, again;
    if (typed_time(folded, &ms) != ST_OK)
        return STR_NONE;
    struct str text = str_or_empty(clock_zone_input(a, ms));
    return typed_time(text, &again) == ST_OK && again == ms ? text : STR_NONE;
}

/* The opening as the input shows it, to the minute. Empty when it has passed. */
static struct str opens_write(const struct field_input *in, const void *value)
{
    const int64_t ms = *(const int64_t *)value;
    return ms < in->x->now_ms + MINUTE_MS ? STR("") : clock_zone_input(in->x->arena, ms - ms % MINUTE_MS);
}

const struct field_type SEND_OPENS_AT = { .read = opens_read, .write = opens_write, .shown = opens_shown };

/* ---- the cover ---- */

static enum status cover_read(struct field_input *in)
{
    struct str *stored = in->out, names = STR("");
    if (in->typed.len == 0)
        return field_absent(in);
    for (unsigned i = 0; i < COVER_COUNT; i++) {
        const enum packet_cover cover = (enum packet_cover)i;
        if (str_equal(packet_cover_name(cover), in->typed)) {
            *stored = packet_cover_stored(cover);
            return ST_OK;
        }
        names = field_choice_add(in, names, packet_cover_name(cover));
    }
    if (packet_cover_hash(in->typed).ptr == NULL)
        return field_fail_with(in, in->field->malformed, names);
    *stored = in->typed;
    return ST_OK;
}

const struct field_type SEND_COVER = { .read = cover_read, .write = field_text_write };
