#include "pages/show_tag.h"

#include "account/passkey_page.h"
#include "base/digest.h"
#include "packet/grab.h"
#include "packet/view.h"
#include "pages/present.h"
#include "user/known_device.h"
#include "web/assets.h"

/* Adds the luckiest draw, which is above the rows. A view from Redis may have it or, with rendered rows, lack it, and
 * the tag must be the same: its mark is in returned_shares, and its name and face never change in Redis. A view from
 * MySQL has no returned_shares; there a new face alone does not change the tag. */
static void luckiest_digest(struct digest *digest, const struct packet_view *view)
{
    const struct str marks = str_or_empty(view->packet.returned_shares);
    digest_text(digest, marks);
    if (view->luckiest != NULL && view->luckiest->returned && marks.len == 0)
        digest_text(digest, STR("returned"));
    if (view->luckiest != NULL && view->luckiest->nickname.len == 0)
        digest_text(digest, STR("deleted"));
}

struct str show_tag(struct exchange *x, const struct packet_view *view)
{
    const struct packet *p = &view->packet;
    const struct grab *newest = view->row_count > 0 ? view->rows : NULL;
    /* Facts that never change (greeting, amounts, earlier grabs without their marks and names) follow from the id and
     * the number of grabs. The newest grab is included because a Redis that has lost data may give the same number of
     * shares to other users. */
    const uint64_t facts[] = {
        x->app->templates.hash,
        assets_hash(x->app->assets),
        (uint64_t)x->language,
        x->wants_json,
        x->visitor.user_id,
        p->id,
        (uint64_t)p->state,
        p->grabbed_count,
        (uint64_t)p->refund_fen,
        (uint64_t)p->ended_ms,
        p->returned_count,
        p->thanks_count,
        packet_is_waiting(p, view->now_ms),
        view->busy,
        view->over,
        newest != NULL ? newest->user_id : 0,
        newest != NULL ? (uint64_t)newest->grabbed_ms : 0,
        view->has_mine ? (uint64_t)view->mine.share_no + 1 : 0,
        view->has_mine && view->mine.settled,
        view->has_mine && view->mine.returned,
        p->sender_name.len == 0,
        known_device_login_first(x),
        (uint64_t)config_registration(x->app->stores.config),
        passkey_offer_waits(x),
    };
    struct digest digest;
    uint8_t bytes[DIGEST_BYTES];

    digest_begin(&digest);
    digest_bytes(&digest, facts, sizeof facts);
    for (size_t i = 0; i < view->row_count; i++) {
        if (view->rows[i].returned)
            digest_bytes(&digest, &view->rows[i].share_no, sizeof view->rows[i].share_no);
        if (view->rows[i].nickname.len == 0) /* deleted since */
            digest_text(&digest, STR("deleted"));
        if (view->rows[i].face.len > 0) /* the present face, in a view from MySQL */
            digest_text(&digest, face_word(&view->rows[i].face));
    }
    luckiest_digest(&digest, view);
    /* the text becomes empty, or shorter, when a receiver is deleted */
    digest_text(&digest, str_or_empty(p->receiver_name));
    digest_text(&digest, str_or_empty(p->receiver_names));
    digest_text(&digest, face_word(&p->sender_face));
    if (x->visitor.user_id == p->sender_id)
        digest_text(&digest, str_or_empty(p->note)); /* Redis and the page cache of an older program lack the note */
    digest_text(&digest, x->target);
    digest_text(&digest, x->visitor.nickname);
    digest_text(&digest, face_word(&x->visitor.face));
    digest_end(&digest, bytes);
    struct str hex = present_hex(x->arena, bytes, sizeof bytes);
    return hex.ptr != NULL ? arena_printf(x->arena, "W/\"%.*s\"", STR_ARG(hex)) : STR_NONE;
}
