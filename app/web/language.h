/* The languages of the site, and the choice of a language for a visitor. */
#ifndef HB_WEB_LANGUAGE_H
#define HB_WEB_LANGUAGE_H

#include <stdbool.h>

#include "base/str.h"

enum language { LANGUAGE_ZH_CN, LANGUAGE_EN, LANGUAGES };

#define LANGUAGE_COOKIE "language" /* its value is a language tag */
enum { LANGUAGE_COOKIE_S = 365 * 86400 };

/* The BCP 47 tag. It is also the name of the catalogue, templates/text/TAG.txt. */
const char *language_tag(enum language language);
/* The language of exactly this tag. False: the site does not have it. */
bool language_from_tag(struct str tag, enum language *out);

/* Chooses the language: the value of the cookie when it is a known tag, else the site's language with the highest
 * weight in Accept-Language (RFC 9110; the first one of equal weights), else English for a browser that names other
 * languages only, else zh-CN. Absent values are STR_NONE. Pure. */
enum language language_choose(struct str cookie, struct str accept_language);

#endif
