#include "wallet/statement.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/money.h"
#include "base/public_id.h"
#include "ledger/topup.h"
#include "user/store.h"
#include "wallet/pending.h"
#include "wallet/receive_day.h"
#include "wallet/statement_channels.h"
#include "wallet/transfer.h"
#include "web/field_types.h"
#include "web/respond.h"
#include "web/text.h"
#include "web/usual_amounts.h"
#include "web/view.h"

enum { COLUMN_ID, COLUMN_KIND, COLUMN_AMOUNT, COLUMN_PACKET, COLUMN_CREATED, COLUMN_OTHER };
/* Of the row with the balance. */
enum {
    COLUMN_WITHDRAWS = COLUMN_ID,
    COLUMN_PENDING = COLUMN_PACKET,
    COLUMN_RECEIVED = COLUMN_CREATED,
    COLUMN_SENT = COLUMN_OTHER
};

/* A later version may have written a kind that this one does not know: its amount counts all the same. */
static void entry_read(const struct db_rows *rows, size_t row, struct statement_entry *out)
{
    *out = (struct statement_entry){ .kind = TRANSFER_KIND_COUNT, .id = db_cell_u64(rows, row, COLUMN_ID) };
    (void)transfer_kind_read(db_cell(rows, row, COLUMN_KIND), &out->kind);
    out->amount_fen = db_cell_i64(rows, row, COLUMN_AMOUNT);
    out->packet_id = db_cell(rows, row, COLUMN_PACKET).ptr != NULL ? db_cell_u64(rows, row, COLUMN_PACKET) : 0;
    out->created_ms = db_cell_i64(rows, row, COLUMN_CREATED);
    out->other_id = db_cell_u64(rows, row, COLUMN_OTHER);
}

static int entry_order(const void *left, const void *right)
{
    const struct statement_entry *a = left, *b = right;
    return list_key_order(a->created_ms, a->id, b->created_ms, b->id);
}

/* Reads the rows of all parts: the balance with the sums of the month, and the newest entries of each index. */
static enum status rows_read(struct arena *a, const struct db_rows *rows, size_t limit, struct statement *out)
{
    struct statement_entry *all = arena_array(a, rows->count + 1, sizeof *all);
    size_t count = 0;
    bool has_balance = false;
    if (all == NULL)
        return ST_NO_MEMORY;
    for (size_t i = 0; i < rows->count; i++) {
        if (str_equal(db_cell(rows, i, COLUMN_KIND), STR("balance"))) {
            out->balance_fen = db_cell_i64(rows, i, COLUMN_AMOUNT);
            out->withdraws = db_cell_u64(rows, i, COLUMN_WITHDRAWS) != 0;
            out->pending_count = db_cell_u64(rows, i, COLUMN_PENDING);
            out->received_fen = db_cell_i64(rows, i, COLUMN_RECEIVED);
            out->sent_fen = db_cell_i64(rows, i, COLUMN_SENT);
            has_balance = true;
        } else {
            entry_read(rows, i, &all[count++]);
        }
    }
    if (!has_balance)
        return ST_NOT_FOUND;
    qsort(all, count, sizeof *all, entry_order);
    out->more = count > limit;
    out->count = out->more ? limit : count;
    out->entries = all;
    return ST_OK;
}

/* The parts of a statement: the entries of one index each. The account's id follows, and a page. The hint is needed for
 * a page deep in the list: without it the optimizer reads an index of transfers from the newest row on. */
static const struct {
    const char *select, *ms, *id;
} PARTS[] = {
    { "SELECT id, kind, amount_fen, packet_id, created_ms, debit_id FROM transfer FORCE INDEX (transfer_credit)"
      " WHERE credit_id = ",
      "created_ms", "id" },
    { "SELECT id, kind, -amount_fen, packet_id, created_ms, credit_id FROM transfer FORCE INDEX (transfer_debit)"
      " WHERE debit_id = ",
      "created_ms", "id" },
    { "SELECT packet_id, 'grab', amount_fen, packet_id, grabbed_ms, 0 FROM grab FORCE INDEX (grab_received)"
      " WHERE user_id = ",
      "grabbed_ms", "packet_id" },
};

/* One SELECT, so that the balance always includes the newest entry. Each part of the UNION reads its own index
 * backwards and stops after one page, however many rows the account has. One entry more than a page is read, to know
 * whether there is a next page. The parts are sorted here: for an ORDER BY over a UNION the server makes a
 * temporary table. */
