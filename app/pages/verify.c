#include "pages/verify.h"

#include <stdlib.h>
#include <string.h>

#include "base/money.h"
#include "packet/grab.h"
#include "packet/receivers.h"
#include "packet/returns.h"
#include "packet/split.h"
#include "packet/store.h"
#include "pages/present.h"
#include "web/field_types.h"
#include "web/respond.h"
#include "web/view.h"

/* ---- the page ---- */

struct verification {
    struct packet packet;
    int64_t *shares_fen; /* recomputed, packet_share_total items */
    uint32_t first, end; /* shares of this page */
    struct grab *grabs;  /* grabs of these shares, in share order */
    size_t grab_count;
    struct share_return *returns; /* all returns of the packet */
    size_t return_count;
    bool commitment_ok, shares_ok;
};

const struct field verify_fields[] = {
    { .name = "after",
      .type = &FIELD_NUMBER,
      .max = PACKET_NO_SHARE - 1,
      .says = "the `next` of the page before: further shares" },
    { .name = NULL },
};

/* ?after=N: the page starts with share N + 1. Absent: with share 0. False: malformed or too large. */
static bool page_read(struct exchange *x, const struct packet *p, uint32_t *first)
{
    uint64_t after = PACKET_NO_SHARE;
    if (!query_read(x, verify_fields, &after) || (after != PACKET_NO_SHARE && after >= packet_share_total(p)))
        return false;
    *first = after == PACKET_NO_SHARE ? 0 : (uint32_t)after + 1;
    return true;
}

static enum status verification_find(struct exchange *x, struct verification *v)
{
    const struct packet *p = &v->packet;
    uint32_t total = packet_share_total(p);
    v->end = total - v->first > VERIFY_PAGE_SHARES ? v->first + VERIFY_PAGE_SHARES : total;
    enum status st =
        packet_grabs_between(x->app->stores.db, x->arena, p->id, v->first, v->end, &v->grabs, &v->grab_count);
    if (st == ST_OK)
        st = returns_find(x->app->stores.db, x->arena, p->id, &v->returns, &v->return_count);
    if (st != ST_OK)
        return st;
    uint8_t commitment[HASH_BYTES];
    split_commitment(p->seed, commitment);
    v->commitment_ok = memcmp(commitment, p->commitment, sizeof commitment) == 0;
    v->shares_fen = calloc(total, sizeof *v->shares_fen);
    if (v->shares_fen == NULL)
        return ST_NO_MEMORY;
    st = returns_shares(p, v->returns, v->return_count, v->shares_fen);
    v->shares_ok = st == ST_OK;
    for (size_t i = 0; v->shares_ok && i < v->grab_count; i++)
        v->shares_ok = v->grabs[i].amount_fen == v->shares_fen[v->grabs[i].share_no];
    return st == ST_INVALID ? ST_CORRUPT : st;
}

static void shares_model(struct exchange *x, struct model *m, const struct verification *v)
{
    const struct packet *p = &v->packet;
    struct value *shares = value_list(m, &m->root, "shares");
    size_t next_grab = 0;
    for (uint32_t i = v->first; i < v->end; i++) {
        bool grabbed = next_grab < v->grab_count && v->grabs[next_grab].share_no == i;
        struct value *share = value_add_object(m, shares);
        value_int(m, share, "share_no", i);
        view_money_model(m, share, "amount_fen", "amount_text", v->shares_fen[i]);
        value_bool(m, share, "grabbed", grabbed);
        if (grabbed)
            view_money_model(m, share, "paid_fen", "paid_text", v->grabs[next_grab].amount_fen);
        else
            value_null(m, share, "paid_fen");
        value_bool(m, share, "best", i == p->best_share_no && packet_is_taken(p));
        value_bool(m, share, "returned", grabbed && v->grabs[next_grab].returned);
        value_page_bool(m, share, "again", i >= p->count);
        value_page_text(m, share, "number", arena_printf(x->arena, "%u", i + 1));
        next_grab += grabbed ? 1 : 0;
    }
    if (v->end < packet_share_total(p)) {
        struct str path = present_packet_path(x, p->id);
        value_text(m, &m->root, "next", arena_printf(x->arena, "%u", v->end - 1));
        value_page_text(m, &m->root, "next_url",
                        arena_printf(x->arena, "%.*s/verify?after=%u", STR_ARG(path), v->end - 1));
    } else {
        value_null(m, &m->root, "next");
    }
}

enum { DECIMALS_OPTION_MAX = 32 };

