/* The services and the memory of a group of user tests: TESTS(app_setup, app_teardown). */
#ifndef HB_TEST_USER_APP_H
#define HB_TEST_USER_APP_H

#include "account/login.h"
#include "support/stores_do.h"
#include "support/test_services.h"
#include "test_user_fixture.h"
#include "user/session.h"

static struct services *app;
static struct arena *arena;
static struct config *config; /* of app; tests may change it */

static inline int app_setup(void **state)
{
    (void)state;
    app = site_open();
    arena = arena_new(64 << 10, 64 << 20);
    if (app == NULL || arena == NULL)
        return 1;
    config = test_services_config(app);
    return 0;
}

static inline int app_teardown(void **state)
{
    (void)state;
    arena_free(arena);
    site_close(app);
    return 0;
}

/* The answer to a browser's request, for visit_says. fields NULL: GET. */
static inline struct visit *html_of(handler_fn *handler, const char *uri, const char *fields, const char *cookie)
{
    return visit_html_new(app, handler, uri, fields, cookie);
}

static inline struct visit *json_of(handler_fn *handler, const char *uri, const char *fields, const char *cookie)
{
    return visit_json_new(app, handler, uri, fields, cookie);
}

/* The answer to a login. */
static inline struct visit *login_of(const char *username, const char *password)
{
    return json_of(login_submit, "/login", text_printf("username=%s&password=%s", username, password), NULL);
}

/* The integer reply of a command of Redis, as by printf. */
#define REDIS(...) redis_number(app->stores.redis, __VA_ARGS__)

/* The key of a cookie's session. key: SESSION_KEY_MAX bytes. */
static inline char *session_key_of(const char *cookie, char *key)
{
    session_key_write(str_skip(str_from(cookie), strlen("sid=")), key);
    return key;
}

/* Setup of tests that set their own limits. */
static inline int no_limits(void **state)
{
    (void)state;
    limits_clear(config);
    return 0;
}

#endif
