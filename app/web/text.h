/* Texts of the catalogue for use in C: titles of problems and messages beside a field. Such a text is rendered like any
 * template. It is escaped later, like any value, so it must not contain HTML. */
#ifndef HB_WEB_TEXT_H
#define HB_WEB_TEXT_H

#include "web/exchange.h"

/* The text named name ("text/KEY") in the visitor's language, in the request's arena. STR_NONE without memory. A
 * missing text is logged, and its name is returned. */
struct str text_of(struct exchange *x, const char *name);
/* A decimal number ("20000") as the visitor's language writes it ("20,000"), for a text. In the request's arena;
 * STR_NONE without memory. */
struct str text_number(struct exchange *x, struct str number);
/* The name of a month, 1 … 12, in the visitor's language. Memory as text_of. */
struct str text_month(struct exchange *x, int month);
/* The text of that name with value in place of {{value}}. */
struct str text_with(struct exchange *x, const char *name, struct str value);

#endif
