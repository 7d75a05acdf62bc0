#include "pages/give_back.h"

#include "acts/give_back.h"
#include "pages/packet_answer.h"
#include "web/respond.h"

static const struct problem PROBLEM_NO_SHARE = { 404, "no-share", "text/return_no_share", NULL, 0 };
static const struct problem PROBLEM_MONEY_SPENT = { 409, "money-spent", "text/return_no_money", NULL, 0 };
static const struct problem PROBLEM_OWN_PACKET = { 409, "own-packet", "text/return_own", NULL, 0 };
static const struct problem PROBLEM_SENDER_GONE = { 409, "sender-gone", "text/return_sender_gone", NULL, 0 };
static const struct problem PROBLEM_TOO_MANY = { 409, "too-many-returns", "text/return_too_many", NULL, 0 };
static const struct problem PROBLEM_UNSETTLED = { 503, "unsettled", "text/return_unsettled", NULL, 1 };

static void answer_done(struct exchange *x, const struct share_return *share)
{
    struct model m;
    model_init(&m, x->arena);
    value_int(&m, &m.root, "returned_fen", share->amount_fen);
    value_text(&m, &m.root, "to", share->position != PACKET_NO_SHARE ? STR("packet") : STR("sender"));
    packet_answer_done(x, &m);
}

enum step packet_return_post(struct exchange *x)
{
    struct give_back given;
    enum status st = give_back(&x->app->stores, x->arena, x->id, x->visitor.user_id, x->now_ms, &given);
    if (st != ST_OK) {
        respond_status(x, st);
        return STEP_DONE;
    }
    switch (given.result) {
    case GIVE_BACK_DONE: answer_done(x, &given.share); break;
    case GIVE_BACK_NO_SHARE: respond_problem(x, &PROBLEM_NO_SHARE); break;
    case GIVE_BACK_UNSETTLED: respond_problem(x, &PROBLEM_UNSETTLED); break;
    case GIVE_BACK_NO_MONEY: respond_problem(x, &PROBLEM_MONEY_SPENT); break;
    case GIVE_BACK_OWN: respond_problem(x, &PROBLEM_OWN_PACKET); break;
    case GIVE_BACK_SENDER_GONE: respond_problem(x, &PROBLEM_SENDER_GONE); break;
    case GIVE_BACK_TOO_MANY: respond_problem(x, &PROBLEM_TOO_MANY); break;
    }
    return STEP_DONE;
}
