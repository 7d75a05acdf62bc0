/* The languages of the pages, and which of them a visitor reads. */
#ifndef HB_WEB_LANGUAGE_H
#define HB_WEB_LANGUAGE_H

#include <stdbool.h>

#include "base/str.h"

enum language { LANGUAGE_ZH_CN, LANGUAGE_EN, LANGUAGES };

#define LANGUAGE_COOKIE "language" /* holds the tag of the chosen one */

/* The BCP 47 tag, which is also the name of the catalogue templates/text/TAG.txt. */
const char *language_tag(enum language language);
/* The language of exactly this tag. False: none of ours. */
bool language_from_tag(struct str tag, enum language *out);

/* What the visitor chose (the value of the cookie), else what the browser likes best of ours (Accept-Language,
 * RFC 9110: weights count, among equals the first), else zh-CN. Absent values are STR_NONE. Pure. */
enum language language_choose(struct str cookie, struct str accept_language);

#endif
