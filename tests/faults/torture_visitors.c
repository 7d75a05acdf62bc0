/* The visitors of the torture test: they speak FastCGI as nginx does, repeat a request until it is answered, and record
 * the answers. At most one call of the server fails, so a repeat soon afterwards must succeed. */
#include <errno.h>
#include <fastcgi.h>
#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/money.h"
#include "base/public_id.h"
#include "ledger/service.h"
#include "ledger/withdrawal.h"
#include "live/keys.h"
#include "mysql/db.h"
#include "redis/redis.h"
#include "redis/reply.h"
#include "torture.h"

enum {
    ANSWER_BYTES_MAX = 1 << 20,
    ANSWER_WAIT_S = 10 * HB_TEST_PATIENCE,
    TRIES_MS_MAX = 5000 * HB_TEST_PATIENCE,
    SETTLE_MS_MAX = 20000 * HB_TEST_PATIENCE, /* a deletion takes a few passes, one a second */
    ARENA_BYTES = 1 << 20
};

/* The users by index: the first one sends, the others open. */
enum { SENDER, FIRST, SECOND, THIRD, FOURTH };

static const char *socket_name;
static const char *authorization = ""; /* of a program */

/* The stores themselves, to check that a refused request has had no effect. */
static struct {
    const struct config *config;
    struct db *db;
    struct redis *redis;
    struct arena *arena; /* for an answer of db */
    /* What the next request changes: a query that finds its effect, or the packet of which it takes a share. Both NULL:
     * no effect is looked up. */
    const char *effect;
    const struct told_packet *grabbed;
} truth;

static _Noreturn void fail(const char *format, ...) __attribute__((format(printf, 1, 2)));
static _Noreturn void fail(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    (void)vfprintf(stderr, format, args);
    va_end(args);
    (void)fputc('\n', stderr);
    (void)fflush(stderr);
    (void)kill(getppid(), SIGTERM);
    _exit(1);
}

static _Noreturn void done(void)
{
    (void)kill(getppid(), SIGTERM);
    _exit(0);
}

static void pause_ms(long ms)
{
    (void)nanosleep(&(struct timespec){ .tv_nsec = ms * 1000000 }, NULL);
}

/* ---- FastCGI ---- */

static void record(struct buf *out, uint8_t type, struct str content)
{
    const uint8_t head[FCGI_HEADER_LEN] = { 1, type, 0, 1, (uint8_t)(content.len >> 8), (uint8_t)content.len, 0, 0 };
    buf_bytes(out, head, sizeof head);
    buf_str(out, content);
}

/* name and value are shorter than 128 bytes. */
static void param(struct buf *out, const char *name, const char *value)
{
    if (*value == '\0')
        return;
    if (strlen(value) > 127)
        fail("%s is too long: %s", name, value);
    buf_char(out, (char)strlen(name));
    buf_char(out, (char)strlen(value));
    buf_cstr(out, name);
    buf_cstr(out, value);
}

struct answer {
    int status; /* 0: none, or a broken one */
    struct buf bytes;
    struct str head, body;
};

static int connect_to_server(void)
{
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    const struct timeval patience = { .tv_sec = ANSWER_WAIT_S };
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    (void)snprintf(address.sun_path + 1, sizeof address.sun_path - 1, "%s", socket_name);
    socklen_t len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + strlen(socket_name));
    if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience) != 0 ||
        connect(fd, (const struct sockaddr *)&address, len) != 0)
        fail("no connection to the server: %s", strerror(errno));
    return fd;
}

/* Collects the answer's bytes up to its end record. False: the answer was cut. */
static bool answer_read(int fd, struct buf *out)
{
    struct buf in = BUF_EMPTY;
    size_t used = 0;
    bool ended = false;
    while (!ended) {
        char chunk[16384];
        ssize_t n = recv(fd, chunk, sizeof chunk, 0);
        if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
            fail("no answer within %d s", ANSWER_WAIT_S);
        if (n <= 0)
            break;
        buf_bytes(&in, chunk, (size_t)n);
        while (!ended && in.len - used >= FCGI_HEADER_LEN) {
            const uint8_t *head = (const uint8_t *)in.ptr + used;
            size_t len = (size_t)head[4] << 8 | head[5], whole = FCGI_HEADER_LEN + len + head[6];
            if (in.len - used < whole)
                break;
            if (head[1] == FCGI_STDOUT)
                buf_bytes(out, head + FCGI_HEADER_LEN, len);
            ended = head[1] == FCGI_END_REQUEST;
            used += whole;
        }
    }
    buf_free(&in);
    return ended;
}

