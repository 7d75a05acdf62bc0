/* Finished packets in the memory of a process. Once every share of a packet is grabbed and settled nothing of it ever
 * changes, whatever becomes of Redis (one with a dead letter is not closed, so it is not kept). So both who comes too
 * late and who looks at the list are answered without asking it. Only packets whose grabs are all known are kept: that
 * a user has no share is as certain as which one he has. */
#ifndef HB_PAGES_FINISHED_H
#define HB_PAGES_FINISHED_H

#include "live/grab.h"
#include "packet/view.h"
#include "web/language.h"

#define FINISHED_PACKETS_MAX 1024               /* in one process */
#define FINISHED_BYTES_MAX   ((size_t)16 << 20) /* of them all */
#define FINISHED_LOOK_EVERY  16                 /* one of so many losing grabs looks whether the packet can be kept */

/* The first page of the list, ready made. */
struct finished_rows {
    struct str html[LANGUAGES];
    struct str json;
};

struct finished_packet {
    struct packet_view view; /* every grab, newest first; nobody's: has_mine is false */
    struct finished_rows rows;
};

struct finished;
/* At most packets_max (≥ 1) packets of bytes_max bytes together; what was not asked for lately goes first. NULL:
 * no memory. */
struct finished *finished_new(size_t packets_max, size_t bytes_max);
void finished_free(struct finished *f); /* NULL is fine */

/* True when a packet as Redis shows it will never change and view has all of its grabs. Pure. */
bool finished_for_ever(const struct packet_view *view);
/* True when it will never change, but view has only some of the grabs, and all of them would fit one view. Pure. */
bool finished_but_partly(const struct packet_view *view);

/* Keeps a copy; view must be finished_for_ever. Does nothing when the packet is there, too large, or without memory. */
void finished_keep(struct finished *f, const struct finished_packet *packet);
/* NULL: not kept. Valid until another function of this table is called. */
const struct finished_packet *finished_find(struct finished *f, uint64_t packet_id);
/* Says which templates are in use (services.templates.made): rows that others made are forgotten. */
void finished_made_with(struct finished *f, unsigned templates_made);
/* True for one losing grab in FINISHED_LOOK_EVERY of packets that could be kept: it looks whether it is time. */
bool finished_look_due(struct finished *f, uint32_t share_count);

/* What the grab script would answer. */
struct live_grab finished_grab(const struct finished_packet *packet, uint64_t user_id);
/* What the view script would show; rows point into packet. user_id, after and limit as for live_view_queue. Of packet
 * only the view is read, and all it needs is every grab. */
struct packet_view finished_view(const struct finished_packet *packet, uint64_t user_id, uint32_t after,
                                 uint32_t limit);

#endif
