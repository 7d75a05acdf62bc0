#include "pages/packet_answer.h"

#include "pages/present.h"

void packet_answer_done(struct exchange *x, struct model *m)
{
    x->fallback_problem = &PROBLEM_UNKNOWN;
    if (x->wants_json)
        respond_model(x, 200, "pages/packet", m);
    else
        respond_see_other(x, present_packet_path(x, x->id));
}

void packet_answer_refused(struct exchange *x, const struct problem *p, struct model *m)
{
    if (x->wants_json)
        respond_problem_with(x, p, m);
    else
        respond_see_other(x, present_packet_path(x, x->id));
}
