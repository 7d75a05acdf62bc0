/* An allocation that fails when the test says so. The linker puts these functions before the real ones:
 * -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc. */
#ifndef HB_TESTS_SUPPORT_FAILING_MALLOC_H
#define HB_TESTS_SUPPORT_FAILING_MALLOC_H

#include <stdbool.h>
#include <stddef.h>

static unsigned allocations, allocations_failed; /* counted since the test set them to 0 */
static unsigned allocation_fails_in;             /* 1: the next one fails; 0: none does */

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *p, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *p, size_t size);

static bool allocation_fails(void)
{
    allocations++;
    if (allocation_fails_in == 0 || --allocation_fails_in > 0)
        return false;
    allocations_failed++;
    return true;
}

void *__wrap_malloc(size_t size)
{
    return allocation_fails() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
    return allocation_fails() ? NULL : __real_calloc(count, size);
}

void *__wrap_realloc(void *p, size_t size)
{
    return allocation_fails() ? NULL : __real_realloc(p, size);
}

#endif
