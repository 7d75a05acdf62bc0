#include "pages/card.h"

#include "base/text_fit.h"
#include "base/utf8.h"
#include "packet/store.h"
#include "pages/covers.h"
#include "pages/drawing.h"
#include "pages/present.h"
#include "web/field_types.h"
#include "web/qr.h"
#include "web/respond.h"
#include "web/view.h"

enum {
    CARD_LINES_MAX = 3,
    CARD_MAX_AGE_S = 86400,
    SENDER_WIDTH_MAX = 900,
    /* with the words around a name of this width, in either language and in smaller letters, a line is full */
    RECEIVER_WIDTH = 1100,
};

/* A size of the greeting's letters. width: the greatest width of a line, in hundredths of an em; other sizes in
 * pixels. */
struct letters {
    uint32_t width;
    int size, line_height;
};

/* Sizes of a card, in pixels. greeting_y: of the line in the middle. The greeting has two lines of large letters, or up
 * to three of small ones. */
static const struct card_shape {
    struct str name;
    const char *template_name;
    int width, height, greeting_y;
    struct letters large, small;
} SHAPES[] = {
    { STR("wide"), "pictures/card_wide", 1200, 630, 243, { 1340, 46, 62 }, { 1810, 34, 46 } },
    { STR("tall"), "pictures/card_tall", 1080, 1440, 907, { 1320, 66, 82 }, { 1815, 48, 60 } },
};

struct card_query {
    unsigned shape;
    unsigned language;
};

static struct str shape_word(unsigned i)
{
    return i < sizeof SHAPES / sizeof SHAPES[0] ? SHAPES[i].name : STR_NONE;
}

static struct str language_word(unsigned i)
{
    return i < LANGUAGES ? str_from(language_tag((enum language)i)) : STR_NONE;
}

const struct field card_fields[] = {
    { .name = "shape",
      .type = &FIELD_WORD,
      .member = offsetof(struct card_query, shape),
      .word = shape_word,
      .says = "wide: 1200 × 630, also for any other word; tall: 1080 × 1440" },
    { .name = "lang",
      .type = &FIELD_WORD,
      .member = offsetof(struct card_query, language),
      .word = language_word,
      .says = "the language of its words" },
    { .name = NULL },
};

static void greeting_model(struct model *m, const struct card_shape *shape, struct str greeting)
{
    struct str lines[CARD_LINES_MAX];
    struct value *list = value_list(m, &m->root, "greeting");
    const struct letters *letters = &shape->large;
    size_t count = text_fit(m->arena, greeting, letters->width, lines, CARD_LINES_MAX);
    if (count > 2) {
        letters = &shape->small;
        count = text_fit(m->arena, greeting, letters->width, lines, CARD_LINES_MAX);
    }
    if (count == 2)
        count = text_balance(m->arena, greeting, letters->width, lines);
    value_int(m, &m->root, "greeting_size", letters->size);
    int y = shape->greeting_y - ((int)count - 1) * letters->line_height / 2;
    for (size_t i = 0; i < count; i++, y += letters->line_height) {
        struct value *object = value_add_object(m, list);
        value_int(m, object, "y", y);
        value_text(m, object, "line", lines[i]);
    }
}

/* A nickname within the width. Empty for a deleted user, whose nickname the template replaces. */
static struct str name_fit(struct arena *a, struct str nickname, uint32_t width)
{
    struct str name = STR("☺"); /* for a name of emoji only */
    if (nickname.len == 0)
        return STR("");
    (void)text_fit(a, nickname, width, &name, 1);
    return name;
}

/* Adds the words on the card. Everybody sees the card, so an exclusive packet shows its receiver instead of the
 * greeting. */
static void words_model(struct model *m, const struct card_shape *shape, const struct packet *p)
{
    if (p->kind != PACKET_EXCLUSIVE) {
        greeting_model(m, shape, p->greeting);
        return;
    }
    struct str name = name_fit(m->arena, p->receiver_name, RECEIVER_WIDTH);
    struct value *receiver = value_object(m, &m->root, "receiver");
    value_text(m, receiver, "nickname", name);
    value_int(m, receiver, "y", shape->greeting_y);
    value_int(m, &m->root, "greeting_size", shape->large.size);
}

/* Adds the time of the opening, in the service's zone, whose name is shown: there is one picture for everybody. It
 * stays after the opening, as nothing in the picture changes. */
static void opening_model(struct exchange *x, struct model *m, const struct packet *p)
{
    struct value *root = &m->root, *site = value_object(m, root, "site");
    struct str zone = str_from(x->app->stores.config->timezone);
    value_text(m, site, "timezone", zone);
    value_bool(m, site, "china_time", str_equal(zone, STR("Asia/Shanghai")));
    if (p->opens_ms != 0)
        view_time_model(m, root, "opens_at", "opens_text", p->opens_ms);
}

static void card_model(struct exchange *x, struct model *m, const struct card_shape *shape, const struct packet *p)
{
    enum packet_cover cover = packet_cover_from(p->cover);
    struct value *root = &m->root, *sender = value_object(m, root, "sender");
    struct str name = name_fit(m->arena, p->sender_name, SENDER_WIDTH_MAX);
    value_text(m, sender, "nickname", name);
    value_text(m, root, "initial", utf8_first_grapheme(name));
    words_model(m, shape, p);
    opening_model(x, m, p);
    /* An opening or a passphrase has its own line, for which other parts make room. */
    value_bool(m, root, "needs_phrase", p->needs_phrase);
    value_bool(m, root, "has_facts", p->opens_ms != 0 || p->needs_phrase);
    value_text(m, root, "cover", packet_cover_name(cover));
    value_text(m, root, "lit", cover_colours(cover).lit);
    value_text(m, root, "paper", cover_colours(cover).paper);
    value_text(m, root, "deep", cover_colours(cover).deep);
    value_text(m, root, "html_covers", drawing_covers(x));
    value_text(m, root, "html_qr", qr_svg(m->arena, present_packet_url(x, p->id)));
}

static enum status card_draw(struct exchange *x, const struct card_shape *shape, const struct packet *p,
                             struct buf *out)
{
    struct model m;
    model_init(&m, x->arena);
    card_model(x, &m, shape, p);
    enum status st = drawing_photo(x, &m, packet_cover_hash(p->cover)); /* without the photo, the plain flap is drawn */
    return st != ST_OK ? st : drawing_png(x, shape->template_name, &m, shape->width, shape->height, out);
}

enum step packet_card(struct exchange *x)
{
    struct card_query query = { .language = (unsigned)x->language };
    struct packet packet;
    struct buf png = BUF_EMPTY;
    if (!query_read(x, card_fields, &query)) {
        respond_problem(x, &PROBLEM_BAD_REQUEST);
        return STEP_DONE;
    }
    if (!str_equal(x->params.id, present_packet_id(x, x->id))) {
        respond_problem(x, &PROBLEM_NOT_FOUND);
        return STEP_DONE;
    }
    x->language = (enum language)query.language;
    enum status st = packet_find_face(x->app->stores.db, x->arena, x->id, &packet);
    if (st == ST_OK)
        st = card_draw(x, &SHAPES[query.shape], &packet, &png);
    if (st == ST_OK)
        respond_public(x, STR("image/png"), CARD_MAX_AGE_S, buf_view(&png));
    else
        respond_status(x, st);
    buf_free(&png);
    return STEP_DONE;
}
