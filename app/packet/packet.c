#include "packet/packet.h"

#include <assert.h>
#include <stddef.h>

#include "base/array.h"

static const struct str kind_names[] = {
    [PACKET_LUCKY] = STR("lucky"), [PACKET_EVEN] = STR("even"), [PACKET_EXCLUSIVE] = STR("exclusive")
};
static const struct str split_names[] = { [SPLIT_DOUBLE_AVERAGE] = STR("double-average"),
                                          [SPLIT_UNIFORM] = STR("uniform"),
                                          [SPLIT_GAUSSIAN] = STR("gaussian"),
                                          [SPLIT_EVEN] = STR("even") };
static const struct str state_names[] = { [PACKET_FUNDING] = STR("funding"),
                                          [PACKET_OPEN] = STR("open"),
                                          [PACKET_FINISHED] = STR("finished"),
                                          [PACKET_EXPIRED] = STR("expired"),
                                          [PACKET_CLOSED] = STR("closed") };

/* The index of name in names; count: not found. */
static size_t name_find(const struct str *names, size_t count, struct str name)
{
    size_t i = 0;
    while (i < count && !str_equal(names[i], name))
        i++;
    return i;
}

struct str packet_kind_name(enum packet_kind kind)
{
    assert((size_t)kind < ARRAY_LEN(kind_names));
    return kind_names[kind];
}

struct str split_method_name(enum split_method method)
{
    assert((size_t)method < ARRAY_LEN(split_names));
    return split_names[method];
}

struct str packet_state_name(enum packet_state state)
{
    assert((size_t)state < ARRAY_LEN(state_names));
    return state_names[state];
}

bool packet_kind_from(struct str name, enum packet_kind *out)
{
    size_t i = name_find(kind_names, ARRAY_LEN(kind_names), name);
    if (i == ARRAY_LEN(kind_names))
        return false;
    *out = (enum packet_kind)i;
    return true;
}

bool split_method_from(struct str name, enum split_method *out)
{
    size_t i = name_find(split_names, ARRAY_LEN(split_names), name);
    if (i == ARRAY_LEN(split_names))
        return false;
    *out = (enum split_method)i;
    return true;
}

bool packet_state_from(struct str name, enum packet_state *out)
{
    size_t i = name_find(state_names, ARRAY_LEN(state_names), name);
    if (i == ARRAY_LEN(state_names))
        return false;
    *out = (enum packet_state)i;
    return true;
}

uint32_t packet_share_total(const struct packet *p)
{
    return p->count + p->returned_count;
}

int64_t packet_total_fen(const struct packet *p)
{
    return p->amount_fen + p->returned_fen;
}

bool packet_is_taken(const struct packet *p)
{
    return p->grabbed_count == packet_share_total(p);
}

uint32_t packet_taken_count(const struct packet *p)
{
    return p->grabbed_count - p->returned_count;
}

int64_t packet_taken_fen(const struct packet *p)
{
    return p->grabbed_fen - p->returned_fen;
}

enum packet_state packet_state_shown(const struct packet *p, int64_t now_ms)
{
    if (p->state == PACKET_FINISHED || p->state == PACKET_EXPIRED)
        return p->state;
    if (packet_is_taken(p))
        return PACKET_FINISHED;
    if (p->state == PACKET_CLOSED || now_ms >= p->expires_ms)
        return PACKET_EXPIRED;
    return PACKET_OPEN;
}

bool packet_is_waiting(const struct packet *p, int64_t now_ms)
{
    return p->state == PACKET_OPEN && now_ms < p->opens_ms;
}

bool packet_is_over(const struct packet *p)
{
    return p->state == PACKET_FINISHED || p->state == PACKET_CLOSED || packet_is_taken(p);
}

int64_t packet_start_ms(const struct packet *p)
{
    return p->opens_ms != 0 ? p->opens_ms : p->created_ms;
}

int64_t packet_lifetime_ms(const struct packet *p)
{
    return p->expires_ms - packet_start_ms(p);
}

uint32_t packet_partition(uint64_t packet_id, int64_t partitions)
{
    assert(partitions >= 1 && partitions <= UINT32_MAX);
    return (uint32_t)(packet_id % (uint64_t)partitions);
}
