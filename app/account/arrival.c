#include "account/arrival.h"

#include "account/pages_internal.h"

struct str arrival_next(struct exchange *x)
{
    return next_from_query(x);
}

struct str arrival_login_url(struct arena *a, struct str next, bool again)
{
    return again ? login_again_url(a, path_after_login(next)) : next_url(a, "/login", next);
}

enum step arrival_answer(struct exchange *x, const struct user *user, struct str next)
{
    return answer_login(x, 200, user, next);
}
