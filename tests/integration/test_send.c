/* pages/send on real stores: money leaves the wallet exactly once, and a packet that was paid for is loaded into
 * Redis. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "io/redis_reply.h"
#include "live/keys.h"
#include "live/shut.h"
#include "packet/phrase.h"
#include "packet/receivers.h"
#include "packet/split.h"
#include "packet/store.h"
#include "pages/send.h"
#include "settle/fund.h"
#include "test_packet_fixture.h"

static struct services *app;
static struct arena *arena;

/* The fault of the next transaction (db_transaction is wrapped by the linker). */
static enum { FAULT_NONE, FAULT_REPLY_LOST, FAULT_COMMIT_LOST, FAULT_REPLIES_LOST } fault; /* the last one stays */

enum status __real_db_transaction(struct db *db, enum status (*body)(struct db *db, void *ctx), void *ctx);
enum status __wrap_db_transaction(struct db *db, enum status (*body)(struct db *db, void *ctx), void *ctx);

enum status __wrap_db_transaction(struct db *db, enum status (*body)(struct db *db, void *ctx), void *ctx)
{
    switch (fault) {
    case FAULT_REPLY_LOST:
        fault = FAULT_NONE;
        assert_int_equal(__real_db_transaction(db, body, ctx), ST_OK);
        return ST_UNKNOWN;
    case FAULT_COMMIT_LOST: fault = FAULT_NONE; return ST_UNKNOWN;
    case FAULT_REPLIES_LOST: (void)__real_db_transaction(db, body, ctx); return ST_UNKNOWN;
    case FAULT_NONE: break;
    }
    return __real_db_transaction(db, body, ctx);
}

static int setup(void **state)
{
    (void)state;
    app = packet_services_open();
    arena = arena_new(65536, 256 << 20);
    return app == NULL || arena == NULL;
}

static int teardown(void **state)
{
    (void)state;
    arena_free(arena);
    packet_services_close(app);
    return 0;
}

static int posted(struct visit *v, const struct person *p, const char *fields)
{
    return person_request(v, app, p, send_form_post, "/send", fields, 0, true);
}

/* The request key of these fields is that of another order. */
static void assert_other_order(const struct person *p, const char *fields)
{
    struct visit v;
    assert_int_equal(posted(&v, p, fields), 422);
    assert_true(visit_body_has(&v, "\"field\":\"request_key\""));
    visit_end(&v);
}

/* Sends a packet and reads it from MySQL by the id in the answer. */
static struct packet sent(const struct person *p, const char *fields)
{
    struct packet packet;
    assert_int_equal(packet_find(app->stores.db, arena, person_send(app, p, fields), &packet), ST_OK);
    return packet;
}

static int64_t packets_of(const struct person *p)
{
    return sql_number(app, "SELECT COUNT(*) FROM packet WHERE sender_id = ?", p->id);
}

static int64_t escrow_of(const struct packet *p)
{
    return sql_number(app, "SELECT balance_fen FROM account WHERE kind = 'escrow' AND id = ?", p->id);
}

/* True when Redis has the packet. Its shares must then be those of the seed. */
static bool is_live(const struct packet *p)
{
    struct live_keys keys;
    struct redis_call call = { 0 };
    live_keys(&keys, p->id, app->stores.config->partitions);
    struct str get[] = { STR("GET"), keys.key[LIVE_KEY_SHARES] };
    assert_int_equal(redis_do(app->stores.redis, &call, get, 2), ST_OK);
    struct str shares = redis_reply_str(call.reply);
    bool live = shares.ptr != NULL;
    if (live) {
        int64_t *wanted = calloc(p->count, sizeof *wanted);
        assert_non_null(wanted);
        assert_int_equal(split_packet(p, wanted), ST_OK);
        assert_int_equal(shares.len, (size_t)p->count * 4);
        for (uint32_t i = 0; i < p->count; i++) {
            const unsigned char *b = (const unsigned char *)shares.ptr + (size_t)i * 4;
            assert_int_equal(wanted[i], (int64_t)b[0] << 24 | b[1] << 16 | b[2] << 8 | b[3]);
        }
        free(wanted);
    }
    redis_call_free(&call);
    return live;
}

