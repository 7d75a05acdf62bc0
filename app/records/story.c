#include "records/story.h"

#include <inttypes.h>

#include "base/array.h"
#include "base/money.h"
#include "packet/story.h"
#include "packet/totals.h"
#include "pages/present.h"
#include "records/filter.h"
#include "records/months.h"
#include "records/story_picture.h"
#include "user/store.h"
#include "web/field_types.h"
#include "web/respond.h"
#include "web/text.h"
#include "web/view.h"

enum { TENTH_MS = 100, TENTHS = 10 };

/* The year that a request asks for, and what the tables say about it. */
struct story_page {
    struct user_totals totals;
    struct user_year year;
    struct story story;
    struct user *users; /* the users in the story, without deleted ones */
    size_t user_count;
};

struct story_query {
    uint64_t year, amounts;
};

const struct field story_fields[] = {
    { .name = "year",
      .type = &FIELD_NUMBER,
      .member = offsetof(struct story_query, year),
      .min = RECORDS_YEAR_MIN,
      .max = RECORDS_YEAR_MAX,
      .says = "in the service's time zone; this year when left out" },
    { .name = NULL },
};

const struct field story_share_fields[] = {
    { .name = "year",
      .type = &FIELD_NUMBER,
      .member = offsetof(struct story_query, year),
      .min = RECORDS_YEAR_MIN,
      .max = RECORDS_YEAR_MAX,
      .says = "in the service's time zone; this year when left out" },
    { .name = "amounts",
      .type = &FIELD_NUMBER,
      .member = offsetof(struct story_query, amounts),
      .max = 1,
      .says = "1: with the totals of the year" },
    { .name = NULL },
};

/* ---- reading ---- */

static enum status totals_find(struct exchange *x, int year, struct user_totals *totals, struct user_year *out)
{
    enum status st = user_totals_find(x->app->stores.db, x->arena, x->visitor.user_id, year, totals);
    *out = (struct user_year){ .year = year };
    for (size_t i = 0; i < totals->year_count; i++)
        if (totals->years[i].year == year)
            *out = totals->years[i];
    return st;
}

static enum status page_find(struct exchange *x, int year, struct story_page *out)
{
    struct db *db = x->app->stores.db;
    enum status st = totals_find(x, year, &out->totals, &out->year);
    if (st == ST_OK)
        st = story_find(db, x->arena, x->visitor.user_id, year, &out->story);
    if (st != ST_OK)
        return st;
    const struct story *s = &out->story;
    const uint64_t ids[] = { s->given_most.id, s->received_most.id, s->largest.person_id, s->fastest.person_id };
    return users_find_by_ids(db, x->arena, ids, ARRAY_LEN(ids), &out->users, &out->user_count);
}

/* ---- the page ---- */

/* Adds a user with the present nickname; empty: deleted. */
static void user_model(struct model *m, struct value *object, const char *name, const struct story_page *page,
                       uint64_t id)
{
    struct str nickname = STR("");
    struct face face = FACE_NONE;
    for (size_t i = 0; i < page->user_count; i++) {
        if (page->users[i].id != id)
            continue;
        nickname = page->users[i].nickname;
        face = page->users[i].face;
    }
    present_person(m, object, name, id, nickname, &face);
}

static void most_model(struct model *m, const char *name, const struct story_page *page,
                       const struct story_person *person)
{
    if (person->id == 0) {
        value_null(m, &m->root, name);
        return;
    }
    struct value *most = value_object(m, &m->root, name);
    user_model(m, most, "user", page, person->id);
    view_money_model(m, most, "amount_fen", "amount_text", person->amount_fen);
    view_count_model(m, most, "count", "count_one", (int64_t)person->count);
    value_int(m, most, "exchanged", (int64_t)person->exchanged);
}

static void shares_model(struct exchange *x, struct model *m, const struct story_page *page)
{
    const struct story_gift *largest = &page->story.largest, *fastest = &page->story.fastest;
    if (largest->amount_fen == 0) {
        value_null(m, &m->root, "largest");
        value_null(m, &m->root, "fastest");
        return;
    }
    struct value *object = value_object(m, &m->root, "largest");
    user_model(m, object, "sender", page, largest->person_id);
    view_money_model(m, object, "amount_fen", "amount_text", largest->amount_fen);
    view_time_model(m, object, "at", "at_text", largest->ms);
    value_page_text(m, object, "url", present_packet_path(x, largest->packet_id));
    object = value_object(m, &m->root, "fastest");
    /* negative when the clocks of two machines differ */
    int64_t after_ms = fastest->after_ms > 0 ? fastest->after_ms : 0;
    int64_t tenths = after_ms / TENTH_MS;
    user_model(m, object, "sender", page, fastest->person_id);
    value_int(m, object, "after_ms", after_ms);
    value_page_number(m, object, "after_text",
                      arena_printf(m->arena, "%" PRId64 ".%" PRId64, tenths / TENTHS, tenths % TENTHS));
    value_page_bool(m, object, "at_once", tenths == 0);
    value_page_text(m, object, "url", present_packet_path(x, fastest->packet_id));
}