/* Splits the bytes into status, head and body; Content-Length must be the length of the body. */
static void answer_parse(struct answer *a)
{
    struct str all = buf_view(&a->bytes);
    size_t gap = str_find(all, STR("\r\n\r\n"));
    uint64_t length;
    if (gap == all.len || !str_starts(all, STR("Status: ")))
        fail("not an answer: %.*s", STR_ARG(all));
    a->head = str_slice(all, 0, gap + 2);
    a->body = str_skip(all, gap + 4);
    a->status = (int)strtol(all.ptr + strlen("Status: "), NULL, 10);
    struct str announced = str_after(a->head, STR("Content-Length: "));
    if (announced.ptr == NULL)
        return;
    struct str digits = str_cut(announced, '\r', &(struct str){ 0 });
    if (!str_to_u64(digits, &length) || length != a->body.len)
        fail("%zu bytes instead of %.*s", a->body.len, STR_ARG(digits));
}

/* Sends one request and reads its answer. fields NULL: GET. */
static void ask(struct answer *a, int user, const char *uri, const char *fields, bool json)
{
    static const uint8_t responder[8] = { 0, 1, 0 };
    struct buf params = BUF_EMPTY, out = BUF_EMPTY;
    char length[24];
    *a = (struct answer){ .bytes.limit = ANSWER_BYTES_MAX };
    (void)snprintf(length, sizeof length, "%zu", fields == NULL ? 0 : strlen(fields));
    param(&params, "REQUEST_METHOD", fields == NULL ? "GET" : "POST");
    param(&params, "REQUEST_URI", uri);
    param(&params, "REQUEST_ID", "torture");
    param(&params, "HTTP_HOST", "localhost");
    param(&params, "HTTP_ACCEPT", json ? "application/json" : "text/html");
    param(&params, "HTTP_COOKIE", torture->users[user].cookie);
    param(&params, "HTTP_AUTHORIZATION", authorization);
    if (fields != NULL) {
        param(&params, "CONTENT_TYPE", "application/x-www-form-urlencoded");
        param(&params, "CONTENT_LENGTH", length);
    }
    record(&out, FCGI_BEGIN_REQUEST, (struct str){ (const char *)responder, sizeof responder });
    record(&out, FCGI_PARAMS, buf_view(&params));
    record(&out, FCGI_PARAMS, STR(""));
    if (fields != NULL && *fields != '\0')
        record(&out, FCGI_STDIN, str_from(fields));
    record(&out, FCGI_STDIN, STR(""));
    int fd = connect_to_server();
    if (out.failed || params.failed || send(fd, out.ptr, out.len, MSG_NOSIGNAL) != (ssize_t)out.len)
        fail("the request can't be sent");
    if (answer_read(fd, &a->bytes))
        answer_parse(a);
    (void)close(fd);
    buf_free(&params);
    buf_free(&out);
}

/* ---- reading answers ---- */

static bool has(struct str s, const char *text)
{
    return str_after(s, str_from(text)).ptr != NULL;
}

/* Whether the request took effect, by its answer. */
enum promise {
    PROMISE_DONE,    /* it is done */
    PROMISE_NOTHING, /* refused for now, without any effect */
    PROMISE_UNKNOWN
};

static enum promise promise_of(const struct answer *a)
{
    if (a->status == 0 || a->status >= 500)
        return has(a->body, "urn:hongbao:problem:busy") ? PROMISE_NOTHING : PROMISE_UNKNOWN;
    return PROMISE_DONE;
}

/* The hot pool sends the request on to the page pool, because Redis does not have the packet. */
static bool is_missing(const struct answer *a)
{
    return has(a->head, "\r\nX-Accel-Redirect: ");
}

