#include "pages/send_prefill.h"

#include <assert.h>

#include "base/money.h"
#include "packet/rules.h"
#include "packet/store.h"
#include "web/field_types.h"

/* Adds a field; an empty value adds none. */
static void fill(struct form *form, const char *name, struct str value)
{
    assert(form->count < FORM_FIELDS_MAX);
    if (value.len > 0)
        form->fields[form->count++] = (struct form_field){ str_from(name), value };
}

/* The total of a lucky packet, else one share; but the total of an even packet whose shares are not all the same. */
static void amount_fill(struct exchange *x, const struct packet *p, struct form *out)
{
    bool equal = p->amount_fen % p->count == 0;
    bool is_total = p->kind == PACKET_LUCKY || !equal;
    fill(out, "amount", money_text(x->arena, is_total ? p->amount_fen : p->amount_fen / p->count));
    if (p->kind == PACKET_EVEN && !equal)
        fill(out, "amount_of", STR("total"));
}

/* The lifetime's word, if the setting still has it. */
static struct str lifetime_word(const struct exchange *x, const struct packet *p)
{
    struct str word;
    int64_t ms;
    for (size_t i = 0; rules_lifetime(x->app->stores.config, i, &word, &ms); i++)
        if (ms == packet_lifetime_ms(p))
            return word;
    return STR("");
}

/* The usernames of the receivers, with blanks between. The rows of an old exclusive packet have only the id in it. */
static enum status receivers_fill(struct exchange *x, const struct packet *p, struct form *out)
{
    struct db_rows rows;
    struct str names = STR("");
    if (p->kind != PACKET_EXCLUSIVE && p->receiver_count == 0)
        return ST_OK;
    enum status st = db_query(x->app->stores.db, x->arena, &rows,
                              "SELECT username FROM user WHERE id = ? UNION SELECT user.username FROM packet_receiver "
                              "JOIN user ON user.id = packet_receiver.user_id WHERE packet_receiver.packet_id = ?",
                              DB_PARAMS(DB_U64(p->receiver_id), DB_U64(p->id)));
    if (st != ST_OK)
        return st;
    for (size_t i = 0; i < rows.count; i++)
        names = arena_printf(x->arena, "%.*s%s%.*s", STR_ARG(names), i > 0 ? " " : "", STR_ARG(db_cell(&rows, i, 0)));
    fill(out, "to", names);
    return ST_OK;
}

static enum status again_fill(struct exchange *x, uint64_t packet_id, struct form *out)
{
    struct packet p;
    enum status st = packet_find(x->app->stores.db, x->arena, packet_id, &p);
    if (st == ST_OK && p.sender_id != x->visitor.user_id)
        st = ST_NOT_FOUND;
    if (st != ST_OK)
        return st;
    fill(out, "kind", packet_kind_name(p.kind));
    amount_fill(x, &p, out);
    fill(out, "greeting", p.greeting);
    fill(out, "cover", p.cover);
    fill(out, "lifetime", lifetime_word(x, &p));
    if (p.kind != PACKET_EXCLUSIVE)
        fill(out, "count", arena_printf(x->arena, "%u", p.count));
    if (p.kind == PACKET_LUCKY)
        fill(out, "split", split_method_name(p.split));
    if (p.share_min_fen > 1)
        fill(out, "share_min", money_text(x->arena, p.share_min_fen));
    return receivers_fill(x, &p, out);
}

struct prefill_query {
    struct str to, again;
};

const struct field send_prefill_fields[] = {
    { .name = "to", .type = &FIELD_TEXT, .member = offsetof(struct prefill_query, to) },
    { .name = "again", .type = &FIELD_TEXT, .member = offsetof(struct prefill_query, again) },
    { .name = NULL },
};

enum status send_prefill(struct exchange *x, struct form *out)
{
    uint64_t packet_id;
    struct prefill_query query = { .to = STR(""), .again = STR("") };
    *out = (struct form){ .count = 0 };
    (void)query_read(x, send_prefill_fields, &query); /* an empty field counts as none */
    if (query.again.len > 0)
        return public_id_decode(&x->app->id_key, query.again, &packet_id) ? again_fill(x, packet_id, out)
                                                                          : ST_NOT_FOUND;
    if (query.to.len > 0) {
        fill(out, "kind", packet_kind_name(PACKET_EXCLUSIVE));
        fill(out, "to", query.to);
    }
    return ST_OK;
}
