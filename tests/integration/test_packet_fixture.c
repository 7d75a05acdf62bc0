#include "test_packet_fixture.h"
#include "support/test.h"

#include <inttypes.h>

#include "base/clock.h"
#include "base/random.h"
#include "pages/send.h"
#include "records/records.h"
#include "support/test_services.h"
#include "user/store.h"
#include "wallet/deposit.h"
#include "web/respond.h"

enum { FIXTURE_ARENA_BYTES = 16384, FIXTURE_ARENA_LIMIT = 64 << 20 };

static struct arena *fixture_arena(void)
{
    struct arena *a = arena_new(FIXTURE_ARENA_BYTES, FIXTURE_ARENA_LIMIT);
    assert_non_null(a);
    return a;
}

struct services *packet_services_open(void)
{
    struct services *app = site_open();
    if (app != NULL)
        test_services_fences_open(app); /* new packets are loaded */
    return app;
}

void fresh_key(char *out)
{
    snprintf(out, PERSON_KEY_MAX, "k%016" PRIx64, random_u64());
}

void person_new(struct services *app, struct person *out, int64_t balance_fen)
{
    struct arena *a = fixture_arena();
    char key[PERSON_KEY_MAX];
    snprintf(out->username, sizeof out->username, "t%015" PRIx64, random_u64() >> 4);
    snprintf(out->nickname, sizeof out->nickname, "昵%.8s", out->username + 8);
    struct user user = { .username = str_from(out->username), .nickname = str_from(out->nickname) };
    assert_int_equal(user_insert(app->stores.db, a, &app->stores.config->keys, &user, clock_now_ms()), ST_OK);
    out->id = user.id;
    fresh_key(key);
    if (balance_fen > 0) {
        struct deposit d = { .user_id = user.id, .amount_fen = balance_fen, .request_key = str_from(key) };
        assert_int_equal(deposit_make(app->stores.db, a, &d, clock_now_ms()), ST_OK);
    }
    arena_free(a);
}

int64_t person_balance(struct services *app, const struct person *p)
{
    struct arena *a = fixture_arena();
    int64_t fen = -1;
    assert_int_equal(ledger_balance(app->stores.db, a, p->id, &fen), ST_OK);
    arena_free(a);
    return fen;
}

int person_request(struct visit *v, struct services *app, const struct person *p, handler_fn *handler, const char *uri,
                   const char *fields, uint64_t packet_id, bool json)
{
    visit_begin(v, app, uri, fields, NULL);
    v->x.wants_json = json;
    v->x.id = packet_id;
    if (p != NULL) {
        v->x.visitor.user_id = p->id;
        v->x.visitor.username = str_from(p->username);
        v->x.visitor.nickname = str_from(p->nickname);
    }
    assert_int_equal(handler(&v->x), STEP_DONE);
    respond_finish(&v->x);
    return v->x.status;
}

struct visit *person_visit_new(struct services *app, const struct person *p, handler_fn *handler, const char *uri,
                               const char *fields, uint64_t packet_id, bool json)
{
    struct visit *v = calloc(1, sizeof *v);
    assert_non_null(v);
    (void)person_request(v, app, p, handler, uri, fields, packet_id, json);
    return v;
}

uint64_t person_send(struct services *app, const struct person *p, const char *fields)
{
    struct visit v;
    char text[PERSON_KEY_MAX];
    uint64_t id = 0;
    assert_int_equal(person_request(&v, app, p, send_form_post, "/send", fields, 0, true), 201);
    visit_json_text(&v, "id", text, sizeof text);
    assert_true(public_id_decode(&app->id_key, str_from(text), &id));
    visit_end(&v);
    return id;
}

void packet_row_add(struct services *app, uint64_t id, const struct packet_row *row)
{
    const struct packet_row r = *row;
    char key[PERSON_KEY_MAX];
    fresh_key(key);
    sql_run(app,
            "INSERT INTO packet (id, sender_id, sender_name, receiver_id, kind, split, amount_fen, count, greeting, "
            "seed, commitment, state, grabbed_count, refund_fen, created_ms, expires_ms, request_key) VALUES "
            "(?, ?, ?, ?, ?, ?, ?, ?, ?, REPEAT('s', 32), REPEAT('c', 32), ?, ?, ?, ?, ?, ?)",
            DB_U64(id), DB_U64(r.sender->id),
            DB_TEXT(str_from(r.sender_name != NULL ? r.sender_name : r.sender->nickname)),
            r.receiver != NULL ? DB_U64(r.receiver->id) : DB_NULL, DB_TEXT(str_from(r.kind != NULL ? r.kind : "even")),
            DB_TEXT(str_from(r.split != NULL ? r.split : "even")), DB_I64(r.amount_fen != 0 ? r.amount_fen : 100),
            DB_U64(r.count != 0 ? r.count : 1), DB_TEXT(str_from(r.greeting != NULL ? r.greeting : "")),
            DB_TEXT(str_from(r.state != NULL ? r.state : "open")), DB_U64(r.grabbed_count), DB_I64(r.refund_fen),
            DB_I64(r.created_ms), DB_I64(r.expires_ms != 0 ? r.expires_ms : r.created_ms), DB_TEXT(str_from(key)));
}

