#include "config/spelling.h"

#include <ctype.h>

enum { LETTERS_MAX = 64, LETTERS_PER_MISTAKE = 3 };

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

static int letter(struct str s, size_t i)
{
    return tolower((unsigned char)s.ptr[i]);
}

/* The number of typing mistakes that turn a into b (optimal string alignment, after Damerau and Levenshtein): row i of
 * the table has the numbers for the first i letters of a. */
static size_t distance(struct str a, struct str b)
{
    size_t rows[3][LETTERS_MAX + 1], *before = rows[0], *last = rows[1], *row = rows[2];
    for (size_t j = 0; j <= b.len; j++)
        last[j] = before[j] = j;
    for (size_t i = 1; i <= a.len; i++) {
        row[0] = i;
        for (size_t j = 1; j <= b.len; j++) {
            size_t changed = last[j - 1] + (letter(a, i - 1) != letter(b, j - 1));
            row[j] = smaller(changed, 1 + smaller(row[j - 1], last[j]));
            if (i > 1 && j > 1 && letter(a, i - 1) == letter(b, j - 2) && letter(a, i - 2) == letter(b, j - 1))
                row[j] = smaller(row[j], before[j - 2] + 1);
        }
        size_t *oldest = before;
        before = last;
        last = row;
        row = oldest;
    }
    return last[b.len];
}

const char *spelling_nearest(struct str word, const char *const *names, size_t count)
{
    const char *nearest = NULL;
    size_t least = word.len / LETTERS_PER_MISTAKE + 1;
    for (size_t i = 0; i < count && word.len <= LETTERS_MAX; i++) {
        struct str name = str_from(names[i]);
        size_t mistakes = name.len <= LETTERS_MAX ? distance(word, name) : LETTERS_MAX;
        if (mistakes < least) {
            least = mistakes;
            nearest = names[i];
        }
    }
    return nearest;
}
