/* Sets of words: the rights that a role should have, and those it has. */
#ifndef HB_DOCTOR_DOCTOR_WORDS_H
#define HB_DOCTOR_DOCTOR_WORDS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/str.h"

enum { WORDS_MAX = 512 };

struct words {
    struct str items[WORDS_MAX];
    size_t count;
};

/* Adds a word that is not there yet. More than WORDS_MAX are left out. */
void words_add(struct words *w, struct str word);
/* Adds each word of a text with blanks between them. */
void words_add_all(struct words *w, struct str text);
bool words_have(const struct words *w, struct str word);
/* The words of a that b lacks, with commas between them, in the arena: at most five, then the number of all. "":
 * none. */
const char *words_without(const struct words *a, const struct words *b, struct arena *arena);

#endif
