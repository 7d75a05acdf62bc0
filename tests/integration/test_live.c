/* app/live with a real Redis: every reply of every script. */
#include <inttypes.h>

#include "base/clock.h"
#include "live/close.h"
#include "live/event.h"
#include "live/grab.h"
#include "live/keys.h"
#include "live/live.h"
#include "live/load.h"
#include "live/shut.h"
#include "live/view.h"
#include "packet/phrase.h"
#include "packet/receivers.h"
#include "packet/view.h"
#include "redis/crowd.h"
#include "redis/function.h"
#include "support/assert_text.h"
#include "support/close_one.h"
#include "support/stores_do.h"
#include "support/test_services.h"

enum { HOUR_MS = 3600 * 1000, SENDER = 10001, FIRST_USER = 20000, SHARES_MAX = 3000 };

/* All packets of this test are in a partition that no other test uses, so their events are not settled. */
enum { PARTITIONS = 100 };

static struct services *app;
static struct live live;
static struct arena *arena;

static int setup(void **state)
{
    (void)state;
    app = test_services_open();
    arena = arena_new(64 << 10, 64 << 20);
    if (app == NULL || arena == NULL)
        return 1;
    test_services_config(app)->partitions = PARTITIONS;
    test_services_fences_open(app);
    live = app->stores.live;
    live.partitions = PARTITIONS;
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    char events[LIVE_KEY_MAX], settled[LIVE_KEY_MAX];
    (void)redis_number(app->stores.redis, "DEL %s %s", live_events_key(events, PARTITIONS - 1).ptr,
                       live_settled_key(settled, PARTITIONS - 1).ptr);
    arena_free(arena);
    test_services_close(app);
    return 0;
}

/* The packet of a test: it has a new id and count shares of 100, 101, 102 … fen. */
static struct sample {
    struct packet p;
    int64_t shares_fen[SHARES_MAX];
} s;

static void sample_make(enum packet_kind kind, uint32_t count)
{
    static uint64_t made;
    s = (struct sample){ .p = { .id = ((random_u64() >> 8) + made++) * PARTITIONS + PARTITIONS - 1,
                                .sender_id = SENDER,
                                .sender_name = STR("小,明"),
                                .receiver_name = STR(""),
                                .kind = kind,
                                .split = kind == PACKET_LUCKY ? SPLIT_DOUBLE_AVERAGE : SPLIT_EVEN,
                                .count = count,
                                .best_share_no = kind == PACKET_LUCKY ? count - 1 : PACKET_NO_SHARE,
                                .greeting = STR("恭喜发财，大吉大利"),
                                .state = PACKET_OPEN,
                                .created_ms = clock_now_ms(),
                                .expires_ms = clock_now_ms() + HOUR_MS } };
    if (kind == PACKET_EXCLUSIVE) {
        s.p.receiver_id = FIRST_USER;
        s.p.receiver_name = STR("收");
    }
    for (uint32_t i = 0; i < count; i++) {
        s.shares_fen[i] = 100 + i;
        s.p.amount_fen += s.shares_fen[i];
    }
    random_bytes(s.p.seed, sizeof s.p.seed);
    hash_sha256(s.p.seed, sizeof s.p.seed, s.p.commitment);
}

static enum live_code load(void)
{
    enum live_code code;
    assert_int_equal(live_load(&live, &s.p, s.shares_fen, NULL, 0, LIVE_STATE_OPEN, &code), ST_OK);
    return code;
}

static void sample_load(enum packet_kind kind, uint32_t count)
{
    sample_make(kind, count);
    assert_int_equal(load(), LIVE_LOADED);
}

#define PHRASE STR("the \x01 hash")

/* Loads a lucky packet with the passphrase PHRASE. */
static void sample_load_with_phrase(uint32_t count)
{
    sample_make(PACKET_LUCKY, count);
    s.p.phrase_hash = PHRASE;
    assert_int_equal(load(), LIVE_LOADED);
}

/* How one user opens a packet; texts that are not given are empty, and the packet is the sample. */
struct opening {
    uint64_t user, packet_id;
    struct str phrase, source, nickname;
};

/* Opens all in one round, which makes crowds. */
static void open_all(const struct opening *openings, size_t count, struct live_grab *out)
{
    struct redis_call calls[REDIS_CROWD_MAX * 2];
    assert_true(count <= ARRAY_LEN(calls));
    for (size_t i = 0; i < count; i++) {
        const struct opening *o = &openings[i];
        const struct live_phrase phrase = { o->phrase, o->source };
        live_grab_queue(&live, &calls[i], o->packet_id != 0 ? o->packet_id : s.p.id, o->user, o->nickname, &phrase);
    }
    redis_round(app->stores.redis);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(live_grab_read(&calls[i], &out[i]), ST_OK);
        redis_call_free(&calls[i]);
    }
}

static struct live_grab try_phrase_at(uint64_t user_id, struct str hash, struct str source)
{
    struct live_grab g;
    open_all(&(struct opening){ user_id, .phrase = hash, .source = source, .nickname = STR("某,人") }, 1, &g);
    return g;
}

static struct live_grab try_phrase(uint64_t user_id, struct str hash)
{
    return try_phrase_at(user_id, hash, STR(""));
}

static struct live_grab grab(uint64_t user_id)
{
    return try_phrase(user_id, STR(""));
}

/* These users open the packet, one after another; each must get an answer with this code. */
#define assert_grabs(code, ...)                                                                                        \
    grabs_are(code, (const uint64_t[]){ __VA_ARGS__ }, sizeof((const uint64_t[]){ __VA_ARGS__ }) / sizeof(uint64_t))

static void grabs_are(enum live_code code, const uint64_t *users, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const enum live_code got = grab(users[i]).code;
        if (got != code)
            fail_msg("user %" PRIu64 " gets %d, not %d", users[i], (int)got, (int)code);
    }
}

/* Tries, one after another. left: the remaining tries, if the answer has them. */
struct
try {
    uint64_t user;
    struct str phrase;
    enum live_code code;
    uint32_t left;
};
#define assert_tries(...)                                                                                              \
    tries_are((const struct try[]){ __VA_ARGS__ }, sizeof((const struct try[]){ __VA_ARGS__ }) / sizeof(struct try))

static void tries_are(const struct try *tries, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct live_grab g = try_phrase(tries[i].user, tries[i].phrase);
        if (g.code != tries[i].code || (g.code == LIVE_WRONG_PHRASE && g.tries_left != tries[i].left))
            fail_msg("try %zu: %d with %u left", i, (int)g.code, g.tries_left);
    }
}

/* FIRST_USER and the next users take a share each. */
static void grab_first(uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        assert_grabs(LIVE_GRABBED, FIRST_USER + i);
}

