/* The visitors of the torture test: they speak FastCGI as nginx does, repeat a request until it is answered, and record
 * the answers. At most one call of the server fails, so a repeat soon afterwards must succeed. */
#include <errno.h>
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
#include "base/public_id.h"
#include "io/db.h"
#include "io/redis.h"
#include "io/redis_reply.h"
#include "live/keys.h"
#include "torture.h"

enum {
    FCGI_BEGIN = 1,
    FCGI_END = 3,
    FCGI_PARAMS = 4,
    FCGI_STDIN = 5,
    FCGI_STDOUT = 6,
    FCGI_HEADER_BYTES = 8,
    ANSWER_BYTES_MAX = 1 << 20,
    ANSWER_WAIT_S = 10 * HB_TEST_PATIENCE,
    TRIES_MS_MAX = 5000 * HB_TEST_PATIENCE,
    SETTLE_MS_MAX = 20000 * HB_TEST_PATIENCE, /* a deletion takes a few passes, one a second */
    ARENA_BYTES = 1 << 20,
    FIELDS_MAX = 512,
    URI_MAX = 128
};

/* The users by index: the first one sends, the others open. */
enum { SENDER, FIRST, SECOND, THIRD, FOURTH };

static const char *socket_name;

/* The stores themselves, to check that a refused request has had no effect. */
static struct {
    const struct config *config;
    struct db *db;
    struct redis *redis;
    struct arena *arena;
    bool (*happened)(void); /* NULL: nothing to look up */
    const struct told_packet *packet;
    int user;
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
    const uint8_t head[FCGI_HEADER_BYTES] = { 1, type, 0, 1, (uint8_t)(content.len >> 8), (uint8_t)content.len, 0, 0 };
    buf_bytes(out, head, sizeof head);
    buf_str(out, content);
}

static void param(struct buf *out, const char *name, const char *value)
{
    size_t name_len = strlen(name), value_len = strlen(value);
    if (value_len == 0)
        return;
    buf_char(out, (char)name_len);
    if (value_len > 127)
        for (int shift = 24; shift >= 0; shift -= 8)
            buf_char(out, (char)(value_len >> shift | (shift == 24 ? 0x80 : 0)));
    else
        buf_char(out, (char)value_len);
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
        while (!ended && in.len - used >= FCGI_HEADER_BYTES) {
            const uint8_t *head = (const uint8_t *)in.ptr + used;
            size_t len = (size_t)head[4] << 8 | head[5], whole = FCGI_HEADER_BYTES + len + head[6];
            if (in.len - used < whole)
                break;
            if (head[1] == FCGI_STDOUT)
                buf_bytes(out, head + FCGI_HEADER_BYTES, len);
            ended = head[1] == FCGI_END;
            used += whole;
        }
    }
    buf_free(&in);
    return ended;
}

/* Splits what was read into status, head and body; Content-Length must be the length of the body. */
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
    if (fields != NULL) {
        param(&params, "CONTENT_TYPE", "application/x-www-form-urlencoded");
        param(&params, "CONTENT_LENGTH", length);
    }
    record(&out, FCGI_BEGIN, (struct str){ (const char *)responder, sizeof responder });
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

/* Whether the request took effect, as its answer tells it. */
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

static void truth_open(const struct config *config)
{
    truth.db = db_new(config);
    truth.redis = redis_new(config);
    truth.arena = arena_new(ARENA_BYTES, ARENA_BYTES);
    truth.config = config;
    if (truth.db == NULL || truth.redis == NULL || truth.arena == NULL)
        fail("no memory");
}

static bool rows_exist(const char *sql, const struct db_param *params, size_t count)
{
    struct db_rows rows;
    arena_reset(truth.arena);
    if (db_query(truth.db, truth.arena, &rows, sql, params, count) != ST_OK)
        fail("MySQL is unreachable");
    return rows.count > 0;
}

