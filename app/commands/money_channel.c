#include "base/array.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/money.h"
#include "base/typed.h"
#include "commands/money_internal.h"
#include "money/report.h"
#include "web/csv.h"
#include "web/view.h"

enum { NOTE_CODE_POINTS_MAX = 200 };

/* ---- channels ---- */

/* What has come in by the channel so far, and what has gone out. */
static int64_t paid_in_fen(const struct report_flows *f)
{
    return f->credits_fen + f->deposits_fen + f->reversed_in_fen;
}

static int64_t paid_out_fen(const struct report_flows *f)
{
    return f->debits_fen + f->posts_fen + f->forfeits_fen + f->reversed_out_fen;
}

static enum status channels_json(struct money *m, const struct report *r)
{
    struct model model;
    model_init(&model, m->arena);
    view_unit_model(&model, &model.root);
    struct value *list = value_list(&model, &model.root, "channels");
    for (size_t i = 0; i < r->channel_count; i++) {
        const struct channel *c = &r->channels[i].channel;
        struct value *row = value_add_object(&model, list);
        value_text(&model, row, "name", c->name);
        value_text(&model, row, "note", c->note);
        value_int(&model, row, "balance_fen", c->balance_fen);
        value_int(&model, row, "paid_in_fen", paid_in_fen(&r->channels[i].flows));
        value_int(&model, row, "paid_out_fen", paid_out_fen(&r->channels[i].flows));
        value_bool(&model, row, "withdrawals", c->settings.withdraws);
        value_int(&model, row, "withdraw_min_fen", c->settings.withdraw_min_fen);
        value_text(&model, row, "withdraw_hint", c->settings.withdraw_hint);
        value_text(&model, row, "author", c->author);
        value_text(&model, row, "created_at", clock_rfc3339(m->arena, c->created_ms));
    }
    return money_json_print(&model);
}

static enum status channels_csv(const struct report *r)
{
    static const char *const columns[] = { "name",         "note",          "balance",    "paid_in",
                                           "paid_out",     "author",        "created_at", "withdrawals",
                                           "withdraw_min", "withdraw_hint", "unit" };
    struct buf out = BUF_EMPTY;
    csv_begin(&out);
    csv_header(&out, columns, ARRAY_LEN(columns));
    for (size_t i = 0; i < r->channel_count; i++) {
        const struct channel *c = &r->channels[i].channel;
        csv_cell(&out, c->name);
        csv_cell(&out, c->note);
        money_cell(&out, c->balance_fen);
        money_cell(&out, paid_in_fen(&r->channels[i].flows));
        money_cell(&out, paid_out_fen(&r->channels[i].flows));
        csv_cell(&out, c->author);
        money_time_cell(&out, c->created_ms);
        csv_cell(&out, c->settings.withdraws ? STR("on") : STR("off"));
        money_cell(&out, c->settings.withdraw_min_fen);
        csv_cell(&out, c->settings.withdraw_hint);
        money_unit_cell(&out);
        csv_row_end(&out);
    }
    enum status st = money_flush(&out);
    buf_free(&out);
    return st;
}

static enum status channels_text(const struct report *r)
{
    (void)printf("%-32s %16s %16s %16s  %s\n", "channel", "paid in", "paid out", "balance", "note");
    for (size_t i = 0; i < r->channel_count; i++) {
        const struct channel *c = &r->channels[i].channel;
        char in[MONEY_TEXT_MAX], out[MONEY_TEXT_MAX], balance[MONEY_TEXT_MAX];
        (void)money_format(paid_in_fen(&r->channels[i].flows), in);
        (void)money_format(paid_out_fen(&r->channels[i].flows), out);
        (void)money_format(c->balance_fen, balance);
        (void)printf("%-32.*s %16s %16s %16s  %.*s\n", STR_ARG(c->name), in, out, balance, STR_ARG(c->note));
        if (c->settings.withdraws) {
            char least[MONEY_TEXT_MAX];
            (void)money_format(c->settings.withdraw_min_fen, least);
            (void)printf("%-32s withdrawals from %s  %.*s\n", "", least, STR_ARG(c->settings.withdraw_hint));
        }
    }
    return ST_OK;
}

