/* The peers in C that serve a whole gift with blocking calls: POST /send, GET /p/ID, POST /p/ID/open. mariadb.sql has
 * the tables, in the database of HB_MYSQL_DATABASE; the session comes from Redis, as in the other peers. BENCH_TAKE:
 * the shares are a list in Redis, from which the script of this name (take.lua) takes them. Without it they are rows of
 * MariaDB, taken under a lock of the packet's row: the peer without Redis. BENCH_PAGE: the page around what a packet's
 * page says (PAGE in peers.js). */
#include <errmsg.h>
#include <mysqld_error.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/money.h"
#include "base/random.h"
#include "base/typed.h"
#include "packet/split.h"
#include "peers/blocking.h"
#include "peers/tables.h"
#include "web/form.h"

enum { NICKNAME_MAX = 128, GREETING_MAX = 255, SHARES_MAX = 1000, FORM_MAX = 4096, COLUMNS_MAX = 2, TOO_POOR = 1 };

static const size_t ARENA_BYTES = (size_t)256 << 10;
static const int64_t LIFETIME_MS = 24 * INT64_C(3600000);
static const char LEFT_KEY[] = "gift:left:%llu", TAKEN_KEY[] = "gift:taken:%llu"; /* as in gift.php */

static const char *take;    /* NULL: the shares are rows */
static struct arena *arena; /* of a request */
static struct buf page;     /* BENCH_PAGE */

/* ---- the grab ---- */

struct work {
    unsigned long long packet_id, user_id;
    char nickname[2 * NICKNAME_MAX + 1]; /* escaped */
    struct blocking_grab got;
};

/* Reads the share that the user has already, outside of the transaction; without one the packet is empty. */
static unsigned share_of_user(struct work *w)
{
    long long found[COLUMNS_MAX];
    unsigned error = tables_run("SELECT share_no, amount_fen FROM `grab` WHERE packet_id = %llu AND user_id = %llu",
                                w->packet_id, w->user_id);
    w->got.code = LIVE_EMPTY;
    if (error == 0 && tables_row(found, 2))
        w->got = (struct blocking_grab){ LIVE_ALREADY, found[0], found[1], w->got.left_count };
    return error;
}

/* Locks the packet until the end of the transaction, and reads the next share. */
static unsigned share_take(struct work *w)
{
    long long packet[COLUMNS_MAX];
    unsigned error = tables_run("SELECT count, grabbed_count FROM packet WHERE id = %llu FOR UPDATE", w->packet_id);
    if (error != 0)
        return error;
    w->got.code = LIVE_MISSING;
    if (!tables_row(packet, 2))
        return 0;
    w->got.code = LIVE_EMPTY;
    if (packet[1] >= packet[0])
        return 0;
    w->got.share_no = packet[1];
    w->got.left_count = packet[0] - packet[1] - 1;
    error = tables_run("SELECT amount_fen FROM share WHERE packet_id = %llu AND share_no = %lld", w->packet_id,
                       w->got.share_no);
    if (error == 0)
        w->got.code = tables_row(&w->got.fen, 1) ? LIVE_GRABBED : LIVE_BAD;
    return error;
}

static unsigned share_write(const struct work *w)
{
    const struct blocking_grab *got = &w->got;
    unsigned error =
        tables_run("INSERT INTO `grab` (packet_id, share_no, user_id, nickname, amount_fen, grabbed_ms)"
                   " VALUES (%llu, %lld, %llu, '%s', %lld, %lld)",
                   w->packet_id, got->share_no, w->user_id, w->nickname, got->fen, (long long)clock_now_ms());
    if (error == 0)
        error = tables_run("UPDATE packet SET grabbed_count = grabbed_count + 1, grabbed_fen = grabbed_fen + %lld"
                           " WHERE id = %llu",
                           got->fen, w->packet_id);
    if (error == 0)
        error =
            tables_run("UPDATE account SET balance_fen = balance_fen - %lld WHERE id = %llu", got->fen, w->packet_id);
    if (error == 0)
        error = tables_run("UPDATE account SET balance_fen = balance_fen + %lld WHERE id = %llu", got->fen, w->user_id);
    return error;
}

