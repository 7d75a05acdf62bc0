#include "records/inbox.h"

#include <inttypes.h>

#include "base/array.h"
#include "pages/covers.h"
#include "pages/present.h"
#include "redis/reply.h"
#include "web/view.h"

#define NEWS_KEY    "hb:news:"
#define SEEN_AGE_MS ((int64_t)86400000)
enum { NEWS_TTL_S = 30 * 86400, INBOX_FACES_MAX = 3 };

/* The value of the key: "COUNT,COUNTED_MS,SEEN_MS". */
struct news {
    int64_t count;
    int64_t counted_ms; /* 0: not counted yet */
    int64_t seen_ms;
};

static struct str key_text(struct exchange *x)
{
    return arena_printf(x->arena, NEWS_KEY "%" PRIu64, x->visitor.user_id);
}

static struct news news_parse(struct str text)
{
    struct news news = { 0 };
    struct str rest;
    struct str count = str_cut(text, ',', &rest);
    struct str counted = str_cut(rest, ',', &rest);
    if (str_to_i64(count, &news.count) && str_to_i64(counted, &news.counted_ms) && str_to_i64(rest, &news.seen_ms))
        return news;
    return (struct news){ 0 };
}

/* Reads the value. False: Redis does not answer. A missing or malformed value means that the user has never looked. */
static bool news_read(struct exchange *x, struct news *out)
{
    struct redis_call call = { 0 };
    const struct str args[] = { STR("GET"), key_text(x) };
    *out = (struct news){ 0 };
    bool ok = args[1].ptr != NULL && redis_do(x->app->stores.redis, &call, args, ARRAY_LEN(args)) == ST_OK;
    if (ok && !redis_reply_is_nil(call.reply))
        *out = news_parse(str_or_empty(redis_reply_str(call.reply)));
    redis_call_free(&call);
    return ok;
}

/* Writes the value. If it gets lost, it is counted again. */
static void news_write(struct exchange *x, const struct news *news)
{
    struct redis_call call = { 0 };
    struct str value =
        arena_printf(x->arena, "%" PRId64 ",%" PRId64 ",%" PRId64, news->count, news->counted_ms, news->seen_ms);
    const struct str args[] = { STR("SET"), key_text(x), value, STR("EX"), arena_printf(x->arena, "%d", NEWS_TTL_S) };
    if (args[1].ptr != NULL && value.ptr != NULL && args[4].ptr != NULL)
        (void)redis_do(x->app->stores.redis, &call, args, ARRAY_LEN(args));
    redis_call_free(&call);
}

static bool is_fresh(const struct exchange *x, const struct news *news)
{
    return news->counted_ms <= x->now_ms && x->now_ms - news->counted_ms < NEWS_AGE_MS;
}

int64_t inbox_news_count(struct exchange *x)
{
    struct news news;
    struct inbox inbox;
    if (x->news_seen || !news_read(x, &news))
        return 0;
    if (is_fresh(x, &news))
        return news.count;
    if (inbox_find(x->app->stores.db, x->arena, x->visitor.user_id, x->now_ms, NULL, &inbox) != ST_OK)
        return 0;
    news.count = 0;
    for (size_t i = 0; i < inbox.count; i++)
        news.count += inbox.items[i].ms > news.seen_ms;
    news.counted_ms = x->now_ms;
    news_write(x, &news);
    return news.count;
}

/* Whether a new value would change the next page, or the present one expires soon. Otherwise it is not written: a write
 * of Redis is an fsync. */
static bool seen_is_news(const struct exchange *x, const struct news *news, const struct inbox *inbox)
{
    for (size_t i = 0; i < inbox->count; i++)
        if (inbox->items[i].ms > news->seen_ms)
            return true;
    return news->count > 0 || x->now_ms - news->seen_ms > SEEN_AGE_MS;
}

int64_t inbox_news_seen(struct exchange *x, const struct inbox *inbox)
{
    struct news news;
    x->news_seen = true;
    if (!news_read(x, &news))
        return 0;
    if (seen_is_news(x, &news, inbox))
        news_write(x, &(struct news){ .counted_ms = x->now_ms, .seen_ms = x->now_ms });
    return news.seen_ms;
}

static void waiting_model(struct model *m, struct value *object, const struct inbox_item *item)
{
    present_person(m, object, "sender", item->sender_id, item->sender_name, &item->sender_face);
    if (item->opens_ms != 0)
        view_time_model(m, object, "opens_at", "opens_text", item->opens_ms);
    else
        value_null(m, object, "opens_at");
    cover_model(m, object, item->cover);
    value_page_bool(m, object, "exclusive", item->exclusive);
}