/* A view whose texts outlive the reply. */
static struct packet_view view(uint64_t user_id, uint32_t after, uint32_t limit)
{
    struct redis_call call;
    struct packet_view v;
    live_view_queue(&live, &call, s.p.id, user_id, after, limit);
    redis_round(app->stores.redis);
    assert_int_equal(live_view_read(&call, arena, s.p.id, &v), ST_OK);
    for (size_t i = 0; i < PACKET_MEMBER_COUNT; i++) {
        struct str *text = packet_member_text(&v.packet, i);
        if (text != NULL && text->len > 0)
            *text = arena_str(arena, *text);
    }
    v.mine.nickname = arena_str(arena, v.mine.nickname);
    for (size_t i = 0; i < v.row_count; i++)
        v.rows[i].nickname = arena_str(arena, v.rows[i].nickname);
    redis_call_free(&call);
    return v;
}

/* The packet as a guest sees it, without rows. */
static struct packet seen(void)
{
    return view(0, PACKET_NO_SHARE, 0).packet;
}

/* A key of the packet, as text. */
static const char *key(enum live_key k)
{
    struct live_keys keys;
    live_keys(&keys, s.p.id, live.partitions);
    return arena_cstr(arena, keys.key[k]);
}

/* Writes one field of the packet's hash. */
static void field_set(const char *field, const char *value)
{
    (void)redis_number(app->stores.redis, "HSET %s %s %s", key(LIVE_KEY_PACKET), field, value);
}

static void set_expired(void)
{
    field_set("expires_ms", "1000");
}

static void memory_limit(const char *bytes)
{
    (void)redis_number(app->stores.redis, "CONFIG SET maxmemory %s", bytes);
}

/* Closes the packet; the answer of Redis. */
static struct live_close closed(void)
{
    struct live_close c;
    assert_int_equal(close_one(&live, s.p.id, &c), ST_OK);
    return c;
}

/* The newest event of the packet's partition. The caller frees *call. */
static struct live_event last_event(struct redis_call *call)
{
    const struct str args[] = { STR("XREVRANGE"), str_from(key(LIVE_KEY_EVENTS)), STR("+"), STR("-"), STR("COUNT"),
                                STR("1") };
    struct live_event e;
    assert_int_equal(redis_do(app->stores.redis, call, args, 6), ST_OK);
    assert_int_equal(live_entry_first(redis_reply_at(call->reply, 0), &e), ST_OK);
    return e;
}

static struct live_event_id last_event_id(void)
{
    struct redis_call call;
    const struct live_event_id id = last_event(&call).id;
    redis_call_free(&call);
    return id;
}

/* Bytes of the keys of one packet in Redis, without its events. */
static int64_t memory_bytes(void)
{
    int64_t sum = 0;
    for (enum live_key k = LIVE_KEY_PACKET; k <= LIVE_KEY_ORDER; k++)
        if (redis_number(app->stores.redis, "EXISTS %s", key(k)) == 1)
            sum += redis_number(app->stores.redis, "MEMORY USAGE %s SAMPLES 0", key(k));
    return sum;
}

TEST(an_open_packet_with_the_longest_greeting_takes_at_most_900_bytes)
{
    sample_make(PACKET_LUCKY, 10);
    s.p.greeting = STR("恭喜发财万事如意身体健康步步高升心想事成阖家幸福吉");
    s.p.sender_name = STR("一二三四五六七八九十一二三四五六七八九十一二三四五六七八九十甲乙");
    assert_int_equal(load(), LIVE_LOADED);
    assert_in_range(memory_bytes(), 1, 900);
}

TEST(a_grab_in_a_large_packet_takes_at_most_200_bytes)
{
    enum { SHARES = 1000 };
    sample_load(PACKET_LUCKY, SHARES);
    grab_first(SHARES);
    assert_in_range(memory_bytes(), 1, 200 * SHARES);
}

/* ---- grab ---- */

TEST(every_script_reports_an_unknown_packet_as_missing)
{
    struct redis_call call;
    struct packet_view v;
    sample_make(PACKET_LUCKY, 3);
    assert_grabs(LIVE_MISSING, FIRST_USER);
    live_view_queue(&live, &call, s.p.id, FIRST_USER, PACKET_NO_SHARE, 10);
    redis_round(app->stores.redis);
    assert_int_equal(live_view_read(&call, arena, s.p.id, &v), ST_NOT_FOUND);
    redis_call_free(&call);
    assert_int_equal(closed().code, LIVE_MISSING);
    assert_int_equal(live_shut(&live, &s.p.id, 1), ST_OK);
    assert_grabs(LIVE_MISSING, FIRST_USER); /* there was no packet to shut */
    assert_int_equal(live_remove(&live, s.p.id), ST_OK);
}

TEST(shares_are_taken_in_order_until_the_packet_is_empty)
{
    struct redis_call call;
    sample_load(PACKET_LUCKY, 3);
    for (uint32_t i = 0; i < 3; i++) {
        struct live_grab g = grab(FIRST_USER + i);
        assert_ints({ g.code, LIVE_GRABBED }, { g.share_no, i }, { g.amount_fen, s.shares_fen[i] },
                    { g.left_count, 2 - i });
    }
    assert_grabs(LIVE_EMPTY, FIRST_USER + 3);
    struct live_event e = last_event(&call);
    assert_ints({ e.type, LIVE_EVENT_GRAB }, { e.packet_id, s.p.id }, { e.share_no, 2 }, { e.user_id, FIRST_USER + 2 },
                { e.amount_fen, s.shares_fen[2] });
    assert_text(e.nickname, "某,人");
    redis_call_free(&call);
}

TEST(a_repeated_grab_always_returns_the_first_share)
{
    sample_load(PACKET_LUCKY, 3);
    struct live_grab first = grab(FIRST_USER);
    assert_int_equal(first.code, LIVE_GRABBED);
    assert_grabs(LIVE_GRABBED, FIRST_USER + 1);
    for (int i = 0; i < 3; i++) {
        struct live_grab again = grab(FIRST_USER);
        assert_ints({ again.code, LIVE_ALREADY }, { again.share_no, first.share_no },
                    { again.amount_fen, first.amount_fen }, { again.left_count, i == 0 ? 1 : 0 });
        if (i == 0)
            set_expired();
        if (i == 1)
            field_set("state", "closed");
    }
}

TEST(an_exclusive_packet_is_for_its_receiver_only)
{
    sample_load(PACKET_EXCLUSIVE, 1);
    assert_grabs(LIVE_NOT_FOR_YOU, FIRST_USER + 1, SENDER);
    assert_grabs(LIVE_GRABBED, FIRST_USER);
    assert_grabs(LIVE_NOT_FOR_YOU, FIRST_USER + 1);
}

/* Receivers FIRST_USER, FIRST_USER + 2, + 4 … */
static void receivers_set(size_t count)
{
    struct receiver items[RECEIVERS_MAX];
    struct receivers r = { items, count };
    for (size_t i = 0; i < count; i++)
        items[i] = (struct receiver){ .id = FIRST_USER + 2 * i, .name = STR("收") };
    assert_int_equal(receivers_describe(arena, &s.p, &r), ST_OK);
}

