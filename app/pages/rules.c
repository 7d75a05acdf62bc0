#include "pages/rules.h"

#include <inttypes.h>

#include "base/money.h"
#include "base/utf8.h"
#include "packet/split.h"

/* What is being checked; failed stays ST_OK unless memory ran out. */
struct check {
    struct arena *arena;
    const struct config *config;
    const struct send_form *form;
    struct send_order *order;
    struct form_errors *errors;
    enum status failed;
};

static void check_fail(struct check *c, const char *field, const char *text)
{
    form_fail(c->errors, field, text);
}

/* The same with a number in the message. */
static void check_fail_with(struct check *c, const char *field, const char *text, struct str value)
{
    if (value.ptr == NULL) {
        c->failed = ST_NO_MEMORY;
        return;
    }
    form_fail_with(c->errors, field, text, value);
}

struct str rules_yuan_short(struct arena *a, int64_t fen)
{
    return fen % 100 == 0 ? arena_printf(a, "%lld", (long long)(fen / 100)) : money_text(a, fen);
}

/* ---- kind and split ---- */

static bool check_kind(struct check *c)
{
    c->order->kind = PACKET_LUCKY;
    if (c->form->kind.len > 0 && !packet_kind_from(c->form->kind, &c->order->kind)) {
        check_fail(c, "kind", "text/kind_unknown");
        return false;
    }
    return true;
}

static void check_split(struct check *c)
{
    if (c->order->kind != PACKET_LUCKY) {
        c->order->split = SPLIT_EVEN;
        return;
    }
    c->order->split = SPLIT_DOUBLE_AVERAGE;
    struct str typed = c->form->split;
    if (typed.len > 0 && (!split_method_from(typed, &c->order->split) || c->order->split == SPLIT_EVEN))
        check_fail(c, "split", "text/split_unknown");
}

/* ---- count ---- */

static bool all_digits(struct str s)
{
    for (size_t i = 0; i < s.len; i++)
        if (s.ptr[i] < '0' || s.ptr[i] > '9')
            return false;
    return s.len > 0;
}

static int64_t count_max(const struct config *config)
{
    return config->packet_shares_max < SPLIT_COUNT_MAX ? config->packet_shares_max : SPLIT_COUNT_MAX;
}

/* False when there is no usable count; the message is told. */
static bool check_count(struct check *c)
{
    c->order->count = 1;
    if (c->order->kind == PACKET_EXCLUSIVE)
        return true;
    struct str typed;
    c->failed = utf8_fold_width(c->arena, c->form->count, &typed);
    if (c->failed != ST_OK)
        return false;
    uint64_t count = 0;
    bool number = str_to_u64(typed, &count);
    if (typed.len == 0) {
        check_fail(c, "count", "text/count_missing");
    } else if (!number && !(all_digits(typed) && typed.ptr[0] != '0')) {
        check_fail(c, "count", "text/count_not_whole");
    } else if (number && count == 0) {
        check_fail(c, "count", "text/count_zero");
    } else if (!number || count > (uint64_t)count_max(c->config)) {
        check_fail_with(c, "count", "text/count_max", arena_printf(c->arena, "%" PRId64, count_max(c->config)));
    } else {
        c->order->count = (uint32_t)count;
        return true;
    }
    return false;
}

/* ---- amount ---- */

static int64_t total_fen_max(const struct config *config)
{
    return config->packet_fen_max < SPLIT_TOTAL_FEN_MAX ? config->packet_fen_max : SPLIT_TOTAL_FEN_MAX;
}

static void fail_share_max(struct check *c)
{
    check_fail_with(c, "amount", "text/share_max", rules_yuan_short(c->arena, c->config->share_fen_max));
}

static void fail_total_max(struct check *c)
{
    check_fail_with(c, "amount", "text/total_max", rules_yuan_short(c->arena, total_fen_max(c->config)));
}