enum status statement_read(struct db *db, struct arena *a, const struct statement_query *query, struct statement *out)
{
    const struct db_page page = { .below = query->below, .limit = query->limit + 1 };
    struct buf sql = { 0 };
    struct db_rows rows;
    *out = (struct statement){ 0 };
    buf_printf(&sql,
               "SELECT EXISTS (SELECT 1 FROM channel WHERE withdraws), 'balance', account.balance_fen,"
               " (SELECT CAST(COUNT(*) AS UNSIGNED) FROM withdrawal WHERE user_id = account.id AND state = 'pending'),"
               " COALESCE(user_month.received_fen, 0),"
               " COALESCE(user_month.sent_fen, 0) FROM account LEFT JOIN user_month ON user_month.user_id = account.id"
               " AND user_month.year = %d AND user_month.month = %d WHERE account.id = %" PRIu64,
               query->month.year, query->month.month, query->account_id);
    for (size_t i = 0; i < ARRAY_LEN(PARTS); i++) {
        buf_cstr(&sql, " UNION ALL (");
        buf_cstr(&sql, PARTS[i].select);
        buf_u64(&sql, query->account_id);
        db_page_append(&sql, &page, PARTS[i].ms, PARTS[i].id);
        buf_char(&sql, ')');
    }
    enum status st = db_query_buf_prepared(db, a, &rows, &sql);
    buf_free(&sql);
    if (st == ST_OK)
        st = rows_read(a, &rows, query->limit, out);
    return st == ST_OK ? statement_channels_read(db, a, out) : st;
}

/* ---- the packets of a page, and the people ---- */

enum {
    ROW_ID,
    ROW_SENDER_ID,
    ROW_SENDER,
    ROW_SENDER_FACE,
    ROW_RECEIVER_ID,
    ROW_RECEIVER,
    ROW_RECEIVER_FACE,
    ROW_EXCLUSIVE,
    ROW_GREETING,
    ROW_COUNT
};

/* The packets of the entries of a page, and those who gave a share back to the user. */
struct about {
    struct db_rows packets;
    struct user *givers; /* without deleted ones */
    size_t giver_count;
};

/* Reads the names and greetings of the packets of these entries, in any order. */
static enum status packets_find(struct exchange *x, const struct statement *s, struct db_rows *out)
{
    struct buf sql = { 0 };
    uint64_t ids[STATEMENT_PAGE_ENTRIES] = { 0 }; /* always as many, so that it is always the same statement */
    for (size_t i = 0; i < s->count; i++)
        ids[i] = s->entries[i].packet_id;
    /* Each column with its table: a later version may add a column of the same name to the other table. */
    buf_cstr(&sql, "SELECT packet.id, packet.sender_id, packet.sender_name, sender.face, "
                   "COALESCE(packet.receiver_id, 0), packet.receiver_name, receiver.face, "
                   "packet.kind = 'exclusive', packet.greeting, packet.count FROM packet "
                   "LEFT JOIN user AS sender ON sender.id = packet.sender_id "
                   "LEFT JOIN user AS receiver ON receiver.id = packet.receiver_id WHERE packet.id IN ");
    db_ids(&sql, ids, STATEMENT_PAGE_ENTRIES);
    enum status st = db_query_buf_prepared(x->app->stores.db, x->arena, out, &sql);
    buf_free(&sql);
    return st;
}

/* The account of a user has the user's id. */
static bool is_from_giver(const struct statement_entry *entry)
{
    return entry->kind == TRANSFER_RETURN && entry->amount_fen > 0;
}

static enum status about_find(struct exchange *x, const struct statement *s, struct about *out)
{
    uint64_t ids[STATEMENT_PAGE_ENTRIES] = { 0 };
    size_t count = 0;
    enum status st = packets_find(x, s, &out->packets);
    for (size_t i = 0; i < s->count; i++)
        if (is_from_giver(&s->entries[i]))
            ids[count++] = s->entries[i].other_id;
    if (st == ST_OK && count > 0)
        st = users_find_by_ids(x->app->stores.db, x->arena, ids, STATEMENT_PAGE_ENTRIES, &out->givers,
                               &out->giver_count);
    return st;
}

/* The person whom an entry is about, as the member with this name. */
static void person_model(struct model *m, struct value *o, const char *name, uint64_t id, struct str nickname,
                         const struct face *face)
{
    value_page_text(m, value_page_object(m, o, name), "nickname", nickname);
    view_avatar_model(m, value_page_object(m, o, "face"), id, nickname, face);
}

