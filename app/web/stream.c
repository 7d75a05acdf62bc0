#include "web/stream.h"

enum { PART_CHUNK_BYTES = 256 << 10, PART_BYTES_MAX = 16 << 20 };

enum status stream_begin(struct exchange *x, stream_part *part)
{
    x->part_arena = arena_new(PART_CHUNK_BYTES, PART_BYTES_MAX);
    if (x->part_arena == NULL)
        return ST_NO_MEMORY;
    x->stream = part;
    return ST_OK;
}

enum status stream_next(struct exchange *x, bool *more)
{
    struct arena *of_request = x->arena;
    arena_reset(x->part_arena);
    x->arena = x->part_arena;
    enum status st = x->stream(x, more);
    if (st == ST_OK && (arena_failed(x->arena) || x->body.failed))
        st = ST_NO_MEMORY;
    x->arena = of_request;
    return st;
}

void stream_end(struct exchange *x)
{
    arena_free(x->part_arena);
    x->part_arena = NULL;
    x->stream = NULL;
}
