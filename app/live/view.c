/* Queues view-4.lua and checks its reply. */
#include "live/view.h"

#include <assert.h>
#include <sodium.h>

#include "live/event.h"
#include "live/keys.h"
#include "live/live_internal.h"
#include "live/options_internal.h"
#include "packet/grab.h"
#include "packet/returns.h"
#include "redis/reply.h"

/* Indexes in the function's reply and in its list of fields. */
enum {
    REPLY_NOW = 1,
    REPLY_SETTLED,
    REPLY_GRABBED,
    REPLY_LAST,
    REPLY_MY_SHARE,
    REPLY_MY_ENTRY,
    REPLY_FIRST,
    REPLY_ROWS,
    REPLY_FIELDS,
    REPLY_CLOSED,
    REPLY_OPTIONS,
    REPLY_MY_THANKS,
    REPLY_THANKS,
    REPLY_BEST
};
enum {
    FIELD_SENDER,
    FIELD_NICKNAME,
    FIELD_KIND,
    FIELD_SPLIT,
    FIELD_COUNT,
    FIELD_AMOUNT,
    FIELD_GREETING,
    FIELD_RECEIVER,
    FIELD_RECEIVER_NAME,
    FIELD_EXPIRES,
    FIELD_CREATED,
    FIELD_STATE,
    FIELD_COMMITMENT,
    FIELD_SEED,
    FIELD_BEST,
    FIELD_GRABBED_FEN,
    FIELD_CLOSE_EVENT,
    FIELD_HELD
};

/* How far a packet is settled: up to event (the published position of the partition), except for the grabs from
 * held_share on and the close event, which are held behind a dead letter. held_share PACKET_NO_SHARE: nothing is
 * held. */
struct settled_position {
    struct live_event_id event;
    uint32_t held_share;
};

static void view_queue(const struct live *live, struct redis_call *call, int fence, uint64_t packet_id,
                       uint64_t user_id, uint32_t after, uint32_t limit)
{
    assert(limit <= LIVE_ROWS_MAX);
    struct live_keys keys;
    live_keys(&keys, packet_id, live->partitions);
    const struct str function_keys[] = { keys.key[LIVE_KEY_PACKET], keys.key[LIVE_KEY_GRABS], keys.key[LIVE_KEY_ORDER],
                                         keys.key[LIVE_KEY_SETTLED] };
    char user_text[STR_U64_MAX], after_text[STR_U64_MAX], limit_text[STR_U64_MAX];
    const struct str args[] = { user_id == 0 ? STR("") : str_u64(user_text, user_id),
                                after == PACKET_NO_SHARE ? STR("") : str_u64(after_text, after),
                                str_u64(limit_text, limit) };
    redis_queue_function(live->redis, call, live->view, fence, function_keys, 4, args, 3);
}

void live_view_queue(const struct live *live, struct redis_call *call, uint64_t packet_id, uint64_t user_id,
                     uint32_t after, uint32_t limit)
{
    view_queue(live, call, REDIS_ANY, packet_id, user_id, after, limit);
}

void live_view_queue_confirmed(const struct live *live, struct redis_call *call, uint64_t packet_id, uint64_t user_id,
                               uint32_t after, uint32_t limit)
{
    view_queue(live, call, REDIS_CONFIRMED, packet_id, user_id, after, limit);
}

/* ---- fields ---- */

static bool field_bytes(const redisReply *fields, size_t at, uint8_t *out, size_t size)
{
    struct str hex = redis_reply_str(redis_reply_at(fields, at));
    size_t len;
    return hex.ptr != NULL && hex.len == 2 * size &&
           sodium_hex2bin(out, size, hex.ptr, hex.len, NULL, &len, NULL) == 0 && len == size;
}

/* A slice of the reply; a missing text becomes empty. */
static struct str field_text(const redisReply *fields, size_t at)
{
    return str_or_empty(redis_reply_str(redis_reply_at(fields, at)));
}

static bool receiver_read(const redisReply *fields, struct packet *p)
{
    struct str receiver = redis_reply_str(redis_reply_at(fields, FIELD_RECEIVER));
    if (receiver.ptr == NULL)
        return false;
    return receiver.len == 0 || str_to_u64(receiver, &p->receiver_id);
}

static bool best_read(const redisReply *fields, struct packet *p)
{
    struct str best = redis_reply_str(redis_reply_at(fields, FIELD_BEST));
    p->best_share_no = PACKET_NO_SHARE;
    return best.ptr != NULL && (best.len == 0 || live_reply_u32(fields, FIELD_BEST, &p->best_share_no));
}

static bool state_read(const redisReply *fields, struct packet_view *out)
{
    struct str state = redis_reply_str(redis_reply_at(fields, FIELD_STATE));
    out->busy = str_equal(state, STR("busy"));
    out->packet.state = str_equal(state, STR("closed")) ? PACKET_CLOSED : PACKET_OPEN;
    return out->busy || out->packet.state == PACKET_CLOSED || str_equal(state, STR("open"));
}