static void a_send_moves_the_money_into_escrow_and_opens_the_packet(void **state)
{
    (void)state;
    struct person p;
    person_new(app, &p, 10000);
    struct packet packet = sent(&p, "kind=lucky&amount=10.00&count=5&greeting=%E6%96%B0%E5%B9%B4%E5%A5%BD");
    assert_int_equal(person_balance(app, &p), 9000);
    assert_int_equal(escrow_of(&packet), 1000);
    assert_int_equal(packet.state, PACKET_OPEN);
    assert_int_equal(packet.kind, PACKET_LUCKY);
    assert_int_equal(packet.split, SPLIT_DOUBLE_AVERAGE);
    assert_int_equal(packet.count, 5);
    assert_int_equal(packet.amount_fen, 1000);
    assert_true(str_equal(packet.greeting, STR("新年好")));
    assert_true(str_equal(packet.sender_name, str_from(p.nickname)));
    assert_int_equal(packet.expires_ms - packet.created_ms, app->stores.config->packet_lifetime_ms);
    assert_true(is_live(&packet));
    assert_int_equal(sql_number(app, "SELECT sent_fen FROM user_month WHERE user_id = ?", p.id), 1000);
    assert_int_equal(sql_number(app, "SELECT sent_count FROM user_month WHERE user_id = ?", p.id), 1);
}

static void the_answer_has_the_packets_address_and_commitment(void **state)
{
    (void)state;
    struct person p;
    struct visit v;
    struct packet packet;
    char id[64], url[512], commitment[80], wanted[512];
    uint64_t packet_id;
    uint8_t hash[HASH_BYTES];
    person_new(app, &p, 10000);
    assert_int_equal(posted(&v, &p, "kind=lucky&amount=3&count=3"), 201);
    visit_json_text(&v, "id", id, sizeof id);
    visit_json_text(&v, "url", url, sizeof url);
    visit_json_text(&v, "commitment", commitment, sizeof commitment);
    snprintf(wanted, sizeof wanted, "/p/%s", id);
    assert_true(str_equal(visit_header(&v, "Location"), str_from(wanted)));
    snprintf(wanted, sizeof wanted, "%s/p/%s", app->stores.config->base_url, id);
    assert_string_equal(url, wanted);
    assert_false(visit_body_has(&v, "seed"));
    visit_end(&v);
    assert_true(public_id_decode(&app->id_key, str_from(id), &packet_id));
    assert_int_equal(packet_find(app->stores.db, arena, packet_id, &packet), ST_OK);
    split_commitment(packet.seed, hash);
    assert_memory_equal(hash, packet.commitment, sizeof hash);
    for (unsigned i = 0; i < HASH_BYTES; i++) {
        unsigned byte = 0;
        assert_int_equal(sscanf(commitment + (size_t)2 * i, "%2x", &byte), 1);
        assert_int_equal(byte, hash[i]);
    }
}

static void a_browser_is_redirected_to_the_packet(void **state)
{
    (void)state;
    struct person p;
    struct visit v;
    person_new(app, &p, 10000);
    assert_int_equal(person_request(&v, app, &p, send_form_post, "/send", "kind=even&amount=1.5&count=4", 0, false),
                     303);
    assert_true(str_starts(visit_header(&v, "Location"), STR("/p/")));
    visit_end(&v);
    assert_int_equal(person_balance(app, &p), 10000 - 600);
}

static void the_best_share_is_stored_at_send_for_lucky_packets_only(void **state)
{
    (void)state;
    struct person p;
    int64_t shares[20];
    person_new(app, &p, 100000);
    struct packet lucky = sent(&p, "kind=lucky&amount=20&count=20&split=uniform");
    assert_int_equal(split_packet(&lucky, shares), ST_OK);
    assert_int_equal(lucky.best_share_no, split_best_share_no(shares, 20));
    assert_int_equal(lucky.split, SPLIT_UNIFORM);
    struct packet even = sent(&p, "kind=even&amount=0.2&count=20");
    assert_int_equal(even.best_share_no, PACKET_NO_SHARE);
    assert_int_equal(even.split, SPLIT_EVEN);
}

static void an_exclusive_packet_names_its_receiver(void **state)
{
    (void)state;
    struct person p, receiver;
    struct visit v;
    char fields[256];
    person_new(app, &p, 10000);
    person_new(app, &receiver, 0);
    snprintf(fields, sizeof fields, "kind=exclusive&amount=5.20&to=%s", receiver.username);
    struct packet packet = sent(&p, fields);
    assert_int_equal(packet.receiver_id, receiver.id);
    assert_true(str_equal(packet.receiver_name, str_from(receiver.nickname)));
    assert_int_equal(packet.count, 1);
    assert_int_equal(packet.amount_fen, 520);
    assert_int_equal(sql_number(app, "SELECT user_id FROM packet_receiver WHERE packet_id = ?", packet.id),
                     receiver.id);

    assert_int_equal(posted(&v, &p, "kind=exclusive&amount=1&to=nobody-of-this-name"), 422);
    assert_true(visit_body_has(&v, "没有用户 nobody-of-this-name"));
    visit_end(&v);
    snprintf(fields, sizeof fields, "kind=exclusive&amount=1&to=%s", p.username);
    assert_int_equal(posted(&v, &p, fields), 422);
    assert_true(visit_body_has(&v, "领取人不能是自己"));
    visit_end(&v);
    assert_int_equal(posted(&v, &p, "kind=exclusive&amount=1&to=x%27+OR+1%3D1"), 422);
    visit_end(&v);
    assert_int_equal(packets_of(&p), 1);
}