TEST(a_packet_for_several_is_for_them_only)
{
    sample_make(PACKET_LUCKY, 2);
    receivers_set(3);
    (void)load();
    assert_grabs(LIVE_NOT_FOR_YOU, FIRST_USER + 1, SENDER, 2 /* a part of an id */);
    assert_grabs(LIVE_GRABBED, FIRST_USER + 2, FIRST_USER + 4);
    assert_grabs(LIVE_EMPTY, FIRST_USER);
    assert_grabs(LIVE_NOT_FOR_YOU, FIRST_USER + 1);
    assert_int_equal(view(FIRST_USER, PACKET_NO_SHARE, 0).packet.receiver_count, 3);
}

TEST(a_grab_is_refused_once_the_packet_is_expired_or_closed)
{
    static const char *const over[][2] = { { "expires_ms", "1000" }, { "state", "closed" } };
    EACH (field, over) {
        sample_load(PACKET_LUCKY, 2);
        field_set((*field)[0], (*field)[1]);
        assert_grabs(LIVE_EXPIRED, FIRST_USER);
    }
}

/* Redis's clock in milliseconds. */
static int64_t redis_ms(void)
{
    const struct str args[] = { STR("TIME") };
    struct redis_call call;
    int64_t sec = 0, us = 0;
    assert_int_equal(redis_do(app->stores.redis, &call, args, 1), ST_OK);
    assert_true(redis_reply_i64(redis_reply_at(call.reply, 0), &sec));
    assert_true(redis_reply_i64(redis_reply_at(call.reply, 1), &us));
    redis_call_free(&call);
    return sec * 1000 + us / 1000;
}

TEST(nobody_opens_a_packet_before_its_scheduled_time)
{
    sample_make(PACKET_LUCKY, 2);
    s.p.opens_ms = redis_ms() + 100;
    (void)load();
    struct live_grab g;
    while ((g = grab(FIRST_USER)).code == LIVE_NOT_YET) {
        assert_int_equal(g.opens_ms, s.p.opens_ms);
        assert_true(redis_ms() < s.p.opens_ms + 1000);
    }
    assert_int_equal(g.code, LIVE_GRABBED);
    assert_true(redis_ms() >= s.p.opens_ms);
}

TEST(of_several_reasons_the_first_is_told)
{
    sample_make(PACKET_EXCLUSIVE, 1);
    s.p.opens_ms = redis_ms() + HOUR_MS;
    (void)load();
    assert_grabs(LIVE_NOT_FOR_YOU, FIRST_USER + 1);
    assert_grabs(LIVE_NOT_YET, FIRST_USER);
    set_expired(); /* as if the sender ended it before the opening */
    assert_grabs(LIVE_EXPIRED, FIRST_USER);
}

TEST(a_user_with_a_share_keeps_it_whatever_the_schedule_says)
{
    sample_make(PACKET_LUCKY, 2);
    s.p.opens_ms = 1;
    (void)load();
    assert_grabs(LIVE_GRABBED, FIRST_USER);
    field_set("opens_ms", "9999999999999");
    struct live_grab g = grab(FIRST_USER);
    assert_ints({ g.code, LIVE_ALREADY }, { g.amount_fen, s.shares_fen[0] });
    assert_grabs(LIVE_NOT_YET, FIRST_USER + 1);
}

TEST(a_packet_with_a_phrase_is_opened_by_it_only)
{
    enum { A = FIRST_USER, B, C };
    sample_load_with_phrase(2);
    /* without a phrase, it is not counted as a try */
    assert_tries({ A, STR(""), LIVE_WRONG_PHRASE, 10 }, { A, STR(""), LIVE_WRONG_PHRASE, 10 },
                 { A, STR("other"), LIVE_WRONG_PHRASE, 9 }, { A, PHRASE, LIVE_GRABBED, 0 },
                 { A, STR("other"), LIVE_ALREADY, 0 }, { A, STR(""), LIVE_ALREADY, 0 }, { B, PHRASE, LIVE_GRABBED, 0 },
                 { C, STR("other"), LIVE_EMPTY, 0 });
    sample_load(PACKET_LUCKY, 1); /* for a packet without a phrase, any typed phrase is accepted */
    assert_tries({ A, STR("other"), LIVE_GRABBED, 0 });
}

/* A phrase that the version before hashed in another way is sent with both hashes, and counts as one try. */
TEST(each_hash_of_a_phrase_opens_its_packet)
{
    static const struct str all =
        STR("0123456789abcdef0123456789abcdeffedcba9876543210fedcba987654321011111111111111112222222222222222");
    for (size_t at = 0; at < all.len; at += PHRASE_HASH_BYTES) {
        sample_make(PACKET_LUCKY, 3);
        s.p.phrase_hash = str_slice(all, at, at + PHRASE_HASH_BYTES);
        (void)load();
        assert_int_equal(try_phrase(FIRST_USER, str_slice(all, 0, at)).code, LIVE_WRONG_PHRASE);
        assert_int_equal(try_phrase(FIRST_USER, all).code, LIVE_GRABBED);
    }
    static const size_t others[] = { 1, PHRASE_HASH_BYTES / 2, PHRASE_HASH_BYTES + 1 }; /* parts of two hashes */
    EACH (at, others) {
        sample_make(PACKET_LUCKY, 3);
        s.p.phrase_hash = str_slice(all, *at, *at + PHRASE_HASH_BYTES);
        (void)load();
        assert_int_equal(try_phrase(FIRST_USER, all).tries_left, 9);
    }
}

TEST(after_ten_wrong_phrases_even_the_right_one_is_refused)
{
    enum { A = FIRST_USER, B };
    sample_load_with_phrase(2);
    for (uint32_t left = 10; left-- > 0;)
        assert_tries({ A, STR("other"), LIVE_WRONG_PHRASE, left });
    assert_tries({ A, STR("other"), LIVE_TRIED_OUT, 0 }, { A, PHRASE, LIVE_TRIED_OUT, 0 },
                 { A, STR(""), LIVE_TRIED_OUT, 0 }, { B, PHRASE, LIVE_GRABBED, 0 } /* counted for each user */);
}

/* 16 bytes: an address and its network. */
#define AT(address, network) STR(address network)

TEST(accounts_of_one_address_share_their_wrong_phrases)
{
    uint64_t user = FIRST_USER;
    sample_load_with_phrase(5);
    for (int i = 0; i < 20; i++)
        assert_int_equal(try_phrase_at(user++, STR("other"), AT("address1", "network1")).code, LIVE_WRONG_PHRASE);
    struct live_grab g = try_phrase_at(user, STR("other"), AT("address1", "network1"));
    assert_int_equal(g.code, LIVE_TRIED_OUT);
    assert_in_range(g.pause_ms, 1, 1000);
    /* Even the right phrase is refused: otherwise the answer would reveal it. A request without a phrase is answered as
     * before. */
    assert_int_equal(try_phrase_at(user, PHRASE, AT("address1", "network1")).code, LIVE_TRIED_OUT);
    assert_int_equal(try_phrase_at(user, STR(""), AT("address1", "network1")).code, LIVE_WRONG_PHRASE);
    assert_int_equal(try_phrase_at(user, PHRASE, AT("address2", "network1")).code, LIVE_GRABBED);
}

