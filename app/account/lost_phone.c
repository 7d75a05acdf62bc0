#include "account/lost_phone.h"

#include "web/field_types.h"

static const struct field lost_fields[] = { { .name = "lost", .type = &FIELD_NUMBER, .max = LOST_PASSWORD_SET },
                                            { .name = NULL } };

enum lost_phone lost_phone_from_query(struct exchange *x)
{
    uint64_t lost = LOST_NOTHING;
    (void)query_read(x, lost_fields, &lost); /* a malformed query counts as none */
    return (enum lost_phone)lost;
}

enum lost_phone lost_phone_from_form(const struct exchange *x)
{
    struct str lost = form_get(&x->form, "lost", NULL);
    return str_equal(lost, STR("1")) ? LOST_ALL : str_equal(lost, STR("2")) ? LOST_PASSWORD_SET : LOST_NOTHING;
}

void lost_phone_model(struct model *m, enum lost_phone lost)
{
    if (lost == LOST_NOTHING)
        return;
    value_page_text(m, &m->root, "lost", lost == LOST_ALL ? STR("1") : STR("2"));
    value_page_bool(m, &m->root, "lost_password", lost == LOST_ALL);
}

struct str lost_phone_path(struct arena *a, const char *path, enum lost_phone lost)
{
    return lost == LOST_NOTHING ? str_from(path) : arena_printf(a, "%s&lost=%d", path, (int)lost);
}