static void a_packet_names_several_receivers(void **state)
{
    (void)state;
    struct person p, one, other, third;
    char fields[512];
    person_new(app, &p, 10000);
    person_new(app, &one, 0);
    person_new(app, &other, 0);
    person_new(app, &third, 0);
    snprintf(fields, sizeof fields, "kind=even&amount=1&request_key=many&to=%s%%0A%s,%s", other.username, one.username,
             other.username);
    struct packet packet = sent(&p, fields);
    assert_int_equal(packet.count, 2);
    assert_int_equal(packet.receiver_count, 2);
    assert_int_equal(packet.receiver_id, 0);
    assert_int_equal(receivers_find(app->stores.db, arena, &packet), ST_OK);
    assert_true(packet_is_for(&packet, one.id));
    assert_true(packet_is_for(&packet, other.id));
    assert_false(packet_is_for(&packet, third.id));
    assert_int_equal(sql_number(app, "SELECT MIN(expires_ms) FROM packet_receiver WHERE packet_id = ?", packet.id),
                     packet.expires_ms);
    assert_true(is_live(&packet));
    snprintf(fields, sizeof fields, "kind=even&amount=1&request_key=many&to=%s+%s", one.username, other.username);
    assert_int_equal(sent(&p, fields).id, packet.id); /* the same people */
    snprintf(fields, sizeof fields, "kind=even&amount=1&request_key=many&to=%s+%s", one.username, third.username);
    assert_other_order(&p, fields);
    assert_int_equal(packets_of(&p), 1);
}

static void a_phrase_is_stored_as_a_hash_and_sealed(void **state)
{
    (void)state;
    struct person p;
    struct visit v;
    person_new(app, &p, 10000);
    struct packet packet = sent(&p, "kind=even&amount=1&count=1&request_key=phrase&phrase=Open+Sesame");
    const struct keys *keys = &app->stores.config->keys;
    assert_true(
        str_equal(packet.phrase_hash, phrase_hash(arena, &keys->of[KEY_PHRASE_HASH], packet.id, STR("open sesame"))));
    assert_true(str_equal(phrase_unseal(arena, keys_pair(keys, KEY_PHRASE_SEAL), packet.id, packet.phrase_sealed),
                          STR("Open Sesame")));
    assert_int_equal(sent(&p, "kind=even&amount=1&count=1&request_key=phrase&phrase=OPEN++sesame").id, packet.id);
    static const char *const others[] = { "&phrase=Sesame", "" };
    for (size_t i = 0; i < 2; i++) {
        char fields[128];
        snprintf(fields, sizeof fields, "kind=even&amount=1&count=1&request_key=phrase%s", others[i]);
        assert_other_order(&p, fields);
    }
    (void)sent(&p, "kind=even&amount=1&count=1&request_key=plain");
    assert_int_equal(posted(&v, &p, "kind=even&amount=1&count=1&request_key=plain&phrase=x"), 422);
    visit_end(&v);
    assert_int_equal(packets_of(&p), 2);
}

static void receivers_who_do_not_exist_are_named(void **state)
{
    (void)state;
    struct person p, one;
    struct visit v;
    char fields[512];
    person_new(app, &p, 10000);
    person_new(app, &one, 0);
    snprintf(fields, sizeof fields, "kind=lucky&amount=1&to=nobody-1,%s,nobody-2", one.username);
    assert_int_equal(posted(&v, &p, fields), 422);
    assert_true(visit_body_has(&v, "没有用户 nobody-1、nobody-2，"));
    visit_end(&v);
    snprintf(fields, sizeof fields, "kind=lucky&amount=1&to=%s,%s", one.username, p.username);
    assert_int_equal(posted(&v, &p, fields), 422);
    assert_true(visit_body_has(&v, "领取人不能是自己"));
    visit_end(&v);
    assert_int_equal(packets_of(&p), 0);
}

static void a_repeated_send_returns_the_same_packet(void **state)
{
    (void)state;
    struct person p;
    char key[PERSON_KEY_MAX], fields[256];
    person_new(app, &p, 10000);
    fresh_key(key);
    snprintf(fields, sizeof fields, "kind=lucky&amount=10&count=5&request_key=%s", key);
    struct packet first = sent(&p, fields);
    struct packet second = sent(&p, fields);
    assert_int_equal(first.id, second.id);
    assert_int_equal(packets_of(&p), 1);
    assert_int_equal(person_balance(app, &p), 9000);
    assert_int_equal(sql_number(app, "SELECT sent_count FROM user_month WHERE user_id = ?", p.id), 1);
}

