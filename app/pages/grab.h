/* POST /p/ID/open: one tap, one share. */
#ifndef HB_PAGES_GRAB_H
#define HB_PAGES_GRAB_H

#include "web/exchange.h"

/* Hot pool: one Lua script decides. A packet that Redis does not know is handed on to the page pool. */
enum step packet_open_hot(struct exchange *x);
/* Page pool: what a packet without live keys answers, from MySQL: nothing can be grabbed there any more. */
enum step packet_open_cold(struct exchange *x);

#endif
