#include "base/clock.h"
#include "base/money.h"
#include "commands/money_against_internal.h"

struct str against_user(const struct difference *d)
{
    return d->hint.username.len > 0  ? d->hint.username
           : d->row.username.len > 0 ? d->row.username
                                     : str_or_empty(d->here.username);
}

const char *against_way_name(enum listed_way way)
{
    static const char *const names[] = { [LISTED_IN] = "in", [LISTED_OUT] = "out", [LISTED_REVERSE] = "reverse" };
    return names[way];
}

static void amount_append(struct buf *out, int64_t fen)
{
    char text[MONEY_TEXT_MAX];
    (void)money_format(fen, text);
    buf_cstr(out, text);
}

/* ---- what differs ---- */

static void part_append(struct buf *out, struct str text)
{
    if (text.len > 0)
        buf_printf(out, ", %.*s", STR_ARG(text));
}

static void row_append(struct buf *out, const struct listed *row)
{
    buf_printf(out, "line %" PRIu64 ": ", row->line);
    amount_append(out, row->amount_fen);
    buf_printf(out, " %s, reference %.*s", against_way_name(row->way), STR_ARG(row->reference));
    part_append(out, row->username);
    part_append(out, row->time);
}

/* A transfer here; its reference and time when the list has none. */
static void here_append(struct buf *out, const struct transfer_line *t, bool is_alone)
{
    char created[CLOCK_TEXT_MAX];
    buf_printf(out, "transfer %" PRIu64 ", a %.*s of ", t->id, STR_ARG(t->kind));
    amount_append(out, t->amount_fen);
    if (is_alone)
        buf_printf(out, ", reference %.*s", STR_ARG(t->reference));
    part_append(out, t->username);
    if (is_alone && clock_rfc3339_format(t->created_ms, created) > 0)
        buf_printf(out, ", %s", created);
}

void against_what(struct buf *out, const struct difference *d)
{
    static const char *const says[DIFFERENCE_KIND_COUNT] = {
        [DIFFERENCE_MISSING] = "it is not here",
        [DIFFERENCE_UNLISTED] = "it is not in the list",
        [DIFFERENCE_AMOUNT] = "the amounts differ",
        [DIFFERENCE_USER] = "the users differ",
        [DIFFERENCE_REVERSED] = "the list has it the other way round",
        [DIFFERENCE_TWICE] = "the list has this reference in an earlier row, too",
    };
    if (d->row.line != 0)
        row_append(out, &d->row);
    if (d->row.line != 0 && d->here.id != 0)
        buf_cstr(out, "; here ");
    if (d->here.id != 0)
        here_append(out, &d->here, d->row.line == 0);
    buf_printf(out, ": %s", says[d->kind]);
    if (d->hint.withdrawal != 0)
        buf_printf(out, "; withdrawal %" PRIu64 " of %.*s waits, with this amount", d->hint.withdrawal,
                   STR_ARG(d->hint.withdrawer));
    if (d->hint.order != 0)
        buf_printf(out, "; it pays order %" PRIu64 " of %.*s", d->hint.order, STR_ARG(d->hint.username));
}

/* ---- what to do ---- */