static enum step sent_a_minute_later(struct exchange *x)
{
    x->now_ms += 60 * 1000;
    return send_form_post(x);
}

/* Back in the browser and the button once more. */
static void a_form_that_is_sent_again_later_shows_what_it_has_sent(void **state)
{
    (void)state;
    struct person p;
    struct visit v;
    char key[PERSON_KEY_MAX], fields[256], path[256];
    person_new(app, &p, 10000);
    fresh_key(key);
    snprintf(fields, sizeof fields, "kind=lucky&amount=10&count=5&request_key=%s", key);
    assert_int_equal(person_request(&v, app, &p, send_form_post, "/send", fields, 0, false), 303);
    snprintf(path, sizeof path, "href=\"%.*s\"", STR_ARG(visit_header(&v, "Location")));
    visit_end(&v);
    assert_int_equal(person_request(&v, app, &p, send_form_post, "/send", fields, 0, false), 303); /* pressed twice */
    visit_end(&v);
    assert_int_equal(person_request(&v, app, &p, sent_a_minute_later, "/send", fields, 0, false), 200);
    assert_true(visit_body_has(&v, path));
    assert_true(visit_body_has(&v, "没有重复扣款"));
    assert_true(visit_body_has(&v, "value=\"10\""));
    assert_false(visit_body_has(&v, key)); /* the button below sends one more */
    visit_end(&v);
    assert_int_equal(person_request(&v, app, &p, sent_a_minute_later, "/send", fields, 0, true), 201); /* a program */
    visit_end(&v);
    snprintf(fields, sizeof fields, "kind=lucky&amount=20&count=5&request_key=%s", key);
    assert_int_equal(person_request(&v, app, &p, send_form_post, "/send", fields, 0, false), 422);
    assert_true(visit_body_has(&v, path));
    assert_false(visit_body_has(&v, "没有重复扣款"));
    visit_end(&v);
    assert_int_equal(packets_of(&p), 1);
    assert_int_equal(person_balance(app, &p), 9000);
}

static void a_repeat_succeeds_even_when_the_wallet_is_empty(void **state)
{
    (void)state;
    struct person p;
    char key[PERSON_KEY_MAX], fields[256];
    person_new(app, &p, 1000);
    fresh_key(key);
    snprintf(fields, sizeof fields, "kind=lucky&amount=10&count=5&request_key=%s", key);
    struct packet first = sent(&p, fields);
    assert_int_equal(person_balance(app, &p), 0);
    assert_int_equal(sent(&p, fields).id, first.id);
}

static void the_same_key_of_another_sender_is_another_packet(void **state)
{
    (void)state;
    struct person p, q;
    char key[PERSON_KEY_MAX], fields[256];
    person_new(app, &p, 1000);
    person_new(app, &q, 1000);
    fresh_key(key);
    snprintf(fields, sizeof fields, "kind=lucky&amount=10&count=5&request_key=%s", key);
    assert_true(sent(&p, fields).id != sent(&q, fields).id);
}

static void the_same_key_with_another_order_is_refused(void **state)
{
    (void)state;
    struct person p;
    struct visit v;
    char key[PERSON_KEY_MAX], fields[256];
    person_new(app, &p, 10000);
    fresh_key(key);
    snprintf(fields, sizeof fields, "kind=lucky&amount=10&count=5&request_key=%s", key);
    (void)sent(&p, fields);
    snprintf(fields, sizeof fields, "kind=lucky&amount=20&count=5&request_key=%s", key);
    assert_other_order(&p, fields);
    snprintf(fields, sizeof fields, "kind=lucky&amount=10&count=5&cover=birthday&request_key=%s", key);
    assert_other_order(&p, fields);
    /* The form that is shown again has a new key, so sending it again works. */
    assert_int_equal(person_request(&v, app, &p, send_form_post, "/send", fields, 0, false), 422);
    assert_false(visit_body_has(&v, key));
    visit_end(&v);
    assert_int_equal(packets_of(&p), 1);
    assert_int_equal(person_balance(app, &p), 9000);
}

static void the_smallest_share_is_part_of_the_draw_and_of_the_order(void **state)
{
    (void)state;
    struct person p;
    int64_t shares[10];
    char key[PERSON_KEY_MAX], fields[256];
    person_new(app, &p, 10000);
    fresh_key(key);
    snprintf(fields, sizeof fields, "kind=lucky&amount=10&count=10&share_min=0.9&request_key=%s", key);
    struct packet first = sent(&p, fields);
    assert_int_equal(first.share_min_fen, 90);
    assert_true(is_live(&first));
    assert_int_equal(split_packet(&first, shares), ST_OK);
    for (size_t i = 0; i < 10; i++)
        assert_in_range(shares[i], 90, 190);
    assert_int_equal(sent(&p, fields).id, first.id);
    snprintf(fields, sizeof fields, "kind=lucky&amount=10&count=10&request_key=%s", key);
    assert_other_order(&p, fields);
    assert_int_equal(packets_of(&p), 1);
}

