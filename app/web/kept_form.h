/* Forms whose typed texts are kept: a GET of the form's address fills the form from the query, so a link can carry the
 * typed texts. They survive a switch of the language, a login in between, and a store that is away. Passwords, codes,
 * passphrases and request keys are never part of an address; a passphrase waits in the browser's tab
 * (static/send.js). */
#ifndef HB_WEB_KEPT_FORM_H
#define HB_WEB_KEPT_FORM_H

#include "web/fields.h"

/* The address of the page to which a posted form belongs: with the typed texts when the route keeps them (KEEP_FORM),
 * as far as they fit into NEXT_BYTES_MAX. STR_NONE without memory. */
struct str kept_form_url(struct exchange *x);
/* Copies the fields that are kept, from the posted form or from the query that fills it: KEPT_FIRST comes first. */
void kept_form_copy(struct exchange *x, const struct field *fields, struct form *out);
/* The button of the language posts the form of its page. True: the answer is a redirect to this form in the other
 * language. */
bool kept_form_switches_language(struct exchange *x);

#endif