static unsigned transact(struct work *w)
{
    unsigned error = tables_run("START TRANSACTION");
    if (error == 0 && take == NULL)
        error = share_take(w);
    if (error == 0 && w->got.code == LIVE_GRABBED)
        error = share_write(w);
    if (error == 0 && w->got.code == LIVE_GRABBED)
        return tables_run("COMMIT");
    unsigned ended = tables_run("ROLLBACK");
    return error != 0 ? error : ended;
}

/* The next share of the list in Redis. */
static struct blocking_grab list_take(struct blocking *b, const struct work *w)
{
    char left[sizeof LEFT_KEY + STR_U64_MAX], taken[sizeof TAKEN_KEY + STR_U64_MAX];
    (void)snprintf(left, sizeof left, LEFT_KEY, w->packet_id);
    (void)snprintf(taken, sizeof taken, TAKEN_KEY, w->packet_id);
    redisReply *reply = redisCommand(b->redis, "EVALSHA %s 2 %s %s %llu", take, left, taken, w->user_id);
    const struct blocking_grab got = blocking_grab_read(reply);
    freeReplyObject(reply);
    return got;
}

static struct blocking_grab share_give(struct blocking *b, uint64_t packet_id, const struct session *session)
{
    struct work w = { .packet_id = packet_id, .user_id = session->user_id };
    MYSQL *mysql = tables_ready(&b->config);
    if (session->nickname.len > NICKNAME_MAX || mysql == NULL)
        return w.got;
    (void)mysql_real_escape_string(mysql, w.nickname, session->nickname.ptr, (unsigned long)session->nickname.len);
    unsigned error = 0;
    if (take != NULL)
        w.got = list_take(b, &w);
    if (take == NULL || w.got.code == LIVE_GRABBED)
        error = transact(&w);
    if (take == NULL && (error == ER_DUP_ENTRY || (error == 0 && w.got.code == LIVE_EMPTY)))
        error = share_of_user(&w);
    if (error == 0)
        return w.got;
    tables_fail();
    return (struct blocking_grab){ .code = LIVE_BAD };
}

static void grab(struct blocking *b, FCGX_Request *r, uint64_t packet_id, const struct session *session)
{
    const struct blocking_grab got = share_give(b, packet_id, session);
    blocking_answer_grab(r, &got);
}

/* ---- sending ---- */

struct order {
    uint64_t packet_id, count;
    int64_t amount_fen, shares_fen[SHARES_MAX];
    struct str greeting, request_key;
};

/* Reads the form and draws the shares. False: it is refused. */
static bool order_read(const struct config *config, FCGX_Request *r, struct order *o)
{
    static char body[FORM_MAX]; /* the order points into it */
    struct form form;
    uint8_t seed[SEED_BYTES];
    int len = FCGX_GetStr(body, sizeof body, r->in);
    if (len < 0 || len == sizeof body || form_parse(arena, (struct str){ body, (size_t)len }, &form) != ST_OK)
        return false;
    o->greeting = form_get(&form, "greeting", NULL);
    o->request_key = form_get(&form, "request_key", NULL);
    if (!str_equal(form_get(&form, "kind", NULL), STR("lucky")) || o->greeting.len > GREETING_MAX ||
        !typed_amount(form_get(&form, "amount", NULL), &o->amount_fen) ||
        !typed_count(form_get(&form, "count", NULL), &o->count) || o->count > SHARES_MAX ||
        !request_key_valid(o->request_key))
        return false;
    random_bytes(seed, sizeof seed);
    return split_shares(SPLIT_DOUBLE_AVERAGE, o->amount_fen, (uint32_t)o->count, 1, config->share_fen_max, seed,
                        o->shares_fen) == ST_OK;
}