TEST(pauses_grow_and_a_right_phrase_shortens_them)
{
    static const struct {
        const char *stored;
        int64_t pause_ms;
    } grown[] = { { "24,1", 32000 }, { "28,1", 512000 }, { "29,1", 600000 }, { "5000,1", 600000 } };
    static const char field[] = "guesses:1address1";
    uint64_t user = FIRST_USER;
    struct redis_call call;
    sample_load_with_phrase(5);
    EACH (row, grown) {
        field_set(field, row->stored);
        assert_int_equal(try_phrase_at(user, STR("other"), AT("address1", "network1")).code, LIVE_WRONG_PHRASE);
        struct live_grab g = try_phrase_at(user++, STR("other"), AT("address1", "network1"));
        assert_int_equal(g.code, LIVE_TRIED_OUT);
        assert_in_range(g.pause_ms, row->pause_ms / 2, row->pause_ms);
    }
    field_set(field, "25,1");
    assert_int_equal(try_phrase_at(user, PHRASE, AT("address1", "network1")).code, LIVE_GRABBED);
    const struct str get[] = { STR("HGET"), str_from(key(LIVE_KEY_PACKET)), str_from(field) };
    assert_int_equal(redis_do(app->stores.redis, &call, get, ARRAY_LEN(get)), ST_OK);
    assert_text(redis_reply_str(call.reply), "24,1");
    redis_call_free(&call);
}

TEST(wrong_phrases_count_for_the_network_and_for_everywhere)
{
    char source[17];
    uint64_t user = FIRST_USER;
    sample_load_with_phrase(5);
    for (int i = 0; i < 300; i++) { /* 60 in each of five networks, one for each address */
        (void)snprintf(source, sizeof source, "addr%04dnet%05d", i, i / 60);
        assert_int_equal(try_phrase_at(user++, STR("other"), str_from(source)).code, LIVE_WRONG_PHRASE);
        if (i == 59)
            assert_int_equal(try_phrase_at(user, PHRASE, AT("addr9999", "net00000")).code, LIVE_TRIED_OUT);
    }
    struct live_grab g = try_phrase_at(user, PHRASE, AT("addr9999", "net00099"));
    assert_int_equal(g.code, LIVE_TRIED_OUT);
    assert_in_range(g.pause_ms, 1, 1000);
}

TEST(a_crowd_that_guesses_waits_as_one)
{
    enum { MANY = 40 };
    struct opening openings[MANY];
    struct live_grab g[MANY];
    int wrong = 0;
    sample_load_with_phrase(5);
    for (size_t i = 0; i < MANY; i++)
        openings[i] = (struct opening){ FIRST_USER + i, .phrase = STR("other"), .source = AT("address1", "network1") };
    open_all(openings, MANY, g);
    for (size_t i = 0; i < MANY; i++)
        wrong += g[i].code == LIVE_WRONG_PHRASE;
    assert_int_equal(wrong, 20);
}

TEST(a_phrase_is_asked_for_last)
{
    enum { A = FIRST_USER, B, C };
    sample_make(PACKET_LUCKY, 2);
    s.p.phrase_hash = PHRASE;
    s.p.opens_ms = redis_ms() + HOUR_MS;
    receivers_set(2);
    (void)load();
    assert_tries({ B, STR("other"), LIVE_NOT_FOR_YOU, 0 }, { A, STR("other"), LIVE_NOT_YET, 0 });
    field_set("opens_ms", "1");
    assert_tries({ A, STR("other"), LIVE_WRONG_PHRASE, 9 },
                 { A, PHRASE, LIVE_GRABBED, 0 }); /* none was counted before */
    set_expired();
    assert_tries({ C, STR("other"), LIVE_EXPIRED, 0 });
}

TEST(with_full_memory_a_grab_is_refused_before_its_first_write)
{
    struct redis_call call;
    struct live_grab g;
    sample_load(PACKET_LUCKY, 2);
    (void)grab(FIRST_USER);
    struct live_event_id last = last_event_id();
    memory_limit("1");
    live_grab_queue(&live, &call, s.p.id, FIRST_USER + 1, STR("x"), NULL);
    redis_round(app->stores.redis);
    enum status st = live_grab_read(&call, &g);
    struct packet_view v = view(FIRST_USER, PACKET_NO_SHARE, 10);
    memory_limit("2gb");
    assert_ints({ st, ST_CONFLICT }, { v.packet.grabbed_count, 1 } /* views still work */,
                { live_event_id_compare(last_event_id(), last), 0 });
    redis_call_free(&call);
}

TEST(a_thousand_users_take_exactly_a_hundred_shares)
{
    enum { USERS = 1000, SHARES = 100, BATCH = 50, CODES = LIVE_TRIED_OUT + 1 };
    int64_t sum_fen = 0;
    uint32_t answers[CODES] = { 0 };
    bool taken[SHARES] = { false };
    sample_load(PACKET_LUCKY, SHARES);
    for (uint64_t user = 0; user < USERS; user += BATCH) {
        struct opening openings[2 * BATCH];
        struct live_grab g[2 * BATCH];
        for (uint64_t i = 0; i < 2 * BATCH; i++) /* each user twice */
            openings[i] = (struct opening){ FIRST_USER + user + i / 2, .nickname = STR("n") };
        open_all(openings, 2 * BATCH, g);
        for (size_t i = 0; i < 2 * BATCH; i++) {
            answers[g[i].code]++;
            if (g[i].code != LIVE_GRABBED)
                continue;
            assert_false(taken[g[i].share_no]);
            taken[g[i].share_no] = true;
            sum_fen += g[i].amount_fen;
        }
    }
    assert_ints({ answers[LIVE_GRABBED], SHARES }, { answers[LIVE_ALREADY], SHARES },
                { answers[LIVE_EMPTY], 2 * (USERS - SHARES) }, { sum_fen, s.p.amount_fen },
                { seen().grabbed_fen, s.p.amount_fen });
}

/* ---- crowds: several grabs in one round ---- */

/* All in one round; each must get an answer with this code. */
#define CROWD_GETS(openings, ...)                                                                                      \
    crowd_gets(openings, (const enum live_code[]){ __VA_ARGS__ },                                                      \
               sizeof((const enum live_code[]){ __VA_ARGS__ }) / sizeof(enum live_code))
static void crowd_gets(const struct opening *openings, const enum live_code *codes, size_t count)
{
    struct live_grab g[REDIS_CROWD_MAX];
    open_all(openings, count, g);
    for (size_t i = 0; i < count; i++)
        if (g[i].code != codes[i])
            fail_msg("answer %zu is %d, not %d", i, (int)g[i].code, (int)codes[i]);
}

