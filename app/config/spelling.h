/* Finds what a mistyped name was meant to be. */
#ifndef HB_CONFIG_SPELLING_H
#define HB_CONFIG_SPELLING_H

#include <stddef.h>

#include "base/str.h"

/* The name, of count names, that differs least from word, by at most a third of the word's letters (letters that are
 * added, left out, changed, or swapped with the next one; case does not count); NULL: every name differs by more. */
const char *spelling_nearest(struct str word, const char *const *names, size_t count);

#endif
