#include "account/cover_page.h"

#include "account/picture_upload.h"
#include "io/picture_hash.h"
#include "user/cover_store.h"
#include "web/field_types.h"
#include "web/origin.h"
#include "web/respond.h"
#include "web/text.h"
#include "web/view.h"

struct covers_query {
    uint64_t saved, removed;
    struct str next;
};

const struct field covers_fields[] = {
    { .name = "saved",
      .type = &FIELD_NUMBER,
      .member = offsetof(struct covers_query, saved),
      .max = 1,
      .says = "a page for browsers: it says that a cover was added" },
    { .name = "removed",
      .type = &FIELD_NUMBER,
      .member = offsetof(struct covers_query, removed),
      .max = 1,
      .says = "a page for browsers: it says that a cover was removed" },
    { .name = "next",
      .type = &FIELD_LOCAL_PATH,
      .member = offsetof(struct covers_query, next),
      .says = "a page for browsers: a cover that is added leads there: /send, with its query" },
    { .name = NULL },
};

static void cover_item_model(struct model *m, struct value *object, struct str hash)
{
    value_text(m, object, "name", arena_printf(m->arena, "@%.*s", STR_ARG(hash)));
    view_cover_model(m, object, STR("own"), hash);
}

/* Cuts the path of a packet's form off the front of *rest. False: another path. */
static bool form_take(struct str *rest)
{
    return str_skip_prefix(rest, STR("/send")) && (rest->len == 0 || str_skip_prefix(rest, STR("?")));
}

/* The part of the path that is the path of a packet's form; empty: another path. */
static struct str form_path(struct str next)
{
    struct str rest = next;
    return origin_path_is_local(next) && form_take(&rest) ? next : STR("");
}

/* The address `next` of a packet's form, with this cover in place of the cover that it names. */
static struct str send_url(struct exchange *x, struct str next, struct str hash)
{
    struct str filled = form_take(&next) ? next : STR(""), before = filled, after = STR("");
    for (struct str rest = filled; rest.len > 0;) {
        struct str pair = str_cut(rest, '&', &rest);
        if (!str_starts(pair, STR("cover=")))
            continue;
        before = str_slice(filled, 0, (size_t)(pair.ptr - filled.ptr));
        after = str_or_empty(rest);
        break;
    }
    const bool joined = before.len == 0 || str_ends(before, STR("&"));
    return arena_printf(x->arena, "/send?%.*s%scover=%%40%.*s%s%.*s#cover", STR_ARG(before), joined ? "" : "&",
                        STR_ARG(hash), after.len > 0 ? "&" : "", STR_ARG(after));
}

static enum status covers_model(struct exchange *x, struct model *m, struct str next)
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
        value_page_text(m, object, "send_url", send_url(x, next, own.items[i]));
    }
    value_page_bool(m, &m->root, "room", own.count < OWN_COVERS_MAX);
    value_page_text(m, &m->root, "next", next);
    return ST_OK;
}

enum step covers_show(struct exchange *x)
{
    struct model m;
    struct covers_query query = { .next = STR("") };
    (void)query_read(x, covers_fields, &query); /* a malformed query counts as none */
    enum status st = covers_model(x, &m, form_path(query.next));
    if (st != ST_OK) {
        respond_status(x, st);
        return STEP_DONE;
    }
    value_page_bool(&m, &m.root, "saved", query.saved != 0);
    value_page_bool(&m, &m.root, "removed", query.removed != 0);
    respond_model(x, 200, "pages/covers", &m);
    return STEP_DONE;
}

static enum step answer_refused(struct exchange *x, const struct form_errors *e)
{
    struct model m;
    enum status st = covers_model(x, &m, form_path(picture_upload_text(x, "next")));
    if (st == ST_OK)
        respond_form_errors(x, "pages/covers", &m, e);
    else
        respond_status(x, st);
    return STEP_DONE;
}

static enum step answer_added(struct exchange *x, struct str hash)
{
    if (!x->wants_json) {
        struct str next = form_path(picture_upload_text(x, "next"));
        respond_see_other(x, next.len > 0 ? send_url(x, next, hash) : STR("/covers?saved=1"));
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

static struct str removed_url(struct exchange *x, struct str next)
{
    struct str url = STR("/covers?removed=1");
    return next.len == 0 ? url
                         : arena_printf(x->arena, "%.*s&next=%.*s", STR_ARG(url),
                                        STR_ARG(str_or_empty(form_encode(x->arena, next))));
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
        respond_see_other(x, removed_url(x, form_path(form_get(&x->form, "next", NULL))));
    return STEP_DONE;
}

enum step covers_redirect(struct exchange *x)
{
    respond_see_other(x, STR("/covers"));
    return STEP_DONE;
}