/* The number after "name": in a JSON body. */
static int64_t number_of(const struct answer *a, const char *name)
{
    char wanted[40];
    (void)snprintf(wanted, sizeof wanted, "\"%s\":", name);
    struct str number = str_after(a->body, str_from(wanted));
    if (number.ptr == NULL)
        fail("no %s in %.*s", name, STR_ARG(a->body));
    return strtoll(number.ptr, NULL, 10);
}

/* ---- the stores ---- */

static void truth_open(const struct config *config, const char *socket)
{
    socket_name = socket;
    truth.db = db_new(config);
    truth.redis = redis_new(config);
    truth.arena = arena_new(ARENA_BYTES, ARENA_BYTES);
    truth.config = config;
    if (truth.db == NULL || truth.redis == NULL || truth.arena == NULL)
        fail("no memory");
}

static bool row_find(struct db_rows *rows, const char *sql)
{
    arena_reset(truth.arena);
    enum status found = db_find(truth.db, truth.arena, rows, sql, NULL, 0);
    if (found != ST_OK && found != ST_NOT_FOUND)
        fail("MySQL is unreachable");
    return found == ST_OK;
}

static bool row_exists(const char *sql)
{
    return row_find(&(struct db_rows){ 0 }, sql);
}

/* The reply of Redis to a command with the packet's key and another argument. */
static void redis_ask(struct redis_call *call, const char *command, const struct told_packet *p, enum live_key key,
                      const char *argument)
{
    struct live_keys keys;
    live_keys(&keys, p->number, truth.config->partitions);
    if (redis_do(truth.redis, call, (const struct str[]){ str_from(command), keys.key[key], str_from(argument) }, 3) !=
        ST_OK)
        fail("Redis is unreachable");
}

static bool has_grab(const struct told_packet *p, int user)
{
    struct redis_call call;
    int64_t there = 0;
    redis_ask(&call, "HEXISTS", p, LIVE_KEY_GRABS, TEXT("%" PRIu64, torture->users[user].id));
    if (!redis_reply_i64(call.reply, &there))
        fail("Redis has no number");
    redis_call_free(&call);
    return there == 1;
}

static bool has_happened(int user)
{
    return (truth.effect != NULL && row_exists(truth.effect)) ||
           (truth.grabbed != NULL && has_grab(truth.grabbed, user));
}

/* Repeats the request until it is answered. A refusal must have had no effect, unless an earlier outcome was unknown.
 * Returns true when some outcome was unknown. */
static bool ask_until_answered(struct answer *a, int user, const char *uri, const char *fields, bool json)
{
    bool doubtful = false;
    int64_t until_ms = clock_monotonic_ms() + TRIES_MS_MAX;
    for (;;) {
        ask(a, user, uri, fields, json);
        enum promise now = promise_of(a);
        if (a->status >= 500 && a->status != 503)
            fail("%s answers %d: %.*s", uri, a->status, STR_ARG(a->body));
        if (now == PROMISE_NOTHING && !doubtful && has_happened(user))
            fail("%s was refused, but it is done: %.*s", uri, STR_ARG(a->body));
        if (now == PROMISE_DONE)
            break;
        doubtful = doubtful || now == PROMISE_UNKNOWN;
        buf_free(&a->bytes);
        if (clock_monotonic_ms() > until_ms)
            fail("%s: still no answer", uri);
        pause_ms(20);
    }
    truth.effect = NULL;
    truth.grabbed = NULL;
    return doubtful;
}

/* The same; the status must be the wanted one. */
static void insist(struct answer *a, int wanted, int user, const char *uri, const char *fields, bool json)
{
    (void)ask_until_answered(a, user, uri, fields, json);
    if (a->status != wanted && !is_missing(a))
        fail("%s answers %d, not %d: %.*s", uri, a->status, wanted, STR_ARG(a->body));
}

static void post(int wanted, int user, const char *uri, const char *fields, bool json)
{
    struct answer a;
    insist(&a, wanted, user, uri, fields, json);
    buf_free(&a.bytes);
}

/* Reads a page. */
static void look(int wanted, int user, const char *uri, bool json)
{
    post(wanted, user, uri, NULL, json);
}

/* ---- the page pool: deposits and packets ---- */

