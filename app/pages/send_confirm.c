#include "pages/send_confirm.h"

#include "base/money.h"
#include "pages/covers.h"
#include "pages/people.h"
#include "pages/present.h"
#include "pages/send_form.h"
#include "pages/show_model.h"
#include "web/kept_form.h"
#include "web/respond.h"
#include "web/view.h"

/* The value of `confirmed` after the sender has seen these people: their usernames. STR_NONE without memory. */
static struct str names_text(struct exchange *x, const struct send_order *order)
{
    struct str text = STR("");
    for (size_t i = 0; text.ptr != NULL && i < order->to.count; i++)
        text = arena_printf(x->arena, "%.*s%s%.*s", STR_ARG(text), i > 0 ? " " : "", STR_ARG(order->to.items[i]));
    return text;
}

static bool all_known(const struct people_known *people, const struct receivers *receivers)
{
    for (size_t i = 0; i < receivers->count; i++) {
        bool known = false;
        for (size_t j = 0; j < people->count; j++)
            known = known || people->users[j].id == receivers->items[i].id;
        if (!known)
            return false;
    }
    return true;
}

enum status send_confirm_needed(struct exchange *x, const struct send_order *order, const struct receivers *receivers,
                                bool *needed)
{
    bool from_page;
    struct people_known people;
    const struct str confirmed = form_get(&x->form, "confirmed", &from_page), names = names_text(x, order);

    *needed = order->to.count > 0 && from_page && !x->wants_json && !str_equal(confirmed, names);
    if (names.ptr == NULL)
        return ST_NO_MEMORY;
    if (!*needed || order->packet.kind == PACKET_EXCLUSIVE)
        return ST_OK;
    enum status st = people_find(x, &people);
    *needed = st == ST_OK && !all_known(&people, receivers);
    return st;
}

static void field_model(struct model *m, struct value *fields, const char *name, struct str value)
{
    struct value *field = value_add_object(m, fields);
    value_page_text(m, field, "name", str_from(name));
    value_page_text(m, field, "value", value);
}

static void receivers_model(struct model *m, const struct receivers *receivers)
{
    const struct receiver *first = &receivers->items[0];
    if (receivers->count == 1) {
        present_person(m, &m->root, "receiver", first->id, first->name, &first->face);
        value_page_text(m, &m->root, "username", first->username);
        return;
    }
    struct value *several = value_page_object(m, &m->root, "several");
    value_page_int(m, several, "count", (int64_t)receivers->count);
    struct value *list = value_page_list(m, several, "people");
    for (size_t i = 0; i < receivers->count; i++) {
        const struct receiver *one = &receivers->items[i];
        struct value *person = value_add_object(m, list);
        value_page_text(m, person, "username", one->username);
        value_page_text(m, person, "nickname", one->name);
        view_avatar_model(m, person, one->id, one->name, &one->face);
    }
}

void send_confirm(struct exchange *x, const struct send_order *order, const struct receivers *receivers)
{
    struct model m;
    model_init(&m, x->arena);
    receivers_model(&m, receivers);
    value_page_number(&m, &m.root, "amount_text", money_text(x->arena, order->packet.amount_fen));
    value_page_text(&m, &m.root, "greeting", order->packet.greeting);
    show_greeting_class(&m, order->packet.greeting);
    cover_model(&m, &m.root, order->packet.cover);
    struct value *fields = value_page_list(&m, &m.root, "fields");
    for (const struct field *field = send_fields; field->name != NULL; field++) {
        struct str typed = form_get(&x->form, field->name, NULL);
        if (typed.len > 0 && !field->no_echo)
            field_model(&m, fields, field->name, typed);
    }
    field_model(&m, fields, "request_key", order->packet.request_key);
    field_model(&m, fields, "confirmed", names_text(x, order));
    value_page_text(&m, &m.root, "back_url", kept_form_url(x));
    respond_model(x, 200, "pages/send_confirm", &m);
}
