/* The field types of the send form (pages/send_form.h), and the conditions of its fields. Most values depend on the
 * packet's kind or on each other, so they are members of a struct send_order, and the rows above a field are read
 * before it. */
#ifndef HB_PAGES_SEND_TYPES_H
#define HB_PAGES_SEND_TYPES_H

#include "web/fields.h"

/* Conditions. Each of them is false when the kind was refused. */
bool send_kind_is_known(const struct field_input *in);
bool send_is_lucky(const struct field_input *in);
bool send_is_even(const struct field_input *in);
bool send_is_for_several(const struct field_input *in); /* any kind except exclusive */

/* struct str_list: the only users who may open the packet. An exclusive packet has exactly one receiver; a packet of
 * another kind is for everybody, or for the named users. */
extern const struct field_type SEND_TO;
/* uint32_t: the number of shares. With named receivers it is at most, and by default, their number. 0: it is not
 * known. */
extern const struct field_type SEND_COUNT;
/* int64_t fen: the total. For a lucky packet the sender types the total, for an even packet what amount_of says, for an
 * exclusive packet the only share. Whether it is allowed depends on kind and count. */
extern const struct field_type SEND_AMOUNT;
/* int64_t fen: the smallest share. It can't exceed the average, so it is read after the amount. */
extern const struct field_type SEND_SHARE_MIN;
/* int64_t ms: one of the setting packet_lifetimes. */
extern const struct field_type SEND_LIFETIME;
/* int64_t ms: a moment at most RULES_OPENS_AHEAD_MAX_MS ahead. Whether it has passed is checked by the handler: an
 * order that is repeated after its opening is still the same order. */
extern const struct field_type SEND_OPENS_AT;
/* struct str: as stored (packet/cover.h). Whether a picture is the sender's is checked by the handler. */
extern const struct field_type SEND_COVER;

/* The word of a lifetime. Empty: the setting does not list it. */
struct str send_lifetime_word(const struct config *config, int64_t lifetime_ms);

#endif
