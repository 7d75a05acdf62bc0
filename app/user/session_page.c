#include "user/session_page.h"

#include "user/account_page.h"
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
    { .name = "others", .type = &FIELD_TEXT, .member = offsetof(struct end_form, others), .no_echo = true },
    { .name = "session", .type = &FIELD_TEXT, .member = offsetof(struct end_form, session), .no_echo = true },
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

/* The page folds all but the first ones. */
enum { SESSIONS_SHOWN = 3 };

static void add_session(struct model *m, struct value *list, const struct session_entry *entry, size_t place)
{
    struct value *item = value_add_object(m, list);
    session_model(m, item, entry, place == 0);
    value_page_bool(m, item, "fold_begins", place == SESSIONS_SHOWN);
}

static void fold_model(struct model *m, size_t count)
{
    size_t more = count > SESSIONS_SHOWN ? count - SESSIONS_SHOWN : 0;

    value_page_bool(m, &m->root, "has_more_sessions", more > 0);
    value_page_int(m, &m->root, "more_count", (int64_t)more);
    value_page_bool(m, &m->root, "more_one", more == 1);
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
    for (size_t i = 0; i < count; i++)
        if (str_equal(entries[i].key, x->visitor.session_key))
            add_session(m, list, &entries[i], 0);
    for (size_t i = 0; i < count; i++)
        if (!str_equal(entries[i].key, x->visitor.session_key))
            add_session(m, list, &entries[i], place++);
    fold_model(m, count);
    value_page_bool(m, &m->root, "has_others", count > 1);
    return ST_OK;
}

enum step session_end_submit(struct exchange *x)
{
    struct end_form form = { STR(""), STR("") };
    struct form_errors e;

    enum status st = form_read(x, session_end_fields, &form, &e);
    if (st == ST_OK && form.others.len == 0 && form.session.len == 0) {
        form_fail(&e, "sessions", "text/session_none_named");
        return account_refuse(x, &e);
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
        respond_see_other(x, form.others.len > 0 ? STR("/account?ended=2#sessions") : STR("/account?ended=1#sessions"));
    return STEP_DONE;
}
