#include "pages/end.h"

#include "acts/end.h"
#include "pages/packet_answer.h"
#include "web/respond.h"
#include "web/security_log.h"

static const struct problem PROBLEM_NOT_SENDER = { 403, "not-sender", "text/end_not_yours", NULL, 0 };

enum step packet_end_post(struct exchange *x)
{
    struct end_packet ended;
    struct model m;
    enum status st = end_packet(&x->app->stores, x->arena, x->id, x->visitor.user_id, x->now_ms, &ended);
    if (st == ST_OK && ended.result == END_NOT_SENDER) {
        security_log(x, SECURITY_ACCESS_REFUSED, x->visitor.user_id, NULL);
        respond_problem(x, &PROBLEM_NOT_SENDER);
        return STEP_DONE;
    }
    if (st != ST_OK) {
        respond_status(x, st);
        return STEP_DONE;
    }
    model_init(&m, x->arena);
    value_text(&m, &m.root, "state", packet_state_name(ended.state));
    packet_answer_done(x, &m);
    return STEP_DONE;
}
