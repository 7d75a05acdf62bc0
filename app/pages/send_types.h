/* The field types of the send form (pages/send_form.h), and the conditions of its fields. Most values depend on the
 * packet's kind or on each other: they are members of a struct send_order, and the rows above have been read. */
#ifndef HB_PAGES_SEND_TYPES_H
#define HB_PAGES_SEND_TYPES_H

#include "web/fields.h"

/* Conditions. Each of them is false when the kind was refused. */
bool send_kind_is_known(const struct field_input *in);
bool send_is_lucky(const struct field_input *in);
bool send_is_even(const struct field_input *in);
bool send_is_for_several(const struct field_input *in); /* any kind but exclusive */

/* struct str_list: who alone may open it. An exclusive packet has exactly one receiver; a packet of another kind is for
 * everybody, or for the named users. */
extern const struct field_type SEND_TO;
/* uint32_t: with named receivers there are at most as many shares, and as many by default: 0 when it is not known how
 * many. */
extern const struct field_type SEND_COUNT;
/* int64_t fen: the total. What is typed is the total of a lucky packet, what amount_of says of an even one, the only
 * share of an exclusive one. Whether it is allowed depends on kind and count. */
extern const struct field_type SEND_AMOUNT;
/* int64_t fen: the smallest share. It can't be more than the average, so it is read after the amount. */
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
