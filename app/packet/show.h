/* GET /p/ID: the envelope, the result or the list of grabs, by who looks and in which state the packet is. */
#ifndef HB_PACKET_SHOW_H
#define HB_PACKET_SHOW_H

#include "web/exchange.h"

/* Hot pool: from Redis alone. A packet that Redis does not know is handed on to the page pool. */
enum step packet_show_hot(struct exchange *x);
/* Page pool: the same page from MySQL, for packets whose live keys are gone. */
enum step packet_show_cold(struct exchange *x);

#endif
