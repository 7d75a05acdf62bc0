#include "pages/send_prefill.h"

#include <assert.h>

#include "packet/receivers.h"
#include "packet/store.h"
#include "pages/send_form.h"
#include "user/store.h"
#include "web/field_types.h"
#include "web/kept_form.h"
#include "web/security_log.h"

static void fill(struct form *form, const char *name, struct str value)
{
    assert(form->count < FORM_FIELDS_MAX);
    form->fields[form->count++] = (struct form_field){ str_from(name), value };
}

/* Reads the usernames of the receivers into *to, and the users. */
static enum status receivers_read(struct exchange *x, const struct packet *p, struct str_list *to,
                                  struct people_known *users)
{
    struct db *db = x->app->stores.db;
    enum status st = receivers_usernames(db, x->arena, p, to);
    if (st != ST_OK || to->count == 0)
        return st;
    return users_find_by_names(db, x->arena, to, &users->users, &users->count);
}

/* Fills the form so that it orders the same packet again. The amount is the total of a lucky packet, and of an even
 * packet with unequal shares; otherwise it is one share. */
static enum status again_fill(struct exchange *x, uint64_t packet_id, struct prefill *out)
{
    struct send_order order = { .amount_of = AMOUNT_OF_SHARE };
    struct packet *p = &order.packet;
    enum status st = packet_find(x->app->stores.db, x->arena, packet_id, p);
    if (st == ST_OK && p->sender_id != x->visitor.user_id) {
        security_log(x, SECURITY_ACCESS_REFUSED, x->visitor.user_id, NULL);
        return ST_NOT_FOUND;
    }
    if (st == ST_OK)
        st = receivers_read(x, p, &order.to, &out->receivers);
    if (st != ST_OK)
        return st;
    if (p->amount_fen % p->count != 0)
        order.amount_of = AMOUNT_OF_TOTAL;
    order.lifetime_ms = packet_lifetime_ms(p);
    form_write(x, send_fields, &order, &out->form);
    out->lacks_phrase = p->phrase_hash.len > 0;
    out->lacks_opening = p->opens_ms != 0 && form_get(&out->form, "opens_at", NULL).len == 0;
    return ST_OK;
}

/* Fills the form for the sender of a packet of which the visitor has a share; the form lists that person among the
 * visitor's people anyway. Fills nothing without a share, or before it is settled. */
static enum status back_fill(struct exchange *x, uint64_t packet_id, struct prefill *out)
{
    struct db *db = x->app->stores.db;
    struct packet p;
    struct grab mine;
    struct user *sender = NULL;
    size_t count = 0;
    enum status st = packet_grab_of(db, x->arena, packet_id, x->visitor.user_id, &mine);
    if (st == ST_OK)
        st = packet_find_sender(db, x->arena, packet_id, &p);
    if (st == ST_OK && p.sender_id != x->visitor.user_id)
        st = users_find_by_ids(db, x->arena, &p.sender_id, 1, &sender, &count);
    if (st == ST_OK && count > 0) {
        fill(&out->form, "kind", packet_kind_name(PACKET_EXCLUSIVE));
        fill(&out->form, "to", sender->username);
        out->receivers = (struct people_known){ sender, 1 };
        out->back = true;
    }
    return st == ST_NOT_FOUND ? ST_OK : st;
}

struct prefill_query {
    struct str to, again, back;
};

const struct field send_prefill_fields[] = {
    { .name = "to",
      .type = &FIELD_TEXT,
      .member = offsetof(struct prefill_query, to),
      .says = "a page for browsers: the form for this user" },
    { .name = "again",
      .type = &FIELD_TEXT,
      .member = offsetof(struct prefill_query, again),
      .says = "a page for browsers: the form as for this packet of one's own, without its passphrase and an opening "
              "that has passed" },
    { .name = "back",
      .type = &FIELD_TEXT,
      .member = offsetof(struct prefill_query, back),
      .says = "a page for browsers: the form for the sender of this packet" },
    { .name = NULL },
};

enum status send_prefill(struct exchange *x, struct prefill *out)
{
    uint64_t packet_id;
    struct prefill_query query = { .to = STR(""), .again = STR(""), .back = STR("") };
    *out = (struct prefill){ .lacks_phrase = false };
    (void)query_read(x, send_prefill_fields, &query); /* an empty field counts as none */
    if (query.again.len > 0)
        return public_id_decode(&x->app->id_key, query.again, &packet_id) ? again_fill(x, packet_id, out)
                                                                          : ST_NOT_FOUND;
    if (query.back.len > 0)
        return public_id_decode(&x->app->id_key, query.back, &packet_id) ? back_fill(x, packet_id, out) : ST_OK;
    kept_form_copy(x, send_fields, &out->form);
    struct str lacks = query_get(x, "lacks", NULL);
    out->lacks_phrase = str_starts(lacks, STR("phrase"));
    out->lacks_note = str_find(lacks, STR("note")) < lacks.len;
    out->lacks_to = str_ends(lacks, STR("to"));
    if (query.to.len > 0 && form_get(&out->form, "kind", NULL).len == 0)
        fill(&out->form, "kind", packet_kind_name(PACKET_EXCLUSIVE));
    return ST_OK;
}
