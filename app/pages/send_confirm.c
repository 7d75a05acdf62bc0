#include "pages/send_confirm.h"

#include "base/money.h"
#include "pages/present.h"
#include "pages/send_form.h"
#include "web/kept_form.h"
#include "web/respond.h"

bool send_confirm_needed(const struct exchange *x, const struct send_order *order)
{
    bool from_page;
    struct str confirmed = form_get(&x->form, "confirmed", &from_page);

    return order->kind == PACKET_EXCLUSIVE && from_page && !x->wants_json && !str_equal(confirmed, order->to.items[0]);
}

static void field_model(struct model *m, struct value *fields, const char *name, struct str value)
{
    struct value *field = value_add_object(m, fields);
    value_page_text(m, field, "name", str_from(name));
    value_page_text(m, field, "value", value);
}

void send_confirm(struct exchange *x, const struct send_order *order, const struct receiver *receiver)
{
    struct model m;
    model_init(&m, x->arena);
    present_person(&m, &m.root, "receiver", receiver->id, receiver->name, &receiver->face);
    value_page_text(&m, &m.root, "username", order->to.items[0]);
    value_page_number(&m, &m.root, "amount_text", money_text(x->arena, order->amount_fen));
    value_page_text(&m, &m.root, "greeting", order->greeting);
    struct value *fields = value_page_list(&m, &m.root, "fields");
    for (const struct field *field = send_fields; field->name != NULL; field++) {
        struct str typed = form_get(&x->form, field->name, NULL);
        if (typed.len > 0 && !str_equal(str_from(field->name), STR("request_key")))
            field_model(&m, fields, field->name, typed);
    }
    field_model(&m, fields, "request_key", order->request_key);
    field_model(&m, fields, "confirmed", order->to.items[0]);
    value_page_text(&m, &m.root, "back_url", kept_form_url(x));
    respond_model(x, 200, "pages/send_confirm", &m);
}
