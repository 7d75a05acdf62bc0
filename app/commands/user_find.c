#include "commands/user_find.h"

#include <inttypes.h>

#include "base/clock.h"
#include "commands/user_word.h"
#include "packet/store.h"
#include "user/store.h"

struct search {
    struct db *db;
    struct arena *arena;
    FILE *out;
    uint64_t printed[USER_FIND_MAX];
    size_t printed_count; /* users that are not found by nickname: few */
    bool found;
};

/* The nickname comes last: it may have blanks. */
static void user_print(struct search *s, const struct user_state *user)
{
    char created[CLOCK_TEXT_MAX];
    s->found = true;
    for (size_t i = 0; i < s->printed_count; i++)
        if (s->printed[i] == user->id)
            return;
    if (s->printed_count < USER_FIND_MAX)
        s->printed[s->printed_count++] = user->id;
    (void)clock_rfc3339_format(user->created_ms, created);
    (void)fprintf(s->out, "id %" PRIu64 "  username %.*s  %s  registered %s  nickname %.*s\n", user->id,
                  STR_ARG(user->username), user_state_word(user), created, STR_ARG(user->nickname));
}

static enum status user_find_by_id(struct search *s, uint64_t id)
{
    struct user_state user;
    enum status st = user_state_find_by_id(s->db, s->arena, id, &user);
    if (st == ST_OK)
        user_print(s, &user);
    return st == ST_NOT_FOUND ? ST_OK : st;
}

static enum status packet_print(struct search *s, uint64_t id)
{
    struct packet p;
    char created[CLOCK_TEXT_MAX];
    enum status st = packet_find_sender(s->db, s->arena, id, &p);
    if (st != ST_OK)
        return st == ST_NOT_FOUND ? ST_OK : st;
    (void)clock_rfc3339_format(p.created_ms, created);
    (void)fprintf(s->out, "packet %" PRIu64 "  %.*s  sent %s  grabbed %u of %u  sender id %" PRIu64 "\n", p.id,
                  STR_ARG(packet_state_name(p.state)), created, p.grabbed_count, p.count, p.sender_id);
    s->found = true;
    return user_find_by_id(s, p.sender_id);
}

static enum status nickname_print(struct search *s, struct str nickname)
{
    struct user_state *users;
    size_t count;
    enum status st = user_states_by_nickname(s->db, s->arena, nickname, USER_FIND_MAX + 1, &users, &count);
    for (size_t i = 0; st == ST_OK && i < count && i < USER_FIND_MAX; i++)
        user_print(s, &users[i]);
    if (st == ST_OK && count > USER_FIND_MAX)
        (void)fprintf(s->out, "more users have this nickname: these are the newest %d\n", USER_FIND_MAX);
    return st;
}

enum status user_find_print(struct stores *stores, struct arena *a, struct str word, FILE *out, const char **why)
{
    struct search s = { .db = stores->db, .arena = a, .out = out };
    struct user_word w;
    enum status st = user_word_read(a, word, &w, why);
    for (size_t i = 0; st == ST_OK && i < w.packet_count; i++)
        st = packet_print(&s, w.packet_ids[i]);
    if (st == ST_OK && w.user_id != 0)
        st = user_find_by_id(&s, w.user_id);
    if (st == ST_OK && w.username.ptr != NULL) {
        struct user_state user;
        st = user_state_find(s.db, a, w.username, &user);
        if (st == ST_OK)
            user_print(&s, &user);
        else if (st == ST_NOT_FOUND)
            st = ST_OK;
    }
    if (st == ST_OK && w.nickname.ptr != NULL)
        st = nickname_print(&s, w.nickname);
    return st == ST_OK && !s.found ? ST_NOT_FOUND : st;
}
