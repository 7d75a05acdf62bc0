#include "pages/thanks.h"

#include "acts/thanks.h"
#include "packet/thanks.h"
#include "pages/packet_answer.h"
#include "pages/show.h"
#include "pages/show_model.h"
#include "web/field_types.h"
#include "web/respond.h"

static const struct problem PROBLEM_NO_SHARE = { 403, "no-share", "text/thanks_no_share", NULL, 0 };
static const struct problem PROBLEM_ALREADY = { 409, "thanks-already", "text/thanks_already", NULL, 0 };

const struct field thanks_fields[] = {
    { .name = "text",
      .type = &FIELD_SENTENCE,
      .required = true,
      .max = THANKS_GRAPHEMES_MAX,
      .code_points_max = THANKS_CODE_POINTS_MAX,
      .missing = "text/thanks_missing",
      .malformed = "text/thanks_invalid",
      .high = "text/thanks_long",
      .wide = "text/thanks_long",
      .says = "one line",
      .example = "Thank you" },
    { .name = NULL },
};

static void answer_said(struct exchange *x, struct str text)
{
    struct model m;
    model_init(&m, x->arena);
    value_text(&m, &m.root, "text", text);
    packet_answer_done(x, &m);
}

static void answer_other(struct exchange *x)
{
    struct model m;
    model_init(&m, x->arena);
    packet_answer_refused(x, &PROBLEM_ALREADY, &m);
}

static void answer_result(struct exchange *x, enum thanks_result result, struct str text)
{
    switch (result) {
    case THANKS_SAID: answer_said(x, text); break;
    case THANKS_NO_SHARE: respond_problem(x, &PROBLEM_NO_SHARE); break;
    case THANKS_UNSETTLED: respond_problem(x, &PROBLEM_BUSY); break;
    case THANKS_OTHER: answer_other(x); break;
    }
}

/* Answers THANKS_UNSETTLED in HTML: the packet's page from Redis, with the typed text, which its script soon sends
 * again. */
static enum step unsettled_page(struct exchange *x)
{
    struct form_errors errors = { .count = 0 };
    form_fail(&errors, "text", "text/thanks_unsettled");
    respond_retry_after(x, PROBLEM_BUSY.retry_after_s);
    show_refused(x, PROBLEM_BUSY.status, &errors, "text", "text");
    return STEP_DONE;
}

/* Answers with the packet's page, with the typed text and its message. */
static void answer_refused_form(struct exchange *x, const struct form_errors *errors)
{
    struct packet_view view = { 0 };
    struct model m;
    enum status st = show_view_find(x, PACKET_NO_SHARE, SHOW_ROWS, &view);
    if (st != ST_OK) {
        respond_status(x, st);
        return;
    }
    bool has_share = view.has_mine && !view.mine.returned;
    if (!has_share || view.mine.thanks.len > 0) { /* then the page has no form */
        answer_result(x, has_share ? THANKS_OTHER : THANKS_NO_SHARE, STR(""));
        return;
    }
    model_init(&m, x->arena);
    show_model(x, &view, NULL, &m);
    form_typed_model(&m, &m.root, thanks_fields, &x->form);
    respond_form_errors(x, "pages/packet", &m, errors);
}

enum step packet_thanks_post(struct exchange *x)
{
    struct str text = STR("");
    struct form_errors errors = { 0 };
    enum thanks_result result;
    enum status st = form_read(x, thanks_fields, &text, &errors);
    if (st == ST_INVALID) {
        answer_refused_form(x, &errors);
        return STEP_DONE;
    }
    if (st == ST_OK)
        st = thanks_say(&x->app->stores, x->arena, x->id, x->visitor.user_id, text, x->now_ms, &result);
    if (st == ST_OK && result == THANKS_UNSETTLED && !x->wants_json) {
        show_refused_queue(x);
        return exchange_then(x, unsettled_page);
    }
    if (st == ST_OK)
        answer_result(x, result, text);
    else
        respond_status(x, st);
    return STEP_DONE;
}
