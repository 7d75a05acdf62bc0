#include "user/pages.h"
#include "web/respond.h"

enum { REMEMBERED_S = 365 * 86400 };

enum step language_submit(struct exchange *x)
{
    enum language language;
    struct str next = next_path(&x->form);

    if (!language_from_tag(form_get(&x->form, "language", NULL), &language)) {
        respond_problem(x, &PROBLEM_BAD_REQUEST);
        return STEP_DONE;
    }
    if (x->wants_json)
        respond_empty(x, 204);
    else
        respond_see_other(x, next.len > 0 ? next : STR("/"));
    respond_cookie(x, STR(LANGUAGE_COOKIE), str_from(language_tag(language)), REMEMBERED_S);
    return STEP_DONE;
}