static void thanks_model(struct model *m, struct value *object, const struct inbox_item *item)
{
    present_person(m, object, "sender", item->sender_id, item->sender_name, &item->sender_face);
    value_text(m, object, "text", item->text);
}

static void return_model(struct model *m, struct value *object, const struct inbox_item *item)
{
    present_person(m, object, "sender", item->sender_id, item->sender_name, &item->sender_face);
    view_money_model(m, object, "amount_fen", "amount_text", item->amount_fen);
    value_text(m, object, "to", item->into_packet ? STR("packet") : STR("sender"));
    value_page_bool(m, object, "into_packet", item->into_packet);
}

static void item_model(struct model *m, struct value *object, const struct inbox_item *item)
{
    value_page_bool(m, object, "is_waiting", item->kind == INBOX_WAITING);
    value_page_bool(m, object, "is_refund", item->kind == INBOX_REFUND);
    value_page_bool(m, object, "is_thanks", item->kind == INBOX_THANKS);
    value_page_bool(m, object, "is_return", item->kind == INBOX_RETURN);
    switch (item->kind) {
    case INBOX_WAITING: waiting_model(m, object, item); break;
    case INBOX_REFUND: view_money_model(m, object, "amount_fen", "amount_text", item->amount_fen); break;
    case INBOX_THANKS: thanks_model(m, object, item); break;
    case INBOX_RETURN: return_model(m, object, item); break;
    case INBOX_KINDS: break;
    }
}

static size_t kind_count(const struct inbox *inbox, enum inbox_kind kind)
{
    size_t count = 0;
    for (size_t i = 0; i < inbox->count; i++)
        count += inbox->items[i].kind == kind;
    return count;
}

/* Adds one row for all thanks: several people with the same words would push all other rows down. */
static void thanked_model(struct model *m, const struct inbox *inbox, int64_t seen_ms)
{
    struct value *thanked = value_page_object(m, &m->root, "thanked");
    struct value *faces = value_list(m, thanked, "faces");
    bool new = false;
    int face_count = 0;
    for (size_t i = 0; i < inbox->count; i++) {
        const struct inbox_item *item = &inbox->items[i];
        if (item->kind != INBOX_THANKS)
            continue;
        new = new || item->ms > seen_ms;
        if (face_count == INBOX_FACES_MAX || inbox_thanked_before(inbox, i))
            continue;
        struct value *face = value_add_object(m, faces);
        value_text(m, face, "nickname", item->sender_name);
        view_avatar_model(m, face, item->sender_id, item->sender_name, &item->sender_face);
        face_count++;
    }
    view_count_model(m, thanked, "people", "people_one", (int64_t)inbox->thankers);
    value_bool(m, thanked, "new", new);
    value_bool(m, thanked, "more", kind_count(inbox, INBOX_THANKS) == INBOX_ITEMS_MAX);
}

/* Adds the groups that the page shows separately: waiting packets, thanks, and the rest. */
static void groups_model(struct model *m, const struct inbox *inbox, int64_t seen_ms)
{
    size_t waiting = kind_count(inbox, INBOX_WAITING);
    bool later = true; /* none of the waiting packets can be opened yet */
    for (size_t i = 0; i < inbox->count; i++)
        later = later && (inbox->items[i].kind != INBOX_WAITING || inbox->items[i].not_yet);
    value_page_bool(m, &m->root, "has_waiting", waiting > 0);
    value_page_bool(m, &m->root, "has_news", inbox->count > waiting);
    value_page_int(m, &m->root, "waiting_count", (int64_t)waiting);
    value_page_bool(m, &m->root, "waiting_one", waiting == 1);
    value_page_bool(m, &m->root, "waiting_later", later);
    if (kind_count(inbox, INBOX_THANKS) > 1)
        thanked_model(m, inbox, seen_ms);
}

void inbox_model(struct exchange *x, struct model *m, const struct inbox *inbox, int64_t seen_ms)
{
    struct value *list = value_list(m, &m->root, "inbox");
    groups_model(m, inbox, seen_ms);
    for (size_t i = 0; i < inbox->count; i++) {
        const struct inbox_item *item = &inbox->items[i];
        struct value *object = value_add_object(m, list);
        value_text(m, object, "kind", inbox_kind_name(item->kind));
        value_text(m, object, "packet", present_packet_id(x, item->packet_id));
        value_text(m, object, "greeting", item->greeting);
        view_time_model(m, object, "at", "at_text", item->ms);
        value_bool(m, object, "new", item->ms > seen_ms && !item->looked);
        value_page_text(m, object, "url", present_packet_path(x, item->packet_id));
        value_page_bool(m, object, "not_yet", item->not_yet);
        item_model(m, object, item);
    }
}