/* Reads the newest entry of the partition's stream: its events, in out. */
static size_t last_entry(struct redis_call *call, struct live_event *out, size_t max)
{
    size_t count = 0;
    (void)last_event(call);
    assert_in_range(live_entry_events(redis_reply_at(call->reply, 0)), 1, max);
    assert_int_equal(live_entry_read(redis_reply_at(call->reply, 0), out, &count), ST_OK);
    return count;
}

TEST(of_a_crowd_only_the_receivers_get_a_share)
{
    struct live_grab g[REDIS_CROWD_MAX];
    struct opening openings[REDIS_CROWD_MAX];
    sample_make(PACKET_LUCKY, RECEIVERS_MAX);
    receivers_set(RECEIVERS_MAX);
    (void)load();
    for (size_t i = 0; i < REDIS_CROWD_MAX; i++)
        openings[i] = (struct opening){ .user = FIRST_USER + i };
    open_all(openings, REDIS_CROWD_MAX, g);
    for (size_t i = 0; i < REDIS_CROWD_MAX; i += 2)
        assert_ints({ g[i].code, LIVE_GRABBED }, { g[i].share_no, i / 2 }, { g[i + 1].code, LIVE_NOT_FOR_YOU });
}

TEST(of_a_crowd_each_user_is_asked_for_the_phrase_and_has_the_tries_of_before)
{
    enum { A = FIRST_USER, B, C, D };
    static const struct try crowd[] = {
        { A, STR("other"), LIVE_WRONG_PHRASE, 9 },
        { B, PHRASE, LIVE_GRABBED, 0 },
        { A, STR("third"), LIVE_WRONG_PHRASE, 8 },
        { D, STR("third"), LIVE_WRONG_PHRASE, 7 },
        { A, PHRASE, LIVE_GRABBED, 0 },
        { A, STR("other"), LIVE_ALREADY, 0 },
        { C, STR(""), LIVE_WRONG_PHRASE, 10 },
        { C, STR("other"), LIVE_WRONG_PHRASE, 9 },
    };
    struct opening openings[ARRAY_LEN(crowd)];
    struct live_grab g[ARRAY_LEN(crowd)];
    sample_load_with_phrase(5);
    assert_tries({ D, STR("other"), LIVE_WRONG_PHRASE, 9 }, { D, STR("other"), LIVE_WRONG_PHRASE, 8 });
    for (size_t i = 0; i < ARRAY_LEN(crowd); i++)
        openings[i] = (struct opening){ crowd[i].user, .phrase = crowd[i].phrase };
    open_all(openings, ARRAY_LEN(crowd), g);
    for (size_t i = 0; i < ARRAY_LEN(crowd); i++)
        assert_ints({ g[i].code, crowd[i].code }, { g[i].tries_left, crowd[i].left });
    assert_tries({ C, STR("other"), LIVE_WRONG_PHRASE, 8 }); /* the crowd's tries are remembered */
}

TEST(a_crowd_is_one_event_and_each_user_gets_an_answer_of_their_own)
{
    enum { A = FIRST_USER, B, C, D, CROWD = 6 };
    static const struct opening openings[CROWD] = { { .user = B }, { .user = A }, { .user = B },
                                                    { .user = C }, { .user = D }, { .user = C } };
    static const struct live_grab want[CROWD] = {
        { .code = LIVE_GRABBED, .share_no = 1, .amount_fen = 101, .left_count = 1 },
        { .code = LIVE_ALREADY, .share_no = 0, .amount_fen = 100, .left_count = 1 },
        { .code = LIVE_ALREADY, .share_no = 1, .amount_fen = 101, .left_count = 1 },
        { .code = LIVE_GRABBED, .share_no = 2, .amount_fen = 102, .left_count = 0 },
        { .code = LIVE_EMPTY, .count = 3 },
        { .code = LIVE_ALREADY, .share_no = 2, .amount_fen = 102, .left_count = 0 },
    };
    struct live_grab g[CROWD];
    struct live_event e[CROWD];
    struct redis_call call;
    sample_load(PACKET_LUCKY, 3);
    (void)grab(A);
    open_all(openings, CROWD, g);
    for (size_t i = 0; i < CROWD; i++)
        assert_ints({ g[i].code, want[i].code }, { g[i].share_no, want[i].share_no },
                    { g[i].amount_fen, want[i].amount_fen }, { g[i].count, want[i].count },
                    { g[i].left_count, want[i].left_count });
    assert_int_equal(last_entry(&call, e, CROWD), 2);
    for (size_t i = 0; i < 2; i++)
        assert_ints({ e[i].packet_id, s.p.id }, { e[i].share_no, 1 + i }, { e[i].user_id, i == 0 ? B : C },
                    { e[i].amount_fen, 101 + i }, { live_event_id_equal(e[i].id, e[0].id), true });
    redis_call_free(&call);
    struct packet_view v = view(B, PACKET_NO_SHARE, 10);
    assert_ints({ v.packet.grabbed_count, 3 }, { v.packet.grabbed_fen, 303 }, { v.mine.share_no, 1 });
}

TEST(a_nickname_in_a_crowd_can_hold_every_byte)
{
    struct live_grab g[3];
    struct live_event e[3];
    struct redis_call call;
    char bytes[256];
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (char)i;
    const struct opening openings[] = { { FIRST_USER, .nickname = { bytes, sizeof bytes } },
                                        { FIRST_USER + 1, .nickname = STR(",1,g 5\n") },
                                        { FIRST_USER + 2, .nickname = STR("") } };
    sample_load(PACKET_LUCKY, 3);
    open_all(openings, 3, g);
    assert_int_equal(last_entry(&call, e, 3), 3);
    struct packet_view v = view(FIRST_USER, PACKET_NO_SHARE, 10);
    for (size_t i = 0; i < 3; i++) {
        assert_true(str_equal(e[i].nickname, openings[i].nickname));
        assert_true(str_equal(v.rows[i].nickname, openings[2 - i].nickname));
    }
    redis_call_free(&call);
}

TEST(crowds_of_several_packets_are_answered_apart)
{
    uint64_t ids[2];
    struct opening openings[8];
    struct live_grab g[8];
    for (size_t k = 0; k < 2; k++) {
        sample_load(PACKET_LUCKY, 2);
        ids[k] = s.p.id;
    }
    for (size_t i = 0; i < 8; i++)
        openings[i] = (struct opening){ FIRST_USER + i, .packet_id = ids[i % 2] };
    open_all(openings, 8, g);
    for (size_t i = 0; i < 8; i++)
        assert_ints({ g[i].code, i < 4 ? LIVE_GRABBED : LIVE_EMPTY }, { g[i].share_no, i < 4 ? i / 2 : 0 });
}

