#include "pages/looked.h"

#include <inttypes.h>

#include "base/public_id.h"
#include "packet/rules.h"
#include "pages/present.h"
#include "user/session.h"
#include "web/respond.h"

/* The longest time until the opening, and the same again for the lifetime after it: an opened packet also waits on
 * home. */
enum { LOOKED_S = 2 * (RULES_OPENS_AHEAD_MAX_MS / 1000) };

void looked_read(const struct exchange *x, struct inbox_looked *out)
{
    uint64_t user_id, id;
    struct str rest;
    *out = (struct inbox_looked){ .count = 0 };
    if (x->visitor.user_id == 0 || x->visitor.scopes != 0 ||
        !str_to_u64(str_cut(exchange_cookie(x, STR(LOOKED_COOKIE)), '.', &rest), &user_id) ||
        user_id != x->visitor.user_id)
        return;
    while (rest.len > 0 && out->count < INBOX_LOOKED_MAX)
        if (public_id_decode(&x->app->id_key, str_cut(rest, '.', &rest), &id))
            out->ids[out->count++] = id;
}

static bool is_to_come(const struct exchange *x, const struct packet_view *view)
{
    const struct packet *p = &view->packet;
    const uint64_t visitor_id = x->visitor.user_id;
    return packet_is_waiting(p, view->now_ms) && visitor_id != 0 && visitor_id != p->sender_id &&
           p->kind != PACKET_EXCLUSIVE && p->receiver_count == 0;
}

void looked_remember(struct exchange *x, const struct packet_view *view)
{
    struct inbox_looked old;
    if (x->wants_json || !is_to_come(x, view))
        return;
    looked_read(x, &old);
    for (size_t i = 0; i < old.count; i++)
        if (old.ids[i] == view->packet.id)
            return;
    struct str value = arena_printf(x->arena, "%" PRIu64 ".%.*s", x->visitor.user_id,
                                    STR_ARG(str_or_empty(present_packet_id(x, view->packet.id))));
    for (size_t i = 0; i < old.count && i < INBOX_LOOKED_MAX - 1; i++)
        value = arena_printf(x->arena, "%.*s.%.*s", STR_ARG(value),
                             STR_ARG(str_or_empty(present_packet_id(x, old.ids[i]))));
    if (value.ptr != NULL) /* without memory the answer is dropped anyway */
        respond_cookie(x, STR(LOOKED_COOKIE), value, LOOKED_S);
}