static bool is_plain(struct str text)
{
    for (size_t i = 0; i < text.len; i++) {
        const char c = text.ptr[i];
        if (!((c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '-' || c == '.' ||
              c == '_' || c == '/' || c == ':'))
            return false;
    }
    return text.len > 0;
}

/* A word of a shell, whatever the list has. */
static void word_append(struct buf *out, struct str text)
{
    if (is_plain(text)) {
        buf_str(out, text);
        return;
    }
    buf_char(out, '\'');
    for (size_t i = 0; i < text.len; i++)
        if (text.ptr[i] == '\'')
            buf_cstr(out, "'\\''");
        else
            buf_char(out, text.ptr[i]);
    buf_char(out, '\'');
}

static void move_append(struct buf *out, bool is_credit, struct str user, int64_t fen, struct str channel,
                        struct str reference)
{
    buf_printf(out, "hongbao money %s ", is_credit ? "credit" : "debit");
    word_append(out, user.len > 0 ? user : STR("USERNAME"));
    buf_char(out, ' ');
    amount_append(out, fen);
    buf_printf(out, " --channel %.*s --reference ", STR_ARG(channel));
    word_append(out, reference);
}

static void reference_append(struct buf *out, const struct difference *d)
{
    buf_cstr(out, " --reference ");
    word_append(out, d->row.reference);
}

/* A payment here, of the user that the list names. */
static void missing_move_append(struct buf *out, struct str channel, const struct difference *d)
{
    const bool is_credit = d->row.way == LISTED_IN;
    if (d->row.username.len > 0 && d->hint.user_id == 0) {
        buf_printf(out, "there is no user %.*s here; when the user has registered again, repeat this report",
                   STR_ARG(d->row.username));
        return;
    }
    if (d->hint.user_id == 0)
        buf_cstr(out, "find out whose payment it is, then: ");
    move_append(out, is_credit, d->hint.username, d->row.amount_fen, channel, d->row.reference);
    if (d->row.memo.len > 0) {
        buf_cstr(out, " --memo ");
        word_append(out, d->row.memo);
    }
}

static void missing_append(struct buf *out, struct str channel, const struct difference *d)
{
    if (d->row.way == LISTED_REVERSE) {
        buf_printf(out,
                   "find the transfer that it moved back (hongbao money transfers --channel %.*s), then: hongbao "
                   "money reverse TRANSFER",
                   STR_ARG(channel));
        reference_append(out, d);
    } else if (d->hint.order != 0) {
        buf_printf(out, "hongbao money paid %" PRIu64 " --amount ", d->hint.order);
        amount_append(out, d->row.amount_fen);
        reference_append(out, d);
    } else if (d->hint.withdrawal != 0) {
        if (d->hint.user_id == 0)
            buf_cstr(out, "find out whether it paid this withdrawal; if so: ");
        buf_printf(out, "hongbao money post %" PRIu64, d->hint.withdrawal);
        reference_append(out, d);
    } else {
        missing_move_append(out, channel, d);
    }
}

static void reverse_append(struct buf *out, const char *when, const struct difference *d)
{
    buf_printf(out, "%s: hongbao money reverse %" PRIu64 " --reference NEW", when, d->here.id);
}

static void unlisted_append(struct buf *out, const struct difference *d)
{
    if (d->here.reverses != 0) {
        buf_cstr(out,
                 "nothing, if it corrects a mistake that was made here alone; else have it moved back outside, too");
    } else if (d->here.other_reference.len > 0) {
        buf_cstr(out, "ask the provider: it was moved back here already, with the reference ");
        word_append(out, d->here.other_reference);
    } else {
        reverse_append(
            out, d->here.comes_in ? "ask the provider; when nothing was paid in" : "pay it outside, or give it back",
            d);
    }
}

/* What the list has more than here. A part that was moved back under the reference of the payment comes beside it. */
static void amount_do_append(struct buf *out, struct str channel, const struct difference *d)
{
    const bool is_same_way = d->row.way == LISTED_REVERSE || (d->row.way == LISTED_IN) == d->here.comes_in;
    const int64_t more_fen = is_same_way ? d->row.amount_fen - d->here.amount_fen : -d->row.amount_fen;
    buf_cstr(out, "ask the provider; when the list is right: ");
    move_append(out, (more_fen > 0) == d->here.comes_in, str_or_empty(d->here.username),
                more_fen > 0 ? more_fen : -more_fen, channel, STR("NEW"));
}

static void user_do_append(struct buf *out, struct str channel, const struct difference *d)
{
    reverse_append(out, "find out whose payment it is; when the list is right", d);
    buf_cstr(out, " and ");
    move_append(out, d->here.comes_in, d->row.username, d->row.amount_fen, channel, STR("NEW-2"));
}

static void reversed_append(struct buf *out, const struct difference *d)
{
    if (d->here.id == 0)
        buf_cstr(out, "bring the other row of this reference back first, then repeat this report");
    else if (d->here.reverses != 0)
        buf_cstr(out, "ask the provider which way the money went");
    else
        reverse_append(out, "ask the provider; when it was moved back", d);
}

void against_do(struct buf *out, struct str channel, const struct difference *d)
{
    switch (d->kind) {
    case DIFFERENCE_MISSING: missing_append(out, channel, d); break;
    case DIFFERENCE_UNLISTED: unlisted_append(out, d); break;
    case DIFFERENCE_AMOUNT: amount_do_append(out, channel, d); break;
    case DIFFERENCE_USER: user_do_append(out, channel, d); break;
    case DIFFERENCE_REVERSED: reversed_append(out, d); break;
    case DIFFERENCE_TWICE:
        buf_cstr(out, "ask the provider; when it was paid twice, enter the second payment with a new reference");
        break;
    case DIFFERENCE_KIND_COUNT: break;
    }
}
