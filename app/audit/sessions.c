/* The keys in Redis that say something of people. A process that can write them could invent one. A session is found
 * when it names no user, or one who is disabled, when it is not in the list of its user, has times in the future, or no
 * time to live; a copy of an access token when it differs from the row of the token, or its user is disabled; any other
 * key when it should have a time to live and has none, when it has another type than the program gives it, or when no
 * part of the program gives keys such a name; a list of sessions when it is no hash, or too long. The watch ends such
 * sessions, copies and lists, so whoever has planted them is out within a minute, whatever the operator has ended
 * before. */
#include <inttypes.h>
#include <string.h>

#include "audit/audit_internal.h"
#include "base/array.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/security_event.h"
#include "live/capped.h"
#include "live/fence.h"
#include "redis/cluster.h"
#include "redis/reply.h"
#include "user/session.h"
#include "user/session_list.h"
#include "user/token.h"
#include "web/bearer.h"

static const size_t ARENA_CHUNK_BYTES = (size_t)32 << 10;
static const size_t ARENA_LIMIT_BYTES = (size_t)64 << 20;

/* ---- what a key is ---- */

enum key_kind { KEY_SESSION, KEY_TOKEN, KEY_TEMPORARY, KEY_LIST, KEY_PACKET, KEY_UNKNOWN };

/* The names of all keys that the program writes, and what is checked of each. Of a temporary key nothing is read except
 * its time to live and its type, of a list of sessions only the length. */
static const struct key_form {
    const char *prefix;
    enum key_kind kind;
    const char *command; /* NULL: none */
    const char *type;    /* of a temporary key, as Redis names it */
} KEY_FORMS[] = {
    { SESSION_KEY_PREFIX, KEY_SESSION, "GET", NULL },       { TOKEN_KEY_PREFIX, KEY_TOKEN, "GET", NULL },
    { "hb:challenge:", KEY_TEMPORARY, "TYPE", "string" },   { "hb:news:", KEY_TEMPORARY, "TYPE", "string" },
    { "hb:{limit}:", KEY_TEMPORARY, "TYPE", "string" },     { "hb:wait:", KEY_TEMPORARY, "TYPE", "string" },
    { CAPPED_KEY_PREFIX, KEY_TEMPORARY, "TYPE", "string" }, { SESSION_LIST_PREFIX, KEY_LIST, "HLEN", NULL },
};

/* What the keys of a partition of packets are named behind `hb:{pNN}:` (live/live.h). With a ':' an id follows. */
static const char *const PACKET_NAMES[] = { "packet:", "shares:", "grabs:", "order:", "events",
                                            "settled", "fence",   "probe",  "site" };

/* True: `hb:{pNN}:` and a name of the table. */
static bool is_of_packets(struct str key)
{
    uint64_t number;
    struct str name;
    if (!str_skip_prefix(&key, STR("hb:{p")))
        return false;
    struct str partition = str_cut(key, '}', &name);
    if (partition.len == 2) /* two digits at least */
        (void)str_skip_prefix(&partition, STR("0"));
    if (!str_to_u64(partition, &number) || !str_skip_prefix(&name, STR(":")))
        return false;
    for (size_t i = 0; i < ARRAY_LEN(PACKET_NAMES); i++) {
        struct str rest = name;
        if (!str_skip_prefix(&rest, str_from(PACKET_NAMES[i])))
            continue;
        return strchr(PACKET_NAMES[i], ':') != NULL ? str_to_u64(rest, &number) : rest.len == 0;
    }
    return false;
}

static const struct key_form *form_of(struct str key)
{
    static const struct key_form PACKETS = { "hb:{p", KEY_PACKET, NULL, NULL },
                                 UNKNOWN = { "hb:", KEY_UNKNOWN, NULL, NULL };
    for (size_t i = 0; i < ARRAY_LEN(KEY_FORMS); i++)
        if (str_starts(key, str_from(KEY_FORMS[i].prefix)))
            return &KEY_FORMS[i];
    return is_of_packets(key) || str_equal(key, LIVE_OLDER_FENCE_KEY) ? &PACKETS : &UNKNOWN;
}

/* ---- the checks of one part of the keys ---- */

