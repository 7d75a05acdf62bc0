/* A user's own covers: pictures for envelopes. */
#ifndef HB_ACCOUNT_COVER_PAGE_H
#define HB_ACCOUNT_COVER_PAGE_H

#include "web/exchange.h"
#include "web/fields.h"

/* The query of the page: what the page confirms, and `next`, the address of the packet form from which the visitor
 * came, with what was typed there. */
extern const struct field covers_fields[];

/* Handlers of the page pool, NEED_USER. GET /covers → pages/covers:
 *   covers_max, covers    [{ name: the word for the field `cover` of /send, cover, cover_url; page: own: its number,
 *                         hash, send_url: the form of a packet with it }], the newest first
 *   page: room (one more fits), next (the form of a packet that the visitor came from), saved, removed
 * POST /covers (multipart/form-data: picture_upload.h, and a part `next`): 303 /covers?saved=1, or `next` with the new
 * cover; JSON 201 { name, cover, cover_url }; 422: the page, with the message: no file, too large, not readable, or
 * there are OWN_COVERS_MAX.
 * POST /covers/HASH/delete (form: next): 303 /covers?removed=1, JSON 204; also without this cover. */
enum step covers_show(struct exchange *x);
enum step cover_submit(struct exchange *x);
enum step cover_delete_submit(struct exchange *x);
/* GET for the addresses of the form: 303 /covers. */
enum step covers_redirect(struct exchange *x);

#endif