TEST(a_crowd_at_a_missing_shut_or_expired_packet_gets_one_answer)
{
    static const struct opening openings[] = { { .user = FIRST_USER },
                                               { .user = FIRST_USER + 1 },
                                               { .user = FIRST_USER + 2 } };
    sample_make(PACKET_LUCKY, 5);
    CROWD_GETS(openings, LIVE_MISSING, LIVE_MISSING, LIVE_MISSING);
    (void)load();
    (void)grab(FIRST_USER);
    set_expired();
    CROWD_GETS(openings, LIVE_ALREADY, LIVE_EXPIRED, LIVE_EXPIRED);
    field_set("grabbed_fen", "0"); /* as if a key had been lost */
    CROWD_GETS(openings, LIVE_BUSY, LIVE_BUSY, LIVE_BUSY);
}

/* ---- view ---- */

TEST(a_view_contains_all_fields_of_the_packet)
{
    sample_load(PACKET_EXCLUSIVE, 1);
    struct packet_view v = view(0, PACKET_NO_SHARE, 10);
    const struct packet *p = &v.packet;
    assert_ints({ p->id, s.p.id }, { p->sender_id, SENDER }, { p->receiver_id, FIRST_USER },
                { p->kind, PACKET_EXCLUSIVE }, { p->split, SPLIT_EVEN }, { p->amount_fen, s.p.amount_fen },
                { p->count, 1 }, { p->best_share_no, PACKET_NO_SHARE }, { p->state, PACKET_OPEN },
                { p->created_ms, s.p.created_ms }, { p->expires_ms, s.p.expires_ms }, { p->grabbed_count, 0 },
                { p->finished_ms, 0 });
    assert_true(str_equal(p->sender_name, s.p.sender_name));
    assert_true(str_equal(p->receiver_name, s.p.receiver_name));
    assert_true(str_equal(p->greeting, s.p.greeting));
    assert_memory_equal(p->seed, s.p.seed, SEED_BYTES);
    assert_memory_equal(p->commitment, s.p.commitment, HASH_BYTES);
    assert_ints({ v.busy, false }, { v.has_mine, false }, { v.row_count, 0 }, { v.next, 0 });
    assert_true(llabs(v.now_ms - clock_now_ms()) < 60000);
}

TEST(rows_are_newest_first_in_pages)
{
    sample_load(PACKET_LUCKY, 7);
    grab_first(7);
    uint32_t after = PACKET_NO_SHARE, want = 7, pages = 0;
    do {
        struct packet_view v = view(FIRST_USER + 2, after, 3);
        assert_ints({ v.has_mine, true }, { v.mine.share_no, 2 }, { v.mine.amount_fen, s.shares_fen[2] });
        for (size_t i = 0; i < v.row_count; i++) {
            want--;
            assert_ints({ v.rows[i].share_no, want }, { v.rows[i].user_id, FIRST_USER + want },
                        { v.rows[i].amount_fen, s.shares_fen[want] });
            assert_text(v.rows[i].nickname, "某,人");
        }
        after = v.next;
        pages++;
    } while (after != 0);
    struct packet_view v = view(0, PACKET_NO_SHARE, 1);
    assert_ints({ want, 0 }, { pages, 3 }, { v.packet.state, PACKET_FINISHED },
                { v.packet.finished_ms, v.rows[0].grabbed_ms });
}

TEST(rows_of_an_open_packet_are_for_its_sender_and_for_who_has_a_share)
{
    static const struct {
        uint64_t visitor;
        bool expired;
        size_t rows;
    } rows[] = {
        { SENDER, false, 3 },           { FIRST_USER + 2, false, 3 }, { FIRST_USER + 3, false, 0 },
        { 0 /* a screen */, false, 3 }, { FIRST_USER + 3, true, 3 },
    };
    sample_load(PACKET_LUCKY, 4);
    grab_first(3);
    EACH (row, rows) {
        if (row->expired)
            set_expired();
        struct packet_view v = view(row->visitor, PACKET_NO_SHARE, 10);
        assert_ints({ v.row_count, row->rows }, { v.packet.grabbed_count, 3 });
    }
    sample_load(PACKET_LUCKY, 1); /* finished */
    grab_first(1);
    assert_int_equal(view(FIRST_USER + 3, PACKET_NO_SHARE, 10).row_count, 1);
}

TEST(the_luckiest_is_told_when_the_newest_rows_of_a_finished_packet_lack_it)
{
    static const struct {
        uint64_t visitor;
        uint32_t after, limit;
        bool told;
    } views[] = {
        { FIRST_USER, PACKET_NO_SHARE, 2, true },
        { 0, 5, 3, true },                /* the newest rows, too */
        { 0, PACKET_NO_SHARE, 4, false }, /* among them */
        { 0, PACKET_NO_SHARE, 0, false }, /* no rows wanted */
        { FIRST_USER, 4, 2, false },      /* a later part of the list */
    };
    sample_make(PACKET_LUCKY, 5);
    s.p.best_share_no = 1;
    (void)load();
    grab_first(4);
    assert_null(view(FIRST_USER, PACKET_NO_SHARE, 2).luckiest); /* a share is left */
    (void)grab(FIRST_USER + 4);
    EACH (row, views) {
        const struct grab *luckiest = view(row->visitor, row->after, row->limit).luckiest;
        assert_int_equal(luckiest != NULL, row->told);
        if (luckiest != NULL)
            assert_ints({ luckiest->share_no, 1 }, { luckiest->user_id, FIRST_USER + 1 },
                        { luckiest->amount_fen, s.shares_fen[1] });
    }
    sample_load(PACKET_EVEN, 2);
    grab_first(2);
    assert_null(view(0, PACKET_NO_SHARE, 1).luckiest);
}

/* Publishes the position of the packet's partition; LIVE_EVENT_NONE: deletes it. */
static void position_set(struct live_event_id event)
{
    char id[LIVE_EVENT_ID_MAX];
    if (live_event_id_equal(event, LIVE_EVENT_NONE))
        (void)redis_number(app->stores.redis, "DEL %s", key(LIVE_KEY_SETTLED));
    else
        (void)redis_number(app->stores.redis, "SET %s %s", key(LIVE_KEY_SETTLED), live_event_id_text(id, event).ptr);
}

/* Reads the view of a user: exactly the shares below `settled` are settled. */
static void settled_expect(uint32_t user, uint32_t settled)
{
    struct packet_view v = view(FIRST_USER + user, PACKET_NO_SHARE, 10);
    assert_ints({ v.mine.share_no, user }, { v.mine.settled, user < settled });
    for (size_t i = 0; i < v.row_count; i++)
        assert_int_equal(v.rows[i].settled, v.rows[i].share_no < settled);
}

TEST(a_grab_is_settled_up_to_the_published_position)
{
    sample_load(PACKET_LUCKY, 2);
    grab_first(1);
    struct live_event_id first = last_event_id();
    (void)grab(FIRST_USER + 1);
    settled_expect(0, 0);
    position_set(first);
    settled_expect(0, 1);
    position_set(LIVE_EVENT_NONE);
}

