/* The length of an array. */
#ifndef HB_BASE_ARRAY_H
#define HB_BASE_ARRAY_H

#include <stddef.h>

/* The number of elements of an array, a constant. A pointer is refused at compile time: it has the type of the address
 * of its first element, an array has not. */
#define ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]) + 0 * sizeof(ARRAY_CHECK(a)))
#define ARRAY_CHECK(a)                                                                                                 \
    struct {                                                                                                           \
        _Static_assert(!__builtin_types_compatible_p(__typeof__(a), __typeof__(&(a)[0])), "a pointer, not an array");  \
        int unused;                                                                                                    \
    }

#endif