/* What was written last may be on its way: the entry of a new session, where the list is on another server, and the end
 * of the sessions of a user who has just been disabled. */
enum { JUST_NOW_MS = 10000 };

/* A session or a copy of a token, and why it may not be believed; NULL: nothing is wrong so far. */
struct subject {
    struct str key, list; /* list: of a session, its user's list */
    uint64_t user_id;     /* 0: not known */
    int64_t created_ms;
    struct token_copy copy; /* of a token */
    const char *fault;
};

/* The keys of one step and what Redis says of them. */
struct part {
    struct audit *audit;
    struct stores *stores;
    struct arena *arena;
    const redisReply *keys;
    size_t count;
    struct redis_call *calls;                  /* two for each key, or as many as a round has */
    struct subject *sessions, *tokens, *lists; /* lists: lists of sessions that are none */
    size_t session_count, token_count, list_count;
    int64_t now_ms; /* by the later one of two clocks */
};

/* A key of another type does not end the round: whoever planted it would hide all that follow. */
static enum status round_run(struct part *p, size_t count)
{
    enum status st = ST_OK;
    redis_round(p->stores->redis);
    for (size_t i = 0; i < count; i++)
        if (st == ST_OK && !redis_reply_is_wrong_type(p->calls[i].reply))
            st = status_idempotent(p->calls[i].status);
    return st;
}

static void round_end(struct part *p, size_t count)
{
    for (size_t i = 0; i < count; i++)
        redis_call_free(&p->calls[i]);
}

/* True: the key has no time to live, so what it says would be believed for ever. */
static bool is_endless(const redisReply *pttl)
{
    int64_t ms;
    return redis_reply_i64(pttl, &ms) && ms == -1;
}

static void session_read(struct part *p, struct str key, const struct redis_call *get, const redisReply *pttl)
{
    struct session s;
    if (get->reply == NULL || redis_reply_is_nil(get->reply)) /* it has ended since */
        return;
    struct subject *subject = &p->sessions[p->session_count++];
    *subject = (struct subject){ .key = key };
    if (redis_reply_is_wrong_type(get->reply) || !session_value_read(redis_reply_str(get->reply), &s)) {
        subject->fault = redis_reply_is_wrong_type(get->reply) ? "a session is no string" : "a session can't be read";
        return;
    }
    subject->user_id = s.user_id;
    subject->created_ms = s.created_ms;
    if (session_is_in_future(&s, p->now_ms))
        subject->fault = "has a session of the future";
    else if (is_endless(pttl))
        subject->fault = "has a session without a time to live";
    if (s.listed) /* one of the version before is entered at its first use */
        subject->list = arena_printf(p->arena, SESSION_LIST_PREFIX "%" PRIu64, s.user_id);
}

static void token_read(struct part *p, struct str key, const struct redis_call *get)
{
    struct str value = get->reply == NULL ? STR_NONE : redis_reply_str(get->reply);
    if (str_equal(value, TOKEN_REVOKED) ||
        (!redis_reply_is_wrong_type(get->reply) && value.ptr == NULL)) /* it has ended since */
        return;
    struct subject *subject = &p->tokens[p->token_count++];
    *subject = (struct subject){ .key = key };
    if (redis_reply_is_wrong_type(get->reply) || !token_copy_read(value, &subject->copy))
        subject->fault = "a copy of an access token can't be read";
}

static void type_read(struct part *p, const struct key_form *form, const redisReply *type)
{
    struct str name = redis_reply_str(type);
    if (name.ptr != NULL && !str_equal(name, str_from(form->type)) && !str_equal(name, STR("none"))) /* ended since */
        audit_note(p->audit, AUDIT_SESSIONS, "key", 0, "a key %s… is no %s", form->prefix, form->type);
}

/* A list of another type, or with more entries than there is memory for, would make every end of the user's sessions
 * fail. */
static void list_read(struct part *p, struct str key, const redisReply *length)
{
    int64_t entries = 0;
    const char *fault = redis_reply_is_wrong_type(length) ? "a list of sessions is no hash" : NULL;
    if (redis_reply_i64(length, &entries) && entries > SESSION_LIST_LEN_MAX)
        fault = "a list of sessions is too long";
    if (fault != NULL)
        p->lists[p->list_count++] = (struct subject){ .key = key, .fault = fault };
}

