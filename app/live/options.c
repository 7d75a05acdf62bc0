#include "live/options_internal.h"

#include "base/array.h"
#include "redis/reply.h"

#define NAME(name, type, table, redis, ...) NAME_##redis(name)
#define NAME_OPTION(name)                   "'" #name "', "
#define NAME__(name)

struct str live_options_include(void)
{
    return STR("local OPTIONS = {" PACKET_MEMBERS(NAME) "}\n");
}

/* The indexes of the options in packet_members. */
#define INDEX(name, type, table, redis, ...) INDEX_##redis(name)
#define INDEX_OPTION(name)                   PACKET_MEMBER_##name,
#define INDEX__(name)
static const uint8_t OPTIONS[] = { PACKET_MEMBERS(INDEX) };

/* The value of an option as text, as in the hash. Empty: the packet does not have the option. */
static struct str option_text(const struct packet *p, size_t i, char *number)
{
    const void *value = (const char *)p + packet_members[i].offset;
    uint64_t n;
    switch (packet_members[i].type) {
    case PACKET_TYPE_U32: n = *(const uint32_t *)value; break;
    case PACKET_TYPE_I64:
    case PACKET_TYPE_OPT_I64: n = (uint64_t) * (const int64_t *)value; break;
    default: return str_or_empty(*(const struct str *)value);
    }
    return n == 0 ? STR("") : str_u64(number, n);
}

size_t live_options_write(const struct packet *p, struct live_options *memory, struct str *out)
{
    size_t count = 0;
    for (size_t i = 0; i < ARRAY_LEN(OPTIONS); i++) {
        struct str text = option_text(p, OPTIONS[i], memory->numbers[i]);
        if (text.len == 0)
            continue;
        out[count++] = str_from(packet_members[OPTIONS[i]].name);
        out[count++] = text;
    }
    return count;
}

bool live_conditions(const struct packet *p)
{
    return p->opens_ms != 0 || p->phrase_hash.len > 0 || p->receivers.len > 0;
}

/* Reads a value that is not nil into the member at index i. */
static bool option_read(const redisReply *value, size_t i, struct packet *p)
{
    struct str *text = packet_member_text(p, i);
    if (text != NULL) {
        *text = str_or_empty(redis_reply_str(value));
        return redis_reply_str(value).ptr != NULL;
    }
    const bool is_u32 = packet_members[i].type == PACKET_TYPE_U32;
    void *number = (char *)p + packet_members[i].offset;
    uint64_t n;
    if (!str_to_u64(redis_reply_str(value), &n) || n > (is_u32 ? UINT32_MAX : INT64_MAX))
        return false;
    if (is_u32)
        *(uint32_t *)number = (uint32_t)n;
    else
        *(int64_t *)number = (int64_t)n;
    return true;
}

bool live_options_read(const redisReply *values, struct packet *p)
{
    const bool none = redis_reply_is_nil(values);
    for (size_t i = 0; i < ARRAY_LEN(OPTIONS); i++) {
        struct str *text = packet_member_text(p, OPTIONS[i]);
        if (text != NULL)
            *text = STR("");
        const redisReply *value = none ? NULL : redis_reply_at(values, i);
        if (!none && !redis_reply_is_nil(value) && !option_read(value, OPTIONS[i], p))
            return false;
    }
    return true;
}
