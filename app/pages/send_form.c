#include "pages/send_form.h"

#include "base/array.h"
#include "base/clock.h"
#include "base/money.h"
#include "base/typed.h"
#include "packet/receivers.h"
#include "packet/rules.h"
#include "pages/covers.h"
#include "pages/phrase_field.h"
#include "pages/present.h"
#include "user/account.h"
#include "web/field_types.h"
#include "web/text.h"

/* ---- conditions of fields ---- */

static bool kind_is_valid(const struct field_input *in)
{
    return !form_failed(in->errors, "kind");
}

static bool kind_is(const struct field_input *in, enum packet_kind kind)
{
    const struct send_order *order = in->values;
    return kind_is_valid(in) && order->packet.kind == kind;
}

static bool is_lucky(const struct field_input *in)
{
    return kind_is(in, PACKET_LUCKY);
}

static bool is_even(const struct field_input *in)
{
    return kind_is(in, PACKET_EVEN);
}

static bool is_exclusive(const struct field_input *in)
{
    return kind_is(in, PACKET_EXCLUSIVE);
}

static bool is_not_exclusive(const struct field_input *in)
{
    return kind_is_valid(in) && !is_exclusive(in);
}

/* ---- words and limits ---- */

_Static_assert(sizeof(enum packet_kind) == sizeof(unsigned) && sizeof(enum split_method) == sizeof(unsigned) &&
                   sizeof(enum amount_of) == sizeof(unsigned),
               "FIELD_WORD writes an unsigned int");

static struct str kind_word(unsigned i)
{
    return i <= PACKET_EXCLUSIVE ? packet_kind_name((enum packet_kind)i) : STR_NONE;
}

/* SPLIT_EVEN can't be selected: it is the split of the other kinds. */
static struct str split_word(unsigned i)
{
    return i < SPLIT_EVEN ? split_method_name((enum split_method)i) : STR_NONE;
}

static struct str amount_of_word(unsigned i)
{
    static const struct str words[] = { [AMOUNT_OF_SHARE] = STR("share"), [AMOUNT_OF_TOTAL] = STR("total") };
    return i < ARRAY_LEN(words) ? words[i] : STR_NONE;
}

static int64_t share_max(const struct config *config)
{
    return config->share_fen_max;
}

static int64_t greeting_max(const struct config *config)
{
    return config->greeting_graphemes_max;
}

/* ---- receivers and count ---- */

/* An exclusive packet has exactly one receiver; a packet of another kind is for everybody, or for the named users. */
static enum status to_read(struct field_input *in)
{
    struct str_list *to = in->out;
    enum status st = FIELD_USERNAMES.read(in);
    if (st != ST_OK || !is_exclusive(in) || to->count == 1)
        return st;
    return field_fail(in, to->count == 0 ? in->field->missing : "text/to_one");
}

static const struct field_type TO = { .read = to_read };

/* With named receivers there are at most as many shares, and as many by default: 0 when it is not known how many. */
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

static const struct field_type COUNT = { .read = count_read };

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

/* The typed amount of a lucky packet is the total, that of an even one as its sender says, that of an exclusive one its
 * only share. Whether it is allowed depends on kind and count. */
