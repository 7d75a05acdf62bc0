#include "pages/records.h"

#include "base/money.h"
#include "packet/records.h"
#include "packet/totals.h"
#include "pages/present.h"
#include "web/field_types.h"
#include "web/list_key.h"
#include "web/respond.h"
#include "web/text.h"
#include "web/view.h"

enum { YEAR_MIN = 2000, YEAR_MAX = 9999 };
static const char *const MONTH_TEXTS[MONTHS_PER_YEAR] = {
    "text/month_1", "text/month_2", "text/month_3", "text/month_4",  "text/month_5",  "text/month_6",
    "text/month_7", "text/month_8", "text/month_9", "text/month_10", "text/month_11", "text/month_12",
};

/* Sizes in the SVG chart of templates/pages/records. Its y axis points down: a bar's top is above the base. */
enum {
    CHART_MONTH_UNITS = 22,
    CHART_GAP_UNITS = 8,
    CHART_BASE_UNITS = 118,
    CHART_BAR_UNITS_MAX = 100,
    CHART_BAR_UNITS_MIN = 2
};

/* ---- items ---- */

static void received_model(struct exchange *x, struct model *m, struct value *item, const struct record *row)
{
    struct value *packet = value_object(m, item, "packet");
    present_packet(x, m, packet, row->packet_id, row->kind, row->greeting);
    present_person(m, packet, "sender", row->sender_id, row->sender_name);
    value_int(m, item, "share_no", row->share_no);
    view_money_model(m, item, "amount_fen", "amount_text", row->amount_fen);
    view_time_model(m, item, "grabbed_at", "grabbed_at_text", row->ms);
    value_bool(m, item, "best", row->best);
}

static void sent_model(struct exchange *x, struct model *m, struct value *item, const struct record *row)
{
    const struct packet p = {
        .state = row->state, .count = row->count, .grabbed_count = row->grabbed_count, .expires_ms = row->expires_ms
    };
    enum packet_state state = packet_state_shown(&p, x->now_ms);
    present_packet(x, m, item, row->packet_id, row->kind, row->greeting);
    view_money_model(m, item, "amount_fen", "amount_text", row->amount_fen);
    value_int(m, item, "count", row->count);
    value_int(m, item, "grabbed_count", row->grabbed_count);
    value_text(m, item, "state", packet_state_name(state));
    view_time_model(m, item, "created_at", "created_at_text", row->ms);
    if (row->refund_fen > 0)
        view_money_model(m, item, "refund_fen", "refund_text", row->refund_fen);
    else
        value_int(m, item, "refund_fen", 0);
    value_page_bool(m, item, "state_finished", state == PACKET_FINISHED);
    value_page_bool(m, item, "state_expired", state == PACKET_EXPIRED);
}

void records_model(struct exchange *x, struct model *m, struct value *list, enum record_side side,
                   const struct record_list *records)
{
    for (size_t i = 0; i < records->count; i++) {
        struct value *item = value_add_object(m, list);
        if (side == RECORD_SENT)
            sent_model(x, m, item, &records->rows[i]);
        else
            received_model(x, m, item, &records->rows[i]);
    }
}

/* ---- the request ---- */

/* One page of records: the request, and the rows and totals for its model. */
struct records_page {
    enum record_side side;
    const char *path; /* "/records/sent" */
    int year;
    struct db_page wanted;
    struct user_totals totals; /* with the months of the year */
    struct user_year year_totals;
    struct record_list records;
    struct str next; /* STR_NONE: this is the last page */
};

struct records_query {
    uint64_t year;
    struct list_key before; /* the id is the packet's */
};

static const struct field records_fields[] = {
    { .name = "year",
      .type = &FIELD_NUMBER,
      .member = offsetof(struct records_query, year),
      .min = YEAR_MIN,
      .max = YEAR_MAX - 1 },
    { .name = "before", .type = &FIELD_LIST_KEY, .member = offsetof(struct records_query, before) },
    { .name = NULL },
};

/* False: year or cursor is malformed. */
static bool page_read(struct exchange *x, struct records_page *page)
{
    struct records_query query = { .year = (uint64_t)clock_zone_date(x->now_ms).year };
    if (!query_read(x, records_fields, &query))
        return false;
    page->year = (int)query.year;
    page->wanted = (struct db_page){ .from_ms = clock_zone_year_start_ms(page->year),
                                     .until_ms = clock_zone_year_start_ms(page->year + 1),
                                     .below = query.before,
                                     .limit = RECORDS_PAGE_ITEMS + 1 };
    return true;
}

/* Reads one row more than a page shows, to know whether there is a next page. */
static enum status rows_find(struct exchange *x, struct records_page *page)
{
    struct record_list *records = &page->records;
    enum status st = records_find(x->app->stores.db, x->arena, x->visitor.user_id, page->side, &page->wanted, records);
    if (st != ST_OK || records->count <= RECORDS_PAGE_ITEMS)
        return st;
    records->count = RECORDS_PAGE_ITEMS;
    const struct record *last = &records->rows[records->count - 1];
    page->next = list_key_text(x, last->ms, last->packet_id);
    return page->next.ptr == NULL ? ST_NO_MEMORY : ST_OK;
}

static enum status totals_find(struct exchange *x, struct records_page *page)
{
    enum status st = user_totals_find(x->app->stores.db, x->arena, x->visitor.user_id, page->year, &page->totals);
    page->year_totals = (struct user_year){ .year = page->year };
    for (size_t i = 0; i < page->totals.year_count; i++)
        if (page->totals.years[i].year == page->year)
            page->year_totals = page->totals.years[i];
    return st;
}

