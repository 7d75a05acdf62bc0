/* Replies of Redis, as bytes: through hiredis's reader into the readers of grabs, views, events and thanks. The first
 * reply of the input is read by all of them. */
#include <stdlib.h>

#include "base/value.h"
#include "fuzz.h"
#include "live/event.h"
#include "live/grab.h"
#include "live/view.h"
#include "redis/reply.h"

enum { PACKET = 7000 };

/* Touches every byte of a text, so that the sanitizer sees it. */
static unsigned text_check(struct str text)
{
    return text.ptr == NULL ? 0 : value_hash(text);
}

static unsigned grab_check(const struct grab *g)
{
    assert(g->amount_fen >= 1 && g->share_no < PACKET_NO_SHARE);
    assert(g->face.len <= FACE_MAX && face_from(face_word(&g->face)).len == g->face.len);
    return text_check(g->nickname) + text_check(g->thanks);
}

static void view_check(const struct redis_call *call)
{
    struct packet_view view;
    enum status st = live_view_read(call, fuzz_arena, PACKET, &view);
    assert(st == ST_OK || st == ST_NOT_FOUND || st == ST_CORRUPT || st == ST_INVALID || st == ST_CONFLICT);
    if (st != ST_OK)
        return;
    const struct packet *p = &view.packet;
    assert(view.row_count <= LIVE_ROWS_MAX && p->grabbed_count <= packet_share_total(p));
    assert(p->state == PACKET_OPEN || p->state == PACKET_FINISHED || p->state == PACKET_EXPIRED);
    unsigned sum = text_check(p->sender_name) + text_check(p->greeting) + text_check(p->receiver_name) +
                   text_check(p->cover) + text_check(p->receivers) + text_check(p->receiver_names) +
                   text_check(p->phrase_hash) + text_check(p->phrase_sealed) + text_check(p->returned_shares);
    for (size_t i = 0; i < view.row_count; i++) {
        sum += grab_check(&view.rows[i]);
        assert(i == 0 || view.rows[i].share_no + 1 == view.rows[i - 1].share_no);
    }
    if (view.has_mine)
        sum += grab_check(&view.mine);
    (void)(volatile unsigned){ sum + packet_taken_count(p) + (unsigned)packet_is_waiting(p, view.now_ms) };
}

static void grab_read_check(const struct redis_call *call)
{
    struct live_grab grab;
    if (live_grab_read(call, &grab) != ST_OK)
        return;
    assert(grab.code != LIVE_BAD);
    if (grab.code == LIVE_GRABBED || grab.code == LIVE_ALREADY)
        assert(grab.amount_fen >= 1 && grab.share_no < PACKET_NO_SHARE);
}

static void entry_check(const redisReply *reply)
{
    struct live_event first, *all;
    size_t count, room = live_entry_events(reply);
    enum status st = live_entry_first(reply, &first);
    assert(st == ST_OK || st == ST_CORRUPT);
    all = calloc(room + 1, sizeof *all); /* on the heap, so that a write behind the last event is noticed */
    assert(live_entry_read(reply, all, &count) == st && count == (st == ST_OK ? room : 0));
    assert(live_event_id_equal(all[0].id, first.id));
    for (size_t i = 0; i < count; i++) {
        assert(all[i].packet_id == first.packet_id && (all[i].type == LIVE_EVENT_GRAB || count == 1));
        assert(all[i].type == LIVE_EVENT_CLOSE || all[i].amount_fen >= 1);
        (void)(volatile unsigned){ text_check(all[i].nickname) };
    }
    free(all);
}

/* The entries of the order list, and ids, are texts within replies. */
static void text_reply_check(struct str text)
{
    struct live_order_entry entry;
    struct live_event_id id, again;
    char written[LIVE_EVENT_ID_MAX];
    if (live_order_entry_parse(text, &entry))
        assert(entry.amount_fen >= 1 && entry.nickname.ptr != NULL);
    if (live_event_id_parse(text, &id))
        assert(live_event_id_parse(live_event_id_text(written, id), &again) && live_event_id_equal(id, again));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    redisReader *reader = redisReaderCreate();
    void *reply = NULL;
    fuzz_begin();
    assert(reader != NULL);
    if (!fuzz_reply_is_huge(fuzz_text(data, size)) && redisReaderFeed(reader, (const char *)data, size) == REDIS_OK &&
        redisReaderGetReply(reader, &reply) == REDIS_OK && reply != NULL) {
        struct redis_call call = { .status = ((redisReply *)reply)->type == REDIS_REPLY_ERROR ? ST_INVALID : ST_OK,
                                   .reply = reply };
        view_check(&call);
        grab_read_check(&call);
        entry_check(reply);
        text_reply_check(redis_reply_str(reply));
        redis_call_free(&call);
    }
    redisReaderFree(reader);
    text_reply_check(fuzz_text(data, size));
    return 0;
}