static unsigned packet_write(MYSQL *mysql, struct order *o, const struct session *session, int64_t now_ms)
{
    char name[2 * NICKNAME_MAX + 1], greeting[2 * GREETING_MAX + 1];
    (void)mysql_real_escape_string(mysql, name, session->nickname.ptr, (unsigned long)session->nickname.len);
    (void)mysql_real_escape_string(mysql, greeting, o->greeting.ptr, (unsigned long)o->greeting.len);
    unsigned error = tables_run("INSERT INTO packet (sender_id, sender_name, greeting, count, amount_fen, created_ms,"
                                " expires_ms, request_key) VALUES (%llu, '%s', '%s', %llu, %lld, %lld, %lld, '%.*s')",
                                (unsigned long long)session->user_id, name, greeting, (unsigned long long)o->count,
                                (long long)o->amount_fen, (long long)now_ms, (long long)(now_ms + LIFETIME_MS),
                                STR_ARG(o->request_key));
    o->packet_id = mysql_insert_id(mysql);
    return error;
}

/* Moves money from the sender's wallet into the packet's escrow. TOO_POOR: the wallet has less. */
static unsigned money_move(MYSQL *mysql, const struct order *o, uint64_t user_id, int64_t now_ms)
{
    const long long fen = o->amount_fen;
    const unsigned long long packet_id = o->packet_id, user = user_id;
    unsigned error = tables_run(
        "UPDATE account SET balance_fen = balance_fen - %lld WHERE id = %llu AND balance_fen >= %lld", fen, user, fen);
    if (error == 0 && mysql_affected_rows(mysql) != 1)
        return TOO_POOR;
    if (error == 0)
        error = tables_run("INSERT INTO account (id, balance_fen) VALUES (%llu, %lld)", packet_id, fen);
    if (error == 0)
        error = tables_run("INSERT INTO transfer (debit_id, credit_id, amount_fen, created_ms)"
                           " VALUES (%llu, %llu, %lld, %lld)",
                           user, packet_id, fen, (long long)now_ms);
    return error;
}

static unsigned share_rows_write(const struct order *o)
{
    struct buf sql = BUF_EMPTY;
    buf_cstr(&sql, "INSERT INTO share (packet_id, share_no, amount_fen) VALUES ");
    for (size_t i = 0; i < o->count; i++)
        buf_printf(&sql, "%s(%llu,%zu,%lld)", i == 0 ? "" : ",", (unsigned long long)o->packet_id, i,
                   (long long)o->shares_fen[i]);
    unsigned error = tables_run("%.*s", STR_ARG(buf_view(&sql)));
    buf_free(&sql);
    return error;
}

/* One transaction. ER_DUP_ENTRY: the sender has used the request key before; TOO_POOR. */
static unsigned order_write(MYSQL *mysql, struct order *o, const struct session *session)
{
    const int64_t now_ms = clock_now_ms();
    unsigned error = tables_run("START TRANSACTION");
    if (error == 0)
        error = packet_write(mysql, o, session, now_ms);
    if (error == 0)
        error = money_move(mysql, o, session->user_id, now_ms);
    if (error == 0 && take == NULL)
        error = share_rows_write(o);
    if (error == 0)
        return tables_run("COMMIT");
    unsigned ended = tables_run("ROLLBACK");
    return ended != 0 ? ended : error;
}

/* The shares as a list in Redis. */
static bool list_write(struct blocking *b, const struct order *o)
{
    size_t count = o->count + 2, lengths[SHARES_MAX + 2];
    const char *argv[SHARES_MAX + 2];
    for (size_t i = 0; i < count; i++) {
        const struct str text = i == 0   ? STR("RPUSH")
                                : i == 1 ? arena_printf(arena, LEFT_KEY, (unsigned long long)o->packet_id)
                                         : arena_printf(arena, "%lld", (long long)o->shares_fen[i - 2]);
        argv[i] = text.ptr, lengths[i] = text.len;
    }
    redisReply *reply = arena_failed(arena) ? NULL : redisCommandArgv(b->redis, (int)count, argv, lengths);
    bool ok = reply != NULL && reply->type == REDIS_REPLY_INTEGER;
    freeReplyObject(reply);
    return ok;
}

