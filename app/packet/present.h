/* How packets and people are shown, wherever a page lists them. */
#ifndef HB_PACKET_PRESENT_H
#define HB_PACKET_PRESENT_H

#include "packet/packet.h"
#include "web/exchange.h"

/* The 26 characters people see, and the packet's path "/p/…". In the request's arena. */
struct str present_packet_id(struct exchange *x, uint64_t packet_id);
struct str present_packet_path(struct exchange *x, uint64_t packet_id);

/* 拼手气红包, 普通红包, 专属红包. Static storage. */
struct str present_kind_text(enum packet_kind kind);
/* Members id, kind, greeting; page: url "/p/ID", kind_text, kind_lucky. */
void present_packet(struct exchange *x, struct model *m, struct value *object, uint64_t packet_id,
                    enum packet_kind kind, struct str greeting);

/* Object name { id, nickname, page: initial, hue }. */
void present_person(struct model *m, struct value *object, const char *name, uint64_t id, struct str nickname);

/* Lower-case hex. STR_NONE without memory. */
struct str present_hex(struct arena *a, const uint8_t *bytes, size_t len);

#endif