static bool deposit_happened(void)
{
    char key[2 * TORTURE_KEY_MAX];
    (void)snprintf(key, sizeof key, "%" PRIu64 ":d%s", torture->users[truth.user].id,
                   torture->packets[TORTURE_LUCKY].key);
    return rows_exist("SELECT 1 FROM transfer WHERE kind = 'deposit' AND request_key = ?",
                      DB_PARAMS(DB_TEXT(str_from(key))));
}

static bool send_happened(void)
{
    return rows_exist("SELECT 1 FROM packet WHERE sender_id = ? AND request_key = ?",
                      DB_PARAMS(DB_U64(torture->users[truth.user].id), DB_TEXT(str_from(truth.packet->key))));
}

static bool end_happened(void)
{
    return rows_exist("SELECT 1 FROM packet WHERE id = ? AND ended_ms IS NOT NULL",
                      DB_PARAMS(DB_U64(truth.packet->number)));
}

static bool deletion_happened(void)
{
    return rows_exist("SELECT 1 FROM user WHERE id = ? AND deleting_ms IS NOT NULL",
                      DB_PARAMS(DB_U64(torture->users[TORTURE_NEWCOMER].id)));
}

static bool return_happened(void)
{
    return rows_exist("SELECT 1 FROM share_return WHERE packet_id = ? AND user_id = ?",
                      DB_PARAMS(DB_U64(truth.packet->number), DB_U64(torture->users[truth.user].id)));
}

static bool thanks_happened(void)
{
    return rows_exist("SELECT 1 FROM thanks WHERE packet_id = ? AND user_id = ?",
                      DB_PARAMS(DB_U64(truth.packet->number), DB_U64(torture->users[truth.user].id)));
}

static bool grab_happened(void)
{
    struct live_keys keys;
    struct redis_call call;
    char user[24];
    int64_t there = 0;
    live_keys(&keys, truth.packet->number, truth.config->partitions);
    (void)snprintf(user, sizeof user, "%" PRIu64, torture->users[truth.user].id);
    const struct str args[] = { STR("HEXISTS"), keys.key[LIVE_KEY_GRABS], str_from(user) };
    if (redis_do(truth.redis, &call, args, 3) != ST_OK || !redis_reply_i64(call.reply, &there))
        fail("Redis is unreachable");
    redis_call_free(&call);
    return there == 1;
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
        if (now == PROMISE_NOTHING && !doubtful && truth.happened != NULL && truth.happened())
            fail("%s was refused, but it is done: %.*s", uri, STR_ARG(a->body));
        if (now == PROMISE_DONE)
            break;
        doubtful = doubtful || now == PROMISE_UNKNOWN;
        buf_free(&a->bytes);
        if (clock_monotonic_ms() > until_ms)
            fail("%s: still no answer", uri);
        pause_ms(20);
    }
    return doubtful;
}

/* The same; the status must be the wanted one. */
static void insist(struct answer *a, int wanted, int user, const char *uri, const char *fields, bool json)
{
    (void)ask_until_answered(a, user, uri, fields, json);
    if (a->status != wanted && !is_missing(a))
        fail("%s answers %d, not %d: %.*s", uri, a->status, wanted, STR_ARG(a->body));
}

/* Reads a page. */
static void look(int wanted, int user, const char *uri, bool json)
{
    struct answer a;
    insist(&a, wanted, user, uri, NULL, json);
    buf_free(&a.bytes);
}

/* ---- the page pool: deposits and packets ---- */

static void packet_id_take(const struct config *config, struct told_packet *p, struct str text)
{
    struct public_id_key key;
    public_id_key_set(&key, &config->keys.of[KEY_IDS]);
    struct str id = str_slice(text, 0, text.len < PUBLIC_ID_LEN ? text.len : PUBLIC_ID_LEN);
    if (!public_id_decode(&key, id, &p->number))
        fail("no packet id: %.*s", STR_ARG(text));
    (void)snprintf(p->id, sizeof p->id, "%.*s", STR_ARG(id));
}