static void packet_id_take(struct told_packet *p, struct str text)
{
    struct public_id_key key;
    public_id_key_set(&key, &truth.config->keys.of[KEY_IDS]);
    struct str id = str_slice(text, 0, text.len < PUBLIC_ID_LEN ? text.len : PUBLIC_ID_LEN);
    if (!public_id_decode(&key, id, &p->number))
        fail("no packet id: %.*s", STR_ARG(text));
    (void)snprintf(p->id, sizeof p->id, "%.*s", STR_ARG(id));
}

static void send_packet(int user, int packet, const char *fields, bool json)
{
    struct answer a;
    struct told_packet *p = &torture->packets[packet];
    truth.effect = TEXT("SELECT 1 FROM packet WHERE sender_id = %" PRIu64 " AND request_key = '%s'",
                        torture->users[user].id, p->key);
    insist(&a, json ? 201 : 303, user, "/send", TEXT("%s&request_key=%s", fields, p->key), json);
    packet_id_take(p, json ? str_after(a.body, STR("\"id\":\"")) : str_after(a.head, STR("Location: /p/")));
    buf_free(&a.bytes);
}

static void deposit(int user)
{
    const char *key = torture->packets[TORTURE_LUCKY].key;
    truth.effect = TEXT("SELECT 1 FROM transfer WHERE kind = 'deposit' AND request_key = '%" PRIu64 ":d%s'",
                        torture->users[user].id, key);
    post(201, user, "/wallet/deposit", TEXT("amount=%d&request_key=d%s", TORTURE_DEPOSIT_FEN / 100, key), true);
}

static const char *name_of(int user)
{
    return torture->users[user].username;
}

void visit_senders(const struct config *config, const char *socket)
{
    truth_open(config, socket);
    deposit(SENDER);
    deposit(TORTURE_NEWCOMER);
    look(200, SENDER, "/send", false);
    send_packet(SENDER, TORTURE_LUCKY, "kind=lucky&amount=3.00&count=4&greeting=%E6%81%AD%E5%96%9C", true);
    send_packet(SENDER, TORTURE_EXCLUSIVE, TEXT("kind=exclusive&amount=1.00&to=%s", name_of(FIRST)), false);
    send_packet(SENDER, TORTURE_EXPIRING, "kind=even&amount=0.50&count=2", true);
    send_packet(SENDER, TORTURE_ABANDONED, "kind=even&amount=0.50&count=2", true);
    send_packet(SENDER, TORTURE_ENDED,
                TEXT("kind=lucky&amount=0.04&count=4&to=%s+%s+%s+%s+%s", name_of(FIRST), name_of(SECOND),
                     name_of(THIRD), name_of(FOURTH), name_of(TORTURE_NEWCOMER)),
                true);
    send_packet(TORTURE_NEWCOMER, TORTURE_LEFT, "kind=even&amount=0.50&count=2", true);
    post(422, SENDER, "/send", "kind=lucky&amount=0&count=3", false);
    done();
}

/* ---- the hot pool: grabs and views ---- */

static void grab_take(struct told_grab *grab, const struct answer *a)
{
    int64_t share_no = number_of(a, "share_no"), fen = number_of(a, "amount_fen");
    if (grab->told && (grab->share_no != share_no || grab->fen != fen))
        fail("share %" PRId64 " of %" PRId64 " fen, but it was share %" PRIu32 " of %" PRId64, share_no, fen,
             grab->share_no, grab->fen);
    grab->told = true;
    grab->share_no = (uint32_t)share_no;
    grab->fen = fen;
}

static void open_packet(int packet, int user, int wanted, bool json)
{
    struct answer a;
    struct told_packet *p = &torture->packets[packet];
    struct told_grab *grab = &p->grabs[user];
    truth.grabbed = grab->opened ? NULL : p;
    insist(&a, wanted, user, TEXT("/p/%s/open", p->id), "", json);
    if (is_missing(&a))
        p->missing = true;
    else
        grab->opened = true;
    if (a.status == 200 && !is_missing(&a))
        grab_take(grab, &a);
    buf_free(&a.bytes);
}

static void look_at(int packet, int user, const char *what, bool json)
{
    look(200, user, TEXT("/p/%s%s", torture->packets[packet].id, what), json);
}

