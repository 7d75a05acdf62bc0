/* A catalogue of texts: one line, one small template. */
#include "mustache/mustache_internal.h"

static struct str first_line(struct str text, struct str *rest)
{
    return str_trim(str_cut(text, '\n', rest));
}

/* One line that is neither empty nor a comment; src says where it stands. */
static enum status text_add(struct workshop *w, struct source src)
{
    struct str text;
    struct str key = str_trim(str_cut(src.text, '=', &text));

    if (text.ptr == NULL)
        return workshop_error(w, &src, 0, "a text is \"key = text\", and here is no =");
    if (key.len == 0 || !str_is_word(key))
        return workshop_error(w, &src, 0, "a key has letters, digits, - and _");
    src.name = arena_printf(w->arena, "text/%.*s", STR_ARG(key));
    src.text = str_trim(text);
    return src.name.ptr != NULL ? workshop_add(w, src) : ST_NO_MEMORY;
}

enum status texts_add(struct workshop *w, struct str file, struct str catalogue)
{
    enum status st = ST_OK;
    struct str rest = catalogue;

    for (size_t line = 0; rest.len > 0 && st == ST_OK; line++) {
        struct source src = { .file = file, .first_line = line, .text = first_line(rest, &rest) };
        if (src.text.len > 0 && src.text.ptr[0] != '#')
            st = text_add(w, src);
    }
    return st;
}