static bool held_read(const redisReply *fields, struct settled_position *out)
{
    const redisReply *reply = redis_reply_at(fields, FIELD_HELD);
    struct str held = redis_reply_str(reply);
    out->held_share = PACKET_NO_SHARE;
    if (redis_reply_is_nil(reply))
        return true;
    return held.ptr != NULL && (held.len == 0 || live_reply_u32(fields, FIELD_HELD, &out->held_share));
}

/* Sets refund_fen once the close event is settled. */
static bool refund_read(const redisReply *fields, const struct settled_position *settled, struct packet *p)
{
    struct live_event_id closed;
    struct str text = redis_reply_str(redis_reply_at(fields, FIELD_CLOSE_EVENT));
    if (text.ptr == NULL)
        return false;
    if (text.len == 0)
        return true;
    if (!live_event_id_parse(text, &closed))
        return false;
    if (live_event_id_compare(closed, settled->event) <= 0 && settled->held_share == PACKET_NO_SHARE)
        p->refund_fen = packet_total_fen(p) - p->grabbed_fen;
    return true;
}

/* Reads all fields except texts. */
static bool packet_read(const redisReply *fields, struct packet_view *out)
{
    struct packet *p = &out->packet;
    return str_to_u64(redis_reply_str(redis_reply_at(fields, FIELD_SENDER)), &p->sender_id) &&
           packet_kind_from(redis_reply_str(redis_reply_at(fields, FIELD_KIND)), &p->kind) &&
           split_method_from(redis_reply_str(redis_reply_at(fields, FIELD_SPLIT)), &p->split) &&
           live_reply_u32(fields, FIELD_COUNT, &p->count) &&
           redis_reply_i64(redis_reply_at(fields, FIELD_AMOUNT), &p->amount_fen) && receiver_read(fields, p) &&
           redis_reply_i64(redis_reply_at(fields, FIELD_EXPIRES), &p->expires_ms) &&
           redis_reply_i64(redis_reply_at(fields, FIELD_CREATED), &p->created_ms) && state_read(fields, out) &&
           field_bytes(fields, FIELD_COMMITMENT, p->commitment, sizeof p->commitment) &&
           field_bytes(fields, FIELD_SEED, p->seed, sizeof p->seed) && best_read(fields, p) &&
           redis_reply_i64(redis_reply_at(fields, FIELD_GRABBED_FEN), &p->grabbed_fen);
}

/* The hash counts all shares, also those that were given back; count and amount of a packet mean only its draw. False:
 * more was given back than there is. */
static bool draw_separate(struct packet *p)
{
    if (p->returned_count >= p->count || p->returned_fen >= p->amount_fen)
        return p->returned_count == 0 && p->returned_fen == 0;
    p->count -= p->returned_count;
    p->amount_fen -= p->returned_fen;
    return true;
}

/* ---- grabs ---- */

/* The nickname is a slice of the entry. */
static bool row_read(const redisReply *entry, int64_t share_no, const struct settled_position *settled,
                     struct str returned, struct grab *out)
{
    struct live_order_entry e;
    if (share_no < 0 || share_no >= PACKET_NO_SHARE || !live_order_entry_parse(redis_reply_str(entry), &e))
        return false;
    *out = (struct grab){ .share_no = (uint32_t)share_no,
                          .user_id = e.user_id,
                          .nickname = e.nickname,
                          .face = e.face,
                          .amount_fen = e.amount_fen,
                          .grabbed_ms = (int64_t)e.event.ms,
                          .settled = live_event_id_compare(e.event, settled->event) <= 0 &&
                                     (uint32_t)share_no < settled->held_share,
                          .returned = returns_text_has(returned, (uint32_t)share_no) };
    return true;
}

static bool mine_read(const redisReply *reply, const struct settled_position *settled, struct packet_view *out)
{
    const redisReply *share = redis_reply_at(reply, REPLY_MY_SHARE);
    if (redis_reply_is_nil(share))
        return true;
    int64_t share_no;
    if (!redis_reply_i64(share, &share_no))
        return false;
    if (!row_read(redis_reply_at(reply, REPLY_MY_ENTRY), share_no, settled, out->packet.returned_shares, &out->mine))
        return false;
    out->has_mine = true;
    out->mine.thanks = redis_reply_str(redis_reply_at(reply, REPLY_MY_THANKS));
    return true;
}

