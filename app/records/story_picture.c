#include "records/story_picture.h"

#include <inttypes.h>

#include "base/money.h"
#include "base/text_fit.h"
#include "base/utf8.h"
#include "pages/covers.h"
#include "pages/drawing.h"
#include "pages/present.h"
#include "web/faces.h"
#include "web/field_types.h"
#include "web/respond.h"
#include "web/view.h"

enum {
    WIDTH = 1080,
    HEIGHT = 1440,
    NAME_WIDTH_MAX = 1300, /* width of the name in hundredths of an em */
    HOST_WIDTH_MAX = 2700,
    NUMBER_MAX = 1000000000, /* the largest number that a year can have */
    YEAR_MAX = 9999
};

struct picture_query {
    unsigned language;
    uint64_t year, sent, received, best;
    struct str name, face; /* face: its word (base/badge.h) */
    int64_t sent_fen, received_fen;
};

static struct str language_word(unsigned i)
{
    return i < LANGUAGES ? str_from(language_tag((enum language)i)) : STR_NONE;
}

#define NUMBER(field, limit)                                                                                           \
    {                                                                                                                  \
        .name = #field, .type = &FIELD_NUMBER, .member = offsetof(struct picture_query, field), .max = (limit)         \
    }

const struct field story_picture_fields[] = {
    { .name = "lang", .type = &FIELD_WORD, .member = offsetof(struct picture_query, language), .word = language_word },
    { .name = "name", .type = &FIELD_TEXT, .member = offsetof(struct picture_query, name) },
    { .name = "face", .type = &FIELD_TEXT, .member = offsetof(struct picture_query, face) },
    NUMBER(year, YEAR_MAX),
    NUMBER(sent, NUMBER_MAX),
    NUMBER(received, NUMBER_MAX),
    NUMBER(best, NUMBER_MAX),
    { .name = "sent_sum", .type = &FIELD_AMOUNT, .member = offsetof(struct picture_query, sent_fen) },
    { .name = "received_sum", .type = &FIELD_AMOUNT, .member = offsetof(struct picture_query, received_fen) },
    { .name = NULL },
};

struct str story_picture_url(struct exchange *x, const struct user_year *year, bool amounts)
{
    struct arena *a = x->arena;
    struct str name = form_encode(a, x->visitor.nickname), face = face_word(&x->visitor.face), sums = STR("");
    if (face.len > 0)
        face = arena_printf(a, "&face=%.*s", STR_ARG(form_encode(a, face)));
    if (amounts)
        sums = arena_printf(a, "&sent_sum=%.*s&received_sum=%.*s", STR_ARG(money_text(a, year->sent_fen)),
                            STR_ARG(money_text(a, year->received_fen)));
    if (name.ptr == NULL || face.ptr == NULL || sums.ptr == NULL)
        return STR_NONE;
    return arena_printf(
        a, "/story-drawn?lang=%s&name=%.*s%.*s&year=%d&sent=%" PRIu64 "&received=%" PRIu64 "&best=%" PRIu64 "%.*s",
        language_tag(x->language), STR_ARG(name), STR_ARG(face), year->year, year->sent_count, year->received_count,
        year->best_count, STR_ARG(sums));
}

/* Adds the face on the coin; a user without a face gets the first character of the name. */
static enum status face_model(struct exchange *x, struct model *m, struct str word)
{
    const struct face face = face_from(word);
    const struct drawn_face *drawn = drawn_face_of(&face);
    if (drawn != NULL) {
        struct value *art = value_object(m, &m->root, "drawn");
        value_int(m, art, "above", (int64_t)(drawn - drawn_face(0)) * DRAWING_FACE_STEP);
        value_text(m, art, "html_faces", drawing_faces(x));
        return ST_OK;
    }
    const struct str hash = arena_str(m->arena, picture_face_of(&face));
    return drawing_photo(x, m, hash);
}

/* The letters of the line with both sums, so that it fits with a unit whose name is long. */
static int64_t sums_size(const struct picture_query *query)
{
    enum { SIZE_PX = 42, WIDTH_EM = 25, WORDS_EM = 10 };
    char sent[MONEY_TEXT_MAX], received[MONEY_TEXT_MAX];
    const struct money_unit *unit = money_unit();
    const size_t name = utf8_width(str_from(unit->name_zh)), other = utf8_width(str_from(unit->name_en)),
                 digits = money_format(query->sent_fen, sent) + money_format(query->received_fen, received),
                 width = WORDS_EM + 2 * (name > other ? name : other) + digits / 2;
    return width > WIDTH_EM ? SIZE_PX * WIDTH_EM / (int64_t)width : SIZE_PX;
}

static void picture_model(struct exchange *x, struct model *m, const struct picture_query *query)
{
    struct value *root = &m->root;
    struct cover_colours colours = cover_colours(COVER_SPRING_FESTIVAL);
    struct str name = STR("☺"); /* for a name of emoji only */
    struct str host = present_site_host(x);
    (void)text_fit(m->arena, query->name, NAME_WIDTH_MAX, &name, 1);
    (void)text_fit(m->arena, host, HOST_WIDTH_MAX, &host, 1);
    value_text(m, value_object(m, root, "person"), "nickname", name);
    value_text(m, root, "initial", utf8_first_grapheme(name));
    value_text(m, root, "host", host);
    value_int(m, root, "year", (int64_t)query->year);
    view_count_model(m, root, "sent_count", "sent_one", (int64_t)query->sent);
    view_count_model(m, root, "received_count", "received_one", (int64_t)query->received);
    view_count_model(m, root, "best_count", "best_one", (int64_t)query->best);
    if (query->sent_fen >= 0 && query->received_fen >= 0) {
        struct value *sums = value_object(m, root, "sums");
        view_money_model(m, sums, "sent_fen", "sent_text", query->sent_fen);
        view_money_model(m, sums, "received_fen", "received_text", query->received_fen);
        value_int(m, sums, "size", sums_size(query));
    }
    value_text(m, root, "lit", colours.lit);
    value_text(m, root, "paper", colours.paper);
    value_text(m, root, "deep", colours.deep);
    value_text(m, root, "html_covers", drawing_covers(x));
}

enum step story_picture(struct exchange *x)
{
    struct picture_query query = {
        .language = (unsigned)x->language, .name = STR(""), .face = STR(""), .sent_fen = -1, .received_fen = -1
    };
    struct buf png = BUF_EMPTY;
    struct model m;
    if (!query_read(x, story_picture_fields, &query)) {
        respond_problem(x, &PROBLEM_BAD_REQUEST);
        return STEP_DONE;
    }
    x->language = (enum language)query.language;
    model_init(&m, x->arena);
    picture_model(x, &m, &query);
    enum status st = face_model(x, &m, query.face);
    if (st == ST_OK)
        st = drawing_png(x, "pictures/story", &m, WIDTH, HEIGHT, &png);
    if (st == ST_OK) {
        respond_header(x, "Content-Disposition",
                       arena_printf(x->arena, "attachment; filename=\"hongbao-%d.png\"", (int)query.year));
        respond_private(x, STR("image/png"), buf_view(&png));
    } else {
        respond_status(x, st);
    }
    buf_free(&png);
    return STEP_DONE;
}