static void send_packet(const struct config *config, int user, struct told_packet *p, const char *fields, bool json)
{
    struct answer a;
    char with_key[FIELDS_MAX];
    (void)snprintf(with_key, sizeof with_key, "%s&request_key=%s", fields, p->key);
    truth.packet = p;
    truth.user = user;
    truth.happened = send_happened;
    insist(&a, json ? 201 : 303, user, "/send", with_key, json);
    truth.happened = NULL;
    packet_id_take(config, p, json ? str_after(a.body, STR("\"id\":\"")) : str_after(a.head, STR("Location: /p/")));
    buf_free(&a.bytes);
}

static void deposit(int user)
{
    struct answer a;
    char fields[FIELDS_MAX];
    (void)snprintf(fields, sizeof fields, "amount=%d&request_key=d%s", TORTURE_DEPOSIT_FEN / 100,
                   torture->packets[TORTURE_LUCKY].key);
    truth.user = user;
    truth.happened = deposit_happened;
    insist(&a, 201, user, "/wallet/deposit", fields, true);
    truth.happened = NULL;
    buf_free(&a.bytes);
}

void visit_senders(const struct config *config, const char *socket)
{
    struct answer a;
    char fields[FIELDS_MAX];
    struct told_packet *p = torture->packets;
    socket_name = socket;
    truth_open(config);
    deposit(SENDER);
    deposit(TORTURE_NEWCOMER);
    look(200, SENDER, "/send", false);
    send_packet(config, SENDER, &p[TORTURE_LUCKY], "kind=lucky&amount=3.00&count=4&greeting=%E6%81%AD%E5%96%9C", true);
    (void)snprintf(fields, sizeof fields, "kind=exclusive&amount=1.00&to=%s", torture->users[FIRST].username);
    send_packet(config, SENDER, &p[TORTURE_EXCLUSIVE], fields, false);
    send_packet(config, SENDER, &p[TORTURE_EXPIRING], "kind=even&amount=0.50&count=2", true);
    send_packet(config, SENDER, &p[TORTURE_ABANDONED], "kind=even&amount=0.50&count=2", true);
    (void)snprintf(fields, sizeof fields, "kind=lucky&amount=0.04&count=4&to=%s+%s+%s+%s+%s",
                   torture->users[FIRST].username, torture->users[SECOND].username, torture->users[THIRD].username,
                   torture->users[FOURTH].username, torture->users[TORTURE_NEWCOMER].username);
    send_packet(config, SENDER, &p[TORTURE_ENDED], fields, true);
    send_packet(config, TORTURE_NEWCOMER, &p[TORTURE_LEFT], "kind=even&amount=0.50&count=2", true);
    insist(&a, 422, SENDER, "/send", "kind=lucky&amount=0&count=3", false);
    buf_free(&a.bytes);
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

static void open_packet(struct told_packet *p, int user, int wanted, bool json)
{
    struct answer a;
    char uri[URI_MAX];
    struct told_grab *grab = &p->grabs[user];
    (void)snprintf(uri, sizeof uri, "/p/%s/open", p->id);
    truth.packet = p;
    truth.user = user;
    truth.happened = grab->opened ? NULL : grab_happened;
    insist(&a, wanted, user, uri, "", json);
    truth.happened = NULL;
    if (is_missing(&a))
        p->missing = true;
    else
        grab->opened = true;
    if (a.status == 200 && !is_missing(&a))
        grab_take(grab, &a);
    buf_free(&a.bytes);
}

static void look_at(const struct told_packet *p, int user, const char *what, bool json)
{
    char uri[URI_MAX];
    (void)snprintf(uri, sizeof uri, "/p/%s%s", p->id, what);
    look(200, user, uri, json);
}

void visit_grabbers(const struct config *config, const char *socket)
{
    struct told_packet *p = torture->packets;
    socket_name = socket;
    truth_open(config);
    for (int i = 0; i < TORTURE_PACKETS; i++)
        p[i].missing = false;
    look_at(&p[TORTURE_LUCKY], FIRST, "", true);
    open_packet(&p[TORTURE_LUCKY], FIRST, 200, true);
    open_packet(&p[TORTURE_LUCKY], SECOND, 303, false);
    open_packet(&p[TORTURE_LUCKY], THIRD, 200, true);
    open_packet(&p[TORTURE_LUCKY], TORTURE_NEWCOMER, 200, true);
    open_packet(&p[TORTURE_LUCKY], FIRST, 200, true);
    open_packet(&p[TORTURE_LUCKY], SECOND, 200, true);
    look_at(&p[TORTURE_LUCKY], SENDER, "", false);
    look_at(&p[TORTURE_LUCKY], SECOND, "", false);
    look_at(&p[TORTURE_LUCKY], THIRD, "?after=2", true);
    open_packet(&p[TORTURE_EXCLUSIVE], FIRST, 200, true);
    open_packet(&p[TORTURE_EXCLUSIVE], SECOND, 403, true);
    open_packet(&p[TORTURE_EXPIRING], FIRST, 200, true);
    open_packet(&p[TORTURE_ENDED], FIRST, 200, true); /* the best share: the first of four equal ones */
    open_packet(&p[TORTURE_ENDED], SECOND, 200, true);
    open_packet(&p[TORTURE_ENDED], TORTURE_NEWCOMER, 200, true);
    open_packet(&p[TORTURE_LEFT], FIRST, 200, true);
    look(404, FIRST, "/p/00000000000000000000000000", true);
    done();
}

/* ---- the settle worker ---- */

/* True when Redis has the packet and it is not shut. */
static bool is_live(const struct told_packet *p)
{
    struct live_keys keys;
    struct redis_call call;
    live_keys(&keys, p->number, truth.config->partitions);
    const struct str args[] = { STR("HGET"), keys.key[LIVE_KEY_PACKET], STR("state") };
    if (redis_do(truth.redis, &call, args, 3) != ST_OK)
        fail("Redis is unreachable");
    bool live = !redis_reply_is_nil(call.reply) && !str_equal(redis_reply_str(call.reply), STR("busy"));
    redis_call_free(&call);
    return live;
}

/* True when Redis was not told about some return or thanks. */
static bool some_pending(const struct told_packet *p)
{
    return rows_exist("SELECT 1 FROM share_return WHERE packet_id = ? AND applied_ms IS NULL UNION ALL"
                      " SELECT 1 FROM thanks WHERE packet_id = ? AND applied_ms IS NULL",
                      DB_PARAMS(DB_U64(p->number), DB_U64(p->number)));
}

/* True when the account is deleted, if its user has asked for it. */
static bool left(void)
{
    return !torture->left || rows_exist("SELECT 1 FROM user WHERE id = ? AND deleted_ms > 0",
                                        DB_PARAMS(DB_U64(torture->users[TORTURE_NEWCOMER].id)));
}

/* True when the settle worker has no work left: all acknowledged grabs are settled, Redis knows every return, the
 * account is deleted, and the packets are closed, except the one that is ended later, which Redis has; while a packet
 * is missing in Redis, instead of closed: that packet is loaded. */
static bool settled(void)
{
    struct db_rows rows;
    bool some_missing = false;
    for (int i = 0; i < TORTURE_PACKETS; i++)
        some_missing = some_missing || torture->packets[i].missing;
    for (int i = 0; i < TORTURE_PACKETS; i++) {
        const struct told_packet *p = &torture->packets[i];
        uint64_t told = 0;
        for (int user = 0; user < TORTURE_PEOPLE; user++)
            told += p->grabs[user].told;
        arena_reset(truth.arena);
        if (db_query(truth.db, truth.arena, &rows, "SELECT state, grabbed_count FROM packet WHERE id = ?",
                     DB_PARAMS(DB_U64(p->number))) != ST_OK ||
            rows.count != 1)
            fail("the packet can't be read");
        struct str state = db_cell(&rows, 0, 0);
        bool stays_open = some_missing || (i == TORTURE_ENDED && !p->ended);
        if (db_cell_u64(&rows, 0, 1) != told ||
            (stays_open ? str_equal(state, STR("funding")) : !str_equal(state, STR("closed"))))
            return false;
        if ((p->missing || i == TORTURE_ENDED) && !str_equal(state, STR("closed")) && !is_live(p))
            return false;
        if (some_pending(p))
            return false;
    }
    return left();
}

void visit_settling(const struct config *config, const char *socket)
{
    int64_t until_ms = clock_monotonic_ms() + SETTLE_MS_MAX;
    (void)socket;
    truth_open(config);
    while (!settled()) {
        if (clock_monotonic_ms() > until_ms)
            fail("the settle worker does not finish");
        pause_ms(5);
    }
    done();
}

/* ---- the page pool: thanks, shares that are given back, an early end ---- */

/* Posts to the packet twice: a repeat gets the same answer, also after an unknown outcome. happened: whether the first
 * one has taken effect. */
static void post_twice(struct told_packet *p, int user, const char *what, const char *fields, bool (*happened)(void),
                       const char *answer)
{
    struct answer a;
    char uri[URI_MAX];
    (void)snprintf(uri, sizeof uri, "/p/%s/%s", p->id, what);
    truth.packet = p;
    truth.user = user;
    for (int i = 0; i < 2; i++) {
        truth.happened = i == 0 ? happened : NULL;
        insist(&a, 200, user, uri, fields, true);
        truth.happened = NULL;
        if (!has(a.body, answer))
            fail("%s answers %.*s, not %s", uri, STR_ARG(a.body), answer);
        buf_free(&a.bytes);
    }
}

static void thank_for(struct told_packet *p, int user)
{
    post_twice(p, user, "thanks", "text=thanks", thanks_happened, "{\"text\":\"thanks\"}");
    p->grabs[user].thanked = true;
}

static void give_back(struct told_packet *p, int user, bool to_sender)
{
    struct told_grab *grab = &p->grabs[user];
    char answer[FIELDS_MAX];
    (void)snprintf(answer, sizeof answer, "{\"returned_fen\":%" PRId64 ",\"to\":\"%s\"}", grab->fen,
                   to_sender ? "sender" : "packet");
    post_twice(p, user, "return", "", return_happened, answer);
    grab->returned = true;
    grab->to_sender = to_sender;
}

void visit_givers(const struct config *config, const char *socket)
{
    struct answer a;
    char uri[URI_MAX];
    struct told_packet *p = &torture->packets[TORTURE_ENDED];
    socket_name = socket;
    truth_open(config);
    thank_for(p, SECOND);
    give_back(p, FIRST, false);
    post_twice(p, SENDER, "end", "", end_happened, "{\"state\":\"expired\"}");
    p->ended = true;
    give_back(p, SECOND, true);
    (void)snprintf(uri, sizeof uri, "/p/%s/return", torture->packets[TORTURE_LEFT].id);
    insist(&a, 409, FIRST, uri, "", true);
    if (!has(a.body, "sender-gone"))
        fail("a share is given back to a deleted user: %.*s", STR_ARG(a.body));
    buf_free(&a.bytes);
    done();
}

/* ---- the page pool at the end: thanks, lists, statements, the packets from MySQL ---- */

void visit_readers(const struct config *config, const char *socket)
{
    struct told_packet *p = torture->packets;
    socket_name = socket;
    truth_open(config);
    thank_for(&p[TORTURE_LUCKY], FIRST);
    look(401, TORTURE_NEWCOMER, "/wallet", true);
    look(200, FIRST, "/", false);
    look(200, SENDER, "/", true);
    look(200, FIRST, "/wallet", false);
    look(200, SENDER, "/wallet", true);
    look(200, FIRST, "/records/received", false);
    look(200, SECOND, "/records/received", true);
    look(200, SENDER, "/records/sent", false);
    look(200, SENDER, "/records/sent", true);
    look_at(&p[TORTURE_LUCKY], SENDER, "", true);
    look_at(&p[TORTURE_EXPIRING], FIRST, "", false);
    look_at(&p[TORTURE_LEFT], FIRST, "", false);
    look_at(&p[TORTURE_LUCKY], SENDER, "/verify", false);
    open_packet(&p[TORTURE_LUCKY], FIRST, 200, true);
    look(200, SENDER, "/healthz", false);
    look(200, SENDER, "/readyz/page", false);
    look(200, SENDER, "/metrics", false);
    done();
}

/* ---- the auth pool ---- */

static bool register_happened(void)
{
    return rows_exist("SELECT 1 FROM user WHERE username = ?",
                      DB_PARAMS(DB_TEXT(str_from(torture->users[TORTURE_NEWCOMER].username))));
}

static void cookie_take(const struct answer *a)
{
    struct str cookie = str_after(a->head, STR("Set-Cookie: "));
    if (cookie.ptr == NULL)
        fail("no cookie in %.*s", STR_ARG(a->head));
    (void)snprintf(torture->users[TORTURE_NEWCOMER].cookie, TORTURE_COOKIE_MAX, "%.*s",
                   STR_ARG(str_cut(cookie, ';', &(struct str){ 0 })));
}

static void newcomer_id_take(void)
{
    struct db_rows rows;
    arena_reset(truth.arena);
    if (db_query(truth.db, truth.arena, &rows, "SELECT id FROM user WHERE username = ?",
                 DB_PARAMS(DB_TEXT(str_from(torture->users[TORTURE_NEWCOMER].username)))) != ST_OK ||
        rows.count != 1)
        fail("the new user can't be read");
    torture->users[TORTURE_NEWCOMER].id = db_cell_u64(&rows, 0, 0);
}

void visit_newcomers(const struct config *config, const char *socket)
{
    struct answer a;
    char fields[FIELDS_MAX];
    const char *name = torture->users[TORTURE_NEWCOMER].username;
    socket_name = socket;
    truth_open(config);
    look(200, TORTURE_NEWCOMER, "/register", false);
    (void)snprintf(fields, sizeof fields, "username=%s&nickname=%s&password=a+good+password", name, name);
    truth.happened = register_happened;
    bool doubtful = ask_until_answered(&a, TORTURE_NEWCOMER, "/register", fields, true);
    truth.happened = NULL;
    if (a.status != 201 && !(doubtful && a.status == 422)) /* after an unknown outcome the name may be taken */
        fail("/register answers %d: %.*s", a.status, STR_ARG(a.body));
    if (has(a.head, "Set-Cookie: "))
        cookie_take(&a);
    buf_free(&a.bytes);
    newcomer_id_take();
    insist(&a, 204, TORTURE_NEWCOMER, "/logout", "", true);
    buf_free(&a.bytes);
    (void)snprintf(fields, sizeof fields, "username=%s&password=a+bad+password", name);
    insist(&a, 422, TORTURE_NEWCOMER, "/login", fields, false);
    buf_free(&a.bytes);
    (void)snprintf(fields, sizeof fields, "username=%s&password=a+good+password", name);
    insist(&a, 200, TORTURE_NEWCOMER, "/login", fields, true);
    cookie_take(&a);
    buf_free(&a.bytes);
    done();
}

/* Deletes the account; the money goes. The name is not free afterwards. */
void visit_leavers(const struct config *config, const char *socket)
{
    struct answer a;
    char fields[FIELDS_MAX];
    const char *name = torture->users[TORTURE_NEWCOMER].username;
    socket_name = socket;
    truth_open(config);
    look(200, TORTURE_NEWCOMER, "/account/delete", false);
    (void)snprintf(fields, sizeof fields, "username=%s&password=a+good+password&give_up=1", name);
    truth.happened = deletion_happened;
    bool doubtful = ask_until_answered(&a, TORTURE_NEWCOMER, "/account/delete", fields, true);
    truth.happened = NULL;
    if (a.status != 204 && !(doubtful && a.status == 401)) /* after an unknown outcome the session may have ended */
        fail("/account/delete answers %d: %.*s", a.status, STR_ARG(a.body));
    buf_free(&a.bytes);
    if (!deletion_happened())
        fail("the deletion of the account is not begun, but acknowledged");
    torture->left = torture->packets[TORTURE_LEFT].ended = true;
    (void)snprintf(fields, sizeof fields, "username=%s&nickname=%s&password=a+good+password", name, name);
    insist(&a, 422, TORTURE_NEWCOMER, "/register", fields, true);
    buf_free(&a.bytes);
    done();
}