/* The command line that recomputes the same shares. */
static struct str command_text(struct exchange *x, const struct verification *v, struct str seed)
{
    const struct packet *p = &v->packet;
    size_t added = 0; /* returns with a position come first */
    while (added < v->return_count && v->returns[added].position != PACKET_NO_SHARE)
        added++;
    struct str returned = returns_text(x->arena, v->returns, added);
    char total[MONEY_TEXT_MAX], share_max[MONEY_TEXT_MAX], share_min[MONEY_TEXT_MAX],
        decimals[DECIMALS_OPTION_MAX] = "";
    if (money_unit()->decimals != 2) /* which the command takes when it is not given */
        (void)snprintf(decimals, sizeof decimals, " --decimals %d", money_unit()->decimals);
    (void)money_format(p->amount_fen, total);
    (void)money_format(p->share_max_fen, share_max);
    (void)money_format(p->share_min_fen, share_min);
    struct str kind = packet_kind_name(p->kind);
    struct str split = split_method_name(p->split);
    return arena_printf(x->arena, "hongbao verify %.*s %.*s %s %u %.*s %s%s%s%s%s%.*s", STR_ARG(seed), STR_ARG(kind),
                        total, p->count, STR_ARG(split), share_max, p->share_min_fen > 1 ? " " : "",
                        p->share_min_fen > 1 ? share_min : "", decimals, added > 0 ? " --returned " : "",
                        STR_ARG(returned));
}

static void packet_model(struct exchange *x, struct model *m, const struct packet *p)
{
    struct value *root = &m->root;
    value_text(m, root, "id", present_packet_id(x, p->id));
    value_page_text(m, root, "url", present_packet_path(x, p->id));
    present_kind(m, root, p->kind);
    value_text(m, root, "split", split_method_name(p->split));
    present_split(m, root, p->split);
    view_count_model(m, root, "count", "count_one", p->count);
    value_text(m, root, "state", packet_state_name(packet_state_shown(p, x->now_ms)));
    view_time_model(m, root, "expires_at", "expires_at_text", p->expires_ms);
    value_text(m, root, "commitment", present_hex(x->arena, p->commitment, sizeof p->commitment));
}

/* named: a packet for named receivers, whose amounts are never shown to this visitor. */
static void sealed_model(struct model *m, bool over, bool named, bool guest)
{
    struct value *root = &m->root;
    value_null(m, root, "seed");
    value_null(m, root, "amount_fen");
    value_null(m, root, "commitment_ok");
    value_null(m, root, "shares_ok");
    (void)value_list(m, root, "shares");
    value_null(m, root, "next");
    value_page_bool(m, root, "revealed", false);
    value_page_bool(m, root, "login_hint", over && guest);
    value_page_bool(m, root, "named", named);
    value_page_bool(m, root, "withheld", over && named && !guest);
}

static void revealed_model(struct exchange *x, struct model *m, const struct verification *v)
{
    const struct packet *p = &v->packet;
    struct value *root = &m->root;
    struct str seed = present_hex(x->arena, p->seed, sizeof p->seed);
    value_text(m, root, "seed", seed);
    view_money_model(m, root, "amount_fen", "amount_text", p->amount_fen);
    view_money_model(m, root, "share_min_fen", "share_min_text", p->share_min_fen);
    value_page_bool(m, root, "has_share_min", p->share_min_fen > 1);
    value_int(m, root, "share_max_fen", p->share_max_fen);
    value_bool(m, root, "commitment_ok", v->commitment_ok);
    value_page_bool(m, root, "all_ok", v->commitment_ok && v->shares_ok);
    value_bool(m, root, "shares_ok", v->shares_ok);
    shares_model(x, m, v);
    value_page_text(m, root, "command", command_text(x, v, seed));
    value_page_bool(m, root, "revealed", true);
    value_page_bool(m, root, "login_hint", false);
}

enum step packet_verify(struct exchange *x)
{
    struct verification v = { 0 };
    enum status st = packet_find(x->app->stores.db, x->arena, x->id, &v.packet);
    if (st == ST_OK)
        st = receivers_find(x->app->stores.db, x->arena, &v.packet);
    if (st != ST_OK) {
        respond_status(x, st);
        return STEP_DONE;
    }
    if (!page_read(x, &v.packet, &v.first)) {
        respond_problem(x, &PROBLEM_BAD_REQUEST);
        return STEP_DONE;
    }
    bool over = packet_is_over(&v.packet);
    /* Only its named receivers and its sender see the amounts of such a packet. */
    bool others = x->visitor.user_id != v.packet.sender_id && !packet_is_for(&v.packet, x->visitor.user_id);
    bool revealed = over && x->visitor.user_id != 0 && !others;
    struct model m;
    model_init(&m, x->arena);
    packet_model(x, &m, &v.packet);
    if (revealed)
        st = verification_find(x, &v);
    if (st == ST_OK) {
        if (revealed)
            revealed_model(x, &m, &v);
        else
            sealed_model(&m, over, others, x->visitor.user_id == 0);
        respond_header(x, "X-Robots-Tag", STR("noindex"));
        respond_model(x, 200, "pages/verify", &m);
    } else {
        respond_status(x, st);
    }
    free(v.shares_fen);
    return STEP_DONE;
}
