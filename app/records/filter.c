#include "records/filter.h"

#include <string.h>

#include "base/array.h"
#include "base/utf8.h"
#include "packet/rules.h"
#include "user/account.h"
#include "user/store.h"
#include "web/field_types.h"
#include "web/list_key.h"
#include "web/text.h"

/* The values of the filter form. kind and state: the number of the choice, from 0; NO_WORD: none. */
struct filter_form {
    unsigned kind, state;
    struct str person, text;
    int64_t from_ms, to_ms; /* the first instants of the first and the last day; 0: not given */
    int64_t min_fen, max_fen;
};
enum { NO_WORD = 31 };

static struct str kind_word(unsigned i)
{
    return i <= PACKET_EXCLUSIVE ? packet_kind_name((enum packet_kind)i) : STR_NONE;
}

/* The states that users see. */
static struct str state_word(unsigned i)
{
    unsigned state = i + PACKET_OPEN;
    return state <= PACKET_EXPIRED ? packet_state_name((enum packet_state)state) : STR_NONE;
}

const struct field records_filter_fields[] = {
    { .name = "kind",
      .type = &FIELD_WORD,
      .member = offsetof(struct filter_form, kind),
      .word = kind_word,
      .malformed = "text/kind_unknown",
      .says = "packets of this kind" },
    { .name = "state",
      .type = &FIELD_WORD,
      .member = offsetof(struct filter_form, state),
      .word = state_word,
      .malformed = "text/filter_state_unknown",
      .says = "packets in this state" },
    { .name = "person",
      .type = &FIELD_LINE,
      .member = offsetof(struct filter_form, person),
      .max = NICKNAME_GRAPHEMES_MAX,
      .malformed = "text/nickname_invalid",
      .high = "text/filter_person_long",
      .says = "a username: its packets, or packets that it opened" },
    { .name = "q",
      .type = &FIELD_LINE,
      .member = offsetof(struct filter_form, text),
      .max = NOTE_GRAPHEMES_MAX, /* a whole greeting is no longer */
      .malformed = "text/filter_q_invalid",
      .high = "text/filter_q_long",
      .says = "part of the greeting, or of one's own note" },
    { .name = "from",
      .type = &FIELD_DAY,
      .member = offsetof(struct filter_form, from_ms),
      .min = RECORDS_YEAR_MIN,
      .max = RECORDS_YEAR_MAX,
      .malformed = "text/filter_day_malformed",
      .low = "text/filter_day_malformed",
      .high = "text/filter_day_malformed",
      .says = "the first day" },
    { .name = "to",
      .type = &FIELD_DAY,
      .member = offsetof(struct filter_form, to_ms),
      .min = RECORDS_YEAR_MIN,
      .max = RECORDS_YEAR_MAX,
      .malformed = "text/filter_day_malformed",
      .low = "text/filter_day_malformed",
      .high = "text/filter_day_malformed",
      .says = "the last day" },
    { .name = "min",
      .type = &FIELD_AMOUNT,
      .member = offsetof(struct filter_form, min_fen),
      .malformed = "text/amount_not_money",
      .says = "the least amount" },
    { .name = "max",
      .type = &FIELD_AMOUNT,
      .member = offsetof(struct filter_form, max_fen),
      .min = 1,
      .malformed = "text/amount_not_money",
      .low = "text/filter_max_low",
      .says = "the largest amount" },
    { .name = NULL },
};

/* The fields of links: the year, and the place in the list. */
struct link_query {
    uint64_t year;
    struct list_key before;
};

const struct field records_link_fields[] = {
    { .name = "year",
      .type = &FIELD_NUMBER,
      .member = offsetof(struct link_query, year),
      .min = RECORDS_YEAR_MIN,
      .max = RECORDS_YEAR_MAX,
      .malformed = "text/filter_year_malformed",
      .low = "text/filter_year_malformed",
      .high = "text/filter_year_malformed",
      .says = "in the service's time zone; when left out: this year, or all years with a filter or in a file" },
    BEFORE_FIELD(offsetof(struct link_query, before)),
    { .name = NULL },
};

/* ---- reading ---- */

static struct str typed(struct exchange *x, const char *name)
{
    return query_get(x, name, NULL);
}

/* Finds the person that the visitor means: the user with this username, else one of the visitor's people with this
 * nickname. */