static void key_read(struct part *p, struct str key, const struct redis_call *calls)
{
    const struct key_form *form = form_of(key);
    if (form->kind == KEY_UNKNOWN)
        audit_note(p->audit, AUDIT_SESSIONS, "key", 0, "a key of no known name: %zu bytes", key.len);
    else if (form->kind == KEY_SESSION)
        session_read(p, key, &calls[0], calls[1].reply);
    else if (form->kind == KEY_TOKEN && p->audit->ends)
        token_read(p, key, &calls[0]);
    else if (form->kind == KEY_LIST)
        list_read(p, key, calls[0].reply);
    else if (form->kind == KEY_TEMPORARY)
        type_read(p, form, calls[0].reply);
    if ((form->kind == KEY_TEMPORARY || form->kind == KEY_TOKEN) && is_endless(calls[1].reply))
        audit_note(p->audit, AUDIT_SESSIONS, "key", 0, "a key %s… without a time to live", form->prefix);
}

/* Takes the later of this clock and MariaDB's. The watch ends sessions in the future, so a clock that is behind must
 * not decide alone. */
static enum status now_find(struct part *p)
{
    int64_t db_ms = 0;
    enum status st = db_clock_ms(p->stores->db, p->arena, &db_ms);
    p->now_ms = clock_now_ms();
    if (p->now_ms < db_ms)
        p->now_ms = db_ms;
    return st;
}

/* Reads the sessions and the times to live. */
static enum status keys_read(struct part *p)
{
    for (size_t i = 0; i < p->count; i++) {
        struct str key = redis_reply_str(redis_reply_at(p->keys, i));
        const struct key_form *form = form_of(key);
        const enum key_kind kind = form->kind;
        const struct str read[] = { form->command == NULL ? STR("") : str_from(form->command), key };
        const struct str pttl[] = { STR("PTTL"), key };
        if (form->command != NULL && (kind != KEY_TOKEN || p->audit->ends)) /* only the watch compares tokens */
            redis_queue(p->stores->redis, &p->calls[2 * i], read, 2);
        if (kind == KEY_SESSION || kind == KEY_TOKEN || kind == KEY_TEMPORARY)
            redis_queue(p->stores->redis, &p->calls[2 * i + 1], pttl, 2);
    }
    enum status st = round_run(p, 2 * p->count);
    for (size_t i = 0; st == ST_OK && i < p->count; i++)
        key_read(p, redis_reply_str(redis_reply_at(p->keys, i)), &p->calls[2 * i]);
    round_end(p, 2 * p->count);
    return arena_failed(p->arena) ? ST_NO_MEMORY : st;
}

/* ---- what the lists and the tables say ---- */

static enum status lists_read(struct part *p)
{
    size_t asked = 0;
    for (size_t i = 0; i < p->session_count; i++) {
        const struct subject *s = &p->sessions[i];
        const struct str listed[] = { STR("HEXISTS"), s->list, str_skip(s->key, sizeof SESSION_KEY_PREFIX - 1) };
        if (s->list.len > 0)
            redis_queue(p->stores->redis, &p->calls[asked++], listed, 3);
    }
    enum status st = round_run(p, asked);
    asked = 0;
    for (size_t i = 0; st == ST_OK && i < p->session_count; i++) {
        int64_t listed = 0; /* so it stays when the list is no hash */
        struct subject *s = &p->sessions[i];
        if (s->list.len == 0)
            continue;
        (void)redis_reply_i64(p->calls[asked++].reply, &listed);
        if (listed == 0 && s->fault == NULL && s->created_ms < clock_now_ms() - JUST_NOW_MS)
            s->fault = "has a session that is not in the list";
    }
    round_end(p, asked);
    return st;
}

static bool ids_have(const struct db_rows *rows, uint64_t id)
{
    for (size_t i = 0; i < rows->count; i++)
        if (db_cell_u64(rows, i, 0) == id)
            return true;
    return false;
}

