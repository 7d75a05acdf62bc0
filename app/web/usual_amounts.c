#include "web/usual_amounts.h"

#include "base/money.h"
#include "base/utf8.h"

enum { AMOUNTS_MAX = 6 };

/* In ascending order; 0 ends a list. */
static const int64_t AMOUNTS_FEN[][AMOUNTS_MAX] = {
    [USUAL_GIFTS] = { 666, 888, 1880, 6600, 8800, 18800 }, [USUAL_DEPOSITS] = { 5000, 10000, 20000, 50000 }
};

void usual_amounts_model(struct model *m, struct value *object, const char *name, enum usual_amounts which,
                         int64_t fen_max, usual_link *link, void *context)
{
    const int64_t *fen = AMOUNTS_FEN[which];
    if (fen[0] > fen_max)
        return;
    struct value *usual = value_page_object(m, object, name);
    value_page_bool(m, usual, "stacked", utf8_codepoints(str_from(money_unit()->symbol)) > 1);
    struct value *list = value_page_list(m, usual, "amounts");
    for (size_t i = 0; i < AMOUNTS_MAX && fen[i] != 0 && fen[i] <= fen_max; i++) {
        struct value *o = value_add_object(m, list);
        const struct str amount =
            which == USUAL_GIFTS ? money_text(m->arena, fen[i]) : money_limit_text(m->arena, fen[i]);
        value_page_text(m, o, "amount", amount);
        value_page_number(m, o, "amount_text", amount);
        value_page_text(m, o, "url", link(m, amount, context));
    }
}
