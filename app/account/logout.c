#include "account/logout.h"

#include "user/session.h"
#include "web/respond.h"
#include "web/security_log.h"

enum step logout_submit(struct exchange *x)
{
    enum status st = session_end(x);

    if (st == ST_OK) /* the browser forgets what a script of the site has stored */
        respond_header(x, "Clear-Site-Data", STR("\"storage\""));
    if (st == ST_OK && x->visitor.user_id != 0)
        security_log(x, SECURITY_LOGOUT, x->visitor.user_id, NULL);
    if (st != ST_OK) {
        /* A logout can be repeated, so an unknown outcome only means unavailable. */
        respond_status(x, ST_UNAVAILABLE);
    } else if (x->wants_json) {
        respond_empty(x, 204);
    } else {
        respond_see_other(x, STR("/"));
    }
    return STEP_DONE;
}
