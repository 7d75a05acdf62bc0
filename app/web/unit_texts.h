/* The texts of a catalogue that the settings make: the unit of money as the language writes it. Chinese writes the name
 * behind an amount, "12.34元"; other languages the symbol in front, "¥12.34", or, when there is none, the name behind,
 * "12 points". */
#ifndef HB_WEB_UNIT_TEXTS_H
#define HB_WEB_UNIT_TEXTS_H

#include "mustache/mustache.h"
#include "web/language.h"

enum { UNIT_TEXTS = 11 };

/* Writes the sources of these texts to out, which has room for UNIT_TEXTS:
 *   text/unit_before, text/unit_after     around an amount in a sentence, on one line with it: Chinese names have word
 *                                         joiners (U+2060), others a no-break space
 *   text/unit_large_before, …_large_after around an amount that is shown large: the symbol, if there is one
 *   text/unit                             alone, in a label: "金额（元）", "Amount (¥)"
 *   text/unit_least, text/unit_zero       the smallest amount, "0.01", and nothing, "0.00"
 *   text/unit_example                     an amount with all its decimals, "88.88", or "88"
 *   text/unit_decimals                    a parent that shows one of its blocks none, one, two: how many decimals
 *   text/unit_code                        "CNY"
 *   text/unit_typed                       what static/typed.js reads amounts by: "2~CNY~元~yuan~¥". No sign has a '~'
 * In the arena. False without memory. */
bool unit_texts(struct arena *a, enum language language, struct mustache_source out[static UNIT_TEXTS]);

/* Replaces each "¥(TEXT)" of a catalogue's text by TEXT between text/unit_before and text/unit_after. TEXT has no
 * closing bracket. *text: STR_NONE without memory. Returns NULL, or what is wrong with the text. */
const char *unit_amounts_expand(struct arena *a, struct str *text);

#endif
