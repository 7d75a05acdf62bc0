#include "account/session_page.h"

#include "account/lost_phone.h"
#include "user/device.h"
#include "user/session.h"
#include "user/session_list.h"
#include "web/field_types.h"
#include "web/respond.h"
#include "web/security_log.h"
#include "web/view.h"

struct end_form {
    struct str session, others;
};

const struct field session_end_fields[] = {
    { .name = "others",
      .type = &FIELD_TEXT,
      .member = offsetof(struct end_form, others),
      .no_echo = true,
      .says = "any text: all other sessions",
      .example = "1" },
    { .name = "session",
      .type = &FIELD_TEXT,
      .member = offsetof(struct end_form, session),
      .no_echo = true,
      .says = "the id of one session; needed without `others`" },
    { .name = NULL },
};

static void session_model(struct model *m, struct value *item, const struct session_entry *entry, bool current)
{
    value_text(m, item, "id", entry->id);
    if (entry->device.len > 0)
        value_text(m, item, "device", entry->device);
    else
        value_null(m, item, "device");
    value_page_bool(m, item, "on_phone", device_is_phone(entry->device));
    view_time_model(m, item, "created_at", "created_at_text", entry->created_ms);
    view_time_model(m, item, "seen_at", "seen_at_text", entry->seen_ms);
    value_bool(m, item, "current", current);
}

/* The account page shows the first SESSIONS_SHOWN. A session that was not used for EARLIER_MS is an earlier one. */
enum { SESSIONS_SHOWN = 3 };
static const int64_t EARLIER_MS = 30LL * 24 * 3600 * 1000;

static struct value *add_session(struct model *m, struct value *list, const struct session_entry *entry, size_t place)
{
    struct value *item = value_add_object(m, list);
    session_model(m, item, entry, place == 0);
    value_page_bool(m, item, "shown", place < SESSIONS_SHOWN);
    return item;
}

/* The visitor's own session comes first. */
enum status sessions_model(struct exchange *x, struct model *m)
{
    struct session_entry *entries;
    size_t count;
    enum status st = session_list_read(&x->app->stores, x->arena, x->visitor.user_id, x->now_ms, &entries, &count);

    if (st != ST_OK)
        return status_idempotent(st);
    struct value *list = value_list(m, &m->root, "sessions");
    size_t place = 1;
    bool earlier = false;
    for (size_t i = 0; i < count; i++)
        if (str_equal(entries[i].key, x->visitor.session_key))
            add_session(m, list, &entries[i], 0);
    for (size_t i = 0; i < count; i++)
        if (!str_equal(entries[i].key, x->visitor.session_key)) {
            struct value *item = add_session(m, list, &entries[i], place++);
            bool begins = !earlier && x->now_ms - entries[i].seen_ms > EARLIER_MS;
            value_page_bool(m, item, "earlier_begins", begins);
            earlier = earlier || begins;
        }
    value_page_bool(m, &m->root, "has_others", count > 1);
    value_page_int(m, &m->root, "others_count", count > 1 ? (int64_t)count - 1 : 0);
    value_page_bool(m, &m->root, "others_one", count == 2);
    return ST_OK;
}

static enum status devices_model(struct exchange *x, struct model *m, enum lost_phone lost)
{
    model_init(m, x->arena);
    lost_phone_model(m, lost);
    return sessions_model(x, m);
}

/* A form that was accepted leads here with ?ended=1; 2: all other devices. */
static const struct field devices_fields[] = { { .name = "ended", .type = &FIELD_NUMBER, .max = 2 }, { .name = NULL } };

enum step devices_show(struct exchange *x)
{
    struct model m;
    uint64_t ended = 0;
    (void)query_read(x, devices_fields, &ended); /* a malformed query counts as none */
    enum status st = devices_model(x, &m, lost_phone_from_query(x));

    if (st == ST_OK) {
        value_page_bool(&m, &m.root, "ended", ended != 0);
        value_page_bool(&m, &m.root, "ended_others", ended == 2);
        respond_model(x, 200, "pages/devices", &m);
    } else {
        respond_status(x, st);
    }
    return STEP_DONE;
}

enum step devices_redirect(struct exchange *x)
{
    respond_see_other(x, STR("/account/devices"));
    return STEP_DONE;
}

static enum step devices_refuse(struct exchange *x, const struct form_errors *e)
{
    struct model m;
    enum status st = devices_model(x, &m, lost_phone_from_form(x));

    if (st == ST_OK)
        respond_form_errors(x, "pages/devices", &m, e);
    else
        respond_status(x, st);
    return STEP_DONE;
}

enum step session_end_submit(struct exchange *x)
{
    struct end_form form = { STR(""), STR("") };
    struct form_errors e;

    enum status st = form_read(x, session_end_fields, &form, &e);
    if (st == ST_OK && form.others.len == 0 && form.session.len == 0) {
        form_fail(&e, "sessions", "text/session_none_named");
        return devices_refuse(x, &e);
    }
    if (st == ST_OK)
        st = form.others.len > 0 ? session_end_others(x)
                                 : session_list_end(&x->app->stores, x->arena, x->visitor.user_id, form.session);
    if (st == ST_NOT_FOUND)
        security_log(x, SECURITY_ACCESS_REFUSED, x->visitor.user_id, NULL);
    if (st != ST_OK) {
        respond_status(x, status_idempotent(st));
        return STEP_DONE;
    }
    security_log(x, SECURITY_SESSION_ENDED, x->visitor.user_id, "which=%s", form.others.len > 0 ? "others" : "one");
    if (x->wants_json)
        respond_empty(x, 204);
    else
        respond_see_other(
            x, lost_phone_path(x->arena, form.others.len > 0 ? "/account/devices?ended=2" : "/account/devices?ended=1",
                               lost_phone_from_form(x)));
    return STEP_DONE;
}
