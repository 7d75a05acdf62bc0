/* The services and the memory of a group of packet tests: TESTS(app_setup, app_teardown). */
#ifndef HB_TEST_PACKET_APP_H
#define HB_TEST_PACKET_APP_H

#include "test_packet_fixture.h"

static struct services *app;
static struct arena *arena;

static inline int app_setup(void **state)
{
    (void)state;
    app = packet_services_open();
    arena = arena_new(64 << 10, 256 << 20);
    return app == NULL || arena == NULL;
}

/* The answer to a request, for visit_says. p NULL: a guest; fields NULL: GET; packet_id: `:id` of the path, or 0. */
static inline struct visit *person_html(const struct person *p, handler_fn *handler, const char *uri,
                                        const char *fields, uint64_t packet_id)
{
    return person_visit_new(app, p, handler, uri, fields, packet_id, false);
}

static inline struct visit *person_json(const struct person *p, handler_fn *handler, const char *uri,
                                        const char *fields, uint64_t packet_id)
{
    return person_visit_new(app, p, handler, uri, fields, packet_id, true);
}

static inline struct person person_with(int64_t balance_fen)
{
    struct person p;
    person_new(app, &p, balance_fen);
    return p;
}

static inline int app_teardown(void **state)
{
    (void)state;
    arena_free(arena);
    site_close(app);
    return 0;
}

#endif
