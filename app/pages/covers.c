#include "pages/covers.h"

#include <assert.h>

#include "web/assets.h"
#include "web/text.h"
#include "web/view.h"

/* Names of texts, and colours. */
static const struct cover_row {
    const char *title, *greeting;
    struct cover_colours colours;
} COVERS[COVER_COUNT] = {
    [COVER_PLAIN] = { "text/cover_plain", "text/greeting_default", { STR("#c03026"), STR("#ae231a"), STR("#8a150e") } },
    [COVER_SPRING_FESTIVAL] = { "text/cover_spring_festival",
                                "text/greeting_spring_festival",
                                { STR("#b92a2a"), STR("#a51c20"), STR("#7d1016") } },
    [COVER_MID_AUTUMN] = { "text/cover_mid_autumn",
                           "text/greeting_mid_autumn",
                           { STR("#34478d"), STR("#283873"), STR("#1b2754") } },
    [COVER_BIRTHDAY] = { "text/cover_birthday",
                         "text/greeting_birthday",
                         { STR("#a23a78"), STR("#872b63"), STR("#641c48") } },
    [COVER_WEDDING] = { "text/cover_wedding",
                        "text/greeting_wedding",
                        { STR("#b7264a"), STR("#9f1a3c"), STR("#76102b") } },
    [COVER_BABY] = { "text/cover_baby", "text/greeting_baby", { STR("#1b716b"), STR("#125c57"), STR("#0b423f") } },
    [COVER_NEW_JOB] = { "text/cover_new_job",
                        "text/greeting_new_job",
                        { STR("#28659b"), STR("#1c5080"), STR("#123a60") } },
    [COVER_THANKS] = { "text/cover_thanks",
                       "text/greeting_thanks",
                       { STR("#357340"), STR("#285c32"), STR("#1a4223") } },
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

struct cover_colours cover_colours(enum packet_cover cover)
{
    return row_of(cover)->colours;
}

struct str cover_flap(struct exchange *x, struct str stored)
{
    struct str name = packet_cover_name(packet_cover_from(stored));
    return assets_url(x->app->assets, arena_printf(x->arena, "flap-%.*s.svg", STR_ARG(name)));
}

void cover_model(struct model *m, struct value *object, struct str stored)
{
    view_cover_model(m, object, packet_cover_shown(stored), packet_cover_hash(stored));
}

static struct value *choice_model(struct exchange *x, struct model *m, struct value *covers, enum packet_cover cover,
                                  bool chosen)
{
    struct value *object = value_add_object(m, covers);
    value_page_text(m, object, "title", text_of(x, row_of(cover)->title));
    value_page_text(m, object, "greeting", cover_greeting(x, cover));
    value_page_bool(m, object, "chosen", chosen);
    return object;
}

void covers_model(struct exchange *x, struct model *m, struct str chosen, const struct str_list *own)
{
    struct value *covers = value_page_list(m, &m->root, "covers");
    const struct str hash = packet_cover_hash(chosen);
    bool own_chosen = false;
    for (size_t i = 0; i < own->count; i++)
        own_chosen = own_chosen || str_equal(own->items[i], str_or_empty(hash));
    for (unsigned i = 0; i < COVER_COUNT; i++) {
        enum packet_cover cover = (enum packet_cover)i;
        bool is_chosen = !own_chosen && cover == packet_cover_from(chosen);
        struct value *object = choice_model(x, m, covers, cover, is_chosen);
        value_page_text(m, object, "name", packet_cover_name(cover));
        view_cover_model(m, object, packet_cover_name(cover), STR_NONE);
    }
    for (size_t i = 0; i < own->count; i++) {
        struct value *object = choice_model(x, m, covers, COVER_PLAIN, own_chosen && str_equal(own->items[i], hash));
        value_page_text(m, object, "name", arena_printf(m->arena, "@%.*s", STR_ARG(own->items[i])));
        value_page_number(m, object, "own", arena_printf(m->arena, "%zu", i + 1));
        view_cover_model(m, object, STR("own"), own->items[i]);
    }
}
