#include "records/csv.h"

#include <inttypes.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/money.h"
#include "pages/present.h"
#include "web/csv.h"
#include "web/respond.h"
#include "web/text.h"

/* An export under way; in the request's arena. */
struct export
{
    struct records_request request;
    bool begun;
};

static const char *const RECEIVED_COLUMNS[] = { "text/csv_time",   "text/packet",       "text/filter_kind",
                                                "text/csv_sender", "text/greeting",     "text/csv_share",
                                                "text/csv_amount", "text/csv_returned", "text/best",
                                                "text/csv_zone" };
static const char *const SENT_COLUMNS[] = { "text/csv_time",     "text/packet",       "text/filter_kind",
                                            "text/greeting",     "text/csv_amount",   "text/count",
                                            "text/csv_taken",    "text/filter_state", "text/csv_refund",
                                            "text/csv_returned", "text/csv_zone",     "text/csv_receiver",
                                            "text/note" };
static const char *const KINDS[] = {
    [PACKET_LUCKY] = "text/kind_lucky", [PACKET_EVEN] = "text/kind_even", [PACKET_EXCLUSIVE] = "text/kind_exclusive"
};
static const char *const STATES[] = { [PACKET_OPEN] = "text/state_open",
                                      [PACKET_FINISHED] = "text/state_finished",
                                      [PACKET_EXPIRED] = "text/state_expired" };

static void header_append(struct exchange *x, enum record_side side)
{
    const char *const *columns = side == RECORD_SENT ? SENT_COLUMNS : RECEIVED_COLUMNS;
    size_t count = side == RECORD_SENT ? ARRAY_LEN(SENT_COLUMNS) : ARRAY_LEN(RECEIVED_COLUMNS);
    csv_begin(&x->body);
    for (size_t i = 0; i < count; i++)
        csv_cell(&x->body, text_of(x, columns[i]));
    csv_row_end(&x->body);
}

static void number_cell(struct buf *out, uint64_t n)
{
    char digits[STR_U64_MAX];
    csv_cell(out, str_u64(digits, n));
}

static void money_cell(struct buf *out, int64_t fen)
{
    char text[MONEY_TEXT_MAX];
    csv_cell(out, (struct str){ text, money_format(fen, text) });
}

/* The columns with which both tables begin. */
static void row_begin(struct exchange *x, const struct record *row)
{
    csv_cell(&x->body, clock_zone_second(x->arena, row->ms));
    csv_cell(&x->body, present_packet_id(x, row->packet_id));
    csv_cell(&x->body, text_of(x, KINDS[row->kind]));
}

/* New columns come last, because programs rely on the places of the older ones. */
static void zone_cell(struct exchange *x, const struct record *row)
{
    csv_cell(&x->body, clock_zone_offset(x->arena, row->ms));
}

static struct str name_shown(struct exchange *x, struct str nickname)
{
    return nickname.len > 0 ? nickname : text_of(x, "text/deleted_user");
}

static void received_append(struct exchange *x, const struct record *row)
{
    row_begin(x, row);
    csv_cell(&x->body, name_shown(x, row->sender_name));
    csv_cell(&x->body, row->greeting);
    number_cell(&x->body, row->share_no + 1);
    money_cell(&x->body, row->amount_fen);
    money_cell(&x->body, row->returned_fen);
    csv_cell(&x->body, row->best ? text_of(x, "text/csv_yes") : STR(""));
    zone_cell(x, row);
    csv_row_end(&x->body);
}

static void sent_append(struct exchange *x, const struct record *row)
{
    row_begin(x, row);
    csv_cell(&x->body, row->greeting);
    money_cell(&x->body, row->amount_fen);
    number_cell(&x->body, row->count);
    number_cell(&x->body, row->grabbed_count);
    enum packet_state state = record_state_shown(row, x->now_ms);
    csv_cell(&x->body, text_of(x, state == PACKET_EXPIRED && row->ended ? "text/state_ended" : STATES[state]));
    money_cell(&x->body, row->refund_fen);
    money_cell(&x->body, row->returned_fen);
    zone_cell(x, row);
    csv_cell(&x->body, row->kind == PACKET_EXCLUSIVE ? name_shown(x, row->receiver_name) : STR(""));
    csv_cell(&x->body, row->note);
    csv_row_end(&x->body);
}

static enum status part_append(struct exchange *x, bool *more)
{
    struct export *export = x->state;
    struct records_request *r = &export->request;
    const struct record_query query = { .user_id = x->visitor.user_id, .side = r->side };
    struct record_result found;
    enum status st = records_search(x->app->stores.db, x->arena, &query, &r->page, &r->filter, x->now_ms, &found);
    if (st != ST_OK)
        return st;
    if (!export->begun)
        header_append(x, r->side);
    export->begun = true;
    for (size_t i = 0; i < found.records.count; i++)
        if (r->side == RECORD_SENT)
            sent_append(x, &found.records.rows[i]);
        else
            received_append(x, &found.records.rows[i]);
    r->page.below = found.rest;
    *more = found.rest.given;
    return ST_OK;
}

enum step records_csv(struct exchange *x, const struct records_request *request)
{
    struct export *export = arena_alloc(x->arena, sizeof *export);
    if (export == NULL) {
        respond_status(x, ST_NO_MEMORY);
        return STEP_DONE;
    }
    *export = (struct export){ .request = *request };
    export->request.page.limit = RECORDS_CSV_PART_ROWS;
    if (!request->year_given && !request->filtered)
        export->request.page.from_ms = export->request.page.until_ms = 0;
    x->state = export;
    const char *side = request->side == RECORD_SENT ? "sent" : "received";
    struct str year = request->year_given ? arena_printf(x->arena, "-%d", request->year) : STR("");
    respond_header(x, "Content-Disposition",
                   arena_printf(x->arena, "attachment; filename=\"hongbao-%s%.*s.csv\"", side, STR_ARG(year)));
    respond_stream(x, STR("text/csv; charset=utf-8; header=present"), part_append);
    return STEP_DONE;
}