TEST(grabs_and_refund_behind_a_dead_letter_are_not_settled)
{
    sample_make(PACKET_LUCKY, 1); /* not in Redis */
    struct live_hold holds[2] = { { .packet_id = s.p.id, .from_share = 0 } };
    sample_load(PACKET_LUCKY, 4);
    holds[1] = (struct live_hold){ .packet_id = s.p.id, .from_share = 1 };
    grab_first(3);
    set_expired();
    const int64_t rest_fen = closed().rest_fen;
    position_set(last_event_id());
    settled_expect(2, 3);
    assert_int_equal(seen().refund_fen, rest_fen);

    memory_limit("1");
    enum status st = live_hold_all(&live, holds, 2);
    memory_limit("2gb");
    assert_int_equal(st, ST_OK);
    settled_expect(0, 1);
    settled_expect(1, 1);
    assert_int_equal(seen().refund_fen, 0);

    holds[1].from_share = PACKET_NO_SHARE;
    assert_int_equal(live_hold_all(&live, &holds[1], 1), ST_OK);
    settled_expect(1, 3);
    assert_int_equal(seen().refund_fen, rest_fen);
    position_set(LIVE_EVENT_NONE);
    s.p.id = holds[0].packet_id;
    assert_int_equal(redis_number(app->stores.redis, "EXISTS %s", key(LIVE_KEY_PACKET)), 0); /* not created */
}

/* ---- close ---- */

TEST(an_expired_packet_is_closed_once_with_the_rest)
{
    struct redis_call call;
    sample_load(PACKET_LUCKY, 3);
    (void)grab(FIRST_USER);
    const int64_t rest_fen = s.p.amount_fen - s.shares_fen[0];
    assert_int_equal(closed().code, LIVE_NOT_YET);
    set_expired();
    struct packet_view before = view(0, PACKET_NO_SHARE, 0);
    struct live_close c = closed();
    struct packet_view after = view(0, PACKET_NO_SHARE, 0);
    assert_ints({ before.packet.state, PACKET_EXPIRED }, { before.over, false }, { after.over, true });
    assert_ints({ c.code, LIVE_CLOSED }, { c.grabbed_count, 1 }, { c.grabbed_fen, s.shares_fen[0] },
                { c.rest_fen, rest_fen });
    struct live_event e = last_event(&call);
    assert_ints({ e.type, LIVE_EVENT_CLOSE }, { e.packet_id, s.p.id }, { e.grabbed_count, 1 },
                { e.grabbed_fen, s.shares_fen[0] }, { e.rest_fen, rest_fen });
    redis_call_free(&call);
    assert_int_equal(closed().code, LIVE_ALREADY);
    assert_int_equal(seen().state, PACKET_EXPIRED);
    assert_int_equal(live_remove(&live, s.p.id), ST_OK);
    assert_grabs(LIVE_MISSING, FIRST_USER);
}

TEST(a_finished_packet_has_nothing_to_close)
{
    sample_load(PACKET_LUCKY, 1);
    (void)grab(FIRST_USER);
    set_expired();
    assert_int_equal(closed().code, LIVE_FINISHED);
    assert_int_equal(seen().state, PACKET_FINISHED);
}

/* ---- load ---- */

TEST(loading_twice_changes_nothing)
{
    sample_load(PACKET_LUCKY, 3);
    (void)grab(FIRST_USER);
    assert_int_equal(load(), LIVE_EXISTS);
    assert_int_equal(view(FIRST_USER, PACKET_NO_SHARE, 0).packet.grabbed_count, 1);
}

TEST(options_are_shown_and_are_absent_without_them)
{
    sample_load(PACKET_LUCKY, 3);
    struct packet p = seen();
    assert_ints({ p.opens_ms + p.ended_ms, 0 }, { p.cover.len + p.phrase_hash.len + p.phrase_sealed.len, 0 },
                { p.receiver_count + p.returned_count + p.thanks_count, 0 });
    assert_int_equal(live_remove(&live, s.p.id), ST_OK);

    s.p.opens_ms = s.p.created_ms + 1;
    s.p.ended_ms = s.p.created_ms + 2;
    s.p.phrase_hash = (struct str){ "\0\n\xff", 3 };
    s.p.phrase_sealed = STR("sealed");
    s.p.cover = STR("wedding");
    s.p.note = STR("for me");
    s.p.receiver_count = 3;
    s.p.returned_count = 2;
    s.p.returned_fen = s.shares_fen[0] + s.shares_fen[1];
    s.shares_fen[3] = s.shares_fen[0];
    s.shares_fen[4] = s.shares_fen[1];
    s.p.returned_shares = STR("0,1");
    s.p.thanks_count = 5;
    (void)load();
    p = seen();
    assert_ints({ p.opens_ms, s.p.opens_ms }, { p.ended_ms, s.p.ended_ms }, { p.receiver_count, 3 },
                { p.returned_count, 2 }, { p.returned_fen, s.p.returned_fen }, { p.thanks_count, 5 },
                { p.count, 3 } /* of the draw */, { p.amount_fen, s.p.amount_fen });
    assert_true(str_equal(p.phrase_hash, s.p.phrase_hash));
    assert_text(p.phrase_sealed, "sealed");
    assert_text(p.cover, "wedding");
    assert_true(str_equal(p.note, s.p.note));
    assert_text(p.returned_shares, "0,1");
    assert_int_equal(live_remove(&live, s.p.id), ST_OK);
}

TEST(shares_that_do_not_add_up_are_not_loaded)
{
    static const struct live_settled other = { .user_id = FIRST_USER, .nickname = STR("n"), .amount_fen = 1 };
    enum live_code code;
    sample_make(PACKET_LUCKY, 3);
    s.p.amount_fen--;
    assert_int_equal(load(), LIVE_BAD);
    s.p.amount_fen++;
    s.shares_fen[0] = 0;
    assert_int_equal(load(), LIVE_BAD);
    sample_make(PACKET_LUCKY, 3);
    assert_int_equal(live_load(&live, &s.p, s.shares_fen, &other, 1, LIVE_STATE_OPEN, &code), ST_OK);
    assert_int_equal(code, LIVE_BAD);
    assert_grabs(LIVE_MISSING, FIRST_USER);
}

