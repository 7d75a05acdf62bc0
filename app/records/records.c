#include "records/records.h"

#include "base/clock.h"
#include "base/money.h"
#include "packet/record_search.h"
#include "packet/totals.h"
#include "pages/present.h"
#include "pages/send_receivers.h"
#include "records/csv.h"
#include "records/export_limit.h"
#include "records/filter.h"
#include "records/months.h"
#include "web/limits.h"
#include "web/list_key.h"
#include "web/respond.h"
#include "web/text.h"
#include "web/view.h"

enum { CHART_MONTHS_MIN = 3 }; /* a chart of fewer months shows less than the rows do */

/* ---- items ---- */

static void received_model(struct exchange *x, struct model *m, struct value *item, const struct record *row)
{
    struct value *packet = value_object(m, item, "packet");
    present_packet(x, m, packet, row->packet_id, row->kind, row->greeting);
    present_person(m, packet, "sender", row->sender_id, row->sender_name, &row->face);
    value_int(m, item, "share_no", row->share_no);
    view_money_model(m, item, "amount_fen", "amount_text", row->amount_fen);
    view_time_model(m, item, "grabbed_at", "grabbed_at_text", row->ms);
    value_bool(m, item, "best", row->best);
    value_bool(m, item, "returned", row->returned_fen > 0);
}

