#include "account/recovery_page.h"

#include "account/lost_phone.h"
#include "account/pages_internal.h"
#include "account/proof.h"
#include "account/shown_once.h"
#include "user/recovery_store.h"
#include "web/field_types.h"
#include "web/limits.h"
#include "web/respond.h"
#include "web/security_log.h"

enum { RECOVERY_FEW = 3 }; /* with so few codes left, pages suggest a new set */

static const struct problem RECOVERY_UNKNOWN = { 503, "unknown", "text/recovery_unknown",
                                                 "text/recovery_unknown_detail", 1 };

enum status recovery_model(struct exchange *x, struct model *m)
{
    uint64_t left;
    enum status st = recovery_codes_count(x->app->stores.db, x->arena, x->visitor.user_id, &left);

    if (st != ST_OK)
        return st;
    value_int(m, &m->root, "recovery_codes", (int64_t)left);
    value_page_bool(m, &m->root, "has_recovery_codes", left > 0);
    value_page_bool(m, &m->root, "recovery_one", left == 1);
    value_page_bool(m, &m->root, "recovery_few", left <= RECOVERY_FEW);
    return ST_OK;
}

static enum status page_model(struct exchange *x, struct model *m, const struct proof *proof)
{
    model_init(m, x->arena);
    proof_model(x, m, proof, "password", "/account/recovery");
    value_page_text(m, &m->root, "username", x->visitor.username);
    lost_phone_model(m, x->method == METHOD_POST ? lost_phone_from_form(x) : lost_phone_from_query(x));
    return recovery_model(x, m);
}

static const struct field made_fields[] = { { .name = "made", .type = &FIELD_NUMBER, .max = 1 }, { .name = NULL } };

/* A data: address with the codes as a text file, which a browser saves without a request. STR_NONE
 * without memory. */
static struct str codes_url(struct exchange *x, struct str lines)
{
    struct str text = arena_printf(x->arena, "%s\n%.*s\n\n%.*s\n", x->app->stores.config->base_url,
                                   STR_ARG(x->visitor.username), STR_ARG(lines));
    struct str encoded = text.ptr == NULL ? STR_NONE : form_encode(x->arena, text);
    return encoded.ptr == NULL ? STR_NONE
                               : arena_printf(x->arena, "data:text/plain;charset=utf-8,%.*s", STR_ARG(encoded));
}

/* What the page shows after codes were made: the codes, or that they were shown before. */
static void made_model(struct exchange *x, struct model *m)
{
    uint64_t made = 0;
    (void)query_read(x, made_fields, &made); /* a malformed query counts as none */
    if (made == 0 || x->wants_json)
        return;
    struct str lines = shown_once_read(x, SHOWN_CODES);
    if (lines.ptr != NULL) {
        value_page_text(m, &m->root, "new_codes", lines);
        value_page_text(m, &m->root, "codes_url", codes_url(x, lines));
        value_page_text(m, &m->root, "onward", next_from_query(x));
        struct value *list = value_page_list(m, &m->root, "codes");
        for (struct str rest = lines; rest.len > 0;)
            value_page_text(m, value_add_object(m, list), "code", str_cut(rest, '\n', &rest));
        shown_once_clear(x, SHOWN_CODES);
    } else {
        value_page_bool(m, &m->root, "shown_before", true);
    }
}

enum step recovery_show(struct exchange *x)
{
    struct model m;
    struct proof proof;
    enum status st = proof_begin(x, &proof);
    if (st == ST_OK)
        st = page_model(x, &m, &proof);

    if (st == ST_OK) {
        made_model(x, &m);
        respond_model(x, 200, "pages/recovery", &m);
    } else {
        respond_status(x, status_idempotent(st));
    }
    return STEP_DONE;
}

static enum step recovery_refuse(struct exchange *x, const struct proof *proof, const struct form_errors *e)
{
    struct model m;
    enum status st = page_model(x, &m, proof);

    if (st == ST_OK)
        respond_form_errors(x, "pages/recovery", &m, e);
    else
        respond_status(x, status_idempotent(st));
    return STEP_DONE;
}

bool recovery_codes_new(struct exchange *x, struct str username, struct recovery_code codes[RECOVERY_CODES],
                        struct str hashes[RECOVERY_CODES])
{
    const struct keys *keys = &x->app->stores.config->keys;

    for (unsigned slot = 0; slot < RECOVERY_CODES; slot++) {
        if (!recovery_code_make(x->arena, keys_get(keys, KEY_RECOVERY_CODE), username, slot, &codes[slot]))
            return false;
        hashes[slot] = recovery_code_hash(x->arena, keys_get(keys, KEY_RECOVERY_HASH), username, &codes[slot]);
        if (hashes[slot].ptr == NULL)
            return false;
    }
    return true;
}

/* Makes the codes and stores their hashes. codes: RECOVERY_CODES. ST_UNKNOWN: perhaps they are stored. */
static enum status codes_make(struct exchange *x, struct recovery_code *codes)
{
    struct str hashes[RECOVERY_CODES];
    if (!recovery_codes_new(x, x->visitor.username, codes, hashes))
        return ST_NO_MEMORY;
    return recovery_codes_replace(x->app->stores.db, x->arena, x->visitor.user_id, hashes, x->now_ms);
}

static void codes_answer_json(struct exchange *x, const struct recovery_code *codes)
{
    struct model m;

    model_init(&m, x->arena);
    struct value *list = value_list(&m, &m.root, "codes");
    for (unsigned slot = 0; slot < RECOVERY_CODES; slot++)
        value_text(&m, value_add_object(&m, list), "code", arena_str(x->arena, str_from(codes[slot].text)));
    respond_model(x, 201, NULL, &m);
}

void recovery_codes_show(struct exchange *x, const struct recovery_code codes[RECOVERY_CODES])
{
    struct str lines = STR("");

    for (unsigned slot = 0; slot < RECOVERY_CODES; slot++)
        lines = arena_printf(x->arena, "%.*s%s%s", STR_ARG(lines), slot > 0 ? "\n" : "", codes[slot].text);
    shown_once_give(x, SHOWN_CODES, lines);
}

/* Redirects to the page that shows the codes once. */
static void codes_answer_page(struct exchange *x, const struct recovery_code *codes)
{
    recovery_codes_show(x, codes);
    respond_see_other(x, lost_phone_path(x->arena, "/account/recovery?made=1", lost_phone_from_form(x)));
}

static enum step codes_answer(struct exchange *x, const struct recovery_code *codes)
{
    x->fallback_problem = &RECOVERY_UNKNOWN;
    security_log(x, SECURITY_RECOVERY_CODES_MADE, x->visitor.user_id, NULL);
    if (x->wants_json)
        codes_answer_json(x, codes);
    else
        codes_answer_page(x, codes);
    return STEP_DONE;
}

enum step recovery_submit(struct exchange *x)
{
    struct recovery_code codes[RECOVERY_CODES];
    struct form_errors e;
    struct proof proof;
    enum status st;

    if (!proof_form(x, &proof, &e, &st))
        return STEP_DONE;
    if (st == ST_INVALID)
        return recovery_refuse(x, &proof, &e);
    if (st == ST_OK && !limits_take(x, &(struct limit_use){ .limit = LIMIT_RECOVERY_MAKE }, 1))
        return STEP_DONE;
    if (st == ST_OK)
        st = codes_make(x, codes);
    if (st == ST_OK)
        return codes_answer(x, codes);
    if (st == ST_UNKNOWN)
        respond_problem(x, &RECOVERY_UNKNOWN);
    else
        respond_status(x, st);
    return STEP_DONE;
}
