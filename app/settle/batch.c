#include "settle/batch.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/money.h"

static int order_u64(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

static int grab_order(const void *left, const void *right)
{
    const struct live_event *a = *(struct live_event *const *)left;
    const struct live_event *b = *(struct live_event *const *)right;
    int order = order_u64(a->packet_id, b->packet_id);
    if (order == 0)
        order = order_u64(a->share_no, b->share_no);
    return order != 0 ? order : live_event_id_compare(a->id, b->id);
}

static int packet_order(const void *left, const void *right)
{
    return order_u64(((const struct settle_packet *)left)->id, ((const struct settle_packet *)right)->id);
}

static int account_order(const void *left, const void *right)
{
    return order_u64(((const struct settle_account *)left)->id, ((const struct settle_account *)right)->id);
}

static int month_order(const void *left, const void *right)
{
    const struct settle_month *a = left, *b = right;
    int order = order_u64(a->user_id, b->user_id);
    if (order == 0)
        order = (a->year > b->year) - (a->year < b->year);
    return order != 0 ? order : (a->month > b->month) - (a->month < b->month);
}

static enum status fail(struct settle_fault *fault, enum settle_fault_kind kind, uint64_t packet_id,
                        struct live_event_id event)
{
    *fault = (struct settle_fault){ .kind = kind, .packet_id = packet_id, .event = event };
    return ST_CORRUPT;
}

/* Lists each packet of the events once, ordered by id. */
static enum status list_packets(struct arena *a, struct settle_batch *b)
{
    b->packets = arena_array(a, b->event_count, sizeof *b->packets);
    if (b->packets == NULL)
        return ST_NO_MEMORY;
    for (size_t i = 0; i < b->event_count; i++)
        b->packets[i].id = b->events[i].packet_id;
    qsort(b->packets, b->event_count, sizeof *b->packets, packet_order);
    for (size_t i = 0; i < b->event_count; i++)
        if (b->packet_count == 0 || b->packets[b->packet_count - 1].id != b->packets[i].id)
            b->packets[b->packet_count++] = b->packets[i];
    return ST_OK;
}

/* Grabs in (packet, share) order; a repeat with the same content counts once. */
static enum status list_grabs(struct arena *a, struct settle_batch *b, struct live_event *events,
                              struct settle_fault *fault)
{
    b->grabs = arena_array(a, b->event_count, sizeof(struct live_event *));
    if (b->grabs == NULL)
        return ST_NO_MEMORY;
    size_t listed = 0;
    for (size_t i = 0; i < b->event_count; i++)
        if (events[i].type == LIVE_EVENT_GRAB)
            b->grabs[listed++] = &events[i];
    qsort(b->grabs, listed, sizeof(struct live_event *), grab_order);
    for (size_t i = 0; i < listed; i++) {
        const struct live_event *last = b->grab_count > 0 ? b->grabs[b->grab_count - 1] : NULL;
        const struct live_event *this = b->grabs[i];
        if (last != NULL && last->packet_id == this->packet_id && last->share_no == this->share_no) {
            if (last->user_id != this->user_id || last->amount_fen != this->amount_fen)
                return fail(fault, FAULT_SHARE_TWICE, this->packet_id, this->id);
            continue;
        }
        b->grabs[b->grab_count++] = b->grabs[i];
    }
    return ST_OK;
}

static enum status add_close(struct settle_packet *p, const struct live_event *e, struct settle_fault *fault)
{
    if (p->has_close &&
        (p->close_count != e->grabbed_count || p->close_fen != e->grabbed_fen || p->close_rest_fen != e->rest_fen))
        return fail(fault, FAULT_CLOSE_TWICE, e->packet_id, e->id);
    if (!p->has_close)
        p->close_event = e;
    p->has_close = true;
    p->close_count = e->grabbed_count;
    p->close_fen = e->grabbed_fen;
    p->close_rest_fen = e->rest_fen;
    return ST_OK;
}

bool settle_id_is_future(struct live_event_id id, int64_t now_ms)
{
    return id.ms > (uint64_t)(now_ms + SETTLE_FUTURE_MS);
}

int64_t settle_grab_ms(const struct live_event *e, int64_t now_ms)
{
    return settle_id_is_future(e->id, now_ms) ? now_ms : (int64_t)e->id.ms;
}

enum status settle_batch_group(struct arena *a, struct live_event *events, size_t count, int64_t now_ms,
                               struct settle_batch *out, struct settle_fault *fault)
{
    *fault = (struct settle_fault){ 0 };
    *out = (struct settle_batch){ .events = events, .event_count = count, .now_ms = now_ms };
    enum status st = list_packets(a, out);
    if (st == ST_OK)
        st = list_grabs(a, out, events, fault);
    if (st != ST_OK)
        return st;
    for (size_t i = 0; i < count; i++) {
        struct settle_packet *p = settle_batch_packet(out, events[i].packet_id);
        if (events[i].type == LIVE_EVENT_GRAB && p->has_close)
            return fail(fault, FAULT_GRAB_AFTER_CLOSE, p->id, events[i].id);
        if (events[i].type == LIVE_EVENT_CLOSE) {
            st = add_close(p, &events[i], fault);
            if (st != ST_OK)
                return st;
        }
    }
    for (size_t i = 0; i < out->grab_count; i++) {
        const struct live_event *e = out->grabs[i];
        struct settle_packet *p = settle_batch_packet(out, e->packet_id);
        if (e->amount_fen <= 0 || !money_add(p->grabs_fen, e->amount_fen, &p->grabs_fen))
            return fail(fault, FAULT_AMOUNT, p->id, e->id);
        if (p->grabs == 0)
            p->first_share = e->share_no;
        p->last_share = e->share_no;
        p->grabs++;
        const int64_t grab_ms = settle_grab_ms(e, now_ms);
        if (p->last_grab_ms < grab_ms)
            p->last_grab_ms = grab_ms;
    }
    return ST_OK;
}

void settle_batch_drop(struct settle_batch *b, size_t grab_index)
{
    assert(grab_index < b->grab_count);
    const struct live_event *e = b->grabs[grab_index];
    struct settle_packet *p = settle_batch_packet(b, e->packet_id);
    p->grabs--;
    p->grabs_fen -= e->amount_fen;
    b->grab_count--;
    memmove(&b->grabs[grab_index], &b->grabs[grab_index + 1], (b->grab_count - grab_index) * sizeof *b->grabs);
    if (e->share_no == p->last_share && p->grabs > 0)
        p->last_share = b->grabs[grab_index - 1]->share_no;
    else if (e->share_no == p->first_share && p->grabs > 0)
        p->first_share = b->grabs[grab_index]->share_no;
}

struct settle_packet *settle_batch_packet(const struct settle_batch *b, uint64_t packet_id)
{
    const struct settle_packet key = { .id = packet_id };
    if (b->packet_count == 0)
        return NULL;
    return bsearch(&key, b->packets, b->packet_count, sizeof *b->packets, packet_order);
}

/* True when the rest in the packet's close event equals the rest by the tables, or is less by shares that were given
 * back and that Redis did not have yet. The refund is the rest by the tables. */
static bool close_rest_fits(const struct settle_packet *p, int64_t rest_fen)
{
    return p->close_rest_fen <= rest_fen && p->close_rest_fen >= rest_fen - p->returned_fen;
}

enum status settle_packet_check(struct settle_packet *p, struct settle_fault *fault)
{
    const struct live_event_id none = LIVE_EVENT_NONE;
    p->finishes = p->closes = false;
    p->refund_fen = 0;
    if (!p->found)
        return fail(fault, FAULT_PACKET_UNKNOWN, p->id, none);
    if (p->closed) {
        if (p->grabs > 0)
            return fail(fault, FAULT_PACKET_CLOSED, p->id, none);
        if (p->has_close && (p->close_count != p->row_grabs || p->close_fen != p->row_grabs_fen ||
                             !close_rest_fits(p, p->row_refund_fen)))
            return fail(fault, FAULT_RECLOSE_MISMATCH, p->id, none);
        return ST_OK;
    }
    int64_t grabbed_fen;
    uint64_t grabbed = (uint64_t)p->row_grabs + p->grabs;
    if (!money_add(p->row_grabs_fen, p->grabs_fen, &grabbed_fen) || grabbed_fen > p->amount_fen)
        return fail(fault, FAULT_MONEY_EXCEEDED, p->id, none);
    if (p->grabs > 0 && (p->first_share != p->row_grabs || p->last_share != grabbed - 1))
        return fail(fault, FAULT_SHARE_SKIPPED, p->id, none);
    if (grabbed > p->count)
        return fail(fault, FAULT_SHARES_EXCEEDED, p->id, none);
    int64_t rest_fen = p->amount_fen - grabbed_fen;
    if ((grabbed == p->count) != (rest_fen == 0))
        return fail(fault, FAULT_REST_MISMATCH, p->id, none);
    if (p->has_close && (p->close_count != grabbed || p->close_fen != grabbed_fen || !close_rest_fits(p, rest_fen)))
        return fail(fault, FAULT_CLOSE_MISMATCH, p->id, none);
    p->finishes = rest_fen == 0;
    p->closes = p->finishes || p->has_close;
    p->refund_fen = p->has_close ? rest_fen : 0;
    return ST_OK;
}

enum status settle_batch_accounts(struct arena *a, struct settle_batch *b)
{
    size_t changes = 0, room = b->grab_count + 2 * b->packet_count;
    b->account_count = 0;
    b->accounts = arena_array(a, room, sizeof *b->accounts);
    if (b->accounts == NULL)
        return ST_NO_MEMORY;
    for (size_t i = 0; i < b->grab_count; i++)
        b->accounts[changes++] =
            (struct settle_account){ .id = b->grabs[i]->user_id, .change_fen = b->grabs[i]->amount_fen };
    for (size_t i = 0; i < b->packet_count; i++) {
        const struct settle_packet *p = &b->packets[i];
        if (p->grabs_fen + p->refund_fen > 0) /* ≤ the packet's amount, by settle_packet_check */
            b->accounts[changes++] =
                (struct settle_account){ .id = p->id, .change_fen = -(p->grabs_fen + p->refund_fen) };
        if (p->refund_fen > 0)
            b->accounts[changes++] = (struct settle_account){ .id = p->sender_id, .change_fen = p->refund_fen };
    }
    assert(changes <= room);
    qsort(b->accounts, changes, sizeof *b->accounts, account_order);
    for (size_t i = 0; i < changes; i++) {
        struct settle_account *last = b->account_count > 0 ? &b->accounts[b->account_count - 1] : NULL;
        if (last == NULL || last->id != b->accounts[i].id)
            b->accounts[b->account_count++] = b->accounts[i];
        else if (!money_add(last->change_fen, b->accounts[i].change_fen, &last->change_fen))
            return ST_CORRUPT;
    }
    return ST_OK;
}

/* Sums the listed months by user, year and month. */
static enum status months_merge(struct settle_batch *b, size_t listed)
{
    b->month_count = 0;
    qsort(b->months, listed, sizeof *b->months, month_order);
    for (size_t i = 0; i < listed; i++) {
        struct settle_month *last = b->month_count > 0 ? &b->months[b->month_count - 1] : NULL;
        if (last == NULL || month_order(last, &b->months[i]) != 0) {
            b->months[b->month_count++] = b->months[i];
            continue;
        }
        last->count += b->months[i].count;
        last->best_count += b->months[i].best_count;
        if (!money_add(last->amount_fen, b->months[i].amount_fen, &last->amount_fen))
            return ST_CORRUPT;
    }
    return ST_OK;
}

enum status settle_batch_totals(struct arena *a, struct settle_batch *b, const struct settle_best *best,
                                size_t best_count, settle_date_of *date_of)
{
    b->months = arena_array(a, b->grab_count + best_count + 1, sizeof *b->months);
    if (b->months == NULL)
        return ST_NO_MEMORY;
    for (size_t i = 0; i < b->grab_count; i++) {
        struct clock_date date = date_of(settle_grab_ms(b->grabs[i], b->now_ms));
        b->months[i] = (struct settle_month){ .user_id = b->grabs[i]->user_id,
                                              .year = date.year,
                                              .month = date.month,
                                              .count = 1,
                                              .amount_fen = b->grabs[i]->amount_fen };
    }
    for (size_t i = 0; i < best_count; i++) {
        struct clock_date date = date_of(best[i].grabbed_ms);
        b->months[b->grab_count + i] = (struct settle_month){
            .user_id = best[i].user_id, .year = date.year, .month = date.month, .best_count = 1
        };
    }
    return months_merge(b, b->grab_count + best_count);
}
