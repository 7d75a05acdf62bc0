#include "base/array.h"
#include "base/clock.h"
#include "base/money.h"
#include "commands/money_internal.h"
#include "money/report.h"
#include "web/csv.h"

/* The columns of a channel's row, in the order of the report. */
static const struct column {
    const char *name, *title;
    size_t member;
} COLUMNS[] = {
    { "opening", "opening", offsetof(struct report_flows, opening_fen) },
    { "credits", "credits", offsetof(struct report_flows, credits_fen) },
    { "debits", "debits", offsetof(struct report_flows, debits_fen) },
    { "posts", "posts", offsetof(struct report_flows, posts_fen) },
    { "reversed_in", "reversed in", offsetof(struct report_flows, reversed_in_fen) },
    { "reversed_out", "reversed out", offsetof(struct report_flows, reversed_out_fen) },
    { "deposits", "deposits", offsetof(struct report_flows, deposits_fen) },
    { "forfeits", "forfeits", offsetof(struct report_flows, forfeits_fen) },
    { "closing", "closing", offsetof(struct report_flows, closing_fen) },
};

static int64_t value_of(const struct report_flows *flows, const struct column *column)
{
    return *(const int64_t *)((const char *)flows + column->member);
}

/* "2026-11-30" of the first instant of a day; empty for an open end. */
static struct str day_text(struct arena *a, int64_t ms)
{
    if (ms == 0 || ms == INT64_MAX)
        return STR("");
    struct clock_date d = clock_zone_date(ms);
    return arena_printf(a, "%04d-%02d-%02d", d.year, d.month, d.day);
}

/* ---- JSON ---- */

static void flows_add(struct model *model, struct value *row, const struct report_flows *flows)
{
    for (size_t i = 0; i < ARRAY_LEN(COLUMNS); i++) {
        struct str name = arena_printf(model->arena, "%s_fen", COLUMNS[i].name);
        if (name.ptr != NULL)
            value_int(model, row, name.ptr, value_of(flows, &COLUMNS[i]));
    }
}

static enum status report_json(struct money *m, const struct report *r, struct str from, struct str to)
{
    struct model model;
    model_init(&model, m->arena);
    value_text_or_null(&model, &model.root, "from", from);
    value_text_or_null(&model, &model.root, "to", to);
    value_text(&model, &model.root, "read_at", clock_rfc3339(m->arena, r->read_ms));
    struct value *channels = value_list(&model, &model.root, "channels");
    for (size_t i = 0; i < r->channel_count; i++) {
        struct value *row = value_add_object(&model, channels);
        value_text(&model, row, "name", r->channels[i].channel.name);
        flows_add(&model, row, &r->channels[i].flows);
    }
    if (money_has(m, MONEY_DAILY)) {
        struct value *days = value_list(&model, &model.root, "days");
        for (const struct report_day *day = r->days; day != NULL; day = day->next) {
            struct value *row = value_add_object(&model, days);
            value_text(&model, row, "day", day_text(m->arena, day->from_ms));
            value_text(&model, row, "name", r->channels[day->channel].channel.name);
            flows_add(&model, row, &day->flows);
        }
    }
    value_int(&model, &model.root, "channels_fen", r->channels_fen);
    value_int(&model, &model.root, "wallets_fen", r->wallets_fen);
    value_int(&model, &model.root, "escrows_fen", r->escrows_fen);
    value_int(&model, &model.root, "pending_fen", r->pending_fen);
    value_bool(&model, &model.root, "balanced", r->is_balanced);
    return money_json_print(&model);
}

/* ---- CSV ---- */

static void row_csv(struct buf *out, struct str day, struct str channel, const struct report_flows *flows)
{
    csv_cell(out, day);
    csv_cell(out, channel);
    for (size_t i = 0; i < ARRAY_LEN(COLUMNS); i++)
        money_cell(out, value_of(flows, &COLUMNS[i]));
    csv_row_end(out);
}

/* A row for each channel, or for each day on which it moved: programs read one table. */
static enum status report_csv(struct money *m, const struct report *r)
{
    struct buf out = BUF_EMPTY;
    csv_begin(&out);
    csv_cell(&out, STR("day"));
    csv_cell(&out, STR("channel"));
    for (size_t i = 0; i < ARRAY_LEN(COLUMNS); i++)
        csv_cell(&out, str_from(COLUMNS[i].name));
    csv_row_end(&out);
    for (const struct report_day *day = r->days; day != NULL; day = day->next)
        row_csv(&out, day_text(m->arena, day->from_ms), r->channels[day->channel].channel.name, &day->flows);
    for (size_t i = 0; i < r->channel_count && !money_has(m, MONEY_DAILY); i++)
        row_csv(&out, STR(""), r->channels[i].channel.name, &r->channels[i].flows);
    enum status st = money_flush(&out);
    buf_free(&out);
    return st;
}

