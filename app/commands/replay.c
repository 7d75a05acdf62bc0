#include "commands/replay.h"

#include <inttypes.h>
#include <string.h>

#include "base/clock.h"
#include "commands/stores.h"
#include "live/event.h"
#include "live/shut.h"
#include "packet/store.h"
#include "settle/dead_letter.h"
#include "settle/fault.h"
#include "settle/held.h"
#include "settle/write.h"
#include "site/services.h"

enum { LETTERS_PER_QUERY = 200 };
static const size_t ARENA_CHUNK_BYTES = (size_t)64 << 10;
static const size_t ARENA_LIMIT_BYTES = (size_t)64 << 20;

static void letter_print(const struct dead_letter *l, FILE *out)
{
    char event[LIVE_EVENT_ID_MAX];
    live_event_id_text(event, l->event);
    (void)fprintf(out, "letter %" PRIu64 "  packet %" PRIu64 "  event %s  partition %u\n    %.*s\n", l->id,
                  l->packet_id, event, l->partition, STR_ARG(l->reason));
    for (struct str rest = l->content; rest.ptr != NULL;) {
        struct str line = str_cut(rest, '\n', &rest);
        (void)fprintf(out, "    %.*s\n", STR_ARG(line));
    }
}

typedef enum status letter_fn(struct stores *stores, const struct dead_letter *letter, FILE *out);

/* Calls each with every unresolved letter of the packet (0: of all packets), oldest first, until one is not ST_OK.
 * *none: there was no letter. */
static enum status letters_walk(struct stores *stores, uint64_t packet_id, letter_fn *each, FILE *out, bool *none)
{
    struct arena *a = arena_new(ARENA_CHUNK_BYTES, ARENA_LIMIT_BYTES);
    struct dead_letter *letters;
    size_t count;
    uint64_t after = 0;
    *none = false;
    if (a == NULL)
        return ST_NO_MEMORY;
    enum status st;
    do {
        arena_reset(a);
        st = dead_letter_list(stores->db, a, packet_id, after, LETTERS_PER_QUERY, &letters, &count);
        for (size_t i = 0; st == ST_OK && i < count; i++) {
            after = letters[i].id;
            st = each(stores, &letters[i], out);
        }
    } while (st == ST_OK && count == LETTERS_PER_QUERY);
    *none = st == ST_OK && after == 0;
    arena_free(a);
    return st;
}

static enum status each_print(struct stores *stores, const struct dead_letter *letter, FILE *out)
{
    (void)stores;
    letter_print(letter, out);
    return ST_OK;
}

enum status replay_list(struct stores *stores, FILE *out)
{
    bool none;
    enum status st = letters_walk(stores, 0, each_print, out, &none);
    if (none)
        (void)fprintf(out, "no dead letters\n");
    return st;
}

static void refusal_print(const struct settle_replay *r, FILE *out)
{
    struct str why = r->outcome == REPLAY_MISSING      ? STR("no such letter, or it is resolved")
                     : r->outcome == REPLAY_UNREADABLE ? STR("its content can't be read: give the content with --as")
                     : r->outcome == REPLAY_INCOMPLETE ? STR("it has fewer grabs than the letter: give all of them")
                     : r->outcome == REPLAY_EARLIER    ? STR("an earlier letter of the packet comes first")
                                                       : settle_fault_text(r->fault.kind);
    (void)fprintf(out, "letter %" PRIu64 ": refused: %.*s\n", r->letter_id, STR_ARG(why));
}

/* Updates what Redis has of a packet whose letter was resolved here: the settle worker does not notice a replay. */
static enum status redis_update(struct stores *stores, struct arena *a, uint64_t packet_id, FILE *out)
{
    struct packet p;
    enum status st = packet_find(stores->db, a, packet_id, &p);
    if (st == ST_OK && p.state == PACKET_CLOSED)
        st = live_remove(&stores->live, packet_id); /* from now on its page comes from MySQL */
    else if (st == ST_OK || st == ST_NOT_FOUND)
        st = held_publish(stores->db, &stores->live, a, packet_partition(packet_id, stores->config->partitions));
    if (st != ST_OK)
        (void)fprintf(out, "packet %" PRIu64 ": Redis not updated: %s; later: hongbao replay --packet %" PRIu64 "\n",
                      packet_id, status_name(st), packet_id);
    return st;
}

/* The same after a letter was resolved. MySQL decides, so an unreachable Redis is no failure: a Redis that starts is
 * updated by the worker. */
static enum status redis_update_later(struct stores *stores, struct arena *a, uint64_t packet_id, FILE *out)
{
    enum status st = status_idempotent(redis_update(stores, a, packet_id, out));
    return st == ST_UNAVAILABLE ? ST_OK : st;
}