static enum status person_find(struct exchange *x, struct str person, uint64_t *out_id, struct form_errors *errors)
{
    struct user user;
    struct people_known people;
    struct str username = username_fold(x->arena, person);
    enum status st = username.ptr == NULL ? ST_NO_MEMORY : ST_NOT_FOUND;
    if (st == ST_NOT_FOUND && username_valid(username))
        st = user_find_by_name(x->app->stores.db, x->arena, username, &user);
    if (st == ST_OK)
        *out_id = user.id;
    if (st != ST_NOT_FOUND)
        return st;
    st = people_find(x, &people);
    if (st == ST_OK)
        st = people_by_nickname(x->arena, &people, person, out_id);
    if (st != ST_NOT_FOUND && st != ST_CONFLICT)
        return st;
    form_fail_with(errors, "person", st == ST_CONFLICT ? "text/filter_person_several" : "text/filter_person_unknown",
                   person);
    return ST_INVALID;
}

static int64_t next_day_ms(int64_t day_ms)
{
    struct clock_date d = clock_zone_date(day_ms);
    return clock_zone_day_start_ms(d.year, d.month, d.day + 1);
}

/* Sets the period: the days from … to, within the given year. Without year and days there is no period. */
static void period_set(struct records_request *r, const struct filter_form *form)
{
    bool whole_years = r->year_given || !r->filtered;
    if (!whole_years && form->from_ms == 0 && form->to_ms == 0)
        return;
    int64_t from_ms = whole_years ? clock_zone_year_start_ms(r->year) : 0;
    int64_t until_ms = whole_years ? clock_zone_year_start_ms(r->year + 1) : INT64_MAX;
    int64_t to_ms = form->to_ms != 0 ? next_day_ms(form->to_ms) : until_ms;
    r->page.from_ms = form->from_ms > from_ms ? form->from_ms : from_ms;
    r->page.until_ms = to_ms < until_ms ? to_ms : until_ms;
}

static enum status filter_read(struct exchange *x, struct filter_form *form, struct record_filter *out,
                               struct form_errors *errors)
{
    enum status st = query_form_read(x, records_filter_fields, form, errors);
    if (st != ST_OK)
        return st;
    if (form->from_ms != 0 && form->to_ms != 0 && form->from_ms > form->to_ms)
        form_fail(errors, "to", "text/filter_to_before_from");
    if (form->max_fen != 0 && form->min_fen > form->max_fen)
        form_fail(errors, "max", "text/filter_max_below_min");
    if (errors->count > 0)
        return ST_INVALID;
    *out = (struct record_filter){ .kinds = form->kind == NO_WORD ? 0 : 1U << form->kind,
                                   .states = form->state == NO_WORD ? 0 : 1U << (form->state + PACKET_OPEN),
                                   .min_fen = form->min_fen,
                                   .max_fen = form->max_fen };
    if (form->text.len > 0)
        st = record_filter_text(x->arena, form->text, out);
    return st == ST_OK && form->person.len > 0 ? person_find(x, form->person, &out->person_id, errors) : st;
}

static bool is_filtered(struct exchange *x)
{
    for (const struct field *field = records_filter_fields; field->name != NULL; field++)
        if (typed(x, field->name).len > 0)
            return true;
    return false;
}

enum status records_request_read(struct exchange *x, enum record_side side, struct records_request *out,
                                 struct form_errors *errors)
{
    static const char *const paths[RECORD_SIDES] = {
        [RECORD_RECEIVED] = "/records/received", [RECORD_SENT] = "/records/sent"
    };
    struct link_query link = { .year = (uint64_t)clock_zone_date(x->now_ms).year };
    struct filter_form form = { .kind = NO_WORD, .state = NO_WORD, .person = STR(""), .text = STR("") };
    *out = (struct records_request){ .side = side, .path = paths[side], .filtered = is_filtered(x) };
    errors->count = 0;
    enum status st = query_form_read(x, records_link_fields, &link, errors);
    out->year = (int)link.year;
    if (st != ST_OK)
        return st;
    out->year_given = typed(x, "year").len > 0;
    st = filter_read(x, &form, &out->filter, errors);
    if (st != ST_OK)
        return st;
    out->page.below = link.before;
    period_set(out, &form);
    return ST_OK;
}

/* ---- links ---- */

/* Appends NAME=VALUE, with '?' or '&' before it. */
static void parameter_append(struct exchange *x, struct buf *url, char *mark, const char *name, struct str value)
{
    buf_printf(url, "%c%s=", *mark, name);
    buf_str(url, form_encode(x->arena, value));
    *mark = '&';
}

static const char *const KEEP_ALL[] = { NULL };

