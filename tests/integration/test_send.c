/* pages/send on real stores: money leaves the wallet exactly once, and a packet that was paid for is loaded into
 * Redis. */
#include "base/clock.h"
#include "live/keys.h"
#include "live/load.h"
#include "live/shut.h"
#include "packet/phrase.h"
#include "packet/receivers.h"
#include "packet/split.h"
#include "packet/store.h"
#include "pages/send.h"
#include "redis/reply.h"
#include "support/test.h"
#include "test_packet_app.h"

/* The fault of the next send (db_exec_retried is wrapped by the linker). */
static enum { FAULT_NONE, FAULT_REPLY_LOST, FAULT_COMMIT_LOST, FAULT_REPLIES_LOST } fault; /* the last one stays */

enum status __real_db_exec_retried(struct db *db, const char *sql, const struct db_param *params, size_t count);
enum status __wrap_db_exec_retried(struct db *db, const char *sql, const struct db_param *params, size_t count);

enum status __wrap_db_exec_retried(struct db *db, const char *sql, const struct db_param *params, size_t count)
{
    switch (fault) {
    case FAULT_REPLY_LOST:
        fault = FAULT_NONE;
        assert_int_equal(__real_db_exec_retried(db, sql, params, count), ST_OK);
        return ST_UNKNOWN;
    case FAULT_COMMIT_LOST: fault = FAULT_NONE; return ST_UNKNOWN;
    case FAULT_REPLIES_LOST: (void)__real_db_exec_retried(db, sql, params, count); return ST_UNKNOWN;
    case FAULT_NONE: break;
    }
    return __real_db_exec_retried(db, sql, params, count);
}

static struct visit *posted(const struct person *p, const char *fields)
{
    return person_visit_new(app, p, send_form_post, "/send", fields, 0, true);
}

