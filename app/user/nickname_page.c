#include "user/nickname_page.h"

#include "user/account.h"
#include "user/account_page.h"
#include "user/pages_internal.h"
#include "user/session_list.h"
#include "user/store.h"
#include "web/field_types.h"
#include "web/respond.h"

const struct field nickname_fields[] = {
    { .name = "nickname",
      .type = &FIELD_LINE,
      .required = true,
      .max = NICKNAME_GRAPHEMES_MAX,
      .code_points_max = NICKNAME_CODEPOINTS_MAX,
      .missing = "text/nickname_missing",
      .malformed = "text/nickname_invalid",
      .high = "text/nickname_long",
      .wide = "text/nickname_combined" },
    { .name = NULL },
};

enum step nickname_submit(struct exchange *x)
{
    const struct stores *stores = &x->app->stores;
    struct str nickname = STR("");
    struct form_errors e;

    enum status st = form_read(x, nickname_fields, &nickname, &e);
    if (st == ST_INVALID)
        return account_refuse(x, &e);
    if (st == ST_OK)
        st = user_rename(stores->db, x->visitor.user_id, nickname);
    if (st == ST_OK)
        st = session_list_rename(stores, x->arena, x->visitor.user_id, nickname);
    if (st != ST_OK) {
        respond_status(x, status_idempotent(st));
        return STEP_DONE;
    }
    const struct user user = { .id = x->visitor.user_id, .username = x->visitor.username, .nickname = nickname };
    return answer_user(x, 200, &user, STR("/account?saved=1"));
}