void visit_grabbers(const struct config *config, const char *socket)
{
    truth_open(config, socket);
    for (int i = 0; i < TORTURE_PACKETS; i++)
        torture->packets[i].missing = false;
    look_at(TORTURE_LUCKY, FIRST, "", true);
    open_packet(TORTURE_LUCKY, FIRST, 200, true);
    open_packet(TORTURE_LUCKY, SECOND, 303, false);
    open_packet(TORTURE_LUCKY, THIRD, 200, true);
    open_packet(TORTURE_LUCKY, TORTURE_NEWCOMER, 200, true);
    open_packet(TORTURE_LUCKY, FIRST, 200, true);
    open_packet(TORTURE_LUCKY, SECOND, 200, true);
    look_at(TORTURE_LUCKY, SENDER, "", false);
    look_at(TORTURE_LUCKY, SECOND, "", false);
    look_at(TORTURE_LUCKY, THIRD, "?after=2", true);
    open_packet(TORTURE_EXCLUSIVE, FIRST, 200, true);
    open_packet(TORTURE_EXCLUSIVE, SECOND, 403, true);
    open_packet(TORTURE_EXPIRING, FIRST, 200, true);
    open_packet(TORTURE_ENDED, FIRST, 200, true); /* the best share: the first of four equal ones */
    open_packet(TORTURE_ENDED, SECOND, 200, true);
    open_packet(TORTURE_ENDED, TORTURE_NEWCOMER, 200, true);
    open_packet(TORTURE_LEFT, FIRST, 200, true);
    look(404, FIRST, "/p/00000000000000000000000000", true);
    done();
}

/* ---- the settle worker ---- */

/* True when Redis has the packet and it is not shut. */
static bool is_live(const struct told_packet *p)
{
    struct redis_call call;
    redis_ask(&call, "HGET", p, LIVE_KEY_PACKET, "state");
    bool live = !redis_reply_is_nil(call.reply) && !str_equal(redis_reply_str(call.reply), STR("busy"));
    redis_call_free(&call);
    return live;
}

/* Whether the settle worker has no work left with a packet: all acknowledged grabs are settled, Redis knows every
 * return and line of thanks, and the packet is closed. A packet that stays open must be loaded, and be in Redis if it
 * must be there. */
static bool is_settled(const struct told_packet *p, bool stays_open, bool must_be_live)
{
    struct db_rows rows;
    uint64_t told = 0;
    for (int user = 0; user < TORTURE_PEOPLE; user++)
        told += p->grabs[user].told;
    if (!row_find(&rows, TEXT("SELECT state, grabbed_count FROM packet WHERE id = %" PRIu64, p->number)))
        fail("the packet can't be read");
    struct str state = db_cell(&rows, 0, 0);
    bool closed = str_equal(state, STR("closed")), funding = str_equal(state, STR("funding"));
    return db_cell_u64(&rows, 0, 1) == told && (closed || (stays_open && !funding)) &&
           (closed || !must_be_live || is_live(p)) &&
           !row_exists(TEXT("SELECT 1 FROM share_return WHERE packet_id = %" PRIu64 " AND applied_ms IS NULL UNION ALL"
                            " SELECT 1 FROM thanks WHERE packet_id = %" PRIu64 " AND applied_ms IS NULL",
                            p->number, p->number));
}

/* The same for all packets; also, the newcomer's account is deleted, if the deletion was requested. One packet stays
 * open until it is ended, and all may stay open while one is missing in Redis. */
static bool all_settled(void)
{
    bool some_missing = false;
    for (int i = 0; i < TORTURE_PACKETS; i++)
        some_missing = some_missing || torture->packets[i].missing;
    for (int i = 0; i < TORTURE_PACKETS; i++) {
        const struct told_packet *p = &torture->packets[i];
        bool is_ended = i == TORTURE_ENDED;
        if (!is_settled(p, some_missing || (is_ended && !p->ended), p->missing || is_ended))
            return false;
    }
    return !torture->left || row_exists(TEXT("SELECT 1 FROM user WHERE id = %" PRIu64 " AND deleted_ms > 0",
                                             torture->users[TORTURE_NEWCOMER].id));
}

