#include "pages/send_form.h"

#include "base/array.h"
#include "packet/receivers.h"
#include "packet/rules.h"
#include "pages/covers.h"
#include "pages/phrase_field.h"
#include "pages/send_types.h"
#include "web/field_types.h"

/* ---- words and limits ---- */

_Static_assert(sizeof(enum packet_kind) == sizeof(unsigned) && sizeof(enum split_method) == sizeof(unsigned) &&
                   sizeof(enum amount_of) == sizeof(unsigned),
               "FIELD_WORD writes an unsigned int");

static struct str kind_word(unsigned i)
{
    return i <= PACKET_EXCLUSIVE ? packet_kind_name((enum packet_kind)i) : STR_NONE;
}

/* SPLIT_EVEN can't be selected: even and exclusive packets have it anyway. */
static struct str split_word(unsigned i)
{
    return i < SPLIT_EVEN ? split_method_name((enum split_method)i) : STR_NONE;
}

static struct str amount_of_word(unsigned i)
{
    static const struct str words[] = { [AMOUNT_OF_SHARE] = STR("share"), [AMOUNT_OF_TOTAL] = STR("total") };
    return i < ARRAY_LEN(words) ? words[i] : STR_NONE;
}

static int64_t share_max(const struct config *config)
{
    return config->share_fen_max;
}

static int64_t greeting_max(const struct config *config)
{
    return config->greeting_graphemes_max;
}

static struct str lifetime_first(const struct config *config)
{
    return send_lifetime_word(config, config->packet_lifetime_ms);
}

/* ---- the table ---- */

