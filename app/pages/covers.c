#include "pages/covers.h"

#include <assert.h>

#include "web/assets.h"
#include "web/text.h"

/* Names of texts, and colours. */
static const struct cover_row {
    const char *title, *greeting;
    struct cover_colours colours;
} COVERS[COVER_COUNT] = {
    [COVER_PLAIN] = { "text/cover_plain", "text/greeting_default", { STR("#bf2c22"), STR("#ad241b") } },
    [COVER_SPRING_FESTIVAL] = { "text/cover_spring_festival",
                                "text/greeting_spring_festival",
                                { STR("#bf2c22"), STR("#ad241b") } },
    [COVER_MID_AUTUMN] = { "text/cover_mid_autumn", "text/greeting_mid_autumn", { STR("#2f3f82"), STR("#283672") } },
    [COVER_BIRTHDAY] = { "text/cover_birthday", "text/greeting_birthday", { STR("#8a2e6b"), STR("#7b275f") } },
    [COVER_WEDDING] = { "text/cover_wedding", "text/greeting_wedding", { STR("#b3203f"), STR("#a11b38") } },
    [COVER_BABY] = { "text/cover_baby", "text/greeting_baby", { STR("#14635f"), STR("#115753") } },
    [COVER_NEW_JOB] = { "text/cover_new_job", "text/greeting_new_job", { STR("#1f5a8c"), STR("#1b4f7c") } },
    [COVER_THANKS] = { "text/cover_thanks", "text/greeting_thanks", { STR("#2f6b3a"), STR("#295e33") } },
};

static const struct cover_row *row_of(enum packet_cover cover)
{
    assert((unsigned)cover < COVER_COUNT);
    return &COVERS[cover];
}

struct str cover_greeting(struct exchange *x, enum packet_cover cover)
{
    return text_of(x, row_of(cover)->greeting);
}

struct str cover_file(struct arena *a, enum packet_cover cover)
{
    return arena_printf(a, "cover-%.*s.svg", STR_ARG(packet_cover_name(cover)));
}

struct cover_colours cover_colours(enum packet_cover cover)
{
    return row_of(cover)->colours;
}

static struct str cover_url(struct exchange *x, enum packet_cover cover)
{
    return assets_url(x->app->assets, cover_file(x->arena, cover));
}

void cover_model(struct exchange *x, struct model *m, struct value *object, struct str stored)
{
    enum packet_cover cover = packet_cover_from(stored);
    value_text(m, object, "cover", packet_cover_name(cover));
    if (cover != COVER_PLAIN)
        value_page_text(m, object, "cover_url", cover_url(x, cover));
}

void covers_model(struct exchange *x, struct model *m, enum packet_cover chosen)
{
    struct value *covers = value_page_list(m, &m->root, "covers");
    for (unsigned i = 0; i < COVER_COUNT; i++) {
        enum packet_cover cover = (enum packet_cover)i;
        struct value *object = value_add_object(m, covers);
        value_page_text(m, object, "name", packet_cover_name(cover));
        value_page_text(m, object, "title", text_of(x, row_of(cover)->title));
        value_page_text(m, object, "url", cover_url(x, cover));
        value_page_text(m, object, "greeting", cover_greeting(x, cover));
        value_page_bool(m, object, "chosen", cover == chosen);
    }
    value_page_text(m, &m->root, "cover_title", text_of(x, row_of(chosen)->title));
}