/* Rebuilds a packet of count shares with settled_count grabs, and compares. */
static void rebuild(uint32_t count, uint32_t settled_count)
{
    static struct live_settled settled[SHARES_MAX];
    int64_t sum_fen = 0;
    enum live_code code;
    sample_load(PACKET_LUCKY, count);
    (void)grab(FIRST_USER + 5); /* discarded by the rebuild */
    for (uint32_t i = 0; i < settled_count; i++) {
        settled[i] = (struct live_settled){ .user_id = FIRST_USER + i,
                                            .nickname = STR("老,友"),
                                            .amount_fen = s.shares_fen[i],
                                            .event = { .ms = 1700000000000 + i } };
        sum_fen += s.shares_fen[i];
    }
    (void)redis_number(app->stores.redis, "EXPIRE %s 3600", key(LIVE_KEY_PACKET));
    assert_int_equal(live_shut(&live, &s.p.id, 1), ST_OK);
    assert_true(view(0, PACKET_NO_SHARE, 0).busy);
    assert_grabs(LIVE_BUSY, FIRST_USER + SHARES_MAX);
    assert_int_equal(closed().code, LIVE_BUSY);
    assert_int_equal(live_load(&live, &s.p, s.shares_fen, settled, settled_count, LIVE_STATE_OPEN, &code), ST_OK);
    assert_int_equal(code, LIVE_LOADED);

    assert_int_equal(redis_number(app->stores.redis, "TTL %s", key(LIVE_KEY_PACKET)), -1);
    struct packet_view v = view(FIRST_USER + settled_count - 1, PACKET_NO_SHARE, 1);
    assert_ints({ v.busy, false }, { v.packet.grabbed_count, settled_count }, { v.packet.grabbed_fen, sum_fen },
                { v.mine.share_no, settled_count - 1 }, { v.mine.grabbed_ms, 1700000000000 + settled_count - 1 });
    assert_text(v.rows[0].nickname, "老,友");
    struct live_grab next = grab(FIRST_USER + SHARES_MAX);
    assert_ints({ next.code, LIVE_GRABBED }, { next.share_no, settled_count });
    assert_grabs(LIVE_ALREADY, FIRST_USER);
    assert_int_equal(live_remove(&live, s.p.id), ST_OK);
}

TEST(a_busy_packet_is_rebuilt_from_its_settled_grabs_and_a_large_one_in_several_calls)
{
    rebuild(10, 3);
    rebuild(SHARES_MAX, 2500);
    rebuild(SHARES_MAX, 1000);
    rebuild(SHARES_MAX, 1001);
}

/* As when two workers rebuild one packet, or a call was delayed. */
TEST(a_repeated_call_of_a_rebuild_is_refused)
{
    sample_load(PACKET_LUCKY, 3);
    assert_int_equal(grab(FIRST_USER).share_no, 0);
    assert_int_equal(live_shut(&live, &s.p.id, 1), ST_OK);
    struct live_keys keys;
    /* A rebuild: one grab from share 1 on, further calls follow. */
    const struct str args[] = { STR("open"), STR("1"), STR("1"), STR("1"),
                                STR(""),     STR(""),  STR("0"), STR("20001,101,1700000000000-0,名") };
    live_keys(&keys, s.p.id, PARTITIONS);
    for (int64_t wanted = LIVE_LOADED;; wanted = LIVE_BAD) {
        struct redis_call call;
        int64_t code;
        assert_int_equal(redis_do_function(app->stores.redis, &call, redis_function_find(app->stores.functions, "load"),
                                           REDIS_ANY, keys.key, 4, args, ARRAY_LEN(args)),
                         ST_OK);
        assert_true(redis_reply_i64(redis_reply_at(call.reply, 0), &code));
        assert_int_equal(code, wanted);
        redis_call_free(&call);
        if (wanted == LIVE_BAD)
            break;
    }
    assert_int_equal(live_remove(&live, s.p.id), ST_OK);
}

TEST(a_closed_packet_can_be_shown_again)
{
    enum live_code code;
    sample_make(PACKET_LUCKY, 2);
    assert_int_equal(live_load(&live, &s.p, s.shares_fen, NULL, 0, LIVE_STATE_CLOSED, &code), ST_OK);
    assert_int_equal(code, LIVE_LOADED);
    assert_grabs(LIVE_EXPIRED, FIRST_USER);
    assert_int_equal(seen().state, PACKET_EXPIRED);
}

/* ---- events ---- */

TEST(keys_of_a_packet_lie_in_one_slot)
{
    struct live_keys keys;
    live_keys(&keys, 18446744073709551615u, 100);
    for (size_t i = 0; i < LIVE_KEY_COUNT; i++)
        assert_true(str_starts(keys.key[i], STR("hb:{p15}:")));
    assert_text(keys.key[LIVE_KEY_PACKET], "hb:{p15}:packet:18446744073709551615");
    assert_text(keys.key[LIVE_KEY_EVENTS], "hb:{p15}:events");
    live_keys(&keys, 12, 8);
    assert_text(keys.key[LIVE_KEY_SETTLED], "hb:{p04}:settled");
}

/* Adds field and value to a separate stream and reads the entry. */
static enum status event_of(const char *field, const char *value)
{
    const struct str range[] = { STR("XRANGE"), STR("test:events"), STR("-"), STR("+") };
    struct redis_call call;
    struct live_event e;
    (void)redis_number(app->stores.redis, "XADD test:events * %s %s", field, value);
    assert_int_equal(redis_do(app->stores.redis, &call, range, 4), ST_OK);
    enum status st = live_entry_first(redis_reply_at(call.reply, 0), &e);
    assert_true(e.id.ms > 0);
    redis_call_free(&call);
    (void)redis_number(app->stores.redis, "DEL test:events");
    return st;
}

TEST(a_malformed_event_is_refused)
{
    static const char *const good[][2] = { { "g", "5,0,10001,100,n" },
                                           { "g", "5,0,10001,100," },
                                           { "c", "5,1,100,20" } };
    static const char *const malformed[][2] = {
        { "g", "" },
        { "g", "5" },
        { "g", "5,0,10001,100" },
        { "g", "x,0,10001,100,n" },
        { "g", "5,-1,10001,100,n" },
        { "g", "5,0,10001,0,n" },
        { "g", "5,0,10001,9223372036854775808,n" },
        { "g", "5,4294967295,1,1,n" },
        { "g", "5,0,,100,n" },
        { "g", "05,0,10001,100,n" },
        { "c", "5,1,100" },
        { "c", "5,1,100,20,9" },
        { "x", "5,0,10001,100,n" },
    };
    EACH (e, good)
        assert_of((*e)[1], event_of((*e)[0], (*e)[1]) == ST_OK);
    EACH (e, malformed)
        assert_of((*e)[1], event_of((*e)[0], (*e)[1]) == ST_CORRUPT);
}

TEST(event_ids_compare_by_time_then_sequence)
{
    static const char *const ascending[] = { "9-10", "9-11", "10-9" };
    struct live_event_id ids[ARRAY_LEN(ascending)], none;
    char text[LIVE_EVENT_ID_MAX];
    for (size_t i = 0; i < ARRAY_LEN(ascending); i++) {
        assert_true(live_event_id_parse(str_from(ascending[i]), &ids[i]));
        assert_text(live_event_id_text(text, ids[i]), ascending[i]);
        assert_int_equal(live_event_id_compare(ids[i], ids[i]), 0);
        if (i > 0)
            assert_true(live_event_id_compare(ids[i - 1], ids[i]) < 0 && live_event_id_compare(ids[i], ids[i - 1]) > 0);
    }
    EACH_TEXT (wrong, "9", "9-", "-9", "9-1x")
        assert_of(wrong, !live_event_id_parse(str_from(wrong), &none));
}

TESTS(setup, teardown)
