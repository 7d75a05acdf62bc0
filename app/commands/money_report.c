#include "base/array.h"
#include "base/clock.h"
#include "base/money.h"
#include "commands/money_internal.h"
#include "money/models.h"
#include "web/csv.h"
#include "web/view.h"

/* ---- JSON ---- */

static enum status report_json(struct money *m, const struct report *r)
{
    struct model model;
    model_init(&model, m->arena);
    report_time_model(&model, &model.root, r);
    view_unit_model(&model, &model.root);
    struct value *channels = value_list(&model, &model.root, "channels");
    for (size_t i = 0; i < r->channel_count; i++) {
        struct value *row = value_add_object(&model, channels);
        value_text(&model, row, "name", r->channels[i].channel.name);
        report_flows_model(&model, row, &r->channels[i].flows);
    }
    if (money_has(m, MONEY_DAILY)) {
        struct value *days = value_list(&model, &model.root, "days");
        for (const struct report_day *day = r->days; day != NULL; day = day->next) {
            struct value *row = value_add_object(&model, days);
            value_text(&model, row, "day", report_day_text(m->arena, day->from_ms));
            value_text(&model, row, "name", r->channels[day->channel].channel.name);
            report_flows_model(&model, row, &day->flows);
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
    for (size_t i = 0; i < report_columns_count; i++)
        money_cell(out, report_column_fen(flows, &report_columns[i]));
    money_unit_cell(out);
    csv_row_end(out);
}

/* A row for each channel, or for each day on which it moved: programs read one table. */
static enum status report_csv(struct money *m, const struct report *r)
{
    struct buf out = BUF_EMPTY;
    csv_begin(&out);
    csv_cell(&out, STR("day"));
    csv_cell(&out, STR("channel"));
    for (size_t i = 0; i < report_columns_count; i++)
        csv_cell(&out, str_from(report_columns[i].name));
    csv_cell(&out, STR("unit"));
    csv_row_end(&out);
    for (const struct report_day *day = r->days; day != NULL; day = day->next)
        row_csv(&out, report_day_text(m->arena, day->from_ms), r->channels[day->channel].channel.name, &day->flows);
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
    for (size_t i = 0; i < report_columns_count; i++)
        if (i == 0 || i == report_columns_count - 1 || report_column_fen(flows, &report_columns[i]) != 0)
            amount_line(report_columns[i].title, report_column_fen(flows, &report_columns[i]));
}

static enum status report_text(struct money *m, const struct report *r, struct str from, struct str to)
{
    const struct str read = str_or_empty(clock_zone_second(m->arena, r->read_ms));
    (void)printf("from %.*s to %.*s, read %.*s, in %s\n", STR_ARG(from.len > 0 ? from : STR("the beginning")),
                 STR_ARG(to.len > 0 ? to : STR("now")), STR_ARG(read), money_unit()->code);
    for (size_t i = 0; i < r->channel_count; i++) {
        (void)printf("\nchannel %.*s\n", STR_ARG(r->channels[i].channel.name));
        flows_text(&r->channels[i].flows);
    }
    for (const struct report_day *day = r->days; day != NULL; day = day->next) {
        (void)printf("\n%.*s, channel %.*s\n", STR_ARG(report_day_text(m->arena, day->from_ms)),
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

/* Which options belong together. */
static enum status options_check(struct money *m)
{
    if (money_has(m, MONEY_FROM) && money_has(m, MONEY_SINCE))
        return money_misread(m, "--from and --since exclude each other");
    if (money_has(m, MONEY_AGAINST) && (!money_has(m, MONEY_SINCE) || !money_has(m, MONEY_CHANNEL)))
        return money_misread(m, "--against needs --since and --channel");
    if (money_has(m, MONEY_AGAINST) && money_has(m, MONEY_DAILY))
        return money_misread(m, "--against and --daily exclude each other");
    if (!money_has(m, MONEY_AGAINST) && (money_has(m, MONEY_CHANNEL) || money_has(m, MONEY_MISSING)))
        return money_misread(m, "%s needs --against", money_has(m, MONEY_CHANNEL) ? "--channel" : "--missing");
    return ST_OK;
}

enum status money_report(struct money *m)
{
    struct report r = { .is_since = money_has(m, MONEY_SINCE) };
    enum status st = options_check(m);
    if (st == ST_OK && money_has(m, MONEY_AGAINST))
        return money_against(m);
    if (st == ST_OK)
        st = money_days_read(m, &r.from_ms, &r.until_ms);
    if (st == ST_OK && money_has(m, MONEY_DAILY))
        st = days_set(m, &r);
    if (st == ST_OK)
        st = report_read(m->db, m->arena, &r);
    if (st != ST_OK)
        return st;
    const struct str from =
        r.is_since ? str_or_empty(clock_zone_second(m->arena, r.from_ms)) : report_day_text(m->arena, r.from_ms);
    const struct str to = report_day_text(m->arena, r.until_ms == INT64_MAX ? INT64_MAX : r.until_ms - 1);
    st = money_has(m, MONEY_JSON)  ? report_json(m, &r)
         : money_has(m, MONEY_CSV) ? report_csv(m, &r)
                                   : report_text(m, &r, from, to);
    if (st == ST_OK && !r.is_balanced)
        return money_refuse(m, ST_CORRUPT, "the accounts do not sum up to 0; run hongbao audit");
    return st;
}
