/* One request to a pool, over its socket, as nginx sends it. */
#ifndef HB_DOCTOR_FCGI_ASK_H
#define HB_DOCTOR_FCGI_ASK_H

#include "base/arena.h"
#include "base/str.h"

/* The answer to GET path with its headers, in the arena; at most 64 KiB of it. fd: a connection to the pool, used for
 * nothing else. Empty: the answer was not complete within limit_ms. */
struct str fcgi_ask(int fd, const char *path, int limit_ms, struct arena *a);

#endif
