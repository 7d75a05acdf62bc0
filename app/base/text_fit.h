/* Fits text into a picture, where nothing wraps by itself: an estimate of its width and its division into lines. Widths
 * are hundredths of an em, of a common sans-serif font; the estimate is rather too wide than too narrow. Pure. */
#ifndef HB_BASE_TEXT_FIT_H
#define HB_BASE_TEXT_FIT_H

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/str.h"

/* The width of valid UTF-8. */
uint32_t text_width(struct str s);

/* Divides s (one line of valid UTF-8) into at most lines_max lines of at most width_max. Lines end at a blank where
 * there is one in their second half, else between grapheme clusters; blanks at their ends are dropped. A text that
 * needs more lines ends with "…". Characters that XML does not allow, emoji and flags are left out: librsvg would draw
 * them as boxes or shadows. lines: lines_max items; their texts are in the arena. Returns the number of lines, 0 when
 * nothing is to be shown or without memory. */
size_t text_fit(struct arena *a, struct str s, uint32_t width_max, struct str *lines, size_t lines_max);

/* As text_fit, in at most two lines of about the same length. The first line ends at a comma or another mark between
 * clauses, if there is one near the middle. */
size_t text_balance(struct arena *a, struct str s, uint32_t width_max, struct str lines[2]);

#endif