/* Reads the rows: the reply is in share order, out->rows newest first. */
static enum status rows_read(const redisReply *reply, struct arena *a, const struct settled_position *settled,
                             struct packet_view *out)
{
    const redisReply *list = redis_reply_at(reply, REPLY_ROWS), *thanks = redis_reply_at(reply, REPLY_THANKS);
    int64_t first;
    if (list == NULL || list->type != REDIS_REPLY_ARRAY || list->elements > LIVE_ROWS_MAX ||
        !redis_reply_i64(redis_reply_at(reply, REPLY_FIRST), &first) || first < 0)
        return ST_CORRUPT;
    out->row_count = list->elements;
    out->rows = arena_array(a, out->row_count + 1, sizeof *out->rows);
    if (out->rows == NULL)
        return ST_NO_MEMORY;
    for (size_t i = 0; i < out->row_count; i++) {
        size_t from_end = out->row_count - 1 - i;
        if (!row_read(list->element[from_end], first + (int64_t)from_end, settled, out->packet.returned_shares,
                      &out->rows[i]))
            return ST_CORRUPT;
        out->rows[i].thanks = redis_reply_str(redis_reply_at(thanks, from_end));
    }
    out->next = out->row_count > 0 ? (uint32_t)first : 0;
    return ST_OK;
}

/* Reads the best share, when the rows lack it. */
static enum status luckiest_read(const redisReply *reply, struct arena *a, const struct settled_position *settled,
                                 struct packet_view *out)
{
    const redisReply *entry = redis_reply_at(reply, REPLY_BEST);
    if (redis_reply_str(entry).ptr == NULL)
        return ST_OK;
    struct grab *luckiest = arena_alloc(a, sizeof *luckiest);
    if (luckiest == NULL)
        return ST_NO_MEMORY;
    out->luckiest = luckiest;
    bool valid = row_read(entry, out->packet.best_share_no, settled, out->packet.returned_shares, luckiest);
    return valid ? ST_OK : ST_CORRUPT;
}

static enum status numbers_read(const redisReply *reply, struct packet_view *out, struct settled_position *settled)
{
    struct packet *p = &out->packet;
    const redisReply *settled_reply = redis_reply_at(reply, REPLY_SETTLED);
    int64_t grabbed;
    if (!redis_reply_i64(redis_reply_at(reply, REPLY_NOW), &out->now_ms) ||
        !redis_reply_i64(redis_reply_at(reply, REPLY_GRABBED), &grabbed) || grabbed < 0 ||
        grabbed > packet_share_total(p))
        return ST_CORRUPT;
    if (!redis_reply_is_nil(settled_reply) && !live_event_id_parse(redis_reply_str(settled_reply), &settled->event))
        return ST_CORRUPT;
    const redisReply *fields = redis_reply_at(reply, REPLY_FIELDS);
    if (!held_read(fields, settled) || !refund_read(fields, settled, p))
        return ST_CORRUPT;
    p->grabbed_count = (uint32_t)grabbed;
    if (packet_is_taken(p)) {
        struct live_order_entry last;
        if (!live_order_entry_parse(redis_reply_str(redis_reply_at(reply, REPLY_LAST)), &last))
            return ST_CORRUPT;
        p->finished_ms = (int64_t)last.event.ms;
    }
    out->over = packet_is_over(p);
    out->final = !redis_reply_is_nil(redis_reply_at(reply, REPLY_CLOSED));
    p->state = packet_state_shown(p, out->now_ms);
    return ST_OK;
}

enum status live_view_read(const struct redis_call *call, struct arena *a, uint64_t packet_id, struct packet_view *out)
{
    *out = (struct packet_view){ .packet = { .id = packet_id, .request_key = STR("") } };
    enum live_code code;
    enum status st = live_code_read(call, "view", &code);
    if (st != ST_OK)
        return st;
    if (code == LIVE_MISSING)
        return ST_NOT_FOUND;
    const redisReply *reply = call->reply;
    const redisReply *fields = redis_reply_at(reply, REPLY_FIELDS);
    struct settled_position settled = { .event = LIVE_EVENT_NONE };
    if (code != LIVE_VIEW || !packet_read(fields, out) ||
        !live_options_read(redis_reply_at(reply, REPLY_OPTIONS), &out->packet) || !draw_separate(&out->packet))
        st = ST_CORRUPT;
    else
        st = numbers_read(reply, out, &settled);
    if (st == ST_OK && !mine_read(reply, &settled, out))
        st = ST_CORRUPT;
    if (st == ST_OK)
        st = rows_read(reply, a, &settled, out);
    if (st == ST_OK)
        st = luckiest_read(reply, a, &settled, out);
    out->packet.sender_name = badge_parse(field_text(fields, FIELD_NICKNAME), &out->packet.sender_face);
    out->packet.greeting = field_text(fields, FIELD_GREETING);
    out->packet.receiver_name = field_text(fields, FIELD_RECEIVER_NAME);
    return st == ST_CORRUPT ? live_reply_corrupt("view") : st;
}