static void giver_model(struct model *m, struct value *o, const struct statement_entry *entry,
                        const struct about *about)
{
    for (size_t i = 0; i < about->giver_count; i++) {
        const struct user *giver = &about->givers[i];
        if (giver->id == entry->other_id) {
            person_model(m, o, "returned_by", giver->id, giver->nickname, &giver->face);
            return;
        }
    }
    person_model(m, o, "returned_by", entry->other_id, STR(""), &FACE_NONE);
}

static void packet_row_model(struct model *m, struct value *o, const struct statement_entry *entry,
                             const struct db_rows *packets, size_t row)
{
    bool exclusive = db_cell_u64(packets, row, ROW_EXCLUSIVE) == 1;
    bool returned = entry->kind == TRANSFER_RETURN && entry->amount_fen < 0;
    value_page_text(m, o, "greeting", db_cell(packets, row, ROW_GREETING));
    if (entry->kind == TRANSFER_GRAB || returned) {
        struct face face = face_from(db_cell(packets, row, ROW_SENDER_FACE));
        person_model(m, o, returned ? "returned_to" : "from", db_cell_u64(packets, row, ROW_SENDER_ID),
                     db_cell(packets, row, ROW_SENDER), &face);
    } else if (exclusive && entry->kind != TRANSFER_RETURN) {
        struct face face = face_from(db_cell(packets, row, ROW_RECEIVER_FACE));
        person_model(m, o, "to", db_cell_u64(packets, row, ROW_RECEIVER_ID),
                     str_or_empty(db_cell(packets, row, ROW_RECEIVER)), &face);
    } else if (entry->kind == TRANSFER_SEND) {
        view_count_model(m, value_page_object(m, o, "shares"), "count", "count_one",
                         (int64_t)db_cell_u64(packets, row, ROW_COUNT));
    }
}

/* The people whom an entry is about: the packet's sender, its receiver, or who gave back a share; and the packet's
 * greeting. */
static void about_model(struct model *m, struct value *o, const struct statement_entry *entry,
                        const struct about *about)
{
    if (is_from_giver(entry))
        giver_model(m, o, entry, about);
    for (size_t i = 0; entry->packet_id != 0 && i < about->packets.count; i++) {
        if (db_cell_u64(&about->packets, i, ROW_ID) == entry->packet_id) {
            packet_row_model(m, o, entry, &about->packets, i);
            return;
        }
    }
}

/* ---- the page ---- */

/* What the page calls an entry: one of these members is true, or is_other. */
static const char *const IS_KIND[TRANSFER_KIND_COUNT] = {
    [TRANSFER_DEPOSIT] = "is_deposit",   [TRANSFER_SEND] = "is_send",     [TRANSFER_GRAB] = "is_grab",
    [TRANSFER_REFUND] = "is_refund",     [TRANSFER_RETURN] = "is_return", [TRANSFER_CREDIT] = "is_credit",
    [TRANSFER_DEBIT] = "is_debit",       [TRANSFER_VOID] = "is_void",     [TRANSFER_REVERSE] = "is_reverse",
    [TRANSFER_WITHDRAW] = "is_withdraw",
};

void statement_kind_model(struct model *m, struct value *o, enum transfer_kind kind, int64_t amount_fen)
{
    const bool is_known = kind<TRANSFER_KIND_COUNT, income = amount_fen> 0;
    struct str amount = money_text(m->arena, amount_fen);
    value_text(m, o, "kind", is_known ? str_from(transfer_kind_name(kind)) : STR("other"));
    for (size_t i = 0; i < ARRAY_LEN(IS_KIND); i++)
        if (IS_KIND[i] != NULL)
            value_page_bool(m, o, IS_KIND[i], kind == i);
    value_page_bool(m, o, "is_other", !is_known || IS_KIND[kind] == NULL);
    value_page_bool(m, o, "is_back", kind == TRANSFER_REFUND || kind == TRANSFER_RETURN || kind == TRANSFER_VOID);
    value_int(m, o, "amount_fen", amount_fen);
    value_page_number(m, o, "amount_text", arena_printf(m->arena, "%s%.*s", income ? "+" : "", STR_ARG(amount)));
    value_page_bool(m, o, "income", income);
}

