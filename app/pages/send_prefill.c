#include "pages/send_prefill.h"

#include <assert.h>

#include "base/clock.h"
#include "base/money.h"
#include "packet/receivers.h"
#include "packet/rules.h"
#include "packet/store.h"
#include "user/store.h"
#include "web/field_types.h"
#include "web/kept_form.h"
#include "web/security_log.h"

enum { MINUTE_MS = 60000 }; /* the form has minutes */

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

/* The time of an opening that is still to come, as an input of type datetime-local wants it. */
static void opening_fill(struct exchange *x, const struct packet *p, struct prefill *out)
{
    out->lacks_opening = p->opens_ms != 0 && p->opens_ms < x->now_ms + MINUTE_MS;
    if (p->opens_ms == 0 || out->lacks_opening)
        return;
    fill(&out->form, "opens_at", clock_zone_input(x->arena, p->opens_ms - p->opens_ms % MINUTE_MS));
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

/* The usernames of the receivers, with blanks between; *count: how many there are. */
static enum status receivers_fill(struct exchange *x, const struct packet *p, struct prefill *out, size_t *count)
{
    struct str_list names;
    struct str text = STR("");
    enum status st = receivers_usernames(x->app->stores.db, x->arena, p, &names);
    if (st != ST_OK)
        return st;
    *count = names.count;
    for (size_t i = 0; i < names.count; i++)
        text = arena_printf(x->arena, "%.*s%s%.*s", STR_ARG(text), i > 0 ? " " : "", STR_ARG(names.items[i]));
    fill(&out->form, "to", text);
    if (names.count == 0)
        return ST_OK;
    return users_find_by_names(x->app->stores.db, x->arena, &names, &out->receivers.users, &out->receivers.count);
}

static enum status again_fill(struct exchange *x, uint64_t packet_id, struct prefill *prefill)
{
    struct packet p;
    struct form *out = &prefill->form;
    enum status st = packet_find(x->app->stores.db, x->arena, packet_id, &p);
    if (st == ST_OK && p.sender_id != x->visitor.user_id) {
        security_log(x, SECURITY_ACCESS_REFUSED, x->visitor.user_id, NULL);
        return ST_NOT_FOUND;
    }
    if (st != ST_OK)
        return st;
    fill(out, "kind", packet_kind_name(p.kind));
    amount_fill(x, &p, out);
    fill(out, "greeting", p.greeting);
    fill(out, "cover", p.cover);
    fill(out, "lifetime", lifetime_word(x, &p));
    if (p.kind == PACKET_LUCKY)
        fill(out, "split", split_method_name(p.split));
    if (p.share_min_fen > 1)
        fill(out, "share_min", money_text(x->arena, p.share_min_fen));
    prefill->lacks_phrase = p.phrase_hash.len > 0;
    opening_fill(x, &p, prefill);
    size_t named = 0;
    st = receivers_fill(x, &p, prefill, &named);
    /* Without a count each of the named gets a share, also when one of them is deleted. */
    if (p.kind != PACKET_EXCLUSIVE && (p.receiver_count == 0 || p.count <= named))
        fill(out, "count", arena_printf(x->arena, "%u", p.count));
    return st;
}

/* For the sender of a packet that the visitor has a share of; the form lists that person's username anyway, among the
 * people one knows. Nothing without a share, or before it is settled. */
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
    { .name = "to", .type = &FIELD_TEXT, .member = offsetof(struct prefill_query, to) },
    { .name = "again", .type = &FIELD_TEXT, .member = offsetof(struct prefill_query, again) },
    { .name = "back", .type = &FIELD_TEXT, .member = offsetof(struct prefill_query, back) },
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
    kept_form_copy(x, &out->form);
    struct str lacks = query_get(x, "lacks", NULL);
    out->lacks_phrase = str_starts(lacks, STR("phrase"));
    out->lacks_to = str_ends(lacks, STR("to"));
    if (query.to.len > 0 && form_get(&out->form, "kind", NULL).len == 0)
        fill(&out->form, "kind", packet_kind_name(PACKET_EXCLUSIVE));
    return ST_OK;
}