enum status money_channels(struct money *m)
{
    struct report r = { .until_ms = INT64_MAX };
    enum status st = report_channels_read(m->db, m->arena, &r);
    if (st != ST_OK)
        return st;
    return money_has(m, MONEY_JSON)  ? channels_json(m, &r)
           : money_has(m, MONEY_CSV) ? channels_csv(&r)
                                     : channels_text(&r);
}

/* ---- channel ---- */

/* What the command changes. */
struct channel_change {
    struct str note;
    struct channel_settings settings;
    unsigned settings_changed;
};

static enum status on_off_read(struct money *m, enum money_option option, bool *out)
{
    const struct str word = money_value(m, option);
    *out = str_equal(word, STR("on"));
    if (*out || str_equal(word, STR("off")))
        return ST_OK;
    return money_misread(m, "%s is on or off", money_options_name(MONEY_OPTION(option)));
}

static enum status settings_read(struct money *m, struct channel_change *out)
{
    struct channel_settings *s = &out->settings;
    enum status st = ST_OK;
    if (money_has(m, MONEY_WITHDRAWALS)) {
        out->settings_changed |= CHANNEL_WITHDRAWS;
        st = on_off_read(m, MONEY_WITHDRAWALS, &s->withdraws);
    }
    if (st == ST_OK && money_has(m, MONEY_WITHDRAW_MIN)) {
        out->settings_changed |= CHANNEL_WITHDRAW_MIN;
        if (!typed_amount(money_value(m, MONEY_WITHDRAW_MIN), &s->withdraw_min_fen) || s->withdraw_min_fen < 1 ||
            s->withdraw_min_fen == INT64_MAX)
            return money_misread(m, "--withdraw-min is no amount above 0 of %.*s", STR_ARG(money_unit_says(m->arena)));
    }
    if (st == ST_OK && money_has(m, MONEY_WITHDRAW_HINT)) {
        out->settings_changed |= CHANNEL_WITHDRAW_HINT;
        st = money_line_read(m, MONEY_WITHDRAW_HINT, CHANNEL_HINT_CODE_POINTS_MAX, &s->withdraw_hint);
    }
    return st;
}

/* A channel that is there keeps what the command does not name. */
static enum status channel_change(struct money *m, struct str name, const struct channel_change *change, bool is_new)
{
    struct channel c;
    enum status st = channel_find(m->db, m->arena, name, &c);
    if (st == ST_OK && !is_new && money_has(m, MONEY_NOTE))
        st = channel_note_set(m->db, c.id, change->note);
    if (st == ST_NOT_FOUND)
        return money_refuse(m, st, "the channel %.*s has no note that could be changed", STR_ARG(name));
    if (st == ST_OK && change->settings_changed != 0)
        st = channel_withdrawals_set(m->db, c.id, &change->settings, change->settings_changed);
    if (st == ST_NOT_FOUND)
        return money_refuse(m, st, "the channel %.*s can't pay withdrawals; make one of your own", STR_ARG(name));
    return status_idempotent(st);
}

enum status money_channel(struct money *m)
{
    const struct str name = m->args.words[0];
    struct channel_change change = { .note = STR("") };
    struct str url;
    enum status st = money_line_read(m, MONEY_NOTE, NOTE_CODE_POINTS_MAX, &change.note);
    if (st == ST_OK)
        st = settings_read(m, &change);
    if (st == ST_OK)
        st = money_topup_url_read(m, &url);
    if (st != ST_OK)
        return st;
    if (!channel_name_is_valid(name))
        return money_misread(m, "a channel's name has 1 to 32 small letters, digits and -, and begins with a letter");
    st = channel_open(m->db, name, change.note, m->author.name, clock_now_ms());
    const bool is_new = st == ST_OK, changes = money_has(m, MONEY_NOTE) || change.settings_changed != 0;
    if (st == ST_INVALID)
        return money_refuse(m, st, "there are too many channels");
    if (st == ST_EXISTS)
        st = ST_OK;
    if (st == ST_OK && changes)
        st = channel_change(m, name, &change, is_new);
    if (st != ST_OK)
        return st;
    log_info("money", "action=channel channel=%.*s repeated=%d author=%s", STR_ARG(name), !is_new,
             money_author_quoted(m));
    (void)printf("channel %.*s: %s\n", STR_ARG(name),
                 is_new                        ? "made"
                 : change.settings_changed > 0 ? "was there before; it has these settings now"
                 : changes                     ? "was there before; it has this note now"
                                               : "was there before");
    return money_topup_settings(m, name);
}
