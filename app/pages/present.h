/* Model members for packets and people that several pages share, and text formats. */
#ifndef HB_PAGES_PRESENT_H
#define HB_PAGES_PRESENT_H

#include "packet/packet.h"
#include "packet/split.h"
#include "web/exchange.h"

/* The public id of 26 characters, and the packet's path "/p/ID". In the request's arena; STR_NONE without memory. */
struct str present_packet_id(struct exchange *x, uint64_t packet_id);
struct str present_packet_path(struct exchange *x, uint64_t packet_id);
/* The packet's address with the site's base_url before its path. Memory as above. */
struct str present_packet_url(struct exchange *x, uint64_t packet_id);
/* The site's base_url without its scheme. */
struct str present_site_host(const struct exchange *x);

/* Adds member kind; page: kind_lucky, kind_even, kind_exclusive, exactly one of them true (partials/kind). */
void present_kind(struct model *m, struct value *object, enum packet_kind kind);
/* Adds page-only split_double_average, split_uniform, split_gaussian, split_even, exactly one of them true. */
void present_split(struct model *m, struct value *object, enum split_method split);
/* Adds members id, kind, greeting; page: url "/p/ID", and the members of present_kind. */
void present_packet(struct exchange *x, struct model *m, struct value *object, uint64_t packet_id,
                    enum packet_kind kind, struct str greeting);

/* Adds the object name { id, nickname, page members of view_avatar_model }. */
void present_person(struct model *m, struct value *object, const char *name, uint64_t id, struct str nickname,
                    const struct face *face);

/* Bytes as lower-case hex, in the arena. STR_NONE without memory. */
struct str present_hex(struct arena *a, const uint8_t *bytes, size_t len);

#endif