/* ---- text ---- */

static void amount_line(const char *what, int64_t fen)
{
    char text[MONEY_TEXT_MAX];
    (void)money_format(fen, text);
    (void)printf("  %-24s %18s\n", what, text);
}

/* A line for each amount that is not 0; the first and the last always. */
static void flows_text(const struct report_flows *flows)
{
    for (size_t i = 0; i < ARRAY_LEN(COLUMNS); i++)
        if (i == 0 || i == ARRAY_LEN(COLUMNS) - 1 || value_of(flows, &COLUMNS[i]) != 0)
            amount_line(COLUMNS[i].title, value_of(flows, &COLUMNS[i]));
}

static enum status report_text(struct money *m, const struct report *r, struct str from, struct str to)
{
    const struct str read = str_or_empty(clock_zone_second(m->arena, r->read_ms));
    (void)printf("from %.*s to %.*s, read %.*s\n", STR_ARG(from.len > 0 ? from : STR("the beginning")),
                 STR_ARG(to.len > 0 ? to : STR("now")), STR_ARG(read));
    for (size_t i = 0; i < r->channel_count; i++) {
        (void)printf("\nchannel %.*s\n", STR_ARG(r->channels[i].channel.name));
        flows_text(&r->channels[i].flows);
    }
    for (const struct report_day *day = r->days; day != NULL; day = day->next) {
        (void)printf("\n%.*s, channel %.*s\n", STR_ARG(day_text(m->arena, day->from_ms)),
                     STR_ARG(r->channels[day->channel].channel.name));
        flows_text(&day->flows);
    }
    (void)printf("\nnow\n");
    amount_line("channels", r->channels_fen);
    amount_line("wallets", r->wallets_fen);
    amount_line("escrows", r->escrows_fen);
    amount_line("pending withdrawals", r->pending_fen);
    amount_line("together", r->channels_fen + r->wallets_fen + r->escrows_fen + r->pending_fen);
    return ST_OK;
}

/* ---- the command ---- */

/* The first instants of the days from --from to --to, or to today. */
static enum status days_set(struct money *m, struct report *r)
{
    const int64_t end_ms = r->until_ms == INT64_MAX ? clock_now_ms() : r->until_ms;
    const struct clock_date first = clock_zone_date(r->from_ms);
    int64_t *starts = arena_array(m->arena, REPORT_DAYS_MAX + 1, sizeof *starts);
    if (!money_has(m, MONEY_FROM))
        return money_misread(m, "--daily needs --from");
    if (starts == NULL)
        return ST_NO_MEMORY;
    starts[0] = r->from_ms;
    while (starts[r->day_count] < end_ms) {
        if (r->day_count == REPORT_DAYS_MAX)
            return money_misread(m, "these are more than %d days", REPORT_DAYS_MAX);
        r->day_count++;
        starts[r->day_count] = clock_zone_day_start_ms(first.year, first.month, first.day + (int)r->day_count);
    }
    r->day_starts = starts;
    return ST_OK;
}

enum status money_report(struct money *m)
{
    struct report r = { .from_ms = 0 };
    enum status st = money_days_read(m, &r.from_ms, &r.until_ms);
    if (st == ST_OK && money_has(m, MONEY_DAILY))
        st = days_set(m, &r);
    if (st == ST_OK)
        st = report_read(m->db, m->arena, &r);
    if (st != ST_OK)
        return st;
    const struct str from = day_text(m->arena, r.from_ms);
    const struct str to = day_text(m->arena, r.until_ms == INT64_MAX ? INT64_MAX : r.until_ms - 1);
    st = money_has(m, MONEY_JSON)  ? report_json(m, &r, from, to)
         : money_has(m, MONEY_CSV) ? report_csv(m, &r)
                                   : report_text(m, &r, from, to);
    if (st == ST_OK && !r.is_balanced)
        return money_refuse(m, ST_CORRUPT, "the accounts do not sum up to 0; run hongbao audit");
    return st;
}