const struct field send_fields[] = {
    { .name = "kind",
      .type = &FIELD_WORD,
      .member = offsetof(struct send_order, packet.kind),
      .kept = KEPT_FIRST,
      .word = kind_word,
      .malformed = "text/kind_unknown",
      .says = "lucky: random shares, by default; even: equal shares; exclusive: one share for one user",
      .example = "lucky" },
    { .name = "to",
      .type = &SEND_TO,
      .member = offsetof(struct send_order, to),
      .kept = KEPT_LAST,
      .applies = send_kind_is_known,
      .max = RECEIVERS_MAX,
      .missing = "text/to_missing",
      .high = "text/to_many",
      .fold = SEND_FOLD_TO,
      .says = "who alone may open it: usernames with blanks, commas or line breaks between; exclusive: one" },
    { .name = "split",
      .type = &FIELD_WORD,
      .member = offsetof(struct send_order, packet.split),
      .kept = KEPT_FIRST,
      .applies = send_is_lucky,
      .word = split_word,
      .malformed = "text/split_unknown",
      .fold = SEND_FOLD_MORE,
      .says = "lucky: how the total is drawn" },
    { .name = "count",
      .type = &SEND_COUNT,
      .member = offsetof(struct send_order, packet.count),
      .kept = KEPT_FIRST,
      .applies = send_is_for_several,
      .min = 1,
      .max_of = rules_count_max,
      .missing = "text/count_missing",
      .malformed = "text/count_not_whole",
      .low = "text/count_zero",
      .high = "text/count_max",
      .says = "number of shares; not for exclusive; with receivers at most, and by default, as many",
      .example = "3" },
    { .name = "amount_of",
      .type = &FIELD_WORD,
      .member = offsetof(struct send_order, amount_of),
      .kept = KEPT_FIRST,
      .applies = send_is_even,
      .word = amount_of_word,
      .malformed = "text/amount_of_unknown",
      .fold = SEND_FOLD_MORE,
      .says = "even: whether the amount is that of one share, by default, or the total: 1000 smallest units in 3 "
              "are 334, 333 and 333" },
    { .name = "amount",
      .type = &SEND_AMOUNT,
      .member = offsetof(struct send_order, packet.amount_fen),
      .kept = KEPT_FIRST,
      .required = true,
      .applies = send_kind_is_known,
      .min = 1,
      .max_of = rules_total_fen_max,
      .malformed = "text/amount_not_money",
      .says = "an amount, required: the total of a lucky packet, else one share (see amount_of)",
      .example = "10.00" },
    { .name = "share_min",
      .type = &SEND_SHARE_MIN,
      .member = offsetof(struct send_order, packet.share_min_fen),
      .kept = KEPT_FIRST,
      .applies = send_is_lucky,
      .min = 1,
      .max_of = share_max,
      .malformed = "text/amount_not_money",
      .low = "text/share_min",
      .high = "text/share_min_max",
      .fold = SEND_FOLD_MORE,
      .says = "lucky: an amount, the smallest share; the smallest unit when left out" },
    { .name = "greeting",
      .type = &FIELD_SENTENCE,
      .member = offsetof(struct send_order, packet.greeting),
      .kept = KEPT,
      .max_of = greeting_max,
      .code_points_max = GREETING_CODE_POINTS_MAX,
      .malformed = "text/greeting_invalid",
      .high = "text/greeting_long",
      .wide = "text/greeting_long",
      .says = "a line of text; each cover has one of its own for packets without it; that of an exclusive packet only "
              "its sender and its receiver can read",
      .example = "Happy New Year" },
    { .name = "lifetime",
      .type = &SEND_LIFETIME,
      .member = offsetof(struct send_order, lifetime_ms),
      .kept = KEPT_FIRST,
      .malformed = "text/lifetime_unknown",
      .fold = SEND_FOLD_MORE,
      .first = lifetime_first,
      .says = "how long it stays open, as `24h`, which is the default; GET /send lists the choices (the setting "
              "packet_lifetimes)" },
    { .name = "phrase",
      .type = &FIELD_PHRASE,
      .member = offsetof(struct send_order, phrase),
      .max = PHRASE_GRAPHEMES_MAX,
      .code_points_max = PHRASE_CODE_POINTS_MAX,
      .malformed = "text/phrase_invalid",
      .high = "text/phrase_long",
      .wide = "text/phrase_long",
      .fold = SEND_FOLD_MORE,
      .says = "a passphrase that must be typed to open it, compared without regard to width, case, blanks around it "
              "and the kind of punctuation that a keyboard writes (`。` for `.`); only its sender can read it again" },
    { .name = "note",
      .type = &FIELD_LINE,
      .member = offsetof(struct send_order, packet.note),
      .max = NOTE_GRAPHEMES_MAX,
      .code_points_max = NOTE_CODE_POINTS_MAX,
      .malformed = "text/note_invalid",
      .high = "text/note_long",
      .wide = "text/note_long",
      .fold = SEND_FOLD_MORE,
      .says = "a line of text for yourself, which nobody else can read",
      .example = "Team lunch" },
    { .name = "opens_at",
      .type = &SEND_OPENS_AT,
      .member = offsetof(struct send_order, packet.opens_ms),
      .kept = KEPT_FIRST,
      .malformed = "text/opens_invalid",
      .high = "text/opens_late",
      .fold = SEND_FOLD_MORE,
      .says = "from when it can be opened, at most 30 days ahead: RFC 3339, or a day and time as `2026-12-01 20:00` "
              "or `2026/12/1 20:00` in the service's zone, also with a zone behind it; the lifetime counts from "
              "there" },
    { .name = "cover",
      .type = &SEND_COVER,
      .member = offsetof(struct send_order, packet.cover),
      .kept = KEPT_FIRST,
      .malformed = "text/cover_unknown",
      .says = "the picture of the envelope: `plain`, `spring-festival`, `mid-autumn`, `birthday`, `wedding`, `baby`, "
              "`new-job` or `thanks`, which have greetings of their own, or the `name` of one of GET /covers" },
    { .name = "request_key",
      .type = &FIELD_REQUEST_KEY,
      .member = offsetof(struct send_order, packet.request_key),
      .no_echo = true,
      .malformed = "text/request_key_invalid",
      .says = "your own key: a repeat with it pays nothing more and gets the same answer; another order with it is "
              "422, and `order` has the address of the first one",
      .example = "order-1" },
    { .name = NULL },
};

enum status send_order_read(struct exchange *x, struct send_order *out, struct form_errors *errors)
{
    const struct config *config = x->app->stores.config;
    *out = (struct send_order){ .packet = { .kind = PACKET_LUCKY,
                                            .split = SPLIT_DOUBLE_AVERAGE,
                                            .share_min_fen = 1,
                                            .share_max_fen = config->share_fen_max,
                                            .count = 1,
                                            .cover = packet_cover_stored(COVER_PLAIN) },
                                .amount_of = AMOUNT_OF_SHARE };
    enum status st = form_read(x, send_fields, out, errors);
    if (st != ST_OK)
        return st;
    if (out->packet.kind != PACKET_LUCKY)
        out->packet.split = SPLIT_EVEN;
    out->lifetime_by_default = out->lifetime_ms == 0;
    if (out->lifetime_by_default)
        out->lifetime_ms = config->packet_lifetime_ms;
    out->greeting_by_default = out->packet.greeting.len == 0;
    if (out->greeting_by_default)
        out->packet.greeting = cover_greeting(x, packet_cover_from(out->packet.cover));
    return out->packet.greeting.ptr == NULL ? ST_NO_MEMORY : ST_OK;
}
