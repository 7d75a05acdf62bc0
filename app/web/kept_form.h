/* Forms whose texts are kept: GET of the same address fills the form from its query, so a link has what was typed. It
 * survives the switch of the language, a login in between, and a store that is away. Passwords, codes, passphrases and
 * request keys are never part of an address; a passphrase waits in the browser's tab (static/send.js). */
#ifndef HB_WEB_KEPT_FORM_H
#define HB_WEB_KEPT_FORM_H

#include "web/fields.h"

/* The address of the page that a posted form belongs to: with the typed texts when the route keeps them (KEEP_FORM), as
 * far as they fit into NEXT_BYTES_MAX. STR_NONE without memory. */
struct str kept_form_url(struct exchange *x);
/* Copies the fields that are kept, the first ones first: of the posted form, or of the query that fills it. */
void kept_form_copy(struct exchange *x, const struct field *fields, struct form *out);
/* The button of the language posts the form that it is on. True: the answer is a redirect to the form in the other
 * language. */
bool kept_form_switches_language(struct exchange *x);

#endif