enum status replay_letter(struct stores *stores, uint64_t letter_id, struct str content, FILE *out)
{
    struct settle_replay r = { .letter_id = letter_id, .content = content, .now_ms = clock_now_ms() };
    struct arena *a = arena_new(ARENA_CHUNK_BYTES, ARENA_LIMIT_BYTES);
    if (a == NULL)
        return ST_NO_MEMORY;
    enum status st = settle_replay(stores->db, a, &r);
    if (st == ST_OK && r.outcome != REPLAY_DONE) {
        refusal_print(&r, out);
        st = ST_INVALID;
    } else if (st == ST_OK) {
        (void)fprintf(out, "letter %" PRIu64 ": settled%s\n", letter_id, r.closed ? ", the packet is closed" : "");
        st = redis_update_later(stores, a, r.packet_id, out);
    }
    arena_free(a);
    return st;
}

static enum status each_replay(struct stores *stores, const struct dead_letter *letter, FILE *out)
{
    return replay_letter(stores, letter->id, STR_NONE, out);
}

enum status replay_packet(struct stores *stores, uint64_t packet_id, FILE *out)
{
    bool none;
    enum status st = letters_walk(stores, packet_id, each_replay, out, &none);
    struct arena *a = arena_new(ARENA_CHUNK_BYTES, ARENA_LIMIT_BYTES);
    if (a == NULL)
        return ST_NO_MEMORY;
    if (st == ST_OK) /* an earlier replay may have died before it updated Redis */
        st = redis_update(stores, a, packet_id, out);
    arena_free(a);
    return st;
}

enum status replay_drop(struct stores *stores, uint64_t letter_id, FILE *out)
{
    struct dead_letter letter;
    struct arena *a = arena_new(ARENA_CHUNK_BYTES, ARENA_LIMIT_BYTES);
    if (a == NULL)
        return ST_NO_MEMORY;
    enum status st = dead_letter_find(stores->db, a, letter_id, &letter);
    if (st == ST_OK)
        st = dead_letter_resolve(stores->db, letter_id, false, clock_now_ms());
    (void)fprintf(out, "letter %" PRIu64 ": %s\n", letter_id,
                  st == ST_OK          ? "dropped"
                  : st == ST_NOT_FOUND ? "refused: no such letter, or it is resolved"
                                       : status_name(st));
    if (st == ST_OK && letter.packet_id != 0)
        st = redis_update_later(stores, a, letter.packet_id, out);
    arena_free(a);
    return st == ST_NOT_FOUND ? ST_INVALID : st;
}

struct replay_args {
    uint64_t letter_id, packet_id;
    struct str content;
    bool drop;
};

static bool args_read(int argc, char **argv, struct replay_args *out)
{
    *out = (struct replay_args){ .content = STR_NONE };
    for (int i = 1; i < argc; i++) {
        struct str value = i + 1 < argc ? str_from(argv[i + 1]) : STR_NONE;
        if (strcmp(argv[i], "--drop") == 0) {
            out->drop = true;
        } else if (strcmp(argv[i], "--as") == 0 && value.ptr != NULL) {
            out->content = value;
            i++;
        } else if (strcmp(argv[i], "--packet") == 0 && value.ptr != NULL) {
            if (!str_to_u64(value, &out->packet_id) || out->packet_id == 0)
                return false;
            i++;
        } else if (out->letter_id != 0 || !str_to_u64(str_from(argv[i]), &out->letter_id) || out->letter_id == 0) {
            return false;
        }
    }
    bool changed = out->drop || out->content.ptr != NULL;
    return !(changed && out->letter_id == 0) && !(out->drop && out->content.ptr != NULL) &&
           !(out->letter_id != 0 && out->packet_id != 0);
}

int replay_command(const struct config *config, int argc, char **argv)
{
    struct stores stores;
    struct replay_args args;
    if (!args_read(argc, argv, &args)) {
        (void)fputs("usage: hongbao replay [LETTER [--as CONTENT | --drop] | --packet ID]\n", stderr);
        return 2;
    }
    if (!command_stores_open(&stores, config, "replay"))
        return 2;
    enum status st = args.drop             ? replay_drop(&stores, args.letter_id, stdout)
                     : args.letter_id != 0 ? replay_letter(&stores, args.letter_id, args.content, stdout)
                     : args.packet_id != 0 ? replay_packet(&stores, args.packet_id, stdout)
                                           : replay_list(&stores, stdout);
    stores_close(&stores);
    if (st != ST_OK && st != ST_INVALID)
        (void)fprintf(stderr, "hongbao replay: %s\n", status_name(st));
    if (st == ST_UNAVAILABLE)
        command_stores_tell(config, "replay");
    return st == ST_OK ? 0 : st == ST_INVALID ? 1 : 2;
}