static int64_t month_fen(const struct records_page *page, int i)
{
    return page->side == RECORD_SENT ? page->totals.months[i].sent_fen : page->totals.months[i].received_fen;
}

/* In whole units of the chart. Any amount above 0 has a visible bar. */
static int64_t bar_height(int64_t fen, int64_t max_fen)
{
    for (; max_fen > INT32_MAX; max_fen /= 2)
        fen /= 2;
    int64_t height = fen * CHART_BAR_UNITS_MAX / max_fen;
    return height > CHART_BAR_UNITS_MIN ? height : CHART_BAR_UNITS_MIN;
}

/* The totals of the months, and the positions of their bars in the chart. */
static void months_model(struct exchange *x, struct model *m, const struct records_page *page)
{
    struct value *months = value_list(m, &m->root, "months");
    int64_t max_fen = 0;
    for (int i = 0; i < MONTHS_PER_YEAR; i++)
        max_fen = month_fen(page, i) > max_fen ? month_fen(page, i) : max_fen;
    for (int i = 0; i < MONTHS_PER_YEAR; i++) {
        int64_t fen = month_fen(page, i);
        const struct user_month *row = &page->totals.months[i];
        struct value *month = value_add_object(m, months);
        value_int(m, month, "month", i + 1);
        view_money_model(m, month, "total_fen", "total_text", fen);
        value_int(m, month, "count", (int64_t)(page->side == RECORD_SENT ? row->sent_count : row->received_count));
        value_page_text(m, month, "name", x->wants_json ? STR("") : text_of(x, MONTH_TEXTS[i]));
        value_page_int(m, month, "middle", i * CHART_MONTH_UNITS + CHART_MONTH_UNITS / 2);
        if (fen <= 0)
            continue;
        struct value *bar = value_page_object(m, month, "bar");
        int64_t height = bar_height(fen, max_fen);
        value_page_int(m, bar, "left", i * CHART_MONTH_UNITS + CHART_GAP_UNITS / 2);
        value_page_int(m, bar, "top", CHART_BASE_UNITS - height);
        value_page_int(m, bar, "height", height);
    }
    if (max_fen > 0)
        value_page_text(m, value_page_object(m, &m->root, "chart"), "max_text", money_text(x->arena, max_fen));
}

static void year_link(struct exchange *x, struct model *m, struct value *list, const struct records_page *page,
                      int year)
{
    struct value *item = value_add_object(m, list);
    value_int(m, item, "year", year);
    value_text(m, item, "url", arena_printf(x->arena, "%s?year=%d", page->path, year));
    value_bool(m, item, "current", year == page->year);
}

/* The user's years, newest first. The shown year is listed even when it has no records. */
static void years_model(struct exchange *x, struct model *m, const struct records_page *page)
{
    struct value *list = value_page_list(m, &m->root, "years");
    bool shown = false;
    for (size_t i = 0; i < page->totals.year_count; i++) {
        int year = page->totals.years[i].year;
        if (!shown && year <= page->year) {
            shown = true;
            if (year < page->year)
                year_link(x, m, list, page, page->year);
        }
        year_link(x, m, list, page, year);
    }
    if (!shown)
        year_link(x, m, list, page, page->year);
}

static void page_model(struct exchange *x, struct model *m, const struct records_page *page)
{
    struct value *root = &m->root;
    bool sent = page->side == RECORD_SENT;
    value_int(m, root, "year", page->year);
    view_money_model(m, root, "total_fen", "total_text",
                     sent ? page->year_totals.sent_fen : page->year_totals.received_fen);
    view_count_model(m, root, "count", "count_one",
                     (int64_t)(sent ? page->year_totals.sent_count : page->year_totals.received_count));
    view_count_model(m, root, "best_count", "best_count_one", sent ? 0 : (int64_t)page->year_totals.best_count);
    months_model(x, m, page);
    records_model(x, m, value_list(m, root, "items"), page->side, &page->records);
    if (page->next.ptr != NULL) {
        value_text(m, root, "next", page->next);
        value_page_text(m, root, "next_url",
                        arena_printf(x->arena, "%s?year=%d&before=%.*s", page->path, page->year, STR_ARG(page->next)));
    } else {
        value_null(m, root, "next");
    }
    value_page_bool(m, root, "received", !sent);
    value_page_bool(m, root, "sent", sent);
    value_page_bool(m, root, "empty", page->records.count == 0);
    struct value *person = value_page_object(m, root, "person");
    value_int(m, person, "id", (int64_t)x->visitor.user_id);
    value_text(m, person, "nickname", x->visitor.nickname);
    view_avatar_model(m, person, x->visitor.user_id, x->visitor.nickname);
    years_model(x, m, page);
}

static enum step records_show(struct exchange *x, enum record_side side, const char *path)
{
    struct records_page page = { .side = side, .path = path };
    if (!page_read(x, &page)) {
        respond_problem(x, &PROBLEM_BAD_REQUEST);
        return STEP_DONE;
    }
    enum status st = rows_find(x, &page);
    if (st == ST_OK)
        st = totals_find(x, &page);
    if (st != ST_OK) {
        respond_status(x, st);
        return STEP_DONE;
    }
    struct model m;
    model_init(&m, x->arena);
    page_model(x, &m, &page);
    respond_model(x, 200, "pages/records", &m);
    return STEP_DONE;
}

enum step records_received(struct exchange *x)
{
    return records_show(x, RECORD_RECEIVED, "/records/received");
}

enum step records_sent(struct exchange *x)
{
    return records_show(x, RECORD_SENT, "/records/sent");
}