static void a_lifetime_belongs_to_the_order(void **state)
{
    (void)state;
    struct person p;
    char key[PERSON_KEY_MAX], fields[256];
    person_new(app, &p, 10000);
    fresh_key(key);
    snprintf(fields, sizeof fields, "kind=lucky&amount=10&count=5&lifetime=7d&request_key=%s", key);
    struct packet first = sent(&p, fields);
    assert_int_equal(first.expires_ms - first.created_ms, 7 * INT64_C(86400000));
    assert_int_equal(sent(&p, fields).id, first.id);
    snprintf(fields, sizeof fields, "kind=lucky&amount=10&count=5&lifetime=3d&request_key=%s", key);
    assert_other_order(&p, fields);
    snprintf(fields, sizeof fields, "kind=lucky&amount=10&count=5&lifetime=&request_key=%s", key);
    assert_int_equal(sent(&p, fields).id, first.id);
    assert_int_equal(packets_of(&p), 1);
}

static void the_form_offers_the_lifetimes_and_selects_one(void **state)
{
    (void)state;
    struct person p;
    struct visit v;
    person_new(app, &p, 10000);
    assert_int_equal(person_request(&v, app, &p, send_form_get, "/send", NULL, 0, true), 200);
    assert_true(visit_body_has(&v, "\"lifetimes\":[{\"lifetime\":\"1h\",\"lifetime_ms\":3600000},"
                                   "{\"lifetime\":\"24h\",\"lifetime_ms\":86400000},"));
    visit_end(&v);
    assert_int_equal(person_request(&v, app, &p, send_form_get, "/send", NULL, 0, false), 200);
    assert_true(visit_body_has(&v, "<option value=\"24h\" selected>24小时</option>"));
    assert_int_equal(visit_body_count(&v, " selected>"), 2); /* the other one is a split */
    visit_end(&v);
    assert_int_equal(person_request(&v, app, &p, send_form_post, "/send", "amount=1&lifetime=3d", 0, false), 422);
    assert_true(visit_body_has(&v, "<option value=\"3d\" selected>3天</option>"));
    visit_end(&v);
    assert_int_equal(person_request(&v, app, &p, send_form_post, "/send", "amount=1&count=1&lifetime=5d", 0, false),
                     422);
    assert_true(visit_body_has(&v, "请选择有效期"));
    assert_true(visit_body_has(&v, "<option value=\"24h\" selected>"));
    visit_end(&v);
    assert_int_equal(packets_of(&p), 0);
}

static void the_same_key_for_another_receiver_is_refused(void **state)
{
    (void)state;
    struct person p, first, second;
    char key[PERSON_KEY_MAX], fields[256];
    person_new(app, &p, 10000);
    person_new(app, &first, 0);
    person_new(app, &second, 0);
    fresh_key(key);
    snprintf(fields, sizeof fields, "kind=exclusive&amount=5&to=%s&request_key=%s", first.username, key);
    assert_int_equal(sent(&p, fields).receiver_id, first.id);
    snprintf(fields, sizeof fields, "kind=exclusive&amount=5&to=%s&request_key=%s", second.username, key);
    assert_other_order(&p, fields);
    assert_int_equal(packets_of(&p), 1);
}

/* Fields of an even packet that opens in that many seconds. */
static const char *opening_in(int64_t seconds, const char *key, char *fields, size_t size)
{
    char at[CLOCK_TEXT_MAX];
    (void)clock_rfc3339_format(clock_now_ms() + seconds * 1000, at);
    (void)snprintf(fields, size, "kind=even&amount=1&count=2&request_key=%s&opens_at=%s", key, at);
    return fields;
}

static void the_lifetime_of_a_scheduled_packet_begins_at_its_opening(void **state)
{
    (void)state;
    struct person p;
    char fields[160];
    person_new(app, &p, 1000);
    struct packet packet = sent(&p, opening_in(3600, "opens-1", fields, sizeof fields));
    assert_in_range(packet.opens_ms, packet.created_ms + 3500 * 1000, packet.created_ms + 3600 * 1000);
    assert_int_equal(packet.expires_ms, packet.opens_ms + app->stores.config->packet_lifetime_ms);
    assert_true(is_live(&packet));
}