static bool is_kept(struct exchange *x, const char *name, const char *const *except)
{
    for (; *except != NULL; except++)
        if (strcmp(name, *except) == 0)
            return false;
    return typed(x, name).len > 0;
}

/* A link with the typed fields, without those in `except` (ends with NULL), and with one more parameter (NULL:
 * none). */
static struct str url_build(struct exchange *x, const struct records_request *r, struct str path,
                            const char *const *except, const char *name, struct str value)
{
    struct buf url = BUF_EMPTY;
    char mark = '?';
    buf_str(&url, path);
    if (r->year_given && is_kept(x, "year", except))
        parameter_append(x, &url, &mark, "year", typed(x, "year"));
    for (const struct field *field = records_filter_fields; field->name != NULL; field++)
        if (is_kept(x, field->name, except))
            parameter_append(x, &url, &mark, field->name, typed(x, field->name));
    if (name != NULL)
        parameter_append(x, &url, &mark, name, value);
    struct str text = url.failed ? STR_NONE : arena_str(x->arena, buf_view(&url));
    buf_free(&url);
    return text;
}

struct str records_url(struct exchange *x, const struct records_request *request, struct str path)
{
    return url_build(x, request, path, KEEP_ALL, NULL, STR(""));
}

struct str records_url_year(struct exchange *x, const struct records_request *request, int year)
{
    static const char *const DAYS[] = { "year", "from", "to", NULL };
    return url_build(x, request, str_from(request->path), DAYS, "year", arena_printf(x->arena, "%d", year));
}

struct str records_url_all_years(struct exchange *x, const struct records_request *request)
{
    static const char *const YEAR[] = { "year", NULL };
    return url_build(x, request, str_from(request->path), YEAR, NULL, STR(""));
}

struct str records_url_with(struct exchange *x, const struct records_request *request, const char *name,
                            struct str value)
{
    return url_build(x, request, str_from(request->path), KEEP_ALL, name, value);
}

/* ---- the form ---- */

static void chip_add(struct exchange *x, struct model *m, const struct records_request *r, struct value *chips,
                     const char *field, const char *name, struct str value)
{
    struct value *chip = value_add_object(m, chips);
    value_text(m, chip, "name", text_of(x, name));
    value_text(m, chip, "value", value);
    value_text(m, chip, "url", url_build(x, r, str_from(r->path), (const char *const[]){ field, NULL }, NULL, STR("")));
}

/* The words of a select in the visitor's language; any other text as it was typed. */
static struct str chip_value(struct exchange *x, struct str value)
{
    static const struct {
        const char *word, *text;
    } words[] = { { "lucky", "text/kind_lucky" },         { "even", "text/kind_even" },
                  { "exclusive", "text/kind_exclusive" }, { "open", "text/state_open" },
                  { "finished", "text/state_finished" },  { "expired", "text/state_expired" } };
    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        if (str_equal(value, str_from(words[i].word)))
            return text_of(x, words[i].text);
    return value;
}

struct str records_person_shown(struct exchange *x, const struct records_request *request)
{
    for (size_t i = 0; request->filter.person_id != 0 && i < request->people.count; i++)
        if (request->people.users[i].id == request->filter.person_id)
            return request->people.users[i].nickname;
    return typed(x, "person");
}

bool records_month(const struct records_request *r, struct clock_date *out)
{
    if (r->page.until_ms == 0 || r->page.until_ms == INT64_MAX)
        return false;
    *out = clock_zone_date(r->page.from_ms);
    int64_t until_ms = out->month < MONTHS_PER_YEAR ? clock_zone_month_start_ms(out->year, out->month + 1)
                                                    : clock_zone_year_start_ms(out->year + 1);
    return r->page.from_ms == clock_zone_month_start_ms(out->year, out->month) && r->page.until_ms == until_ms;
}

/* Adds one chip for a period that is a whole month. */
static void month_chip_add(struct exchange *x, struct model *m, const struct records_request *r, struct value *chips,
                           const struct clock_date *date)
{
    static const char *const DAYS[] = { "from", "to", NULL };
    struct value *chip = value_add_object(m, chips);
    struct value *month = value_object(m, chip, "month");
    value_text(m, month, "name", text_month(x, date->month));
    value_int(m, month, "heading_year", date->year);
    value_text(m, chip, "url", url_build(x, r, str_from(r->path), DAYS, NULL, STR("")));
}