static void liveliest_model(struct exchange *x, struct model *m, const struct story_day *day)
{
    if (day->date.year == 0) {
        value_null(m, &m->root, "liveliest");
        return;
    }
    struct value *object = value_object(m, &m->root, "liveliest");
    value_text(m, object, "date",
               arena_printf(m->arena, "%04d-%02d-%02d", day->date.year, day->date.month, day->date.day));
    value_int(m, object, "sent_count", (int64_t)day->sent_count);
    value_int(m, object, "received_count", (int64_t)day->received_count);
    value_int(m, object, "thanked_count", (int64_t)day->thanked_count);
    value_page_text(m, object, "name", text_month(x, day->date.month));
    value_page_int(m, object, "day", day->date.day);
    value_page_bool(m, object, "has_sent", day->sent_count > 0);
    value_page_bool(m, object, "has_received", day->received_count > 0);
    value_page_bool(m, object, "has_thanked", day->thanked_count > 0);
}

static void months_model(struct exchange *x, struct model *m, const struct story_page *page)
{
    struct value *months = value_list(m, &m->root, "months");
    int64_t fen[MONTHS_PER_YEAR];
    for (int i = 0; i < MONTHS_PER_YEAR; i++) {
        struct value *month = value_add_object(m, months);
        fen[i] = page->totals.months[i].received_fen;
        value_int(m, month, "month", i + 1);
        view_money_model(m, month, "sent_fen", "sent_text", page->totals.months[i].sent_fen);
        view_money_model(m, month, "received_fen", "received_text", fen[i]);
    }
    int64_t max_fen = months_chart_model(x, m, months, fen);
    if (max_fen > 0)
        value_page_number(m, value_page_object(m, &m->root, "chart"), "max_text", money_text(m->arena, max_fen));
}

static void sums_model(struct model *m, const struct user_year *year)
{
    struct value *root = &m->root;
    int64_t sent = year->sent_fen, received = year->received_fen, larger = sent > received ? sent : received;
    value_int(m, root, "year", year->year);
    view_money_model(m, root, "sent_fen", "sent_text", sent);
    view_count_model(m, root, "sent_count", "sent_one", (int64_t)year->sent_count);
    view_money_model(m, root, "received_fen", "received_text", received);
    view_count_model(m, root, "received_count", "received_one", (int64_t)year->received_count);
    view_count_model(m, root, "best_count", "best_one", (int64_t)year->best_count);
    value_page_bool(m, root, "any", year->sent_count + year->received_count > 0);
    value_page_int(m, root, "sent_part", chart_part(sent, larger));
    value_page_int(m, root, "received_part", chart_part(received, larger));
    if (sent != received)
        value_page_number(m, value_page_object(m, root, sent > received ? "more_sent" : "more_received"), "amount_text",
                          money_text(m->arena, sent > received ? sent - received : received - sent));
}

static void years_model(struct model *m, const struct story_page *page)
{
    struct value *list = value_page_list(m, &m->root, "years");
    for (size_t i = 0; i < page->totals.year_count; i++) {
        int year = page->totals.years[i].year;
        struct value *item = value_add_object(m, list);
        value_int(m, item, "year", year);
        value_text(m, item, "url", arena_printf(m->arena, "/records/story?year=%d", year));
        value_bool(m, item, "current", year == page->year.year);
    }
    value_page_bool(m, &m->root, "other_years",
                    page->totals.year_count > 1 || (page->totals.year_count == 1 && list->as.list.first != NULL &&
                                                    page->totals.years[0].year != page->year.year));
}

static void person_model(struct exchange *x, struct model *m)
{
    struct value *person = value_page_object(m, &m->root, "person");
    value_text(m, person, "nickname", x->visitor.nickname);
    view_avatar_model(m, person, x->visitor.user_id, x->visitor.nickname, &x->visitor.face);
}

static void page_model(struct exchange *x, struct model *m, const struct story_page *page)
{
    const struct story *story = &page->story;
    person_model(x, m);
    sums_model(m, &page->year);
    view_count_model(m, &m->root, "thanked_count", "thanked_one", (int64_t)story->thanked_count);
    months_model(x, m, page);
    most_model(m, "given_most", page, &story->given_most);
    most_model(m, "received_most", page, &story->received_most);
    shares_model(x, m, page);
    liveliest_model(x, m, &story->liveliest);
    value_bool(m, &m->root, "cut", story->cut);
    years_model(m, page);
}

enum step story_show(struct exchange *x)
{
    struct story_query query = { .year = (uint64_t)clock_zone_date(x->now_ms).year };
    struct story_page page = { .user_count = 0 };
    struct model m;
    if (!query_read(x, story_fields, &query)) {
        respond_problem(x, &PROBLEM_BAD_REQUEST);
        return STEP_DONE;
    }
    enum status st = page_find(x, (int)query.year, &page);
    if (st != ST_OK) {
        respond_status(x, st);
        return STEP_DONE;
    }
    model_init(&m, x->arena);
    page_model(x, &m, &page);
    respond_model(x, 200, "pages/story", &m);
    return STEP_DONE;
}

/* ---- the picture ---- */

enum step story_share(struct exchange *x)
{
    struct story_query query = { .year = (uint64_t)clock_zone_date(x->now_ms).year };
    struct user_totals totals;
    struct user_year year;
    if (!query_read(x, story_share_fields, &query)) {
        respond_problem(x, &PROBLEM_BAD_REQUEST);
        return STEP_DONE;
    }
    enum status st = totals_find(x, (int)query.year, &totals, &year);
    if (st != ST_OK) {
        respond_status(x, st);
        return STEP_DONE;
    }
    respond_internal(x, story_picture_url(x, &year, query.amounts == 1));
    return STEP_DONE;
}