static void an_opening_in_the_past_is_refused_unless_the_packet_was_sent_before_it(void **state)
{
    (void)state;
    struct person p;
    struct visit v;
    char fields[160], soon[160];
    person_new(app, &p, 1000);
    assert_int_equal(posted(&v, &p, opening_in(-1, "opens-2", fields, sizeof fields)), 422);
    assert_int_equal(visit_body_count(&v, "\"opens_at\""), 1);
    visit_end(&v);
    struct packet packet = sent(&p, opening_in(1, "opens-3", soon, sizeof soon));
    while (clock_now_ms() <= packet.opens_ms)
        ;
    assert_int_equal(sent(&p, soon).id, packet.id);
    assert_int_equal(posted(&v, &p, opening_in(7200, "opens-3", fields, sizeof fields)), 422); /* another order */
    visit_end(&v);
    assert_int_equal(packets_of(&p), 1);
}

static void an_empty_wallet_sends_nothing(void **state)
{
    (void)state;
    struct person p;
    struct visit v;
    person_new(app, &p, 999);
    assert_int_equal(posted(&v, &p, "kind=lucky&amount=10&count=5"), 422);
    assert_true(visit_body_has(&v, "可用余额不足"));
    assert_true(visit_body_has(&v, "\"field\":\"amount\""));
    visit_end(&v);
    assert_int_equal(packets_of(&p), 0);
    assert_int_equal(person_balance(app, &p), 999);
    assert_int_equal(sql_number(app, "SELECT COUNT(*) FROM user_month WHERE user_id = ?", p.id), 0);
    (void)sent(&p, "kind=lucky&amount=9.99&count=5"); /* the whole balance can be sent */
    assert_int_equal(person_balance(app, &p), 0);
}

static void a_refused_form_shows_the_typed_texts(void **state)
{
    (void)state;
    struct person p;
    struct visit v;
    person_new(app, &p, 10000);
    const char *fields =
        "kind=even&amount=200.01&count=1&greeting=%3Cb%3E%E5%96%9C&to=somebody&split=gaussian&request_key=k-1";
    assert_int_equal(person_request(&v, app, &p, send_form_post, "/send", fields, 0, false), 422);
    assert_true(visit_body_has(&v, "单个红包金额不可超过200元"));
    assert_true(visit_body_has(&v, "value=\"200.01\""));
    assert_true(visit_body_has(&v, "value=\"1\""));
    assert_true(visit_body_has(&v, ">&lt;b&gt;喜</textarea>"));
    assert_true(visit_body_has(&v, ">somebody</textarea>"));
    assert_true(visit_body_has(&v, "value=\"k-1\""));
    assert_true(visit_body_has(&v, "value=\"even\" checked"));
    assert_true(visit_body_has(&v, "value=\"gaussian\" selected"));
    assert_false(visit_body_has(&v, "<b>"));
    visit_end(&v);
    assert_int_equal(packets_of(&p), 0);
}

static void the_form_shows_balance_limits_and_a_new_key(void **state)
{
    (void)state;
    struct person p;
    struct visit v;
    char once[80], again[80];
    person_new(app, &p, 12345);
    assert_int_equal(person_request(&v, app, &p, send_form_get, "/send", NULL, 0, true), 200);
    assert_int_equal(visit_json_int(&v, "balance_fen"), 12345);
    assert_int_equal(visit_json_int(&v, "share_fen_max"), app->stores.config->share_fen_max);
    visit_json_text(&v, "request_key", once, sizeof once);
    visit_end(&v);
    assert_int_equal(person_request(&v, app, &p, send_form_get, "/send", NULL, 0, true), 200);
    visit_json_text(&v, "request_key", again, sizeof again);
    visit_end(&v);
    assert_string_not_equal(once, again);
    assert_int_equal(person_request(&v, app, &p, send_form_get, "/send", NULL, 0, false), 200);
    assert_true(visit_body_has(&v, "name=\"request_key\""));
    assert_true(visit_body_has(&v, "123.45"));
    assert_true(visit_body_has(&v, "value=\"lucky\" checked"));
    visit_end(&v);
}

static void a_send_whose_commit_reply_was_lost_pays_once_and_succeeds(void **state)
{
    (void)state;
    struct person p;
    person_new(app, &p, 10000);
    fault = FAULT_REPLY_LOST;
    struct packet packet = sent(&p, "kind=lucky&amount=10&count=5");
    assert_int_equal(packets_of(&p), 1);
    assert_int_equal(person_balance(app, &p), 9000);
    assert_int_equal(escrow_of(&packet), 1000);
    assert_true(is_live(&packet));
}

static void a_commit_that_was_lost_is_repeated(void **state)
{
    (void)state;
    struct person p;
    person_new(app, &p, 10000);
    fault = FAULT_COMMIT_LOST;
    struct packet packet = sent(&p, "kind=lucky&amount=10&count=5");
    assert_int_equal(packets_of(&p), 1);
    assert_int_equal(person_balance(app, &p), 9000);
    assert_true(is_live(&packet));
}