static enum status amount_read(struct field_input *in)
{
    const struct send_order *order = in->values;
    const struct config *config = in->x->app->stores.config;
    int64_t fen = 0;
    bool is_total = is_lucky(in) || (is_even(in) && order->amount_of == AMOUNT_OF_TOTAL);
    if (in->typed.len == 0)
        return field_fail(in, amount_missing(in, is_total));
    enum status st = field_yuan_parse(in, &fen);
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

static const struct field_type AMOUNT = { .read = amount_read };

/* The smallest share of a lucky packet. It can't be more than the average, so it is read after the amount. */
static enum status share_min_read(struct field_input *in)
{
    const struct send_order *order = in->values;
    const struct packet *p = &order->packet;
    const struct config *config = in->x->app->stores.config;
    bool total_known = !form_failed(in->errors, "amount") && !form_failed(in->errors, "count") && p->count > 0;
    return field_yuan_read(in, total_known ? rules_share_min_fen_max(config, p->amount_fen, p->count)
                                           : config->share_fen_max);
}

static const struct field_type SHARE_MIN = { .read = share_min_read };

/* ---- the lifetime ---- */

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

static const struct field_type LIFETIME = { .read = lifetime_read };

/* ---- the scheduled opening ---- */

/* Whether the time has passed is checked by the handler: an order that is repeated after its opening is still the same
 * order. */
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

/* A second time of an hour that comes twice has no such form. */
static struct str opens_shown(struct arena *a, struct str folded)
{
    int64_t ms, again;
    if (typed_time(folded, &ms) != ST_OK)
        return STR_NONE;
    struct str text = str_or_empty(clock_zone_input(a, ms));
    return typed_time(text, &again) == ST_OK && again == ms ? text : STR_NONE;
}

static const struct field_type OPENS_AT = { .read = opens_read, .shown = opens_shown };

/* ---- the cover ---- */

/* Whether a picture is the sender's is checked by the handler. */
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

static const struct field_type COVER = { .read = cover_read };

/* ---- the table ---- */

const struct field send_fields[] = {
    { .name = "kind",
      .type = &FIELD_WORD,
      .member = offsetof(struct send_order, packet.kind),
      .word = kind_word,
      .malformed = "text/kind_unknown" },
    { .name = "to",
      .type = &TO,
      .member = offsetof(struct send_order, to),
      .applies = kind_is_valid,
      .max = RECEIVERS_MAX,
      .missing = "text/to_missing",
      .high = "text/to_many" },
    { .name = "split",
      .type = &FIELD_WORD,
      .member = offsetof(struct send_order, packet.split),
      .applies = is_lucky,
      .word = split_word,
      .malformed = "text/split_unknown" },
    { .name = "count",
      .type = &COUNT,
      .member = offsetof(struct send_order, packet.count),
      .applies = is_not_exclusive,
      .min = 1,
      .max_of = rules_count_max,
      .missing = "text/count_missing",
      .malformed = "text/count_not_whole",
      .low = "text/count_zero",
      .high = "text/count_max" },
    { .name = "amount_of",
      .type = &FIELD_WORD,
      .member = offsetof(struct send_order, amount_of),
      .applies = is_even,
      .word = amount_of_word,
      .malformed = "text/amount_of_unknown" },
    { .name = "amount",
      .type = &AMOUNT,
      .member = offsetof(struct send_order, packet.amount_fen),
      .required = true,
      .applies = kind_is_valid,
      .min = 1,
      .max_of = rules_total_fen_max,
      .malformed = "text/amount_not_money" },
    { .name = "share_min",
      .type = &SHARE_MIN,
      .member = offsetof(struct send_order, packet.share_min_fen),
      .applies = is_lucky,
      .min = 1,
      .max_of = share_max,
      .malformed = "text/amount_not_money",
      .low = "text/share_min",
      .high = "text/share_min_max" },
    { .name = "greeting",
      .type = &FIELD_SENTENCE,
      .member = offsetof(struct send_order, packet.greeting),
      .max_of = greeting_max,
      .code_points_max = GREETING_CODE_POINTS_MAX,
      .malformed = "text/greeting_invalid",
      .high = "text/greeting_long",
      .wide = "text/greeting_long" },
    { .name = "lifetime",
      .type = &LIFETIME,
      .member = offsetof(struct send_order, lifetime_ms),
      .malformed = "text/lifetime_unknown" },
    { .name = "phrase",
      .type = &FIELD_PHRASE,
      .member = offsetof(struct send_order, phrase),
      .max = PHRASE_GRAPHEMES_MAX,
      .code_points_max = PHRASE_CODE_POINTS_MAX,
      .malformed = "text/phrase_invalid",
      .high = "text/phrase_long",
      .wide = "text/phrase_long" },
    { .name = "opens_at",
      .type = &OPENS_AT,
      .member = offsetof(struct send_order, packet.opens_ms),
      .malformed = "text/opens_invalid",
      .high = "text/opens_late" },
    { .name = "cover",
      .type = &COVER,
      .member = offsetof(struct send_order, packet.cover),
      .malformed = "text/cover_unknown" },
    { .name = "request_key",
      .type = &FIELD_REQUEST_KEY,
      .member = offsetof(struct send_order, packet.request_key),
      .no_echo = true,
      .malformed = "text/request_key_invalid" },
    { .name = NULL },
};

enum status send_order_read(struct exchange *x, struct send_order *out, struct form_errors *errors)
{
    const struct config *config = x->app->stores.config;
    *out = (struct send_order){ .packet = { .kind = PACKET_LUCKY,
                                            .split = SPLIT_DOUBLE_AVERAGE,
                                            .share_min_fen = 1,
                                            .share_max_fen = config->share_fen_max,
                                            .count = 1,
                                            .cover = packet_cover_stored(COVER_PLAIN) },
                                .amount_of = AMOUNT_OF_SHARE };
    enum status st = form_read(x, send_fields, out, errors);
    if (st != ST_OK)
        return st;
    if (out->packet.kind != PACKET_LUCKY)
        out->packet.split = SPLIT_EVEN;
    out->lifetime_by_default = out->lifetime_ms == 0;
    if (out->lifetime_by_default)
        out->lifetime_ms = config->packet_lifetime_ms;
    out->greeting_by_default = out->packet.greeting.len == 0;
    if (out->greeting_by_default)
        out->packet.greeting = cover_greeting(x, packet_cover_from(out->packet.cover));
    return out->packet.greeting.ptr == NULL ? ST_NO_MEMORY : ST_OK;
}