/* Compares the users of sessions with the tables. A user is in the tables before the first session. */
static enum status users_read(struct part *p)
{
    struct db_rows rows;
    struct buf sql = BUF_EMPTY;
    size_t count = 0;
    uint64_t *ids = arena_array(p->arena, p->session_count + 1, sizeof *ids);
    for (size_t i = 0; ids != NULL && i < p->session_count; i++)
        if (p->sessions[i].user_id != 0)
            ids[count++] = p->sessions[i].user_id;
    if (count == 0)
        return ids == NULL ? ST_NO_MEMORY : ST_OK;
    buf_printf(&sql,
               "SELECT id FROM user WHERE deleted_ms IS NULL AND (disabled_ms IS NULL OR disabled_ms > %" PRId64 ")"
               " AND id IN ",
               clock_now_ms() - JUST_NOW_MS);
    db_ids(&sql, ids, count);
    enum status st = db_query_buf(p->stores->db, p->arena, &rows, &sql);
    buf_free(&sql);
    for (size_t i = 0; st == ST_OK && i < p->session_count; i++)
        if (p->sessions[i].user_id != 0 && !ids_have(&rows, p->sessions[i].user_id))
            p->sessions[i].fault = "has a session, but there is no such user any more, or the user is disabled";
    return st;
}

static bool is_hex(struct str s)
{
    for (size_t i = 0; i < s.len; i++)
        if (s.ptr[i] == '\0' || strchr("0123456789abcdef", s.ptr[i]) == NULL)
            return false;
    return true;
}

/* The row of the token with this hash in hex; rows->count: there is none. */
static size_t token_row(const struct db_rows *rows, struct str hash)
{
    size_t i = 0;
    while (i < rows->count && !str_equal(db_cell(rows, i, 0), hash))
        i++;
    return i;
}

static const char *token_fault(const struct db_rows *rows, size_t row, const struct token_copy *copy)
{
    if (row == rows->count)
        return "a copy of an access token without its row, or of a user who is disabled";
    return db_cell_u64(rows, row, 1) != copy->user_id || scopes_read(db_cell(rows, row, 2)) != copy->scopes ||
                   db_cell_i64(rows, row, 3) != copy->expires_ms
               ? "a copy of an access token that says something else than its row"
               : NULL;
}

/* Compares copies of access tokens with their rows: only the watch may read whose they are. */
static enum status tokens_read(struct part *p)
{
    struct db_rows rows;
    struct buf sql = BUF_EMPTY;
    if (p->token_count == 0)
        return ST_OK;
    buf_printf(&sql,
               "SELECT LOWER(HEX(token.hash)), token.user_id, token.scopes, token.expires_ms FROM token"
               " JOIN user ON user.id = token.user_id AND user.deleted_ms IS NULL"
               " AND (user.disabled_ms IS NULL OR user.disabled_ms > %" PRId64 ") WHERE token.hash IN (''",
               clock_now_ms() - JUST_NOW_MS);
    for (size_t i = 0; i < p->token_count; i++) {
        struct str hash = str_skip(p->tokens[i].key, sizeof TOKEN_KEY_PREFIX - 1);
        if (is_hex(hash))
            buf_printf(&sql, ",UNHEX('%.*s')", STR_ARG(hash));
    }
    buf_cstr(&sql, ")");
    enum status st = db_query_buf(p->stores->db, p->arena, &rows, &sql);
    buf_free(&sql);
    for (size_t i = 0; st == ST_OK && i < p->token_count; i++) {
        struct subject *s = &p->tokens[i];
        if (s->fault == NULL)
            s->fault = token_fault(&rows, token_row(&rows, str_skip(s->key, sizeof TOKEN_KEY_PREFIX - 1)), &s->copy);
    }
    return st;
}

/* ---- what follows ---- */

/* Keeps the faults of keys that still exist: a session is deleted before its entry, and a copy after its row. */
static enum status faults_confirm(struct part *p, struct subject *subjects, size_t *count)
{
    size_t kept = 0;
    for (size_t i = 0; i < *count; i++)
        if (subjects[i].fault != NULL)
            subjects[kept++] = subjects[i];
    *count = kept;
    for (size_t i = 0; i < kept; i++) {
        const struct str pttl[] = { STR("PTTL"), subjects[i].key };
        redis_queue(p->stores->redis, &p->calls[i], pttl, 2);
    }
    enum status st = round_run(p, kept);
    size_t exist = 0;
    for (size_t i = 0; st == ST_OK && i < kept; i++) {
        int64_t ms = 0;
        if (redis_reply_i64(p->calls[i].reply, &ms) && ms != -2)
            subjects[exist++] = subjects[i];
    }
    round_end(p, kept);
    *count = exist;
    return st;
}

