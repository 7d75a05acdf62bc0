/* The first values of the send form: GET /send?to=USERNAME, a packet for one person, GET /send?again=PACKETID,
 * 再发一个: the values of a packet that the visitor has sent, except its passphrase, which is not shown in a form, and an
 * opening that has passed; GET /send?back=PACKETID, 我也发一个: a packet for the sender of one that the visitor has a share
 * of; and what was typed before (web/kept_form.h). The request key is always a new one. */
#ifndef HB_PAGES_SEND_PREFILL_H
#define HB_PAGES_SEND_PREFILL_H

#include "pages/people.h"
#include "web/fields.h"

/* The query of GET /send: to, again, back. */
extern const struct field send_prefill_fields[];

struct prefill {
    struct form form;
    /* the earlier packet had this field, and the sender must type it again */
    bool lacks_phrase, lacks_note, lacks_opening, lacks_to;
    bool back;                     /* the packet is a gift sent back */
    struct people_known receivers; /* receivers of the earlier packet, or of the gift; else none */
};

/* Fills *out with the fields of the form; none without such a query. The texts are in the request's arena.
 * ST_NOT_FOUND: no such packet, or not the visitor's · ST_NO_MEMORY · else as db_query. */
enum status send_prefill(struct exchange *x, struct prefill *out);

#endif
