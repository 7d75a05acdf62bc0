/* The arena of a group of unit tests: TESTS(arena_setup, arena_teardown). */
#ifndef HB_TESTS_SUPPORT_TEST_ARENA_H
#define HB_TESTS_SUPPORT_TEST_ARENA_H

#include "base/arena.h"
#include "base/random.h"
#include "support/test.h"

static struct arena *arena;

static inline int arena_setup(void **state)
{
    (void)state;
    arena = arena_new(4096, 1 << 20);
    return arena == NULL || !random_init();
}

static inline int arena_teardown(void **state)
{
    (void)state;
    arena_free(arena);
    return 0;
}

#endif