static enum status faults_tell(struct part *p, struct subject *subjects, size_t count)
{
    enum status st = faults_confirm(p, subjects, &count);
    for (size_t i = 0; st == ST_OK && i < count; i++) {
        const struct subject *s = &subjects[i];
        const struct str del[] = { STR("DEL"), s->key };
        audit_note(p->audit, AUDIT_SESSIONS, s->list.len > 0 || s->user_id != 0 ? "user" : "key", s->user_id, "%s",
                   s->fault);
        if (!p->audit->ends)
            continue;
        security_event_log(SECURITY_SESSION_PLANTED, "user_id=%" PRIu64 " reason=\"%s\"", s->user_id, s->fault);
        redis_queue(p->stores->redis, &p->calls[i], del, 2);
    }
    if (st != ST_OK || !p->audit->ends)
        return st;
    st = round_run(p, count);
    round_end(p, count);
    return st;
}

static enum status keys_check(struct audit *audit, struct stores *stores, struct arena *a, const redisReply *keys)
{
    struct part p = { .audit = audit, .stores = stores, .arena = a, .keys = keys };
    while (redis_reply_at(keys, p.count) != NULL)
        p.count++;
    p.calls = arena_array(a, 2 * p.count + 1, sizeof *p.calls);
    p.sessions = arena_array(a, p.count + 1, sizeof *p.sessions);
    p.tokens = arena_array(a, p.count + 1, sizeof *p.tokens);
    p.lists = arena_array(a, p.count + 1, sizeof *p.lists);
    if (p.calls == NULL || p.sessions == NULL || p.tokens == NULL || p.lists == NULL)
        return ST_NO_MEMORY;
    enum status st = now_find(&p);
    if (st == ST_OK)
        st = keys_read(&p);
    if (st == ST_OK)
        st = lists_read(&p);
    if (st == ST_OK)
        st = users_read(&p);
    if (st == ST_OK)
        st = tokens_read(&p);
    if (st == ST_OK)
        st = faults_tell(&p, p.sessions, p.session_count);
    if (st == ST_OK)
        st = faults_tell(&p, p.tokens, p.token_count);
    return st == ST_OK ? faults_tell(&p, p.lists, p.list_count) : st;
}

enum status audit_sessions_step(struct audit *audit, struct stores *stores, char cursor[AUDIT_CURSOR_MAX], bool *more)
{
    struct str primary_text;
    struct str from = str_cut(str_from(cursor), ' ', &primary_text);
    const struct str scan[] = { STR("SCAN"), from, STR("MATCH"), STR("hb:*"), STR("COUNT"), STR("500") };
    struct redis_call call;
    uint64_t primary = 0;
    (void)str_to_u64(primary_text, &primary); /* at first there is none */
    struct arena *a = arena_new(ARENA_CHUNK_BYTES, ARENA_LIMIT_BYTES);
    if (a == NULL)
        return ST_NO_MEMORY;
    enum status st = status_idempotent(redis_do_at(stores->redis, &call, primary, scan, 6));
    if (st == ST_OK) {
        struct str next = redis_reply_str(redis_reply_at(call.reply, 0));
        bool ended = next.len == 0 || str_equal(next, STR("0"));
        primary += ended;
        st = keys_check(audit, stores, a, redis_reply_at(call.reply, 1));
        if (st != ST_UNAVAILABLE) { /* else the same part is read again */
            *more = !ended || primary < redis_primaries(stores->redis);
            (void)snprintf(cursor, AUDIT_CURSOR_MAX, "%.*s %" PRIu64, STR_ARG(ended ? STR("0") : next),
                           *more ? primary : 0);
        }
    }
    redis_call_free(&call);
    arena_free(a);
    return st;
}

enum status audit_sessions(struct audit *audit, struct stores *stores)
{
    char cursor[AUDIT_CURSOR_MAX] = "0";
    enum status st = ST_OK;
    for (bool more = true; st == ST_OK && more;)
        st = audit_sessions_step(audit, stores, cursor, &more);
    return st;
}
