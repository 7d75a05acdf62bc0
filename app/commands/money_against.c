#include "base/array.h"
#include "base/clock.h"
#include "base/money.h"
#include "commands/money_against_internal.h"
#include "web/csv.h"

/* A comparison as it is printed. */
struct printing {
    struct money *money;
    struct str channel;
    struct missing missing;
    struct buf out, text; /* text: of one cell */
};

/* ---- rows ---- */

static struct str do_text(struct printing *p, const struct difference *d)
{
    buf_reset(&p->text);
    against_do(&p->text, p->channel, d);
    p->out.failed = p->out.failed || p->text.failed;
    return str_or_empty(buf_view(&p->text));
}

static void id_or_null(struct model *m, const char *name, uint64_t id)
{
    if (id != 0)
        value_int(m, &m->root, name, (int64_t)id);
    else
        value_null(m, &m->root, name);
}

static void row_json(struct printing *p, struct arena *a, const struct difference *d, bool is_first)
{
    struct model m;
    model_init(&m, a);
    value_text(&m, &m.root, "difference", str_from(difference_kind_name(d->kind)));
    value_text(&m, &m.root, "reference", d->row.line != 0 ? d->row.reference : d->here.reference);
    value_text(&m, &m.root, "username", against_user(d));
    id_or_null(&m, "line", d->row.line);
    value_text_or_null(&m, &m.root, "way", d->row.line != 0 ? str_from(against_way_name(d->row.way)) : STR(""));
    id_or_null(&m, "listed_fen", (uint64_t)d->row.amount_fen);
    value_text_or_null(&m, &m.root, "time", str_or_empty(d->row.time));
    id_or_null(&m, "transfer", d->here.id);
    value_text_or_null(&m, &m.root, "kind", str_or_empty(d->here.kind));
    id_or_null(&m, "here_fen", (uint64_t)d->here.amount_fen);
    value_text_or_null(&m, &m.root, "created_at", d->here.id != 0 ? clock_rfc3339(a, d->here.created_ms) : STR(""));
    id_or_null(&m, "withdrawal", d->hint.withdrawal);
    id_or_null(&m, "order", d->hint.order);
    value_text(&m, &m.root, "do", do_text(p, d));
    money_json_item(&p->out, &m, is_first);
}

static void amount_or_empty(struct buf *out, int64_t fen)
{
    if (fen != 0)
        money_cell(out, fen);
    else
        csv_cell(out, STR(""));
}

static void id_or_empty(struct buf *out, uint64_t id)
{
    if (id != 0)
        money_id_cell(out, id);
    else
        csv_cell(out, STR(""));
}

static const char *const COLUMNS[] = { "difference", "reference", "username", "line", "way", "listed",
                                       "time",       "transfer",  "kind",     "here", "do",  "unit" };

static void row_csv(struct printing *p, const struct difference *d)
{
    csv_cell(&p->out, str_from(difference_kind_name(d->kind)));
    csv_cell(&p->out, d->row.line != 0 ? d->row.reference : d->here.reference);
    csv_cell(&p->out, against_user(d));
    id_or_empty(&p->out, d->row.line);
    csv_cell(&p->out, d->row.line != 0 ? str_from(against_way_name(d->row.way)) : STR(""));
    amount_or_empty(&p->out, d->row.amount_fen);
    csv_cell(&p->out, str_or_empty(d->row.time));
    id_or_empty(&p->out, d->here.id);
    csv_cell(&p->out, str_or_empty(d->here.kind));
    amount_or_empty(&p->out, d->here.amount_fen);
    csv_cell(&p->out, do_text(p, d));
    money_unit_cell(&p->out);
    csv_row_end(&p->out);
}

static void row_text(struct printing *p, const struct difference *d)
{
    against_what(&p->out, d);
    buf_printf(&p->out, "\n  do: %.*s\n", STR_ARG(do_text(p, d)));
}

static enum status difference_print(void *ctx, struct arena *a, const struct difference *d)
{
    struct printing *p = ctx;
    const bool is_first = p->text.len == 0;
    if (money_has(p->money, MONEY_JSON))
        row_json(p, a, d, is_first);
    else if (money_has(p->money, MONEY_CSV))
        row_csv(p, d);
    else
        row_text(p, d);
    enum status st = money_flush(&p->out);
    return st == ST_OK ? missing_add(p->money, &p->missing, d) : st;
}

/* ---- all of it ---- */

static void list_begin(struct printing *p)
{
    if (money_has(p->money, MONEY_JSON))
        buf_printf(&p->out, "{%s,\"differences\":[", money_unit_json(p->money));
    if (money_has(p->money, MONEY_CSV)) {
        csv_begin(&p->out);
        csv_header(&p->out, COLUMNS, ARRAY_LEN(COLUMNS));
    }
}

static enum status list_end(struct printing *p, const struct against *g)
{
    FILE *to = money_has(p->money, MONEY_JSON) || money_has(p->money, MONEY_CSV) ? stderr : stdout;
    if (money_has(p->money, MONEY_JSON))
        buf_printf(&p->out, "],\"rows\":%" PRIu64 ",\"transfers\":%" PRIu64 "}\n", g->file.rows, g->here);
    enum status st = money_flush(&p->out);
    if (st != ST_OK)
        return st;
    missing_print(&p->missing, p->channel, to);
    if (to == stdout)
        (void)printf("%" PRIu64 " rows in the list, %" PRIu64 " transfers here since then, %" PRIu64 " differences\n",
                     g->file.rows, g->here, g->differences);
    p->money->differs = g->differences > 0;
    return g->differences == 0 ? ST_OK : money_refuse(p->money, ST_EXISTS, "%" PRIu64 " differences", g->differences);
}

static enum status compare(struct printing *p, struct against *g)
{
    struct money *m = p->money;
    list_begin(p);
    enum status st = against_compare(g, m->db);
    enum status closed = missing_close(m, &p->missing, st == ST_OK);
    if (st == ST_INVALID || (st == ST_UNAVAILABLE && ferror(g->file.stream)))
        return money_file_refused(m, &g->file, st);
    return st != ST_OK ? st : closed != ST_OK ? closed : list_end(p, g);
}

enum status money_against(struct money *m)
{
    struct channel channel;
    struct printing p = {
        .money = m, .missing.name = money_value(m, MONEY_MISSING), .out = BUF_EMPTY, .text = BUF_EMPTY
    };
    struct against g = { .file.fault = money_fault_print, .found = difference_print, .ctx = &p };
    enum status st = money_days_read(m, &g.since_ms, &g.until_ms);
    if (st == ST_OK)
        st = money_own_channel_find(m, &channel);
    if (st == ST_OK)
        st = missing_check(m, &p.missing);
    if (st == ST_OK)
        st = money_file_open(m, money_value(m, MONEY_AGAINST), &g.file.stream);
    if (st != ST_OK)
        return st;
    p.channel = channel.name;
    g.channel_id = channel.id;
    st = against_check(&g);
    st = st == ST_OK ? compare(&p, &g) : money_file_refused(m, &g.file, st);
    (void)fclose(g.file.stream);
    buf_free(&p.out);
    buf_free(&p.text);
    return st;
}
