#include "pages/poster.h"

#include "packet/store.h"
#include "pages/covers.h"
#include "pages/present.h"
#include "web/qr.h"
#include "web/respond.h"
#include "web/security_log.h"
#include "web/view.h"

static void poster_model(struct exchange *x, struct model *m, const struct packet *p)
{
    struct value *root = &m->root;
    struct str url = present_packet_url(x, p->id);
    value_text(m, root, "id", present_packet_id(x, p->id));
    present_person(m, root, "sender", p->sender_id, p->sender_name, &x->visitor.face);
    value_text(m, root, "greeting", p->greeting);
    cover_model(m, root, p->cover);
    if (packet_is_waiting(p, x->now_ms))
        view_time_model(m, root, "opens_at", "opens_text", p->opens_ms);
    else
        value_null(m, root, "opens_at");
    value_bool(m, root, "needs_phrase", p->phrase_hash.len > 0);
    value_text(m, root, "url", url);
    value_page_text(m, root, "path", present_packet_path(x, p->id));
    value_page_text(m, root, "html_qr", qr_svg(m->arena, url));
}

enum step packet_poster(struct exchange *x)
{
    struct packet p;
    struct model m;
    enum status st = packet_find(x->app->stores.db, x->arena, x->id, &p);
    if (st == ST_OK && p.sender_id != x->visitor.user_id) {
        security_log(x, SECURITY_ACCESS_REFUSED, x->visitor.user_id, NULL);
        st = ST_NOT_FOUND;
    }
    if (st == ST_OK && p.kind == PACKET_EXCLUSIVE)
        st = ST_NOT_FOUND;
    if (st != ST_OK) {
        respond_status(x, st);
        return STEP_DONE;
    }
    p.state = packet_state_shown(&p, x->now_ms);
    model_init(&m, x->arena);
    poster_model(x, &m, &p);
    respond_model(x, 200, "pages/poster", &m);
    return STEP_DONE;
}