static void answer_sent(const struct blocking *b, FCGX_Request *r, const struct order *o, int status)
{
    char id[PUBLIC_ID_TEXT_MAX];
    public_id_encode(&b->id_key, o->packet_id, id);
    blocking_answer(r, status, "application/json",
                    arena_printf(arena, "{\"id\":\"%s\",\"count\":%llu}\n", id, (unsigned long long)o->count));
}

static void send_gift(struct blocking *b, FCGX_Request *r, uint64_t packet_id, const struct session *session)
{
    (void)packet_id;
    struct order o = { .packet_id = 0 };
    MYSQL *mysql = tables_ready(&b->config);
    long long sent;
    arena_reset(arena);
    if (session->nickname.len > NICKNAME_MAX || !order_read(&b->config, r, &o)) {
        blocking_problem(r, 422, "invalid");
        return;
    }
    unsigned error = mysql == NULL ? CR_UNKNOWN_ERROR : order_write(mysql, &o, session);
    if (error == ER_DUP_ENTRY &&
        tables_run("SELECT id FROM packet WHERE sender_id = %llu AND request_key = '%.*s'",
                   (unsigned long long)session->user_id, STR_ARG(o.request_key)) == 0 &&
        tables_row(&sent, 1)) {
        o.packet_id = (uint64_t)sent;
        answer_sent(b, r, &o, 200);
    } else if (error == TOO_POOR) {
        blocking_problem(r, 422, "no-balance");
    } else if (error == 0 && (take == NULL || list_write(b, &o))) {
        answer_sent(b, r, &o, 201);
    } else {
        if (error != 0 && mysql != NULL)
            tables_fail();
        blocking_problem(r, 503, "unknown");
    }
}

/* ---- the page of a packet ---- */

static void html(struct buf *out, const char *text)
{
    for (; *text != '\0'; text++)
        switch (*text) {
        case '&': buf_cstr(out, "&amp;"); break;
        case '<': buf_cstr(out, "&lt;"); break;
        case '>': buf_cstr(out, "&gt;"); break;
        case '"': buf_cstr(out, "&quot;"); break;
        default: buf_char(out, *text);
        }
}

/* A text of yuan and fen, from a column of fen. */
static void yuan(struct buf *out, const char *fen)
{
    buf_str(out, money_text(arena, strtoll(fen, NULL, 10)));
}

enum { PACKET_SENDER, PACKET_GREETING, PACKET_COUNT, PACKET_FEN, PACKET_GRABBED, PACKET_GRABBED_FEN, PACKET_EXPIRES };

static void packet_html(struct buf *out, MYSQL_ROW row)
{
    buf_cstr(out, "<section class=\"card\"><h1><bdi translate=\"no\">");
    html(out, row[PACKET_SENDER]);
    buf_cstr(out, "</bdi></h1><p class=\"greeting\" dir=\"auto\">");
    html(out, row[PACKET_GREETING]);
    buf_printf(out, "</p><p class=\"progress\">%s/%s · ", row[PACKET_GRABBED], row[PACKET_COUNT]);
    yuan(out, row[PACKET_GRABBED_FEN]);
    buf_char(out, '/');
    yuan(out, row[PACKET_FEN]);
    buf_cstr(out, "</p><p class=\"hint\">");
    buf_str(out, clock_zone_second(arena, strtoll(row[PACKET_EXPIRES], NULL, 10)));
    buf_cstr(out, "</p></section>");
}

enum { GRAB_USER, GRAB_NICKNAME, GRAB_FEN, GRAB_MS };