static void sent_model(struct exchange *x, struct model *m, struct value *item, const struct record *row)
{
    enum packet_state state = record_state_shown(row, x->now_ms);
    present_packet(x, m, item, row->packet_id, row->kind, row->greeting);
    view_money_model(m, item, "amount_fen", "amount_text", row->amount_fen);
    value_int(m, item, "count", row->count);
    value_int(m, item, "grabbed_count", row->grabbed_count);
    value_text(m, item, "state", packet_state_name(state));
    view_time_model(m, item, "created_at", "created_at_text", row->ms);
    value_text_or_null(m, item, "note", row->note);
    if (row->refund_fen > 0)
        view_money_model(m, item, "refund_fen", "refund_text", row->refund_fen);
    else
        value_int(m, item, "refund_fen", 0);
    if (row->person_fen > 0 && row->kind != PACKET_EXCLUSIVE)
        value_page_number(m, item, "taken_text", money_text(m->arena, row->person_fen));
    if (row->kind == PACKET_EXCLUSIVE) {
        struct value *to = value_page_object(m, item, "to");
        value_page_text(m, to, "nickname", row->receiver_name);
        view_avatar_model(m, to, row->receiver_id, row->receiver_name, &row->face);
        value_page_bool(m, to, "is_back", row->refund_fen > 0 || row->returned_fen > 0);
    }
    value_page_bool(m, item, "state_open", state == PACKET_OPEN);
    value_page_bool(m, item, "state_finished", state == PACKET_FINISHED);
    value_page_bool(m, item, "state_expired", state == PACKET_EXPIRED && !row->ended);
    value_page_bool(m, item, "state_ended", state == PACKET_EXPIRED && row->ended);
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

/* What a filter finds among all records, or among the newest ones that one search reads. Only the first page shows
 * it. */
struct found {
    size_t count;
    int64_t sum_fen;
    size_t read_max; /* the limit that the search reached; 0: it read all records */
};

/* One page of records: the request, and the rows and totals for its model. */
struct records_page {
    struct records_request request;
    struct user_totals totals; /* with the months of the year */
    struct user_year year_totals, all_totals;
    struct record_result result;
    struct str next;           /* STR_NONE: this is the last page */
    struct found found, other; /* other: what the filter finds on the other side, when it names a person */
};

/* What a record adds to the sum: the share without what was given back, the amount of a packet sent, or the person's
 * share of it. */
static int64_t record_sum_fen(const struct records_request *r, enum record_side side, const struct record *row)
{
    if (side == RECORD_RECEIVED)
        return row->amount_fen - row->returned_fen;
    return r->filter.person_id != 0 ? row->person_fen : row->amount_fen;
}

/* What a search of this side found. */
static struct found found_sum(const struct records_request *r, enum record_side side,
                              const struct record_result *result)
{
    struct found found = { .count = result->records.count };
    if (result->rest.given)
        found.read_max = result->paused ? RECORD_SEARCH_ROWS_MAX : found.count;
    for (size_t i = 0; i < found.count; i++)
        found.sum_fen += record_sum_fen(r, side, &result->records.rows[i]);
    return found;
}

/* Counts what the search found, and leaves a page of it. */
static void found_count(struct records_page *page)
{
    struct record_list *records = &page->result.records;
    page->found = found_sum(&page->request, page->request.side, &page->result);
    if (records->count <= RECORDS_PAGE_ITEMS)
        return;
    records->count = RECORDS_PAGE_ITEMS;
    const struct record *last = &records->rows[RECORDS_PAGE_ITEMS - 1];
    page->result.rest = (struct list_key){ .given = true, .ms = last->ms, .id = last->packet_id };
    page->result.paused = false;
}

/* Repeats the search on the other side: with a person the page shows both sums. */
static enum status other_find(struct exchange *x, const struct db_page *wanted, struct records_page *page)
{
    const struct records_request *r = &page->request;
    struct record_query query = { .user_id = x->visitor.user_id,
                                  .side = r->side == RECORD_SENT ? RECORD_RECEIVED : RECORD_SENT };
    struct record_result result;
    enum status st = records_search(x->app->stores.db, x->arena, &query, wanted, &r->filter, x->now_ms, &result);
    if (st == ST_OK)
        page->other = found_sum(r, query.side, &result);
    return st;
}

/* Whether the page shows the numbers of what the search found. */
static bool is_counted(const struct exchange *x, const struct records_request *r)
{
    return r->filtered && !r->page.below.given && !x->wants_json;
}

static enum status rows_find(struct exchange *x, struct records_page *page)
{
    const struct records_request *r = &page->request;
    struct record_query query = { .user_id = x->visitor.user_id, .side = r->side };
    struct db_page wanted = r->page;
    bool counted = is_counted(x, r);
    wanted.limit = counted ? RECORD_SEARCH_ROWS_MAX - 1 : RECORDS_PAGE_ITEMS;
    enum status st = records_search(x->app->stores.db, x->arena, &query, &wanted, &r->filter, x->now_ms, &page->result);
    if (st == ST_OK && counted)
        found_count(page);
    if (st == ST_OK && counted && r->filter.person_id != 0)
        st = other_find(x, &wanted, page);
    const struct list_key *rest = &page->result.rest;
    if (st == ST_OK && rest->given) {
        page->next = list_key_text(x, rest->ms, rest->id);
        st = page->next.ptr == NULL ? ST_NO_MEMORY : ST_OK;
    }
    return st;
}

static void year_add(struct user_year *sum, const struct user_year *year)
{
    sum->sent_count += year->sent_count;
    sum->sent_fen += year->sent_fen;
    sum->received_count += year->received_count;
    sum->received_fen += year->received_fen;
    sum->best_count += year->best_count;
}

static enum status totals_find(struct exchange *x, struct records_page *page)
{
    int year = page->request.year;
    enum status st = user_totals_find(x->app->stores.db, x->arena, x->visitor.user_id, year, &page->totals);
    for (size_t i = 0; i < page->totals.year_count; i++) {
        year_add(&page->all_totals, &page->totals.years[i]);
        if (page->totals.years[i].year == year)
            page->year_totals = page->totals.years[i];
    }
    return st;
}

static int64_t month_fen(const struct records_page *page, int i)
{
    return page->request.side == RECORD_SENT ? page->totals.months[i].sent_fen : page->totals.months[i].received_fen;
}

/* The link to the records of one month of the year. */
static struct str month_url(struct exchange *x, const struct records_page *page, int month)
{
    int year = page->request.year;
    int64_t until_ms =
        month < MONTHS_PER_YEAR ? clock_zone_month_start_ms(year, month + 1) : clock_zone_year_start_ms(year + 1);
    struct clock_date last = clock_zone_date(until_ms - 1);
    return arena_printf(x->arena, "%s?from=%04d-%02d-01&to=%04d-%02d-%02d", page->request.path, year, month, year,
                        month, last.day);
}

/* The totals of the months, and their chart. */
static void months_model(struct exchange *x, struct model *m, const struct records_page *page)
{
    struct value *months = value_list(m, &m->root, "months");
    int64_t fen[MONTHS_PER_YEAR];
    int used = 0;
    for (int i = 0; i < MONTHS_PER_YEAR; i++) {
        const struct user_month *row = &page->totals.months[i];
        struct value *month = value_add_object(m, months);
        fen[i] = month_fen(page, i);
        used += fen[i] > 0;
        value_int(m, month, "month", i + 1);
        view_money_model(m, month, "total_fen", "total_text", fen[i]);
        uint64_t count = page->request.side == RECORD_SENT ? row->sent_count : row->received_count;
        value_int(m, month, "count", (int64_t)count);
        if (count > 0)
            value_page_text(m, month, "url", month_url(x, page, i + 1));
    }
    int64_t max_fen = months_chart_model(x, m, months, fen);
    if (used >= CHART_MONTHS_MIN && !page->request.page.below.given)
        value_page_number(m, value_page_object(m, &m->root, "chart"), "max_text", money_text(x->arena, max_fen));
}

static int64_t total_fen(const struct user_year *totals, bool sent)
{
    return sent ? totals->sent_fen : totals->received_fen;
}

static void totals_model(struct model *m, struct value *object, const struct user_year *totals, bool sent)
{
    view_total_model(m, object, "total_fen", "total_text", total_fen(totals, sent));
    view_count_model(m, object, "count", "count_one", (int64_t)(sent ? totals->sent_count : totals->received_count));
    view_count_model(m, object, "best_count", "best_count_one", sent ? 0 : (int64_t)totals->best_count);
}

static void year_link(struct exchange *x, struct model *m, struct value *list, const struct records_page *page,
                      const struct user_year *totals)
{
    const struct records_request *r = &page->request;
    struct clock_date month;
    bool is_shown = !r->filtered || r->year_given ? totals->year == r->year
                                                  : records_month(r, &month) && totals->year == month.year;
    struct value *item = value_add_object(m, list);
    value_int(m, item, "year", totals->year);
    value_text(m, item, "url", records_url_year(x, r, totals->year));
    value_bool(m, item, "current", is_shown);
}

/* Marks a search without a year or a day: it searches all years. */
static void all_years_model(struct exchange *x, struct model *m, const struct records_page *page)
{
    const struct records_request *r = &page->request;
    bool all = r->filtered && !r->year_given && r->page.until_ms == 0;
    value_page_bool(m, &m->root, "all_years", all);
    if (r->filtered && (all || r->year_given))
        value_page_text(m, &m->root, "all_years_url", records_url_all_years(x, r));
}

/* The user's years, newest first. The shown year is listed even when it has no records. */
static void years_model(struct exchange *x, struct model *m, const struct records_page *page)
{
    struct value *list = value_page_list(m, &m->root, "years");
    const struct user_year none = { .year = page->request.year };
    bool shown = false;
    for (size_t i = 0; i < page->totals.year_count; i++) {
        const struct user_year *year = &page->totals.years[i];
        if (!shown && year->year <= none.year) {
            shown = true;
            if (year->year < none.year)
                year_link(x, m, list, page, &none);
        }
        year_link(x, m, list, page, year);
    }
    if (!shown)
        year_link(x, m, list, page, &none);
    value_page_bool(m, &m->root, "other_years", list->as.list.first != list->as.list.last);
}

/* Marks the first item of each month on the page: month_begins, with the total of the month unless there is a
 * filter. */
static void month_headings_model(struct exchange *x, struct model *m, const struct value *items,
                                 const struct records_page *page)
{
    const struct record_list *records = &page->result.records;
    int last_year = 0, last_month = 0;
    struct value *item = items->as.list.first;
    for (size_t i = 0; i < records->count && item != NULL && !x->wants_json; i++, item = item->next) {
        struct clock_date date = clock_zone_date(records->rows[i].ms);
        if (date.year == last_year && date.month == last_month)
            continue;
        struct value *month = value_page_object(m, item, "month_begins");
        value_page_bool(m, month, "first", last_year == 0);
        value_page_text(m, month, "name", text_month(x, date.month));
        if (page->request.filtered)
            value_page_int(m, month, "heading_year", date.year);
        else
            view_money_model(m, month, "total_fen", "total_text", month_fen(page, date.month - 1));
        last_year = date.year;
        last_month = date.month;
    }
}

static void next_model(struct exchange *x, struct model *m, const struct records_page *page)
{
    struct value *root = &m->root;
    const struct records_request *r = &page->request;
    if (page->next.ptr == NULL) {
        value_null(m, root, "next");
        return;
    }
    value_text(m, root, "next", page->next);
    struct str url = records_url_with(x, r, "before", page->next);
    value_page_text(m, root, page->result.paused ? "continue_url" : "next_url", url);
    if (page->result.paused)
        value_page_text(m, root, "searched_text", clock_zone_minute(x->arena, page->result.rest.ms));
}

/* The link to the same records as a file: of the shown year, unless the filter has another period. */
static struct str csv_url(struct exchange *x, const struct records_request *r)
{
    struct str path = arena_printf(x->arena, "%s.csv", r->path);
    if (r->filtered || r->year_given)
        return records_url(x, r, path);
    return arena_printf(x->arena, "%.*s?year=%d", STR_ARG(path), r->year);
}

static void found_model(struct exchange *x, struct model *m, const char *name, const struct records_request *r,
                        enum record_side side, const struct found *found)
{
    struct value *object = value_page_object(m, &m->root, name);
    view_count_model(m, object, "found_count", "found_one", (int64_t)found->count);
    if (side == RECORD_SENT && r->filter.person_id != 0)
        value_text(m, object, "taken_by", records_person_shown(x, r));
    view_money_model(m, object, "sum_fen", "sum_text", found->sum_fen);
    if (found->read_max > 0)
        value_int(m, object, "read_max", (int64_t)found->read_max);
}

/* Adds the sums of what the filter finds; with a person in the filter, the sums of what was sent and received. */
static void both_found_model(struct exchange *x, struct model *m, const struct records_page *page)
{
    const struct records_request *r = &page->request;
    if (page->found.count > 0)
        found_model(x, m, "found", r, r->side, &page->found);
    if (page->other.count > 0)
        found_model(x, m, "found_other", r, r->side == RECORD_SENT ? RECORD_RECEIVED : RECORD_SENT, &page->other);
}

/* Adds the links to both sides, which keep the filter. */
static void tabs_model(struct exchange *x, struct model *m, const struct records_request *r)
{
    value_page_text(m, &m->root, "received_url", records_url(x, r, STR("/records/received")));
    value_page_text(m, &m->root, "sent_url", records_url(x, r, STR("/records/sent")));
}

/* Adds which rows the page has, when it has not all and their number is known. */
static void part_model(struct model *m, const struct records_page *page)
{
    bool is_first = !page->request.page.below.given;
    value_page_bool(m, &m->root, "part", page->next.ptr != NULL || !is_first);
    if (is_first && !page->request.filtered)
        value_page_int(m, &m->root, "part_count", (int64_t)page->result.records.count);
}

static void page_model(struct exchange *x, struct model *m, const struct records_page *page)
{
    struct value *root = &m->root;
    bool sent = page->request.side == RECORD_SENT;
    value_int(m, root, "year", page->request.year);
    totals_model(m, root, &page->year_totals, sent);
    totals_model(m, value_object(m, root, "all_time"), &page->all_totals, sent);
    value_page_bool(m, root, "all_time_more",
                    total_fen(&page->all_totals, sent) != total_fen(&page->year_totals, sent));
    months_model(x, m, page);
    struct value *items = value_list(m, root, "items");
    records_model(x, m, items, page->request.side, &page->result.records);
    month_headings_model(x, m, items, page);
    next_model(x, m, page);
    value_page_bool(m, root, "received", !sent);
    value_page_bool(m, root, "sent", sent);
    value_page_bool(m, root, "has_items", page->result.records.count > 0);
    value_page_bool(m, root, "empty", page->result.records.count == 0 && !page->result.paused);
    part_model(m, page);
    if (page->request.page.below.given)
        value_page_text(m, root, "first_url", records_url(x, &page->request, str_from(page->request.path)));
    years_model(x, m, page);
    all_years_model(x, m, page);
    tabs_model(x, m, &page->request);
    both_found_model(x, m, page);
    records_filter_model(x, m, &page->request);
    value_page_text(m, root, "csv_url", csv_url(x, &page->request));
    if (page->year_totals.sent_count + page->year_totals.received_count > 0)
        value_page_text(m, root, "story_url", arena_printf(x->arena, "/records/story?year=%d", page->request.year));
}

/* Reads the rows and totals for the request; no rows when its form was refused. */
static enum status page_find(struct exchange *x, struct records_page *page, bool refused)
{
    enum status st = refused ? ST_OK : rows_find(x, page);
    return st == ST_OK ? totals_find(x, page) : st;
}

/* The number of rows that rows_find will produce. */
static size_t search_count(const struct exchange *x, const struct records_request *r)
{
    return is_counted(x, r) && r->filter.person_id != 0 ? 2 : 1;
}

static enum step records_show(struct exchange *x, enum record_side side, bool csv)
{
    static const struct limit_use SEARCH = { .limit = LIMIT_SEARCH_ADDRESS };
    struct records_page page = { .next = STR_NONE };
    struct form_errors errors;
    struct model m;
    if (query_get(x, "person", NULL).len > 0 && !names_take(x, 1))
        return STEP_DONE;
    enum status st = records_request_read(x, side, &page.request, &errors);
    bool refused = st == ST_INVALID && errors.count > 0;
    if (st == ST_INVALID && !refused) {
        respond_problem(x, &PROBLEM_BAD_REQUEST);
        return STEP_DONE;
    }
    if (st == ST_OK && csv)
        return export_limit_take(x) ? records_csv(x, &page.request) : STEP_DONE;
    if (st == ST_OK && page.request.filtered && !limits_take_times(x, &SEARCH, 1, search_count(x, &page.request)))
        return STEP_DONE;
    if (st == ST_OK || refused)
        st = page_find(x, &page, refused);
    if (st == ST_OK && !x->wants_json && !page.request.page.below.given)
        st = people_find(x, &page.request.people);
    if (st != ST_OK) {
        respond_status(x, st);
        return STEP_DONE;
    }
    model_init(&m, x->arena);
    page_model(x, &m, &page);
    if (refused)
        respond_form_errors(x, "pages/records", &m, &errors);
    else
        respond_model(x, 200, "pages/records", &m);
    return STEP_DONE;
}

/* Answers with the list, or with the file when Accept names its type. */
enum step records_received(struct exchange *x)
{
    return records_show(x, RECORD_RECEIVED, exchange_prefers(x, STR("text/csv")));
}

enum step records_sent(struct exchange *x)
{
    return records_show(x, RECORD_SENT, exchange_prefers(x, STR("text/csv")));
}

enum step records_received_csv(struct exchange *x)
{
    return records_show(x, RECORD_RECEIVED, true);
}

enum step records_sent_csv(struct exchange *x)
{
    return records_show(x, RECORD_SENT, true);
}
