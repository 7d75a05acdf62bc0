#include "packet/members.h"

#include <string.h>

#include "packet/packet.h"

#define ROW(member, member_type, table, redis, page, order)                                                            \
    { .name = #member,                                                                                                 \
      .offset = offsetof(struct packet, member),                                                                       \
      .size = sizeof((struct packet *)NULL)->member,                                                                   \
      .type = PACKET_TYPE_##member_type,                                                                               \
      .use = PACKET_USE_##table | PACKET_USE_##redis | PACKET_USE_##page | PACKET_USE_##order },

const struct packet_member packet_members[PACKET_MEMBER_COUNT] = { PACKET_MEMBERS(ROW) };

static bool is_text(const struct packet_member *m)
{
    return m->type == PACKET_TYPE_TEXT || m->type == PACKET_TYPE_OPT_TEXT || m->type == PACKET_TYPE_OPT_BYTES;
}

struct str *packet_member_text(struct packet *p, size_t i)
{
    const struct packet_member *m = &packet_members[i];
    return is_text(m) ? (void *)((char *)p + m->offset) : NULL;
}

bool packet_members_same(const struct packet *p, const struct packet *q)
{
    for (size_t i = 0; i < PACKET_MEMBER_COUNT; i++) {
        const struct packet_member *m = &packet_members[i];
        const void *a = (const char *)p + m->offset, *b = (const char *)q + m->offset;
        if ((m->use & PACKET_USE_COMPARED) == 0)
            continue;
        if (is_text(m) ? !str_equal(*(const struct str *)a, *(const struct str *)b) : memcmp(a, b, m->size) != 0)
            return false;
    }
    return true;
}