static struct value *entry_model(struct exchange *x, struct model *m, struct value *list,
                                 const struct statement_entry *entry)
{
    struct value *o = value_add_object(m, list);

    statement_kind_model(m, o, entry->kind, entry->amount_fen);
    if (entry->packet_id != 0) {
        struct str id = public_id_text(m->arena, &x->app->id_key, entry->packet_id);
        value_text(m, o, "packet", id);
        value_page_text(m, o, "packet_url", arena_printf(m->arena, "/p/%.*s", STR_ARG(id)));
    } else {
        value_null(m, o, "packet");
    }
    if (entry->kind != TRANSFER_GRAB)
        value_int(m, o, "transfer", (int64_t)entry->id);
    else
        value_null(m, o, "transfer");
    if (entry->packet_id == 0)
        value_page_text(m, o, "transfer_url", transfer_url(m->arena, entry->id));
    statement_channel_model(m, o, entry);
    view_time_model(m, o, "created_at", "created_at_text", entry->created_ms);
    return o;
}

void statement_entries_model(struct exchange *x, struct model *m, struct value *list, const struct statement *s)
{
    for (size_t i = 0; i < s->count; i++)
        (void)entry_model(x, m, list, &s->entries[i]);
}

/* Today, yesterday, and each earlier month: the time at which the part begins, in the service's zone. */
struct part {
    bool is_today, is_yesterday;
    int64_t from_ms;
    struct clock_date date;
};

static struct part part_of(int64_t now_ms, int64_t ms)
{
    const struct clock_date now = clock_zone_date(now_ms), date = clock_zone_date(ms);
    const int64_t today_ms = clock_zone_day_start_ms(now.year, now.month, now.day);
    const struct clock_date before = clock_zone_date(today_ms - 1);
    const int64_t yesterday_ms = clock_zone_day_start_ms(before.year, before.month, before.day);
    if (ms >= today_ms)
        return (struct part){ true, false, today_ms, date };
    if (ms >= yesterday_ms)
        return (struct part){ false, true, yesterday_ms, date };
    return (struct part){ false, false, clock_zone_month_start_ms(date.year, date.month), date };
}

/* The first entry of each part of the page has a heading. */
static void part_model(struct exchange *x, struct model *m, struct value *entry, int64_t ms, int64_t *last_ms)
{
    const struct part part = part_of(x->now_ms, ms);
    if (x->wants_json || part.from_ms == *last_ms)
        return;
    struct value *o = value_page_object(m, entry, "part_begins");
    value_page_bool(m, o, "first", *last_ms == INT64_MAX);
    value_page_bool(m, o, "today", part.is_today);
    value_page_bool(m, o, "yesterday", part.is_yesterday);
    value_page_text(m, o, "from", clock_rfc3339(m->arena, part.from_ms));
    value_page_text(m, o, "name", text_month(x, part.date.month));
    if (part.date.year != clock_zone_date(x->now_ms).year)
        value_page_int(m, o, "heading_year", part.date.year);
    *last_ms = part.from_ms;
}

/* What was received and sent in the current month of the service's zone. */
static void this_month_model(struct model *m, const struct statement *s)
{
    if (s->received_fen + s->sent_fen == 0)
        return;
    struct value *month = value_page_object(m, &m->root, "this_month");
    view_money_model(m, month, "received_fen", "received_text", s->received_fen);
    view_money_model(m, month, "sent_fen", "sent_text", s->sent_fen);
    value_page_bool(m, month, "has_received", s->received_fen > 0);
    value_page_bool(m, month, "has_sent", s->sent_fen > 0);
}

/* Whether a channel takes payments, and whether there is a button at all. */
static enum status topup_offer_model(struct exchange *x, struct model *m, bool withdraws)
{
    bool can_topup = false;
    enum status st = topup_is_offered(x->app->stores.db, x->arena, &can_topup);
    value_bool(m, &m->root, "can_topup", can_topup);
    value_page_bool(m, &m->root, "moves", can_topup || withdraws);
    return st;
}

/* The link that puts an amount into the form, which keeps where it leads. */
static struct str preset_link(struct model *m, struct str amount, void *context)
{
    const struct str *next = context;
    struct str url = arena_printf(m->arena, "/wallet?amount=%.*s", STR_ARG(str_or_empty(amount)));
    if (next->len > 0)
        url = arena_printf(m->arena, "%.*s&next=%.*s", STR_ARG(str_or_empty(url)),
                           STR_ARG(str_or_empty(form_encode(m->arena, *next))));
    return url;
}

