/* JSON as a context for templates, for programs of the tests. */
#ifndef HB_TESTS_MUSTACHE_JSON_H
#define HB_TESTS_MUSTACHE_JSON_H

#include <jansson.h>

#include "base/value.h"

/* The value in the arena. Texts are borrowed from json, which must outlive it; a number with a fraction becomes the
 * shortest text that reads back as the same number. NULL without memory. */
struct value *value_from_json(struct arena *a, const json_t *json);

#endif
