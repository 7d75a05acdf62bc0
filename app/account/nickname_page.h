/* Changing one's nickname and face. The username stays for life: senders name receivers by it, and a username that
 * another person could take over would send packets to the wrong person. */
#ifndef HB_ACCOUNT_NICKNAME_PAGE_H
#define HB_ACCOUNT_NICKNAME_PAGE_H

#include <limits.h>

#include "web/exchange.h"
#include "web/fields.h"

struct nickname_form {
    struct str nickname;
    unsigned face; /* number of the choice; FACE_STAYS: none was chosen */
};
#define FACE_STAYS UINT_MAX
extern const struct field nickname_fields[];

/* Adds face_choices [{ word, title, chosen, is_initial, members of view_avatar_model }] for the form, page only: the
 * drawn faces, then the initial. Chosen is the typed choice, else the present face; nothing, when that is a picture. */
void face_choices_model(struct exchange *x, struct model *m);

/* Handler of POST /account/nickname: 303 /account?saved=1, JSON 200 with id, username and nickname; 422. MySQL first,
 * then the sessions, so that a repeat of the same form completes what was left. Packets, grabs and copies of access
 * tokens (for an hour at most) keep the old name; in Redis they keep the old face, too. Pages from MySQL show the new
 * face. */
enum step nickname_submit(struct exchange *x);

#endif
