#include "account/language.h"

#include "web/field_types.h"
#include "web/respond.h"

struct language_form {
    enum language language;
    struct str next; /* a local path, or empty */
};

_Static_assert(sizeof(enum language) == sizeof(unsigned), "FIELD_WORD writes an unsigned int");

static struct str language_word(unsigned i)
{
    return i < LANGUAGES ? str_from(language_tag((enum language)i)) : STR_NONE;
}

const struct field language_fields[] = {
    { .name = "language",
      .type = &FIELD_WORD,
      .member = offsetof(struct language_form, language),
      .required = true,
      .word = language_word,
      .says = "else that of Accept-Language",
      .example = "en" },
    NEXT_FIELD(struct language_form),
    { .name = NULL },
};

enum step language_submit(struct exchange *x)
{
    struct language_form form = { 0 };
    struct form_errors unused;

    if (form_read(x, language_fields, &form, &unused) != ST_OK) {
        respond_problem(x, &PROBLEM_BAD_REQUEST);
        return STEP_DONE;
    }
    if (x->wants_json)
        respond_empty(x, 204);
    else
        respond_see_other(x, form.next.len > 0 ? form.next : STR("/"));
    respond_cookie(x, STR(LANGUAGE_COOKIE), str_from(language_tag(form.language)), LANGUAGE_COOKIE_S);
    return STEP_DONE;
}