void visit_settling(const struct config *config, const char *socket)
{
    int64_t until_ms = clock_monotonic_ms() + SETTLE_MS_MAX;
    truth_open(config, socket);
    while (!all_settled()) {
        if (clock_monotonic_ms() > until_ms)
            fail("the settle worker does not finish");
        arena_reset(torture_texts);
        pause_ms(5);
    }
    done();
}

/* ---- the page pool: thanks, shares that are given back, an early end ---- */

/* Posts to the packet twice: a repeat gets the same answer, also after an unknown outcome. effect: a query for the
 * effect of the first request. */
static void post_twice(int packet, int user, const char *what, const char *fields, const char *effect,
                       const char *answer)
{
    struct answer a;
    const char *uri = TEXT("/p/%s/%s", torture->packets[packet].id, what);
    for (int i = 0; i < 2; i++) {
        truth.effect = i == 0 ? effect : NULL;
        insist(&a, 200, user, uri, fields, true);
        if (!has(a.body, answer))
            fail("%s answers %.*s, not %s", uri, STR_ARG(a.body), answer);
        buf_free(&a.bytes);
    }
}

/* A query for the user's row of the packet. */
static const char *row_of(const char *table, int packet, int user)
{
    return TEXT("SELECT 1 FROM %s WHERE packet_id = %" PRIu64 " AND user_id = %" PRIu64, table,
                torture->packets[packet].number, torture->users[user].id);
}

static void thank_for(int packet, int user)
{
    post_twice(packet, user, "thanks", "text=thanks", row_of("thanks", packet, user), "{\"text\":\"thanks\"}");
    torture->packets[packet].grabs[user].thanked = true;
}

static void give_back(int packet, int user, bool to_sender)
{
    struct told_grab *grab = &torture->packets[packet].grabs[user];
    post_twice(packet, user, "return", "", row_of("share_return", packet, user),
               TEXT("{\"returned_fen\":%" PRId64 ",\"to\":\"%s\"}", grab->fen, to_sender ? "sender" : "packet"));
    grab->returned = true;
    grab->to_sender = to_sender;
}

void visit_givers(const struct config *config, const char *socket)
{
    struct answer a;
    struct told_packet *p = &torture->packets[TORTURE_ENDED];
    truth_open(config, socket);
    thank_for(TORTURE_ENDED, SECOND);
    give_back(TORTURE_ENDED, FIRST, false);
    post_twice(TORTURE_ENDED, SENDER, "end", "",
               TEXT("SELECT 1 FROM packet WHERE id = %" PRIu64 " AND ended_ms IS NOT NULL", p->number),
               "{\"state\":\"expired\"}");
    p->ended = true;
    give_back(TORTURE_ENDED, SECOND, true);
    insist(&a, 409, FIRST, TEXT("/p/%s/return", torture->packets[TORTURE_LEFT].id), "", true);
    if (!has(a.body, "sender-gone"))
        fail("a share is given back to a deleted user: %.*s", STR_ARG(a.body));
    buf_free(&a.bytes);
    done();
}

/* ---- the page pool at the end: thanks, lists, statements, the packets from MySQL ---- */

/* The page of the first transfer of the user. */
static const char *first_transfer(int user)
{
    struct db_rows rows;
    if (!row_find(&rows, TEXT("SELECT MIN(id) FROM transfer WHERE %" PRIu64 " IN (debit_id, credit_id)",
                              torture->users[user].id)))
        fail("a transfer can't be read");
    return TEXT("/wallet/transfers/%" PRIu64, db_cell_u64(&rows, 0, 0));
}

void visit_readers(const struct config *config, const char *socket)
{
    truth_open(config, socket);
    thank_for(TORTURE_LUCKY, FIRST);
    look(401, TORTURE_NEWCOMER, "/wallet", true);
    look(200, FIRST, "/", false);
    look(200, SENDER, "/", true);
    look(200, FIRST, "/wallet", false);
    look(200, SENDER, "/wallet", true);
    look(200, SENDER, first_transfer(SENDER), false);
    look(404, SECOND, first_transfer(SENDER), true);
    look(200, FIRST, "/records/received", false);
    look(200, SECOND, "/records/received", true);
    look(200, SENDER, "/records/sent", false);
    look(200, SENDER, "/records/sent", true);
    look_at(TORTURE_LUCKY, SENDER, "", true);
    look_at(TORTURE_EXPIRING, FIRST, "", false);
    look_at(TORTURE_LEFT, FIRST, "", false);
    look_at(TORTURE_LUCKY, SENDER, "/verify", false);
    open_packet(TORTURE_LUCKY, FIRST, 200, true);
    look(200, SENDER, "/healthz", false);
    look(200, SENDER, "/readyz/page", false);
    look(200, SENDER, "/metrics", false);
    done();
}

