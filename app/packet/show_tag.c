#include "packet/show_tag.h"

#include <sodium.h>

#include "packet/present.h"
#include "web/assets.h"

enum { TAG_BYTES = crypto_generichash_BYTES_MIN };

static void text_add(crypto_generichash_state *state, struct str text)
{
    const uint64_t len = text.len; /* so that what ends here does not begin there */
    crypto_generichash_update(state, (const uint8_t *)&len, sizeof len);
    crypto_generichash_update(state, (const uint8_t *)text.ptr, text.len);
}

struct str show_tag(struct exchange *x, const struct live_view *view)
{
    const struct packet *p = &view->packet;
    const struct live_row *newest = view->row_count > 0 ? view->rows : NULL;
    /* What was written once (greeting, amounts, earlier grabs) follows from the id and the number of grabs. The newest
     * grab is named because a Redis that lost its data may fill the same number of shares otherwise. */
    const uint64_t facts[] = {
        x->app->templates.content,
        assets_content(x->app->assets),
        (uint64_t)x->language,
        x->wants_json,
        x->visitor.user_id,
        p->id,
        (uint64_t)p->state,
        p->grabbed_count,
        (uint64_t)p->refund_fen,
        view->busy,
        view->over,
        newest != NULL ? newest->user_id : 0,
        newest != NULL ? newest->event.ms : 0,
        view->has_mine ? (uint64_t)view->mine.share_no + 1 : 0,
        view->has_mine && view->mine.settled,
    };
    crypto_generichash_state state;
    uint8_t digest[TAG_BYTES];

    crypto_generichash_init(&state, NULL, 0, sizeof digest);
    crypto_generichash_update(&state, (const uint8_t *)facts, sizeof facts);
    text_add(&state, x->target);
    text_add(&state, x->visitor.nickname);
    crypto_generichash_final(&state, digest, sizeof digest);
    struct str hex = present_hex(x->arena, digest, sizeof digest);
    return hex.ptr != NULL ? arena_printf(x->arena, "W/\"%.*s\"", STR_ARG(hex)) : STR_NONE;
}