static void deposit_form_model(struct exchange *x, struct model *m, const struct deposit_form *deposit)
{
    struct value *form = value_page_object(m, &m->root, "form");
    struct str next = deposit->next;
    value_page_text(m, form, "amount", deposit->amount);
    value_page_text(m, form, "request_key", deposit->request_key);
    value_page_text(m, form, "next", next);
    usual_amounts_model(m, form, "presets", USUAL_DEPOSITS, x->app->stores.config->deposit_fen_max, preset_link, &next);
}

enum status statement_model(struct exchange *x, struct model *m, struct list_key before,
                            const struct deposit_form *deposit)
{
    struct statement_query query = { x->visitor.user_id, before, STATEMENT_PAGE_ENTRIES, { 0 } };
    struct statement statement;
    const struct statement *s = &statement;
    if (!before.given && !x->wants_json)
        query.month = clock_zone_date(x->now_ms);
    enum status st = statement_read(x->app->stores.db, x->arena, &query, &statement);
    if (st == ST_NOT_FOUND)
        st = ST_CORRUPT; /* every user has a wallet */

    if (st != ST_OK)
        return st;
    struct about about = { 0 };
    if (!x->wants_json)
        st = about_find(x, s, &about);
    if (st != ST_OK)
        return st;
    view_total_model(m, &m->root, "balance_fen", "balance_text", s->balance_fen);
    struct value *entries = value_list(m, &m->root, "entries");
    int64_t last_ms = INT64_MAX;
    for (size_t i = 0; i < s->count; i++) {
        struct value *entry = entry_model(x, m, entries, &s->entries[i]);
        about_model(m, entry, &s->entries[i], &about);
        part_model(x, m, entry, s->entries[i].created_ms, &last_ms);
    }
    value_page_bool(m, &m->root, "has_entries", s->count > 0);
    value_bool(m, &m->root, "withdraws", s->withdraws);
    st = topup_offer_model(x, m, s->withdraws);
    if (st == ST_OK)
        st = pending_model(x, m, s->pending_count);
    if (st == ST_OK)
        st = receive_day_model(x, m);
    if (st != ST_OK)
        return st;
    this_month_model(m, s);
    if (s->more) {
        const struct statement_entry *last = &s->entries[s->count - 1];
        struct str next = list_key_text(x, last->created_ms, last->id);
        value_text(m, &m->root, "next", next);
        value_page_text(m, &m->root, "next_url", arena_printf(x->arena, "/wallet?before=%.*s", STR_ARG(next)));
    } else {
        value_null(m, &m->root, "next");
    }
    if (x->app->stores.config->demo)
        deposit_form_model(x, m, deposit);
    return ST_OK;
}

const struct field statement_fields[] = {
    BEFORE_FIELD(0),
    { .name = NULL },
};

static const struct field prefill_fields[] = {
    { .name = "amount", .type = &FIELD_TEXT, .member = offsetof(struct deposit_form, amount) },
    { .name = "next", .type = &FIELD_LOCAL_PATH, .member = offsetof(struct deposit_form, next) },
    { .name = NULL },
};

/* ?deposited=1 and =2 of the wallet and of the send form. */
static const struct field deposited_fields[] = {
    { .name = "deposited", .type = &FIELD_NUMBER, .max = 2 },
    { .name = NULL },
};

void deposited_model(struct exchange *x, struct model *m)
{
    uint64_t deposited = 0;
    (void)query_read(x, deposited_fields, &deposited); /* a malformed query counts as none */
    value_page_bool(m, &m->root, "deposited", deposited == 1);
    value_page_bool(m, &m->root, "deposited_before", deposited == 2);
}

enum step statement_show(struct exchange *x)
{
    struct list_key before = { 0 };
    struct deposit_form deposit = { STR(""), request_key_new(x->arena), STR("") };
    struct model m;

    if (!query_read(x, statement_fields, &before)) {
        respond_problem(x, &PROBLEM_BAD_REQUEST);
        return STEP_DONE;
    }
    (void)query_read(x, prefill_fields, &deposit); /* an empty field counts as none */
    model_init(&m, x->arena);
    deposited_model(x, &m);
    enum status st = statement_model(x, &m, before, &deposit);
    if (st == ST_OK)
        respond_model(x, 200, "pages/wallet", &m);
    else
        respond_status(x, st);
    return STEP_DONE;
}
