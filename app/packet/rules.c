#include "packet/rules.h"

#include "base/money.h"
#include "base/utf8.h"
#include "packet/split.h"

const struct str RULES_MESSAGE_BALANCE = STR("可用余额不足");
const struct str RULES_MESSAGE_NO_RECEIVER = STR("没有这个用户");
const struct str RULES_MESSAGE_SELF = STR("不能给自己发专属红包");
const struct str RULES_MESSAGE_OTHER_PACKET = STR("这个红包已经发出；如要再发一个，请再次提交");

/* What is being checked; failed stays ST_OK unless memory ran out. */
struct check {
    struct arena *arena;
    const struct config *config;
    const struct send_form *form;
    struct send_order *order;
    struct form_errors *errors;
    enum status failed;
};

static void check_fail(struct check *c, const char *field, struct str message)
{
    if (message.ptr == NULL) {
        c->failed = ST_NO_MEMORY;
        return;
    }
    form_fail(c->errors, field, message);
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
        check_fail(c, "kind", STR("请选择红包类型"));
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
        check_fail(c, "split", STR("请选择拆分方式"));
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
        check_fail(c, "count", STR("未填写「红包个数」"));
    } else if (!number && !(all_digits(typed) && typed.ptr[0] != '0')) {
        check_fail(c, "count", STR("红包个数须为整数"));
    } else if (number && count == 0) {
        check_fail(c, "count", STR("红包个数至少为1个"));
    } else if (!number || count > (uint64_t)count_max(c->config)) {
        check_fail(c, "count", arena_printf(c->arena, "一次最多发%lld个红包", (long long)count_max(c->config)));
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
    struct str yuan = rules_yuan_short(c->arena, c->config->share_fen_max);
    check_fail(c, "amount", arena_printf(c->arena, "单个红包金额不可超过%.*s元", STR_ARG(yuan)));
}

static void fail_total_max(struct check *c)
{
    struct str yuan = rules_yuan_short(c->arena, total_fen_max(c->config));
    check_fail(c, "amount", arena_printf(c->arena, "单次支付总额不可超过%.*s元", STR_ARG(yuan)));
}

/* The typed amount in fen; false when there is none, the message is told. */
static bool read_amount(struct check *c, int64_t *out_fen)
{
    struct str typed;
    c->failed = utf8_fold_width(c->arena, c->form->amount, &typed);
    if (c->failed != ST_OK)
        return false;
    if (typed.len == 0) {
        check_fail(c, "amount", c->order->kind == PACKET_LUCKY ? STR("未填写「总金额」") : STR("未填写「单个金额」"));
        return false;
    }
    if (money_parse(typed, out_fen) != ST_OK) {
        check_fail(c, "amount", STR("金额格式不正确，请填写数字，最多两位小数"));
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
        check_fail(c, "amount", STR("单个红包金额不可低于0.01元"));
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
        check_fail(c, "greeting", STR("祝福语含有无法识别的字符"));
        return;
    }
    if (st != ST_OK) {
        c->failed = st;
        return;
    }
    if (utf8_graphemes(clean) > (size_t)c->config->greeting_graphemes_max ||
        utf8_codepoints(clean) > GREETING_CODE_POINTS_MAX) {
        check_fail(c, "greeting",
                   arena_printf(c->arena, "祝福语不可超过%lld个字", (long long)c->config->greeting_graphemes_max));
        return;
    }
    c->order->greeting = clean.len > 0 ? clean : STR(GREETING_DEFAULT);
}

static void check_to(struct check *c)
{
    c->order->to = STR("");
    if (c->order->kind != PACKET_EXCLUSIVE)
        return;
    struct str typed = str_trim(c->form->to);
    if (typed.len == 0)
        check_fail(c, "to", STR("未填写「谁可以领」"));
    else if (typed.len > USERNAME_TYPED_BYTES_MAX)
        check_fail(c, "to", RULES_MESSAGE_NO_RECEIVER);
    else
        c->order->to = typed;
}

static void check_request_key(struct check *c)
{
    c->order->request_key = c->form->request_key;
    if (c->form->request_key.len > 0 && !request_key_valid(c->form->request_key))
        check_fail(c, "request_key", STR("提交标识只能有字母、数字、_ 和 -，最多64个字符"));
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