/* The list of grabs, for those who have a share and for all when none is left; otherwise the button. */
static void grabs_html(struct buf *out, MYSQL_RES *rows, uint64_t user_id, bool is_over)
{
    MYSQL_ROW row;
    bool shown = is_over;
    while (!shown && (row = mysql_fetch_row(rows)) != NULL)
        shown = strtoull(row[GRAB_USER], NULL, 10) == user_id;
    if (!shown) {
        buf_cstr(out, "<form method=\"post\" action=\"open\"><button class=\"open\">開</button></form>");
        return;
    }
    mysql_data_seek(rows, 0);
    buf_cstr(out, "<ul class=\"rows\">");
    while ((row = mysql_fetch_row(rows)) != NULL) {
        const int64_t ms = strtoll(row[GRAB_MS], NULL, 10);
        buf_cstr(out, "<li class=\"row\"><span class=\"avatar\" aria-hidden=\"true\"></span><span class=\"who\"><b>"
                      "<bdi translate=\"no\">");
        html(out, row[GRAB_NICKNAME]);
        buf_printf(out, "</bdi></b><small><time datetime=\"%.*s\">", STR_ARG(clock_rfc3339(arena, ms)));
        buf_str(out, clock_zone_second(arena, ms));
        buf_cstr(out, "</time></small></span><span class=\"sum\"><b>");
        yuan(out, row[GRAB_FEN]);
        buf_cstr(out, "</b></span></li>");
    }
    buf_cstr(out, "</ul>");
}

static void view(struct blocking *b, FCGX_Request *r, uint64_t packet_id, const struct session *session)
{
    static struct buf out;
    const unsigned long long id = packet_id;
    MYSQL *mysql = tables_ready(&b->config);
    MYSQL_RES *packet = NULL, *grabs = NULL;
    buf_reset(&out);
    arena_reset(arena);
    if (mysql != NULL)
        packet = tables_rows("SELECT sender_name, greeting, count, amount_fen, grabbed_count, grabbed_fen, expires_ms"
                             " FROM packet WHERE id = %llu",
                             id);
    if (packet != NULL)
        grabs = tables_rows("SELECT user_id, nickname, amount_fen, grabbed_ms FROM `grab` WHERE packet_id = %llu"
                            " ORDER BY share_no",
                            id);
    MYSQL_ROW row = grabs == NULL ? NULL : mysql_fetch_row(packet);
    if (row != NULL) {
        const struct str around = buf_view(&page), mark = STR("<?= $gift ?>");
        const size_t at = str_find(around, mark);
        buf_str(&out, str_slice(around, 0, at));
        packet_html(&out, row);
        grabs_html(&out, grabs, session->user_id, strcmp(row[PACKET_COUNT], row[PACKET_GRABBED]) == 0);
        buf_str(&out, str_after(around, mark));
        blocking_answer(r, 200, "text/html; charset=utf-8", buf_view(&out));
    } else {
        blocking_problem(r, grabs == NULL ? 503 : 404, grabs == NULL ? "busy" : "not-found");
    }
    if (mysql != NULL && grabs == NULL)
        tables_fail();
    mysql_free_result(grabs);
    mysql_free_result(packet);
}

int main(void)
{
    static struct blocking b;
    const char *file = getenv("BENCH_PAGE");
    take = getenv("BENCH_TAKE");
    arena = arena_new(ARENA_BYTES, ARENA_BYTES);
    if (arena == NULL || (file != NULL && buf_file(&page, file) != ST_OK)) {
        (void)fputs("gift: BENCH_PAGE names no file that can be read\n", stderr);
        return 1;
    }
    blocking_handler *const handlers[BLOCKING_NONE] = {
        [BLOCKING_OPEN] = grab, [BLOCKING_VIEW] = view, [BLOCKING_SEND] = send_gift
    };
    return blocking_serve(&b, "gift", handlers);
}