static void chips_model(struct exchange *x, struct model *m, const struct records_request *r)
{
    static const struct {
        const char *field, *name;
    } rows[] = { { "year", "text/filter_year" },     { "kind", "text/filter_kind" }, { "state", "text/filter_state" },
                 { "person", "text/filter_person" }, { "q", "text/filter_q" },       { "from", "text/filter_from" },
                 { "to", "text/filter_to" },         { "min", "text/filter_min" },   { "max", "text/filter_max" } };
    struct value *chips = value_page_list(m, &m->root, "chips");
    struct clock_date month;
    if (!r->filtered || x->wants_json)
        return;
    bool is_month = records_month(r, &month);
    if (is_month)
        month_chip_add(x, m, r, chips, &month);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct str value = typed(x, rows[i].field);
        bool is_word = strcmp(rows[i].field, "kind") == 0 || strcmp(rows[i].field, "state") == 0;
        if (strcmp(rows[i].field, "person") == 0)
            value = records_person_shown(x, r);
        bool in_month = is_month && (strcmp(rows[i].field, "from") == 0 || strcmp(rows[i].field, "to") == 0);
        if (value.len > 0 && !in_month)
            chip_add(x, m, r, chips, rows[i].field, rows[i].name, is_word ? chip_value(x, value) : value);
    }
}

/* The link to the records with one person, in the year of the request or in all years. */
static struct str person_url(struct exchange *x, const struct records_request *r, struct str username)
{
    static const char *const FORM[] = { "kind", "state", "person", "q", "from", "to", "min", "max", NULL };
    return url_build(x, r, str_from(r->path), FORM, "person", username);
}

/* Adds the visitor's people, each with a link that filters by the person or, for the chosen one, ends this filter. */
static void people_links_model(struct exchange *x, struct model *m, const struct records_request *r)
{
    static const char *const PERSON[] = { "person", NULL };
    struct value *list = value_page_list(m, &m->root, "people");
    value_page_bool(m, &m->root, "has_people", r->people.count > 0);
    people_model(m, list, &r->people, &r->people);
    struct value *item = list->as.list.first;
    for (size_t i = 0; i < r->people.count && item != NULL; i++, item = item->next) {
        bool chosen = r->filter.person_id == r->people.users[i].id;
        struct str path = str_from(r->path), username = r->people.users[i].username;
        value_bool(m, item, "chosen", chosen);
        value_text(m, item, "url", chosen ? url_build(x, r, path, PERSON, NULL, STR("")) : person_url(x, r, username));
    }
}

/* Adds a suggestion: the text searched in greetings is the name of one of the visitor's people, who is perhaps
 * meant. */
static void meant_model(struct exchange *x, struct model *m, const struct records_request *r)
{
    uint64_t id;
    if (typed(x, "q").len == 0 || r->filter.person_id != 0 ||
        people_by_nickname(x->arena, &r->people, typed(x, "q"), &id) != ST_OK)
        return;
    for (size_t i = 0; i < r->people.count; i++) {
        const struct user *user = &r->people.users[i];
        if (user->id != id)
            continue;
        struct value *meant = value_page_object(m, &m->root, "meant");
        value_text(m, meant, "nickname", user->nickname);
        value_text(m, meant, "url", person_url(x, r, user->username));
    }
}

static void option_model(struct exchange *x, struct model *m, struct value *filter, const char *field, const char *word,
                         const char *member)
{
    value_bool(m, filter, member, str_equal(typed(x, field), str_from(word)));
}

void records_filter_model(struct exchange *x, struct model *m, const struct records_request *request)
{
    struct value *filter = value_page_object(m, &m->root, "filter");
    form_typed_model(m, filter, records_filter_fields, query_form(x, records_filter_fields));
    if (request->year_given)
        value_text(m, filter, "year", typed(x, "year"));
    option_model(x, m, filter, "kind", "lucky", "kind_lucky");
    option_model(x, m, filter, "kind", "even", "kind_even");
    option_model(x, m, filter, "kind", "exclusive", "kind_exclusive");
    option_model(x, m, filter, "state", "open", "state_open");
    option_model(x, m, filter, "state", "finished", "state_finished");
    option_model(x, m, filter, "state", "expired", "state_expired");
    value_bool(m, filter, "days", typed(x, "from").len + typed(x, "to").len > 0);
    value_text(m, filter, "clear_url", str_from(request->path));
    value_page_bool(m, &m->root, "filtered", request->filtered);
    chips_model(x, m, request);
    people_links_model(x, m, request);
    meant_model(x, m, request);
}