/* A request key that nobody used. */
static const char *new_key(void)
{
    char key[PERSON_KEY_MAX];
    fresh_key(key);
    return text_printf("%s", key);
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

/* True when Redis has the packet. Its shares must then be as the seed gives them. */
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

TEST(a_send_moves_the_money_into_escrow_and_loads_the_packet)
{
    struct person p = person_with(10000);
    struct packet packet = sent(&p, "kind=lucky&amount=10.00&count=5&greeting=%E6%96%B0%E5%B9%B4%E5%A5%BD");
    assert_ints({ person_balance(app, &p), 9000 }, { escrow_of(&packet), 1000 });
    assert_int_equal(packet.state, PACKET_FUNDING); /* until the settle worker has seen it in Redis */
    assert_ints({ packet.kind, PACKET_LUCKY }, { packet.split, SPLIT_DOUBLE_AVERAGE }, { packet.count, 5 },
                { packet.amount_fen, 1000 });
    assert_true(str_equal(packet.greeting, STR("新年好")));
    assert_true(str_equal(packet.sender_name, str_from(p.nickname)));
    assert_int_equal(packet.expires_ms - packet.created_ms, app->stores.config->packet_lifetime_ms);
    assert_true(is_live(&packet));
    assert_int_equal(sql_number(app, "SELECT sent_fen FROM user_month WHERE user_id = ?", p.id), 1000);
    assert_int_equal(sql_number(app, "SELECT sent_count FROM user_month WHERE user_id = ?", p.id), 1);
}

TEST(the_answer_has_the_packets_address_and_commitment)
{
    struct person p = person_with(10000);
    struct packet packet;
    char id[64], url[512], commitment[80];
    uint64_t packet_id;
    uint8_t hash[HASH_BYTES];
    struct visit *v = posted(&p, "kind=lucky&amount=3&count=3");
    visit_json_text(v, "id", id, sizeof id);
    visit_json_text(v, "url", url, sizeof url);
    visit_json_text(v, "commitment", commitment, sizeof commitment);
    assert_string_equal(url, text_printf("%s/p/%s", app->stores.config->base_url, id));
    visit_says(v, 201, text_printf("Location: /p/%s", id), LACKS, "seed");
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

TEST(a_browser_is_redirected_to_the_packet)
{
    struct person p = person_with(10000);
    struct visit *v = person_html(&p, send_form_post, "/send", "kind=even&amount=1.5&count=4", 0);
    assert_true(str_starts(visit_header(v, "Location"), STR("/p/")));
    visit_says(v, 303);
    assert_int_equal(person_balance(app, &p), 10000 - 600);
}

TEST(the_best_share_is_stored_at_send_for_lucky_packets_only)
{
    struct person p = person_with(100000);
    int64_t shares[20];
    struct packet lucky = sent(&p, "kind=lucky&amount=20&count=20&split=uniform");
    assert_int_equal(split_packet(&lucky, shares), ST_OK);
    assert_int_equal(lucky.best_share_no, split_best_share_no(shares, 20));
    assert_int_equal(lucky.split, SPLIT_UNIFORM);
    struct packet even = sent(&p, "kind=even&amount=0.2&count=20");
    assert_ints({ even.best_share_no, PACKET_NO_SHARE }, { even.split, SPLIT_EVEN });
}

TEST(the_face_of_a_packet_is_its_own)
{
    struct person p = person_with(10000);
    EACH_TEXT (greeting, "first", "second") {
        struct packet face, packet = sent(&p, text_printf("kind=even&amount=1&count=1&greeting=%s", greeting));
        assert_int_equal(packet_find_face(app->stores.db, arena, packet.id, &face), ST_OK);
        assert_true(str_equal(face.greeting, str_from(greeting)));
    }
}

TEST(an_exclusive_packet_names_its_receiver)
{
    struct person p = person_with(10000), receiver = person_with(0);
    struct packet packet = sent(&p, text_printf("kind=exclusive&amount=5.20&to=%s", receiver.username));
    assert_int_equal(packet.receiver_id, receiver.id);
    assert_true(str_equal(packet.receiver_name, str_from(receiver.nickname)));
    assert_ints({ packet.count, 1 }, { packet.amount_fen, 520 },
                { sql_number(app, "SELECT user_id FROM packet_receiver WHERE packet_id = ?", packet.id), receiver.id });

    visit_says(posted(&p, "kind=exclusive&amount=1&to=nobody-of-this-name"), 422, "没有用户 nobody-of-this-name");
    visit_says(posted(&p, text_printf("kind=exclusive&amount=1&to=%s", p.username)), 422, "领取人不能是自己");
    visit_says(posted(&p, "kind=exclusive&amount=1&to=x%27+OR+1%3D1"), 422);
    assert_int_equal(packets_of(&p), 1);
}

TEST(a_packet_names_several_receivers)
{
    struct person p = person_with(10000), one = person_with(0), other = person_with(0), third = person_with(0);
    struct packet packet = sent(&p, text_printf("kind=even&amount=1&request_key=many&to=%s%%0A%s,%s", other.username,
                                                one.username, other.username));
    assert_ints({ packet.count, 2 }, { packet.receiver_count, 2 }, { packet.receiver_id, 0 });
    assert_int_equal(receivers_find(app->stores.db, arena, &packet), ST_OK);
    assert_true(packet_is_for(&packet, one.id));
    assert_true(packet_is_for(&packet, other.id));
    assert_false(packet_is_for(&packet, third.id));
    assert_int_equal(sql_number(app, "SELECT MIN(expires_ms) FROM packet_receiver WHERE packet_id = ?", packet.id),
                     packet.expires_ms);
    assert_true(is_live(&packet));
    assert_int_equal(
        sent(&p, text_printf("kind=even&amount=1&request_key=many&to=%s+%s", one.username, other.username)).id,
        packet.id); /* the same people */
    assert_int_equal(packets_of(&p), 1);
}

TEST(a_phrase_is_stored_as_a_hash_and_sealed)
{
    struct person p = person_with(10000);
    struct packet packet = sent(&p, "kind=even&amount=1&count=1&request_key=phrase&phrase=Open+Sesame");
    const struct keys *keys = &app->stores.config->keys;
    assert_true(
        str_equal(packet.phrase_hash, phrase_hash(arena, &keys->of[KEY_PHRASE_HASH], packet.id, STR("open sesame"))));
    assert_true(str_equal(phrase_unseal(arena, keys_pair(keys, KEY_PHRASE_SEAL), packet.id, packet.phrase_sealed),
                          STR("Open Sesame")));
    assert_int_equal(sent(&p, "kind=even&amount=1&count=1&request_key=phrase&phrase=OPEN++sesame").id, packet.id);
    assert_int_equal(packets_of(&p), 1);
}

TEST(a_note_is_stored_and_belongs_to_the_order)
{
    struct person p = person_with(10000);
    static const char form[] = "kind=even&amount=1&count=1&request_key=noted&note=%22lunch%22+%5C+%E8%81%9A%E9%A4%90";
    struct packet packet = sent(&p, form);
    assert_true(str_equal(packet.note, STR("\"lunch\" \\ 聚餐")));
    assert_int_equal(sent(&p, form).id, packet.id);
    visit_says(posted(&p, "kind=even&amount=1&count=1&request_key=noted&note=dinner"), 422);
    visit_says(posted(&p, "kind=even&amount=1&count=1&request_key=noted"), 422);
    assert_int_equal(packets_of(&p), 1);
    assert_int_equal(sent(&p, "kind=even&amount=1&count=1").note.len, 0);
}

TEST(receivers_who_do_not_exist_are_named)
{
    struct person p = person_with(10000), one = person_with(0);
    visit_says(posted(&p, text_printf("kind=lucky&amount=1&to=nobody-1,%s,nobody-2", one.username)), 422,
               "没有用户 nobody-1、nobody-2，");
    visit_says(posted(&p, text_printf("kind=lucky&amount=1&to=%s,%s", one.username, p.username)), 422,
               "领取人不能是自己");
    assert_int_equal(packets_of(&p), 0);
}

TEST(a_repeated_send_returns_the_same_packet_and_pays_nothing)
{
    struct person p = person_with(10000), other = person_with(1000);
    const char *fields = text_printf("kind=lucky&amount=10&count=5&request_key=%s", new_key());
    struct packet first = sent(&p, fields);
    assert_int_equal(sent(&p, fields).id, first.id);
    assert_ints({ packets_of(&p), 1 }, { person_balance(app, &p), 9000 },
                { sql_number(app, "SELECT sent_count FROM user_month WHERE user_id = ?", p.id), 1 });
    (void)sent(&p, "kind=lucky&amount=90&count=5");
    assert_int_equal(sent(&p, fields).id, first.id); /* although the wallet is empty */
    assert_int_equal(person_balance(app, &p), 0);
    assert_true(sent(&other, fields).id != first.id);
}

static enum step sent_a_minute_later(struct exchange *x)
{
    x->now_ms += 60 * 1000;
    return send_form_post(x);
}

/* Back in the browser and the button once more. */
TEST(a_form_that_is_sent_again_later_shows_what_it_has_sent)
{
    struct person p = person_with(10000);
    const char *key = new_key(), *path;
    const char *fields = text_printf("kind=lucky&amount=10&count=5&request_key=%s", key);
    struct visit *v = person_html(&p, send_form_post, "/send", fields, 0);
    path = text_printf("href=\"%.*s\"", STR_ARG(visit_header(v, "Location")));
    visit_says(v, 303);
    /* The button is pressed twice. */
    visit_says(person_html(&p, send_form_post, "/send", fields, 0), 303);
    /* Later, the form has a new key: its button sends one more. */
    visit_says(person_html(&p, sent_a_minute_later, "/send", fields, 0), 200, path, "没有重复扣款", "value=\"10\"",
               LACKS, key);
    /* A program gets the packet again. */
    visit_says(person_json(&p, sent_a_minute_later, "/send", fields, 0), 201);
    visit_says(
        person_html(&p, send_form_post, "/send", text_printf("kind=lucky&amount=20&count=5&request_key=%s", key), 0),
        422, path, LACKS, "没有重复扣款");
    assert_ints({ packets_of(&p), 1 }, { person_balance(app, &p), 9000 });
}

/* unit/test_packet_order tests which values make another order. */
TEST(the_same_key_with_another_order_is_refused)
{
    struct person p = person_with(10000);
    const char *key = new_key();
    (void)sent(&p, text_printf("kind=lucky&amount=10&count=5&request_key=%s", key));
    const char *fields = text_printf("kind=lucky&amount=10&count=5&cover=birthday&request_key=%s", key);
    visit_says(posted(&p, fields), 422, "\"field\":\"request_key\",\"message\":\"这张表单已经发过一个红包",
               text_printf("\"order\":\"/orders/%s\"", key));
    visit_says(posted(&p, text_printf("kind=lucky&amount=1000&count=5&request_key=%s", new_key())), 422, LACKS,
               "\"order\":");
    /* The form that is shown again has a new key, so sending it again works. */
    visit_says(person_html(&p, send_form_post, "/send", fields, 0), 422, LACKS, key);
    assert_ints({ packets_of(&p), 1 }, { person_balance(app, &p), 9000 });
}

TEST(the_smallest_share_is_part_of_the_draw_and_a_lifetime_is_chosen)
{
    struct person p = person_with(10000);
    int64_t shares[10];
    struct packet packet = sent(&p, "kind=lucky&amount=10&count=10&share_min=0.9&lifetime=7d");
    assert_ints({ packet.expires_ms - packet.created_ms, 7 * INT64_C(86400000) }, { packet.share_min_fen, 90 });
    assert_true(is_live(&packet));
    assert_int_equal(split_packet(&packet, shares), ST_OK);
    for (size_t i = 0; i < 10; i++)
        assert_in_range(shares[i], 90, 190);
}

TEST(the_form_offers_the_lifetimes_and_selects_one)
{
    struct person p = person_with(10000);
    visit_says(person_json(&p, send_form_get, "/send", NULL, 0), 200,
               "\"lifetimes\":[{\"lifetime\":\"1h\",\"lifetime_ms\":3600000},"
               "{\"lifetime\":\"24h\",\"lifetime_ms\":86400000},");
    /* A lifetime and a split are selected. */
    visit_says(person_html(&p, send_form_get, "/send", NULL, 0), 200, "2 ×  selected>",
               "<option value=\"24h\" selected>24小时</option>");
    visit_says(person_html(&p, send_form_post, "/send", "amount=1&lifetime=3d", 0), 422,
               "<option value=\"3d\" selected>3天</option>");
    visit_says(person_html(&p, send_form_post, "/send", "amount=1&count=1&lifetime=5d", 0), 422, "请选择有效期",
               "<option value=\"24h\" selected>");
    assert_int_equal(packets_of(&p), 0);
}

/* Fields of an even packet that opens in that many seconds. */
static const char *opening_in(int64_t seconds, const char *key)
{
    char at[CLOCK_TEXT_MAX];
    (void)clock_rfc3339_format(clock_now_ms() + seconds * 1000, at);
    return text_printf("kind=even&amount=1&count=2&request_key=%s&opens_at=%s", key, at);
}

TEST(the_lifetime_of_a_scheduled_packet_begins_at_its_opening)
{
    struct person p = person_with(1000);
    struct packet packet = sent(&p, opening_in(3600, "opens-1"));
    assert_in_range(packet.opens_ms, packet.created_ms + 3500 * 1000, packet.created_ms + 3600 * 1000);
    assert_int_equal(packet.expires_ms, packet.opens_ms + app->stores.config->packet_lifetime_ms);
    assert_true(is_live(&packet));
}

TEST(an_opening_in_the_past_is_refused_unless_the_packet_was_sent_before_it)
{
    struct person p = person_with(1000);
    const char *soon = opening_in(30, "opens-3");
    visit_says(posted(&p, opening_in(-1, "opens-2")), 422, "1 × \"opens_at\"");
    (void)sent(&p, soon);
    visit_says(person_json(&p, sent_a_minute_later, "/send", soon, 0), 201);
    visit_says(posted(&p, opening_in(7200, "opens-3")), 422); /* another order has the same key */
    assert_int_equal(packets_of(&p), 1);
}

TEST(an_empty_wallet_sends_nothing)
{
    struct person p = person_with(999);
    visit_says(posted(&p, "kind=lucky&amount=10&count=5"), 422, "可用余额不足", "\"field\":\"amount\"");
    assert_ints({ packets_of(&p), 0 }, { person_balance(app, &p), 999 },
                { sql_number(app, "SELECT COUNT(*) FROM user_month WHERE user_id = ?", p.id), 0 });
    (void)sent(&p, "kind=lucky&amount=9.99&count=5"); /* the whole balance can be sent */
    assert_int_equal(person_balance(app, &p), 0);
}

TEST(a_refused_form_shows_the_typed_texts)
{
    struct person p = person_with(10000);
    const char *fields =
        "kind=even&amount=200.01&count=1&greeting=%3Cb%3E%E5%96%9C&to=somebody&split=gaussian&request_key=k-1";
    visit_says(person_html(&p, send_form_post, "/send", fields, 0), 422, "单个红包金额不可超过200\u2060元",
               "value=\"200.01\"", "value=\"1\"", ">&lt;b&gt;喜</textarea>", ">somebody</textarea>", "value=\"k-1\"",
               "value=\"even\" checked", "value=\"gaussian\" selected", LACKS, "<b>");
    assert_int_equal(packets_of(&p), 0);
}

TEST(the_form_shows_balance_limits_and_a_new_key)
{
    struct person p = person_with(12345);
    char once[80], again[80];
    struct visit *v = person_json(&p, send_form_get, "/send", NULL, 0);
    assert_int_equal(visit_json_int(v, "balance_fen"), 12345);
    assert_int_equal(visit_json_int(v, "share_fen_max"), app->stores.config->share_fen_max);
    visit_json_text(v, "request_key", once, sizeof once);
    visit_says(v, 200);
    v = person_json(&p, send_form_get, "/send", NULL, 0);
    visit_json_text(v, "request_key", again, sizeof again);
    visit_says(v, 200);
    assert_string_not_equal(once, again);
    visit_says(person_html(&p, send_form_get, "/send", NULL, 0), 200, "name=\"request_key\"", "123.45",
               "value=\"lucky\" checked");
}

TEST(a_send_whose_commit_or_its_reply_was_lost_pays_once_and_succeeds)
{
    for (int i = 0; i < 2; i++) {
        struct person p = person_with(10000);
        fault = i == 0 ? FAULT_REPLY_LOST : FAULT_COMMIT_LOST;
        struct packet packet = sent(&p, "kind=lucky&amount=10&count=5");
        assert_ints({ packets_of(&p), 1 }, { person_balance(app, &p), 9000 }, { escrow_of(&packet), 1000 });
        assert_true(is_live(&packet));
    }
}

/* The page leads to the order, which shows whether the packet was paid for. */
TEST(an_unknown_payment_has_a_page_that_looks_at_its_order)
{
    struct person p = person_with(10000);
    fault = FAULT_REPLIES_LOST;
    const char *fields = "kind=lucky&amount=10&count=5&request_key=unknown-payment";
    visit_says(person_html(&p, send_form_post, "/send", fields, 0), 503, "href=\"/orders/unknown-payment\" data-look>",
               "refresh.");
    visit_says(person_json(&p, send_form_post, "/send", fields, 0), 503, LACKS, "look");
    fault = FAULT_NONE;
    assert_ints({ packets_of(&p), 1 }, { person_balance(app, &p), 9000 });
}

TEST(without_redis_the_packet_is_sent_and_loaded_later)
{
    struct person p = person_with(10000);
    struct services *lacking = services_without(app, "redis");
    struct packet packet;
    uint64_t id = person_send(lacking, &p, "kind=lucky&amount=10&count=5");
    services_without_free(lacking);
    assert_int_equal(packet_find(app->stores.db, arena, id, &packet), ST_OK);
    assert_ints({ packet.state, PACKET_FUNDING }, { person_balance(app, &p), 9000 });
    assert_false(is_live(&packet));

    /* A repeat finds the packet, which is paid. Only the settle worker loads it, because a repeat may come when Redis
     * has already forgotten it again. */
    const char *fields = text_printf("kind=lucky&amount=10&count=5&request_key=%.*s", STR_ARG(packet.request_key));
    visit_says(posted(&p, fields), 201);
    assert_false(is_live(&packet));
    assert_int_equal(person_balance(app, &p), 9000);
    /* so old that the workers of other tests find nothing to do */
    sql_run(app, "UPDATE packet SET created_ms = created_ms - 10000 WHERE id = ?", DB_U64(packet.id));
}

static enum live_code loaded(const struct packet *p, bool rebuild)
{
    const struct live_settled none = { 0 };
    enum live_code code;
    int64_t *shares = arena_array(arena, p->count, sizeof *shares);
    assert_int_equal(split_packet(p, shares), ST_OK);
    assert_int_equal(live_load(&app->stores.live, p, shares, rebuild ? &none : NULL, 0, LIVE_STATE_OPEN, &code), ST_OK);
    return code;
}

/* Independent of what Redis has forgotten since, and of who comes first. */
TEST(of_a_packet_that_redis_never_had_first_only_the_sender_may_load_it_then_only_the_worker)
{
    enum { FAR_MS = 60000 }; /* beyond LIVE_LOAD_WITHIN_MS, and longer than this test takes */
    struct person p = person_with(10000);
    struct packet packet = sent(&p, "kind=lucky&amount=10&count=5");
    assert_int_equal(packet.state, PACKET_FUNDING);                     /* the worker has not seen it yet */
    assert_int_equal(live_remove(&app->stores.live, packet.id), ST_OK); /* as after the grace time of a closed packet */
    packet.created_ms += FAR_MS;
    assert_int_equal(loaded(&packet, true), LIVE_NOT_YET);
    assert_int_equal(loaded(&packet, false), LIVE_LOADED);
    assert_int_equal(loaded(&packet, true), LIVE_EXISTS);

    assert_int_equal(live_remove(&app->stores.live, packet.id), ST_OK);
    packet.created_ms -= 2 * FAR_MS;
    assert_int_equal(loaded(&packet, false), LIVE_EXPIRED);
    assert_false(is_live(&packet));
    assert_int_equal(loaded(&packet, true), LIVE_LOADED);
    assert_int_equal(loaded(&packet, false), LIVE_EXISTS);

    /* A packet that was there before is rebuilt at once. */
    assert_int_equal(live_remove(&app->stores.live, packet.id), ST_OK);
    packet.created_ms += 2 * FAR_MS;
    packet.state = PACKET_OPEN;
    assert_int_equal(loaded(&packet, true), LIVE_LOADED);
    assert_true(is_live(&packet));
}

struct order {
    const struct person *p;
    const char *fields;
};

/* 0: sent; 1: refused. */
static int send_racer(void *ctx)
{
    const struct order *order = ctx;
    struct services *own = packet_services_open();
    struct visit v;
    if (own == NULL)
        return 2;
    int status = person_request(&v, own, order->p, send_form_post, "/send", order->fields, 0, true);
    return status == 201 ? 0 : status == 422 ? 1 : 3;
}

/* Posts the form in n concurrent processes with separate connections. Returns how many got 201. */
static unsigned in_parallel(unsigned n, const struct person *p, const char *fields)
{
    unsigned results[RACE_RESULTS];
    race_run(n, send_racer, &(struct order){ p, fields }, results);
    assert_int_equal(results[0] + results[1], n);
    return results[0];
}

TEST(parallel_repeats_make_one_packet)
{
    struct person p = person_with(10000);
    const char *key = new_key();
    assert_int_equal(in_parallel(8, &p, text_printf("kind=lucky&amount=10&count=5&request_key=%s", key)), 8);
    assert_ints({ packets_of(&p), 1 }, { person_balance(app, &p), 9000 });
}

TEST(parallel_sends_can_not_overdraw_the_wallet)
{
    struct person p = person_with(3500);
    assert_int_equal(in_parallel(8, &p, "kind=lucky&amount=10&count=5"), 3);
    assert_ints({ packets_of(&p), 3 }, { person_balance(app, &p), 500 });
}

TEST(a_packet_of_a_hundred_thousand_shares_can_be_sent)
{
    struct person p;
    struct config config = *app->stores.config;
    const struct config *before = app->stores.config;
    config.packet_shares_max = 100000;
    person_new(app, &p, 2000000);
    app->stores.config = &config;
    struct packet packet = sent(&p, "kind=lucky&amount=20000&count=100000&split=gaussian");
    app->stores.config = before;
    assert_int_equal(packet.count, 100000);
    assert_true(is_live(&packet));
    assert_int_equal(person_balance(app, &p), 0);
}

TEST(a_send_is_busy_and_makes_no_packet_while_mysql_is_unreachable)
{
    struct person p = person_with(10000);
    struct services *lacking = services_without(app, "mysql");
    struct visit *v = person_visit_new(lacking, &p, send_form_post, "/send", "kind=lucky&amount=10&count=5", 0, true);
    services_without_free(lacking);
    assert_true(visit_header(v, "Retry-After").len > 0);
    visit_says(v, 503);
    assert_int_equal(packets_of(&p), 0);
}

TESTS(app_setup, app_teardown)