/* ---- the auth pool ---- */

static void cookie_take(const struct answer *a)
{
    struct str cookie = str_after(a->head, STR("Set-Cookie: "));
    if (cookie.ptr == NULL)
        fail("no cookie in %.*s", STR_ARG(a->head));
    (void)snprintf(torture->users[TORTURE_NEWCOMER].cookie, TORTURE_COOKIE_MAX, "%.*s",
                   STR_ARG(str_cut(cookie, ';', &(struct str){ 0 })));
}

void visit_newcomers(const struct config *config, const char *socket)
{
    struct answer a;
    struct db_rows rows;
    const char *name = name_of(TORTURE_NEWCOMER);
    truth_open(config, socket);
    look(200, TORTURE_NEWCOMER, "/register", false);
    const char *find = TEXT("SELECT id FROM user WHERE username = '%s'", name);
    truth.effect = find;
    bool doubtful = ask_until_answered(&a, TORTURE_NEWCOMER, "/register",
                                       TEXT("username=%s&nickname=%s&password=a+good+password", name, name), true);
    if (a.status != 201 && !(doubtful && a.status == 422)) /* after an unknown outcome the name may be taken */
        fail("/register answers %d: %.*s", a.status, STR_ARG(a.body));
    if (has(a.head, "Set-Cookie: "))
        cookie_take(&a);
    buf_free(&a.bytes);
    if (!row_find(&rows, find))
        fail("the new user can't be read");
    torture->users[TORTURE_NEWCOMER].id = db_cell_u64(&rows, 0, 0);
    post(204, TORTURE_NEWCOMER, "/logout", "", true);
    post(422, TORTURE_NEWCOMER, "/login", TEXT("username=%s&password=a+bad+password", name), false);
    insist(&a, 200, TORTURE_NEWCOMER, "/login", TEXT("username=%s&password=a+good+password", name), true);
    cookie_take(&a);
    buf_free(&a.bytes);
    done();
}

/* Asks to be paid 0.10 outside. */
void visit_payees(const struct config *config, const char *socket)
{
    const char *key = torture->packets[TORTURE_LUCKY].key;
    static const char form[] = "channel=payroll&account=bank&password=a+good+password";
    truth_open(config, socket);
    look(200, TORTURE_NEWCOMER, "/wallet/withdraw", false);
    post(422, TORTURE_NEWCOMER, "/wallet/withdraw", TEXT("amount=0.01&request_key=w%s&%s", key, form), false);
    truth.effect = TEXT("SELECT 1 FROM withdrawal WHERE user_id = %" PRIu64 " AND request_key = 'w%s'",
                        torture->users[TORTURE_NEWCOMER].id, key);
    post(201, TORTURE_NEWCOMER, "/wallet/withdraw", TEXT("amount=0.10&request_key=w%s&%s", key, form), true);
    done();
}

/* Pays into the wallet, or out of it; a repeat gets the same answer. */
static void pay(const char *what, const char *reference, int64_t fen)
{
    struct answer first, again;
    char yuan[MONEY_TEXT_MAX];
    (void)money_format(fen, yuan);
    const char *uri = TEXT("/money/%ss", what);
    const char *fields = TEXT("username=%s&amount=%s&channel=" TORTURE_CHANNEL "&reference=%s",
                              torture->users[FOURTH].username, yuan, reference);
    truth.effect = TEXT("SELECT transfer_id FROM external_transfer WHERE reference = '%s'", reference);
    const bool doubtful = ask_until_answered(&first, FOURTH, uri, fields, true);
    if (first.status != 201 && !(doubtful && first.status == 200))
        fail("%s answers %d: %.*s", uri, first.status, STR_ARG(first.body));
    insist(&again, 200, FOURTH, uri, fields, true);
    if (!str_equal(first.body, again.body) || number_of(&first, "amount_fen") != fen)
        fail("%s: another answer: %.*s %.*s", uri, STR_ARG(first.body), STR_ARG(again.body));
    buf_free(&first.bytes);
    buf_free(&again.bytes);
}

