#include "live/options_internal.h"

#include "base/array.h"
#include "io/redis_reply.h"

/* In the order of lua/view-4.lua (tests/tidy compares them). */
static const struct {
    const char *name;
    enum { OPTION_TEXT, OPTION_U32, OPTION_I64 } type;
    size_t member;
} OPTIONS[] = {
    { "opens_ms", OPTION_I64, offsetof(struct packet, opens_ms) },
    { "phrase_hash", OPTION_TEXT, offsetof(struct packet, phrase_hash) },
    { "phrase_sealed", OPTION_TEXT, offsetof(struct packet, phrase_sealed) },
    { "cover", OPTION_TEXT, offsetof(struct packet, cover) },
    { "receiver_count", OPTION_U32, offsetof(struct packet, receiver_count) },
    { "ended_ms", OPTION_I64, offsetof(struct packet, ended_ms) },
    { "returned_count", OPTION_U32, offsetof(struct packet, returned_count) },
    { "returned_fen", OPTION_I64, offsetof(struct packet, returned_fen) },
    { "returned_shares", OPTION_TEXT, offsetof(struct packet, returned_shares) },
    { "thanks_count", OPTION_U32, offsetof(struct packet, thanks_count) },
    { "receivers", OPTION_TEXT, offsetof(struct packet, receivers) },
    { "receiver_names", OPTION_TEXT, offsetof(struct packet, receiver_names) },
};
_Static_assert(ARRAY_LEN(OPTIONS) == LIVE_OPTION_COUNT, "the header tells the number of options");

/* The value of an option as the hash has it. Empty: the packet does not have it. */
static struct str option_text(const struct packet *p, size_t i, char *number)
{
    const char *member = (const char *)p + OPTIONS[i].member;
    uint64_t n;
    switch (OPTIONS[i].type) {
    case OPTION_TEXT: return str_or_empty(*(const struct str *)member);
    case OPTION_U32: n = *(const uint32_t *)member; break;
    default: n = (uint64_t) * (const int64_t *)member;
    }
    return n == 0 ? STR("") : str_u64(number, n);
}

size_t live_options_write(const struct packet *p, struct live_options *memory, struct str *out)
{
    size_t count = 0;
    for (size_t i = 0; i < LIVE_OPTION_COUNT; i++) {
        struct str text = option_text(p, i, memory->numbers[i]);
        if (text.len == 0)
            continue;
        out[count++] = str_from(OPTIONS[i].name);
        out[count++] = text;
    }
    return count;
}

bool live_conditions(const struct packet *p)
{
    return p->opens_ms != 0 || p->phrase_hash.len > 0 || p->receivers.len > 0;
}

static bool option_read(const redisReply *values, size_t i, struct packet *p)
{
    char *member = (char *)p + OPTIONS[i].member;
    struct str text = redis_reply_str(redis_reply_at(values, i));
    uint64_t n;
    if (redis_reply_is_nil(redis_reply_at(values, i)))
        return true;
    if (OPTIONS[i].type == OPTION_TEXT) {
        *(struct str *)member = str_or_empty(text);
        return text.ptr != NULL;
    }
    if (!str_to_u64(text, &n) || n > (OPTIONS[i].type == OPTION_U32 ? UINT32_MAX : INT64_MAX))
        return false;
    if (OPTIONS[i].type == OPTION_U32)
        *(uint32_t *)member = (uint32_t)n;
    else
        *(int64_t *)member = (int64_t)n;
    return true;
}

bool live_options_read(const redisReply *values, struct packet *p)
{
    for (size_t i = 0; i < LIVE_OPTION_COUNT; i++)
        if (OPTIONS[i].type == OPTION_TEXT)
            *(struct str *)((char *)p + OPTIONS[i].member) = STR("");
    if (redis_reply_is_nil(values))
        return true;
    for (size_t i = 0; i < LIVE_OPTION_COUNT; i++)
        if (!option_read(values, i, p))
            return false;
    return true;
}
