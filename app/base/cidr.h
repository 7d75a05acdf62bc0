/* Lists of networks in CIDR notation: "10.0.0.0/8 192.0.2.7 2001:db8::/32", with blanks or commas between. An address
 * without a prefix is a network of its own. An IPv4 address inside IPv6 (::ffff:192.0.2.7) is the IPv4 address.
 * Pure. */
#ifndef HB_BASE_CIDR_H
#define HB_BASE_CIDR_H

#include <stdbool.h>

#include "base/str.h"

/* False: *wrong is an entry that is no network, or has bits behind its prefix (10.0.0.1/8). wrong may be NULL. */
bool cidr_list_is_valid(struct str list, struct str *wrong);
/* Whether one of the networks has the address. False: also when the address, or the entry, is none. */
bool cidr_list_has(struct str list, struct str address);

#endif
