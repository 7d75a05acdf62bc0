#include "doctor/doctor_words.h"

#include "base/buf.h"

enum { SHOWN_MAX = 5 };

bool words_have(const struct words *w, struct str word)
{
    for (size_t i = 0; i < w->count; i++)
        if (str_equal(w->items[i], word))
            return true;
    return false;
}

void words_add(struct words *w, struct str word)
{
    if (word.len > 0 && w->count < WORDS_MAX && !words_have(w, word))
        w->items[w->count++] = word;
}

void words_add_all(struct words *w, struct str text)
{
    while (text.ptr != NULL)
        words_add(w, str_trim(str_cut(text, ' ', &text)));
}

const char *words_without(const struct words *a, const struct words *b, struct arena *arena)
{
    struct buf out = BUF_EMPTY;
    size_t found = 0;
    for (size_t i = 0; i < a->count; i++) {
        if (words_have(b, a->items[i]))
            continue;
        if (found++ >= SHOWN_MAX)
            continue;
        buf_cstr(&out, found > 1 ? ", " : "");
        buf_str(&out, a->items[i]);
    }
    if (found > SHOWN_MAX)
        buf_printf(&out, " and %zu more", found - SHOWN_MAX);
    const char *text = arena_cstr(arena, str_or_empty(buf_view(&out)));
    buf_free(&out);
    return text == NULL ? "" : text;
}
