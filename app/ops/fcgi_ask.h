/* One request to a pool, over its socket, as nginx sends it. */
#ifndef HB_OPS_FCGI_ASK_H
#define HB_OPS_FCGI_ASK_H

#include "base/arena.h"
#include "base/str.h"

enum { FCGI_ASK_S_MAX = 5 };

/* The answer to GET path with its headers, in the arena; at most 64 KiB of it. fd: a connection to the pool, used for
 * nothing else. Empty: there was no answer within FCGI_ASK_S_MAX. */
struct str fcgi_ask(int fd, const char *path, struct arena *a);

#endif