void grab_row_add(struct services *app, uint64_t packet_id, uint32_t share_no, const struct person *by, int64_t fen,
                  int64_t ms)
{
    sql_run(app,
            "INSERT INTO grab (packet_id, share_no, user_id, nickname, amount_fen, grabbed_ms) "
            "VALUES (?, ?, ?, ?, ?, ?)",
            DB_U64(packet_id), DB_U64(share_no), DB_U64(by->id), DB_TEXT(str_from(by->nickname)), DB_I64(fen),
            DB_I64(ms));
}

struct visit *records_of(struct services *app, const struct person *p, const char *uri, bool json)
{
    bool is_sent = strncmp(uri, "/records/sent", 13) == 0;
    return person_visit_new(app, p, is_sent ? records_sent : records_received, uri, NULL, 0, json);
}

size_t records_all_pages(struct services *app, const struct person *p, const char *uri, const char *mark, size_t *pages)
{
    enum { PAGES_MAX = 400 };
    const char *page = uri;
    char next[128];
    size_t items = 0;
    for (*pages = 1; *pages < PAGES_MAX; (*pages)++) {
        struct visit *v = records_of(app, p, page, true);
        size_t here = visit_body_count(v, mark);
        assert_true(here <= RECORDS_PAGE_ITEMS);
        items += here;
        bool more = !visit_body_has(v, "\"next\":null");
        if (more) {
            visit_json_text(v, "next", next, sizeof next);
            page = text_printf("%s%cbefore=%s", uri, strchr(uri, '?') != NULL ? '&' : '?', next);
        }
        visit_says(v, 200);
        if (!more)
            return items;
    }
    fail_msg("%s does not end", uri);
    return 0;
}

void records_many(struct services *app, const struct person *sender, const struct person *taker, int64_t from_ms,
                  int64_t count)
{
    uint64_t first_id = (UINT64_C(1) << 62) + (random_u64() >> 4);
    sql_run(app,
            "INSERT INTO packet (id, sender_id, sender_name, kind, split, amount_fen, count, greeting, "
            "seed, commitment, state, created_ms, expires_ms, request_key) "
            "SELECT ? + s.no, ?, 'many', 'even', 'even', 100, 1, IF(s.no % 1000 = 0, '稀有', '常见'), "
            "REPEAT('s', 32), REPEAT('c', 32), 'closed', ? + s.no * 60000, ? + s.no * 60000, "
            "CONCAT('many-', ?, '-', s.no) FROM (SELECT seq AS no FROM seq_0_to_32767) AS s WHERE s.no < ?",
            DB_U64(first_id), DB_U64(sender->id), DB_I64(from_ms), DB_I64(from_ms), DB_U64(first_id), DB_I64(count));
    sql_run(app,
            "INSERT INTO grab (packet_id, share_no, user_id, nickname, amount_fen, grabbed_ms) "
            "SELECT id, 0, ?, 'many', 100, created_ms FROM packet WHERE id >= ? AND id < ?",
            DB_U64(taker->id), DB_U64(first_id), DB_U64(first_id + (uint64_t)count));
}

bool packets_forget(struct services *app, const struct person *first)
{
    static const char *const tables[] = { "thanks", "share_return", "packet_receiver", "`grab`" };
    const struct db_param sender = DB_U64(first->id);
    bool done = true;
    for (size_t i = 0; i < ARRAY_LEN(tables); i++) {
        char sql[160];
        snprintf(sql, sizeof sql,
                 "DELETE r FROM %s r JOIN packet ON packet.id = r.packet_id WHERE packet.sender_id >= ?", tables[i]);
        done &= db_exec(app->stores.db, NULL, sql, DB_PARAMS(sender)) == ST_OK;
    }
    done &= db_exec(app->stores.db, NULL, "DELETE FROM packet WHERE sender_id >= ?", DB_PARAMS(sender)) == ST_OK;
    return done;
}
