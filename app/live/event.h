/* Parses the texts that the functions write: stream ids, entries of the order list, events of a partition's stream.
 * live/live.h lists the formats. Pure. */
#ifndef HB_LIVE_EVENT_H
#define HB_LIVE_EVENT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/badge.h"
#include "base/status.h"
#include "base/str.h"
#include "packet/packet.h"
#include "redis/redis.h"

/* A stream id; as text "ms-seq". */
struct live_event_id {
    uint64_t ms, seq;
};
#define LIVE_EVENT_ID_MAX 42                               /* bytes of the text, with NUL */
#define LIVE_EVENT_NONE   ((struct live_event_id){ 0, 0 }) /* less than every id in use */
bool live_event_id_parse(struct str text, struct live_event_id *out);
bool live_event_id_equal(struct live_event_id a, struct live_event_id b);
int live_event_id_compare(struct live_event_id a, struct live_event_id b); /* < 0, 0, > 0 */
struct str live_event_id_text(char *out, struct live_event_id id);         /* out: LIVE_EVENT_ID_MAX bytes */

/* An entry of the order list, `user,fen,ms-seq,badge`. */
struct live_order_entry {
    uint64_t user_id;
    int64_t amount_fen;
    struct live_event_id event; /* .ms is the time of the grab */
    struct str nickname;        /* borrowed from the text */
    struct face face;
};
/* False: malformed; *out is undefined. */
bool live_order_entry_parse(struct str text, struct live_order_entry *out);

/* The events of the stream. */
enum live_event_type { LIVE_EVENT_GRAB, LIVE_EVENT_CLOSE };
struct live_event {
    struct live_event_id id;
    /* Set by the reader of a stream: the entry before has the same time. Redis repeats the time of the last entry while
     * its clock is behind it, so the event may be older than its id says. */
    bool follows;
    enum live_event_type type;
    uint64_t packet_id;
    /* grab */
    uint32_t share_no;
    uint64_t user_id;
    int64_t amount_fen;
    struct str nickname; /* borrowed from the value, without the face */
    /* close */
    uint32_t grabbed_count;
    int64_t grabbed_fen, rest_fen;
};
/* Reads an event from one field of a stream entry and its value. False: malformed, *out is unchanged. */
bool live_event_parse(struct live_event_id id, struct str field, struct str value, struct live_event *out);
/* An entry of the stream holds one close event, or the grabs of one call of the grab function: at least one, all of one
 * packet. These functions read an entry of an XRANGE or XREAD reply. */

/* The rule for an entry of count events: true when e can be in it beside the first one. */
bool live_entry_fits(const struct live_event *first, const struct live_event *e, size_t count);
/* Checks all events of an entry and reads the first one. ST_CORRUPT: some part of the entry is malformed (it becomes a
 * dead letter); out->id is still set if the entry has a valid id, else 0-0. */
enum status live_entry_first(const redisReply *entry, struct live_event *out);
/* Room that live_entry_read needs: the number of events of an entry that is not malformed. */
size_t live_entry_events(const redisReply *entry);
/* Reads all events of an entry into out; *count: how many, all with the id of the entry. ST_CORRUPT as
 * live_entry_first; out[0].id is set as there (out has room for one event at least), and *count is 0. */
enum status live_entry_read(const redisReply *entry, struct live_event *out, size_t *count);

#endif
