#include "user/cover_page.h"

#include "io/picture_hash.h"
#include "user/cover_store.h"
#include "user/picture_upload.h"
#include "web/field_types.h"
#include "web/multipart.h"
#include "web/respond.h"
#include "web/text.h"
#include "web/view.h"

struct covers_query {
    uint64_t saved, removed, sending;
};

const struct field covers_fields[] = {
    { .name = "saved", .type = &FIELD_NUMBER, .member = offsetof(struct covers_query, saved), .max = 1 },
    { .name = "removed", .type = &FIELD_NUMBER, .member = offsetof(struct covers_query, removed), .max = 1 },
    { .name = "sending", .type = &FIELD_NUMBER, .member = offsetof(struct covers_query, sending), .max = 1 },
    { .name = NULL },
};

static void cover_item_model(struct model *m, struct value *object, struct str hash)
{
    value_text(m, object, "name", arena_printf(m->arena, "@%.*s", STR_ARG(hash)));
    view_cover_model(m, object, STR("own"), hash);
}

static enum status covers_model(struct exchange *x, struct model *m, bool sending)
{
    struct str_list own = { NULL, 0 };
    enum status st = covers_find(x->app->stores.db, x->arena, x->visitor.user_id, &own);
    if (st != ST_OK)
        return st;
    model_init(m, x->arena);
    value_int(m, &m->root, "covers_max", OWN_COVERS_MAX);
    struct value *list = value_list(m, &m->root, "covers");
    for (size_t i = 0; i < own.count; i++) {
        struct value *object = value_add_object(m, list);
        cover_item_model(m, object, own.items[i]);
        value_page_text(m, object, "hash", own.items[i]);
        value_page_number(m, object, "own", arena_printf(x->arena, "%zu", i + 1));
    }
    value_page_bool(m, &m->root, "room", own.count < OWN_COVERS_MAX);
    value_page_bool(m, &m->root, "sending", sending);
    return ST_OK;
}

enum step covers_show(struct exchange *x)
{
    struct model m;
    struct covers_query query = { 0 };
    (void)query_read(x, covers_fields, &query); /* a malformed query counts as none */
    enum status st = covers_model(x, &m, query.sending != 0);
    if (st != ST_OK) {
        respond_status(x, st);
        return STEP_DONE;
    }
    value_page_bool(&m, &m.root, "saved", query.saved != 0);
    value_page_bool(&m, &m.root, "removed", query.removed != 0);
    respond_model(x, 200, "pages/covers", &m);
    return STEP_DONE;
}

/* True when the form was opened from the form of a packet. The whole body was checked. */
static bool is_sending(struct exchange *x)
{
    struct str sending = STR("");
    return x->fcgi->body.len > 0 &&
           multipart_find(exchange_param(x, "CONTENT_TYPE"), x->fcgi->body, "sending", &sending) == ST_OK &&
           sending.len > 0;
}

static enum step answer_refused(struct exchange *x, const struct form_errors *e)
{
    struct model m;
    enum status st = covers_model(x, &m, is_sending(x));
    if (st == ST_OK)
        respond_form_errors(x, "pages/covers", &m, e);
    else
        respond_status(x, st);
    return STEP_DONE;
}

static enum step answer_added(struct exchange *x, struct str hash)
{
    if (!x->wants_json) {
        respond_see_other(x, is_sending(x) ? arena_printf(x->arena, "/send?cover=%%40%.*s#cover", STR_ARG(hash))
                                           : STR("/covers?saved=1"));
        return STEP_DONE;
    }
    struct model m;
    model_init(&m, x->arena);
    cover_item_model(&m, &m.root, hash);
    respond_model(x, 201, "pages/covers", &m);
    return STEP_DONE;
}

enum step cover_submit(struct exchange *x)
{
    struct form_errors e = { .count = 0 };
    struct buf picture = BUF_EMPTY;
    struct str hash = STR_NONE;
    bool full = false;
    enum status st = picture_uploaded(x, PICTURE_COVER, &picture, &e);
    if (st == ST_OK)
        st = cover_add(x->app->stores.db, x->arena, x->visitor.user_id, buf_view(&picture), x->now_ms, &full, &hash);
    buf_free(&picture);
    if (full)
        form_fail_with(&e, PICTURE_FIELD, "text/cover_many", arena_printf(x->arena, "%d", OWN_COVERS_MAX));
    if (e.count > 0)
        return answer_refused(x, &e);
    if (st == ST_OK)
        return answer_added(x, hash);
    picture_upload_failed(x, st);
    return STEP_DONE;
}

enum step cover_delete_submit(struct exchange *x)
{
    enum status st = picture_hash_valid(x->params.key)
                         ? cover_remove(x->app->stores.db, x->visitor.user_id, x->params.key)
                         : ST_NOT_FOUND;
    if (st != ST_OK)
        respond_status(x, status_idempotent(st));
    else if (x->wants_json)
        respond_empty(x, 204);
    else
        respond_see_other(x, STR("/covers?removed=1"));
    return STEP_DONE;
}

enum step covers_redirect(struct exchange *x)
{
    respond_see_other(x, STR("/covers"));
    return STEP_DONE;
}
