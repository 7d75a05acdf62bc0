#include "sso/journey.h"

#include <inttypes.h>

#include "oidc/attempt.h"

static const char WORDS[JOURNEY_KINDS] = { [JOURNEY_LOGIN] = 'n', [JOURNEY_LINK] = 'l', [JOURNEY_AGAIN] = 'a' };

struct str journey_write(struct arena *a, const struct journey *j)
{
    struct str text = arena_printf(a, "%c%" PRIu64 ":%.*s", WORDS[j->kind], j->user_id, STR_ARG(j->next));
    return text.len <= OIDC_CARRIED_MAX ? text : arena_printf(a, "%c%" PRIu64 ":", WORDS[j->kind], j->user_id);
}

struct journey journey_read(struct str text)
{
    struct journey j = { JOURNEY_LOGIN, 0, STR("") };
    struct str next, head = str_cut(str_or_empty(text), ':', &next);
    if (head.len < 2 || next.ptr == NULL)
        return j;
    for (int kind = 0; kind < JOURNEY_KINDS; kind++)
        if (WORDS[kind] == head.ptr[0])
            j.kind = (enum journey_kind)kind;
    if (!str_to_u64(str_slice(head, 1, head.len), &j.user_id))
        return (struct journey){ JOURNEY_LOGIN, 0, STR("") };
    j.next = next;
    return j;
}
