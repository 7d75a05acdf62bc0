/* Answers that are too large for memory: they are made and sent part by part (respond_stream). All parts use the same
 * memory, one after another. */
#ifndef HB_WEB_STREAM_H
#define HB_WEB_STREAM_H

#include "web/exchange.h"

/* Makes the memory for the parts, and sets x->stream. ST_OK · ST_NO_MEMORY. stream_end frees it. */
enum status stream_begin(struct exchange *x, stream_part *part);

/* Appends the next part to x->body, which is empty. *more: further parts follow. ST_OK · ST_NO_MEMORY · what the part
 * returns. */
enum status stream_next(struct exchange *x, bool *more);

/* Ends the stream: the answer is complete, or is given up. */
void stream_end(struct exchange *x);

#endif
