#include "pages/end.h"

#include "pages/present.h"
#include "settle/end.h"
#include "web/respond.h"

static const struct problem PROBLEM_NOT_SENDER = { 403, "not-sender", "text/end_not_yours", NULL, 0 };

enum step packet_end_post(struct exchange *x)
{
    enum packet_state state;
    struct model m;
    enum status st = end_packet(&x->app->stores, x->arena, x->id, x->visitor.user_id, x->now_ms, &state);
    if (st == ST_INVALID) {
        respond_problem(x, &PROBLEM_NOT_SENDER);
        return STEP_DONE;
    }
    if (st != ST_OK) {
        respond_status(x, st);
        return STEP_DONE;
    }
    x->fallback_problem = &PROBLEM_UNKNOWN;
    if (!x->wants_json) {
        respond_see_other(x, present_packet_path(x, x->id));
        return STEP_DONE;
    }
    model_init(&m, x->arena);
    value_text(&m, &m.root, "state", packet_state_name(state));
    respond_model(x, 200, "pages/packet", &m);
    return STEP_DONE;
}
