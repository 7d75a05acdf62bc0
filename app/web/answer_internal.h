/* Writes an answer to nginx: at once, or as a stream part by part. */
#ifndef HB_WEB_ANSWER_INTERNAL_H
#define HB_WEB_ANSWER_INTERNAL_H

#include "web/exchange.h"
#include "web/route.h"

/* Writes the whole answer of x. */
void answer_write(const struct router *router, struct exchange *x);
/* Writes the next part of the stream of x. FCGI_WAIT: call it again for the next one. A stream that fails before its
 * first part becomes a problem; one that fails later is broken off. */
enum fcgi_step answer_stream_step(const struct router *router, struct exchange *x);

#endif
