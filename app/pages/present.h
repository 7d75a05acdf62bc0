/* How packets and people are shown, wherever a page lists them. */
#ifndef HB_PAGES_PRESENT_H
#define HB_PAGES_PRESENT_H

#include "packet/packet.h"
#include "web/exchange.h"

/* The 26 characters people see, and the packet's path "/p/…". In the request's arena. */
struct str present_packet_id(struct exchange *x, uint64_t packet_id);
struct str present_packet_path(struct exchange *x, uint64_t packet_id);

/* Member kind; page: kind_lucky, kind_even, kind_exclusive, of which exactly one is true (partials/kind). */
void present_kind(struct model *m, struct value *object, enum packet_kind kind);
/* Members id, kind, greeting; page: url "/p/ID", and those of present_kind. */
void present_packet(struct exchange *x, struct model *m, struct value *object, uint64_t packet_id,
                    enum packet_kind kind, struct str greeting);

/* Object name { id, nickname, page: initial, hue }. */
void present_person(struct model *m, struct value *object, const char *name, uint64_t id, struct str nickname);

/* fen as people write a limit: "200", "12.50". In the arena; STR_NONE without memory. */
struct str present_limit(struct arena *a, int64_t fen);

/* Lower-case hex. STR_NONE without memory. */
struct str present_hex(struct arena *a, const uint8_t *bytes, size_t len);

#endif