/* The page leads to the order, which tells whether the packet was paid for. */
static void an_unknown_payment_has_a_page_that_looks_at_its_order(void **state)
{
    (void)state;
    struct person p;
    struct visit v;
    person_new(app, &p, 10000);
    fault = FAULT_REPLIES_LOST;
    const char *fields = "kind=lucky&amount=10&count=5&request_key=unknown-payment";
    assert_int_equal(person_request(&v, app, &p, send_form_post, "/send", fields, 0, false), 503);
    assert_true(visit_body_has(&v, "href=\"/orders/unknown-payment\" data-look>"));
    assert_true(visit_body_has(&v, "refresh."));
    visit_end(&v);
    assert_int_equal(person_request(&v, app, &p, send_form_post, "/send", fields, 0, true), 503);
    assert_false(visit_body_has(&v, "look"));
    visit_end(&v);
    fault = FAULT_NONE;
    assert_int_equal(packets_of(&p), 1);
    assert_int_equal(person_balance(app, &p), 9000);
}

static void without_redis_the_packet_is_sent_and_loaded_later(void **state)
{
    (void)state;
    struct person p;
    struct config config = *app->stores.config;
    struct redis *redis = app->stores.redis;
    person_new(app, &p, 10000);
    snprintf(config.redis, sizeof config.redis, "unix:/nonexistent/redis.sock");
    app->stores.redis = app->stores.live.redis = redis_new(&config);
    assert_non_null(app->stores.redis);
    struct packet packet = sent(&p, "kind=lucky&amount=10&count=5");
    redis_free(app->stores.redis);
    app->stores.redis = app->stores.live.redis = redis;
    assert_int_equal(packet.state, PACKET_FUNDING);
    assert_int_equal(person_balance(app, &p), 9000);
    assert_false(is_live(&packet));

    assert_int_equal(fund_load(&app->stores, &packet), ST_OK);
    assert_true(is_live(&packet));
    assert_int_equal(packet_find(app->stores.db, arena, packet.id, &packet), ST_OK);
    assert_int_equal(packet.state, PACKET_OPEN);
    assert_int_equal(fund_load(&app->stores, &packet), ST_OK); /* a repeat changes nothing */
}

static void a_late_load_does_not_restore_a_packet_that_was_removed(void **state)
{
    (void)state;
    struct person p;
    person_new(app, &p, 10000);
    struct packet packet = sent(&p, "kind=lucky&amount=10&count=5");
    assert_int_equal(live_remove(&app->stores.live, packet.id), ST_OK); /* as after the grace time of a closed packet */
    assert_int_equal(fund_load(&app->stores, &packet), ST_OK);
    assert_false(is_live(&packet));
    /* Makes the packet loadable again, so that the recovery of other tests' workers finds nothing to do. */
    assert_int_equal(
        db_exec(app->stores.db, NULL, "UPDATE packet SET state = 'funding' WHERE id = ?", DB_PARAMS(DB_U64(packet.id))),
        ST_OK);
    assert_int_equal(fund_load(&app->stores, &packet), ST_OK);
    assert_true(is_live(&packet));
}

/* Posts the form in n concurrent processes, each with connections of its own. Returns how many got 201. */
static int in_parallel(int n, const struct person *p, const char *fields)
{
    int started[2], succeeded = 0;
    char go = 0;
    assert_int_equal(pipe(started), 0);
    for (int i = 0; i < n; i++) {
        pid_t pid = fork();
        assert_true(pid >= 0);
        if (pid == 0) {
            struct services *own = packet_services_open();
            struct visit v;
            (void)close(started[1]);
            if (own == NULL || read(started[0], &go, 1) != 0)
                _exit(2);
            int status = person_request(&v, own, p, send_form_post, "/send", fields, 0, true);
            _exit(status == 201 ? 0 : status == 422 ? 1 : 3);
        }
    }
    (void)close(started[0]);
    (void)close(started[1]); /* closing the pipe starts all processes at once */
    for (int i = 0; i < n; i++) {
        int status = 0;
        assert_true(wait(&status) > 0);
        assert_true(WIFEXITED(status));
        assert_in_range(WEXITSTATUS(status), 0, 1);
        succeeded += WEXITSTATUS(status) == 0 ? 1 : 0;
    }
    return succeeded;
}

static void parallel_repeats_make_one_packet(void **state)
{
    (void)state;
    struct person p;
    char key[PERSON_KEY_MAX], fields[256];
    person_new(app, &p, 10000);
    fresh_key(key);
    snprintf(fields, sizeof fields, "kind=lucky&amount=10&count=5&request_key=%s", key);
    assert_int_equal(in_parallel(8, &p, fields), 8);
    assert_int_equal(packets_of(&p), 1);
    assert_int_equal(person_balance(app, &p), 9000);
}

