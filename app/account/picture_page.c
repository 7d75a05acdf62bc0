#include "account/picture_page.h"

#include "account/account_page.h"
#include "account/pages_internal.h"
#include "account/picture_upload.h"
#include "io/picture_hash.h"
#include "user/picture_store.h"
#include "user/session_list.h"
#include "web/field_types.h"
#include "web/respond.h"

enum { PICTURE_AGE_S_MAX = 86400 };

enum picture_news { NEWS_NONE, NEWS_SET, NEWS_REMOVED };

static struct str news_word(unsigned i)
{
    static const struct str words[] = {
        [NEWS_NONE] = { "none", 4 }, [NEWS_SET] = { "set", 3 }, [NEWS_REMOVED] = { "removed", 7 }
    };
    return i < sizeof words / sizeof words[0] ? words[i] : STR_NONE;
}

static const struct field news_fields[] = { { .name = PICTURE_FIELD, .type = &FIELD_WORD, .word = news_word },
                                            { .name = NULL } };

enum status picture_model(struct exchange *x, struct model *m)
{
    struct str hash;
    enum picture_news news = NEWS_NONE;
    enum status st = picture_of_user(x->app->stores.db, x->arena, x->visitor.user_id, &hash);
    if (st != ST_OK)
        return st;
    (void)query_read(x, news_fields, &news); /* a malformed query counts as none */
    value_page_bool(m, &m->root, "has_picture", hash.ptr != NULL);
    value_page_bool(m, &m->root, "picture_set", news == NEWS_SET);
    value_page_bool(m, &m->root, "picture_removed", news == NEWS_REMOVED);
    return ST_OK;
}

enum step picture_submit(struct exchange *x)
{
    const struct stores *stores = &x->app->stores;
    struct form_errors e = { .count = 0 };
    struct buf picture = BUF_EMPTY;
    struct face face;
    enum status st = picture_uploaded(x, PICTURE_SQUARE, &picture, &e);
    if (st == ST_OK)
        st = picture_set(stores->db, x->arena, x->visitor.user_id, buf_view(&picture), x->now_ms, &face);
    if (st == ST_OK)
        st = session_list_rename(stores, x->arena, x->visitor.user_id, NULL, &face);
    buf_free(&picture);
    if (e.count > 0)
        return account_refuse(x, &e);
    if (st != ST_OK) {
        picture_upload_failed(x, st);
        return STEP_DONE;
    }
    const struct user user = { .id = x->visitor.user_id,
                               .username = x->visitor.username,
                               .nickname = x->visitor.nickname };
    return answer_user(x, 200, &user, STR("/account?picture=set#own_picture"));
}

enum step picture_delete_submit(struct exchange *x)
{
    const struct stores *stores = &x->app->stores;
    struct face face;
    bool changed = false;
    enum status st = picture_remove(stores->db, x->arena, x->visitor.user_id, &changed, &face);
    if (st == ST_OK)
        st = session_list_rename(stores, x->arena, x->visitor.user_id, NULL, &face);
    if (st != ST_OK)
        respond_status(x, status_idempotent(st));
    else if (x->wants_json)
        respond_empty(x, 204);
    else
        respond_see_other(x, STR("/account?picture=removed#own_picture"));
    return STEP_DONE;
}

enum step picture_show(struct exchange *x)
{
    const struct str end = STR(".webp");
    struct str hash = x->params.key, bytes;
    if (str_ends(hash, end))
        hash.len -= end.len;
    enum status st = hash.len < x->params.key.len && picture_hash_valid(hash)
                         ? picture_find(x->app->stores.db, x->arena, hash, &bytes)
                         : ST_NOT_FOUND;
    if (st == ST_OK)
        respond_public(x, STR("image/webp"), PICTURE_AGE_S_MAX, bytes);
    else
        respond_status(x, st);
    return STEP_DONE;
}