static int64_t number_read(const char *sql)
{
    struct db_rows rows;
    if (!row_find(&rows, sql))
        fail("no row: %s", sql);
    return db_cell_i64(&rows, 0, 0);
}

/* A program with a service token: what it repeats is done once. */
void visit_programs(const struct config *config, const char *socket)
{
    char token[SERVICE_TOKEN_MAX];
    uint8_t hash[HASH_BYTES];
    const char *key = torture->packets[TORTURE_LUCKY].key;
    const char *balance = TEXT("SELECT balance_fen FROM account WHERE id = %" PRIu64, torture->users[FOURTH].id);
    truth_open(config, socket);
    const struct service service = {
        .name = str_from(TEXT("t%" PRId64, clock_monotonic_us())),
        .scopes = SERVICE_CREDIT | SERVICE_DEBIT | SERVICE_READ | SERVICE_WITHDRAW,
        .channel_id = (uint64_t)number_read("SELECT id FROM channel WHERE name = '" TORTURE_CHANNEL "'"),
        .day_max_fen = 1000000,
        .addresses = STR(""),
        .author = STR("torture"),
    };
    service_token_new(token, hash);
    if (service_add(truth.db, &service, hash) != ST_OK)
        fail("no service");
    authorization = TEXT("Bearer %s", token);
    const int64_t before = number_read(balance);
    pay("credit", TEXT("%s-hc", key), 300);
    pay("debit", TEXT("%s-hd", key), 100);
    post(422, FOURTH, "/money/credits", "username=nobody&amount=x&reference=", true);
    post(403, FOURTH, "/money/credits", "username=a&amount=1&reference=r&channel=demo", true);
    if (withdrawal_hold(truth.db, torture->users[FOURTH].id, service.channel_id, 10, STR("x"),
                        str_from(TEXT("%s-hw", key)), clock_now_ms()) != ST_OK)
        fail("no withdrawal");
    const int64_t id = number_read(TEXT("SELECT id FROM withdrawal WHERE request_key = '%s-hw'", key));
    look(200, FOURTH, "/money/withdrawals?state=pending", true);
    for (int i = 0; i < 2; i++)
        post(200, FOURTH, TEXT("/money/withdrawals/%" PRId64 "/post", id), TEXT("reference=%s-hw", key), true);
    look(200, FOURTH, "/money/transfers", true);
    look(200, FOURTH, "/money/report", true);
    authorization = "Bearer hbs_x";
    look(401, FOURTH, "/money/report", true);
    if (number_read(balance) != before + 300 - 100 - 10)
        fail("the wallet has another balance");
    done();
}

/* Deletes the account and gives up its money. The name is not free afterwards. */
void visit_leavers(const struct config *config, const char *socket)
{
    struct answer a;
    const char *name = name_of(TORTURE_NEWCOMER);
    truth_open(config, socket);
    look(200, TORTURE_NEWCOMER, "/account/delete", false);
    const char *begun = TEXT("SELECT 1 FROM user WHERE id = %" PRIu64 " AND deleting_ms IS NOT NULL",
                             torture->users[TORTURE_NEWCOMER].id);
    truth.effect = begun;
    bool doubtful = ask_until_answered(&a, TORTURE_NEWCOMER, "/account/delete",
                                       TEXT("username=%s&password=a+good+password&give_up=1", name), true);
    if (a.status != 204 && !(doubtful && a.status == 401)) /* after an unknown outcome the session may have ended */
        fail("/account/delete answers %d: %.*s", a.status, STR_ARG(a.body));
    buf_free(&a.bytes);
    if (!row_exists(begun))
        fail("the deletion of the account is not begun, but acknowledged");
    torture->left = torture->packets[TORTURE_LEFT].ended = true;
    post(422, TORTURE_NEWCOMER, "/register", TEXT("username=%s&nickname=%s&password=a+good+password", name, name),
         true);
    done();
}