/* The typed amount in fen; false when there is none, the message is told. */
static bool read_amount(struct check *c, int64_t *out_fen)
{
    struct str typed;
    c->failed = utf8_fold_width(c->arena, c->form->amount, &typed);
    if (c->failed != ST_OK)
        return false;
    if (typed.len == 0) {
        check_fail(c, "amount",
                   c->order->kind == PACKET_LUCKY ? "text/amount_total_missing" : "text/amount_each_missing");
        return false;
    }
    if (money_parse(typed, out_fen) != ST_OK) {
        check_fail(c, "amount", "text/amount_not_money");
        return false;
    }
    return true;
}

/* Lucky: the whole is typed, so the whole is judged first; otherwise the share is. */
static void check_amount(struct check *c, bool count_known)
{
    int64_t fen = 0;
    if (!read_amount(c, &fen))
        return;
    bool lucky = c->order->kind == PACKET_LUCKY;
    int64_t count = c->order->count;
    int64_t total = lucky ? fen : fen * count; /* at most 10^9 · 10^5 */
    if (fen < (lucky ? count : 1))
        check_fail(c, "amount", "text/share_min");
    else if (!lucky && fen > c->config->share_fen_max)
        fail_share_max(c);
    else if (total > total_fen_max(c->config))
        fail_total_max(c);
    else if (lucky && count_known && (fen + count - 1) / count > c->config->share_fen_max)
        fail_share_max(c);
    c->order->total_fen = total;
}

/* ---- words ---- */

static void check_greeting(struct check *c)
{
    struct str clean;
    enum status st = utf8_clean(c->arena, c->form->greeting, &clean);
    if (st == ST_INVALID) {
        check_fail(c, "greeting", "text/greeting_invalid");
        return;
    }
    if (st != ST_OK) {
        c->failed = st;
        return;
    }
    if (utf8_graphemes(clean) > (size_t)c->config->greeting_graphemes_max ||
        utf8_codepoints(clean) > GREETING_CODE_POINTS_MAX) {
        check_fail_with(c, "greeting", "text/greeting_long",
                        arena_printf(c->arena, "%" PRId64, (int64_t)c->config->greeting_graphemes_max));
        return;
    }
    c->order->greeting_by_default = clean.len == 0;
    c->order->greeting = clean.len > 0 ? clean : c->form->greeting_default;
    if (c->order->greeting.ptr == NULL)
        c->failed = ST_NO_MEMORY;
}

static void check_to(struct check *c)
{
    c->order->to = STR("");
    if (c->order->kind != PACKET_EXCLUSIVE)
        return;
    struct str typed = str_trim(c->form->to);
    if (typed.len == 0)
        check_fail(c, "to", "text/to_missing");
    else if (typed.len > USERNAME_TYPED_BYTES_MAX)
        check_fail(c, "to", RULES_TEXT_NO_RECEIVER);
    else
        c->order->to = typed;
}

static void check_request_key(struct check *c)
{
    c->order->request_key = c->form->request_key;
    if (c->form->request_key.len > 0 && !request_key_valid(c->form->request_key))
        check_fail(c, "request_key", "text/request_key_invalid");
}

enum status rules_send(struct arena *a, const struct config *config, const struct send_form *form,
                       struct send_order *out, struct form_errors *errors)
{
    *out = (struct send_order){ .share_fen_max = config->share_fen_max, .lifetime_ms = config->packet_lifetime_ms };
    *errors = (struct form_errors){ .count = 0 };
    struct check c = { .arena = a, .config = config, .form = form, .order = out, .errors = errors };
    if (check_kind(&c)) {
        check_to(&c);
        check_split(&c);
        bool count_known = check_count(&c);
        if (c.failed == ST_OK)
            check_amount(&c, count_known);
    }
    if (c.failed == ST_OK) {
        check_greeting(&c);
        check_request_key(&c);
    }
    if (c.failed != ST_OK)
        return c.failed;
    return errors->count == 0 ? ST_OK : ST_INVALID;
}
