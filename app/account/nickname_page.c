#include "account/nickname_page.h"

#include "account/account_page.h"
#include "account/pages_internal.h"
#include "user/account.h"
#include "user/picture_store.h"
#include "user/session_list.h"
#include "user/store.h"
#include "web/faces.h"
#include "web/field_types.h"
#include "web/respond.h"
#include "web/text.h"
#include "web/view.h"

/* ---- the choices ---- */

/* The drawn faces, then none. */
enum { CHOICE_INITIAL = DRAWN_FACES };

static struct str choice_word(unsigned i)
{
    return i < CHOICE_INITIAL ? drawn_face(i)->word : i == CHOICE_INITIAL ? STR("initial") : STR_NONE;
}

static struct face choice_face(unsigned i)
{
    return i == CHOICE_INITIAL ? FACE_NONE : face_from(choice_word(i));
}

void face_choices_model(struct exchange *x, struct model *m)
{
    bool typed;
    struct str chosen = form_get(&x->form, "face", &typed);
    struct value *list = value_page_list(m, &m->root, "face_choices");
    if (!typed)
        chosen = x->visitor.face.len > 0 ? face_word(&x->visitor.face) : choice_word(CHOICE_INITIAL);
    for (unsigned i = 0; i <= CHOICE_INITIAL; i++) {
        struct value *choice = value_add_object(m, list);
        struct face face = choice_face(i);
        value_page_text(m, choice, "word", choice_word(i));
        value_page_text(m, choice, "title",
                        text_of(x, i < CHOICE_INITIAL ? drawn_face(i)->title : "text/face_initial"));
        value_page_bool(m, choice, "chosen", str_equal(choice_word(i), chosen));
        value_page_bool(m, choice, "is_initial", i == CHOICE_INITIAL);
        view_avatar_model(m, choice, x->visitor.user_id, x->visitor.nickname, &face);
    }
}

/* ---- the form ---- */

const struct field nickname_fields[] = {
    NICKNAME_FIELD(struct nickname_form),
    { .name = "face",
      .type = &FIELD_WORD,
      .member = offsetof(struct nickname_form, face),
      .word = choice_word,
      .malformed = "text/face_unknown",
      .says = "the avatar; initial: the first character of the nickname; absent: as it is" },
    { .name = NULL },
};

enum step nickname_submit(struct exchange *x)
{
    const struct stores *stores = &x->app->stores;
    struct nickname_form form = { STR(""), FACE_STAYS };
    struct form_errors e;

    enum status st = form_read(x, nickname_fields, &form, &e);
    if (st == ST_INVALID)
        return account_refuse(x, &e);
    const struct face chosen = form.face == FACE_STAYS ? FACE_NONE : choice_face(form.face);
    const struct face *face = form.face == FACE_STAYS ? NULL : &chosen;
    if (st == ST_OK && face != NULL)
        st = picture_leave(stores->db, x->arena, x->visitor.user_id, &form.nickname, face);
    else if (st == ST_OK)
        st = user_rename(stores->db, x->visitor.user_id, &form.nickname, NULL);
    if (st == ST_OK)
        st = session_list_rename(stores, x->arena, x->visitor.user_id, &form.nickname, face);
    if (st != ST_OK) {
        respond_status(x, status_idempotent(st));
        return STEP_DONE;
    }
    const struct user user = { .id = x->visitor.user_id, .username = x->visitor.username, .nickname = form.nickname };
    return answer_user(x, 200, &user, STR("/account?saved=1"));
}
