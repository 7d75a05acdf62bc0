/* Texts of the catalogue for what is not a page: titles of problems, messages beside a field. Such a text is rendered
 * like any template, and escaped later like any value, so it holds no HTML. */
#ifndef HB_WEB_TEXT_H
#define HB_WEB_TEXT_H

#include "web/exchange.h"

/* The text of that name, "text/KEY", in the visitor's language. In the request's arena; STR_NONE without memory. A text
 * that is missing is logged and shown as its name. */
struct str text_of(struct exchange *x, const char *name);
/* The same with what stands for {{value}} in it: a number or amount, nothing that needs to be escaped. */
struct str text_with(struct exchange *x, const char *name, struct str value);

#endif
