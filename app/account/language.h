/* The choice of a language. */
#ifndef HB_ACCOUNT_LANGUAGE_H
#define HB_ACCOUNT_LANGUAGE_H

#include "web/exchange.h"
#include "web/fields.h"

/* POST /language: stores the visitor's language in a cookie for a year. Fields: language ("zh-CN" | "en"; anything else
 * is 400), next. HTML 303 to next (a local path, else /), JSON 204. */
enum step language_submit(struct exchange *x);

/* The form of /language. */
extern const struct field language_fields[];

#endif
