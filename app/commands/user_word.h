/* What an operator pastes to find a user: an id, a name, or the address of a packet, with anything around it. Pure. */
#ifndef HB_COMMANDS_USER_WORD_H
#define HB_COMMANDS_USER_WORD_H

#include "base/arena.h"
#include "base/status.h"
#include "base/str.h"

#define USER_WORD_BYTES_MAX   4096 /* a link with its query is shorter */
#define USER_WORD_PACKETS_MAX 4

/* What the text may mean, all at once. */
struct user_word {
    uint64_t user_id;    /* 0: no id of a user */
    struct str username; /* STR_NONE: nobody can have such a name */
    struct str nickname; /* the same */
    uint64_t packet_ids[USER_WORD_PACKETS_MAX];
    size_t packet_count;
};

/* Reads "~ID", "ID", "user_id=ID" of a log line, a username, a nickname, a packet's number, its public id, or any text
 * that has one, as a link. The MAC of a public id is not compared: that needs a key, and a mistyped id is in no table.
 * ST_INVALID, with *why in static storage: the text is empty, too long or no UTF-8 · ST_NO_MEMORY. Texts are in the
 * arena. */
enum status user_word_read(struct arena *a, struct str typed, struct user_word *out, const char **why);

#endif