static void parallel_sends_can_not_overdraw_the_wallet(void **state)
{
    (void)state;
    struct person p;
    person_new(app, &p, 3500);
    assert_int_equal(in_parallel(8, &p, "kind=lucky&amount=10&count=5"), 3);
    assert_int_equal(packets_of(&p), 3);
    assert_int_equal(person_balance(app, &p), 500);
}

static void a_packet_of_a_hundred_thousand_shares_can_be_sent(void **state)
{
    (void)state;
    struct person p;
    struct config config = *app->stores.config;
    const struct config *before = app->stores.config;
    config.packet_shares_max = 100000;
    person_new(app, &p, 2000000);
    app->stores.config = &config;
    struct packet packet = sent(&p, "kind=lucky&amount=20000&count=100000&split=gaussian");
    app->stores.config = before;
    assert_int_equal(packet.count, 100000);
    assert_int_equal(packet.state, PACKET_OPEN);
    assert_true(is_live(&packet));
    assert_int_equal(person_balance(app, &p), 0);
}

static void a_send_is_busy_and_makes_no_packet_while_mysql_is_unreachable(void **state)
{
    (void)state;
    struct person p;
    struct visit v;
    struct config config = *app->stores.config;
    struct db *db = app->stores.db;
    person_new(app, &p, 10000);
    snprintf(config.mysql, sizeof config.mysql, "unix:/nonexistent/mysql.sock");
    app->stores.db = db_new(&config);
    assert_non_null(app->stores.db);
    int status = posted(&v, &p, "kind=lucky&amount=10&count=5");
    db_free(app->stores.db);
    app->stores.db = db;
    assert_int_equal(status, 503);
    assert_true(visit_header(&v, "Retry-After").len > 0);
    visit_end(&v);
    assert_int_equal(packets_of(&p), 0);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_send_moves_the_money_into_escrow_and_opens_the_packet),
        cmocka_unit_test(the_answer_has_the_packets_address_and_commitment),
        cmocka_unit_test(a_browser_is_redirected_to_the_packet),
        cmocka_unit_test(the_best_share_is_stored_at_send_for_lucky_packets_only),
        cmocka_unit_test(an_exclusive_packet_names_its_receiver),
        cmocka_unit_test(a_packet_names_several_receivers),
        cmocka_unit_test(a_phrase_is_stored_as_a_hash_and_sealed),
        cmocka_unit_test(receivers_who_do_not_exist_are_named),
        cmocka_unit_test(a_repeated_send_returns_the_same_packet),
        cmocka_unit_test(a_form_that_is_sent_again_later_shows_what_it_has_sent),
        cmocka_unit_test(a_repeat_succeeds_even_when_the_wallet_is_empty),
        cmocka_unit_test(the_same_key_of_another_sender_is_another_packet),
        cmocka_unit_test(the_same_key_with_another_order_is_refused),
        cmocka_unit_test(the_smallest_share_is_part_of_the_draw_and_of_the_order),
        cmocka_unit_test(a_lifetime_belongs_to_the_order),
        cmocka_unit_test(the_form_offers_the_lifetimes_and_selects_one),
        cmocka_unit_test(the_same_key_for_another_receiver_is_refused),
        cmocka_unit_test(the_lifetime_of_a_scheduled_packet_begins_at_its_opening),
        cmocka_unit_test(an_opening_in_the_past_is_refused_unless_the_packet_was_sent_before_it),
        cmocka_unit_test(an_empty_wallet_sends_nothing),
        cmocka_unit_test(a_refused_form_shows_the_typed_texts),
        cmocka_unit_test(the_form_shows_balance_limits_and_a_new_key),
        cmocka_unit_test(a_send_whose_commit_reply_was_lost_pays_once_and_succeeds),
        cmocka_unit_test(a_commit_that_was_lost_is_repeated),
        cmocka_unit_test(an_unknown_payment_has_a_page_that_looks_at_its_order),
        cmocka_unit_test(without_redis_the_packet_is_sent_and_loaded_later),
        cmocka_unit_test(a_late_load_does_not_restore_a_packet_that_was_removed),
        cmocka_unit_test(parallel_repeats_make_one_packet),
        cmocka_unit_test(parallel_sends_can_not_overdraw_the_wallet),
        cmocka_unit_test(a_packet_of_a_hundred_thousand_shares_can_be_sent),
        cmocka_unit_test(a_send_is_busy_and_makes_no_packet_while_mysql_is_unreachable),
    };
    return cmocka_run_group_tests_name("send", tests, setup, teardown);
}
