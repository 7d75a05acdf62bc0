/* web/limits and user/login_limits: Redis counts, and what is beyond a limit is refused before any work is done. */
#include <inttypes.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/random.h"
#include "io/metrics.h"
#include "io/redis_reply.h"
#include "pages/export_limit.h"
#include "pages/records.h"
#include "pages/send_receivers.h"
#include "support/stores_do.h"
#include "support/test.h"
#include "test_user_app.h"
#include "user/deletion_page.h"
#include "user/known_device.h"
#include "user/login.h"
#include "user/password_page.h"
#include "user/recovery_page.h"
#include "user/register.h"
#include "user/token_page.h"
#include "web/limits.h"
#include "web/respond.h"

#define LIMITS_TEST(name) TEST_WITH(name, no_limits, NULL)

static unsigned name_count;

static struct str fresh(struct arena *a)
{
    return arena_printf(a, "t%012" PRIx64 "-%u", random_u64() >> 16, name_count++);
}

/* A request from an address, for limits_take. */
static void visit_from(struct visit *v, const char *address)
{
    visit_begin(v, app, "/", NULL, NULL);
    snprintf(v->cookie, sizeof v->cookie, "REMOTE_ADDR=%s", address);
    v->envp[0] = v->cookie;
}

/* A request of a user from 10.NETWORK.1. */
static void visit_by(struct visit *v, unsigned network, uint64_t user_id)
{
    char address[32];
    snprintf(address, sizeof address, "10.%u.%u.1", network >> 8 & 0xff, network & 0xff);
    visit_from(v, address);
    v->x.visitor.user_id = user_id;
}

static unsigned fresh_network(void)
{
    return (unsigned)(random_u64() & 0xffff);
}

/* Takes once; a refusal is answered in v. */
static bool taken(struct visit *v, enum limit limit, struct str subject)
{
    return limits_take(&v->x, &(struct limit_use){ limit, subject }, 1);
}

LIMITS_TEST(what_is_beyond_a_limit_is_429_with_retry_after)
{
    struct visit v;
    strcpy(config->limit_login_account, "3 1/d");
    visit_from(&v, "192.0.2.1");
    struct str name = fresh(v.x.arena);
    uint64_t before = metrics_get(METRIC_LIMITED_LOGIN_ACCOUNT);
    for (int i = 0; i < 3; i++)
        assert_true(taken(&v, LIMIT_LOGIN_ACCOUNT, name));
    assert_false(taken(&v, LIMIT_LOGIN_ACCOUNT, name));
    assert_int_equal(v.x.status, 429);
    assert_true(visit_body_has(&v, "\"type\":\"urn:hongbao:problem:too-many\""));
    int64_t wait_s = visit_json_int(&v, "retry_after");
    assert_true(wait_s > 86000 && wait_s <= 86400);
    char text[32];
    snprintf(text, sizeof text, "%" PRId64, wait_s);
    assert_true(str_equal(visit_header(&v, "Retry-After"), str_from(text)));
    assert_int_equal(metrics_get(METRIC_LIMITED_LOGIN_ACCOUNT) - before, 1);
    assert_true(taken(&v, LIMIT_LOGIN_ACCOUNT, fresh(v.x.arena)));
    visit_end(&v);
}

LIMITS_TEST(a_limit_refills_with_time)
{
    struct visit v;
    strcpy(config->limit_login_account, "2 1000000/s");
    visit_from(&v, "192.0.2.1");
    struct str name = fresh(v.x.arena);
    for (int i = 0; i < 50; i++) /* a call takes longer than a microsecond */
        assert_true(taken(&v, LIMIT_LOGIN_ACCOUNT, name));
    visit_end(&v);
}

LIMITS_TEST(pauses_grow_with_the_tiers)
{
    struct visit v;
    strcpy(config->limit_login_account, "1 1/h 3 1/d");
    visit_from(&v, "192.0.2.1");
    struct str name = fresh(v.x.arena);
    assert_true(taken(&v, LIMIT_LOGIN_ACCOUNT, name));
    assert_false(taken(&v, LIMIT_LOGIN_ACCOUNT, name));
    assert_true(visit_json_int(&v, "retry_after") <= 3600);
    strcpy(config->limit_login_account, "1 1000000/s 3 1/d");
    struct str other = fresh(v.x.arena);
    for (int i = 0; i < 3; i++)
        assert_true(taken(&v, LIMIT_LOGIN_ACCOUNT, other));
    assert_false(taken(&v, LIMIT_LOGIN_ACCOUNT, other));
    assert_true(visit_json_int(&v, "retry_after") > 3600);
    visit_end(&v);
}

LIMITS_TEST(of_several_limits_all_are_taken_or_none)
{
    struct visit v;
    strcpy(config->limit_login_account, "1 1/d");
    strcpy(config->limit_hash_site, "3 1/d");
    visit_from(&v, "192.0.2.1");
    struct str site = fresh(v.x.arena), name = fresh(v.x.arena);
    struct limit_use uses[] = { { LIMIT_HASH_SITE, site }, { LIMIT_LOGIN_ACCOUNT, name } };
    assert_true(limits_take(&v.x, uses, 2));
    for (int i = 0; i < 5; i++)
        assert_false(limits_take(&v.x, uses, 2));
    for (int i = 0; i < 2; i++) {
        uses[1].subject = fresh(v.x.arena);
        assert_true(limits_take(&v.x, uses, 2));
    }
    uses[1].subject = fresh(v.x.arena);
    assert_false(limits_take(&v.x, uses, 2));
    visit_end(&v);
}

LIMITS_TEST(what_is_given_back_can_be_taken_again_but_never_more)
{
    struct visit v;
    strcpy(config->limit_login_account, "2 1/d");
    visit_from(&v, "192.0.2.1");
    const struct limit_use use = { LIMIT_LOGIN_ACCOUNT, fresh(v.x.arena) };
    assert_true(limits_take(&v.x, &use, 1) && limits_take(&v.x, &use, 1));
    limits_give_back(&v.x, &use, 1);
    assert_true(limits_take(&v.x, &use, 1));
    assert_false(limits_take(&v.x, &use, 1));
    for (int i = 0; i < 5; i++)
        limits_give_back(&v.x, &use, 1);
    assert_true(limits_take(&v.x, &use, 1) && limits_take(&v.x, &use, 1));
    assert_false(limits_take(&v.x, &use, 1));
    visit_end(&v);
}

LIMITS_TEST(an_address_and_its_network_have_limits_of_their_own)
{
    struct visit v;
    char address[32];
    unsigned net = fresh_network();
    strcpy(config->limit_register_address, "1 1/d");
    strcpy(config->limit_register_network, "2 1/d");
    const unsigned set = LIMITED_BY(LIMIT_REGISTER_ADDRESS) | LIMITED_BY(LIMIT_REGISTER_NETWORK);
    for (unsigned host = 1; host <= 3; host++) {
        snprintf(address, sizeof address, "10.%u.%u.%u", net >> 8, net & 0xff, host);
        visit_from(&v, address);
        assert_int_equal(limits_take_set(&v.x, set), host <= 2);
        assert_false(limits_take_set(&v.x, set));
        visit_end(&v);
    }
}

LIMITS_TEST(keys_expire)
{
    struct visit v;
    strcpy(config->limit_login_account, "5 1/h");
    visit_from(&v, "192.0.2.1");
    struct str name = fresh(v.x.arena);
    assert_true(taken(&v, LIMIT_LOGIN_ACCOUNT, name));
    const int64_t ms = redis_number(app->stores.redis, "PTTL hb:{limit}:login_account:%.*s", STR_ARG(name));
    assert_in_range(ms, 1, 3600000);
    visit_end(&v);
}

LIMITS_TEST(while_redis_is_away_nothing_passes)
{
    struct visit v;
    struct config away = *config;
    struct services other = *app;
    strcpy(away.redis, "unix:/nonexistent/redis.sock");
    strcpy(away.limit_send, "5 1/h");
    other.stores.config = &away;
    other.stores.redis = redis_new(&away);
    visit_begin(&v, &other, "/send", NULL, NULL);
    v.x.visitor.user_id = 1;
    assert_false(limits_take_set(&v.x, LIMITED_BY(LIMIT_SEND)));
    assert_int_equal(v.x.status, 503);
    assert_true(visit_header(&v, "Retry-After").ptr != NULL);
    redis_free(other.stores.redis);
    visit_end(&v);
}

LIMITS_TEST(switched_off_nothing_is_counted)
{
    struct visit v;
    strcpy(config->limit_send, "1 1/d");
    config->limits = false;
    visit_from(&v, "192.0.2.1");
    v.x.visitor.user_id = 7;
    for (int i = 0; i < 3; i++)
        assert_true(limits_take_set(&v.x, LIMITED_BY(LIMIT_SEND)));
    visit_end(&v);
}

/* ---- logins ---- */

struct person {
    char name[33];
    char device[VISIT_TEXT_MAX]; /* "device=…" */
};

/* The value of a Cookie header with the device cookie that the answer sets. */
static void device_cookie(const struct visit *v, char *out)
{
    struct str rest;
    struct str value = str_cut(str_after(buf_view(&v->x.headers), STR("Set-Cookie: device=")), ';', &rest);
    assert_true(value.len > 0);
    snprintf(out, VISIT_TEXT_MAX, "device=%.*s", STR_ARG(value));
}

static struct person registered(void)
{
    struct person p;
    struct visit v;
    char fields[VISIT_TEXT_MAX];
    snprintf(p.name, sizeof p.name, "u%012" PRIx64 "-%u", random_u64() >> 16, name_count++);
    snprintf(fields, sizeof fields, "username=%s&nickname=x&password=long+enough", p.name);
    assert_int_equal(visit_post(&v, app, register_submit, "/register", fields, NULL), 201);
    device_cookie(&v, p.device);
    visit_end(&v);
    return p;
}

/* Logs in from the known device; the cookie of the session. */
static void session_begin(const struct person *p, char session[VISIT_TEXT_MAX])
{
    struct visit v;
    char fields[VISIT_TEXT_MAX];
    snprintf(fields, sizeof fields, "username=%s&password=long+enough", p->name);
    assert_int_equal(visit_post(&v, app, login_submit, "/login", fields, p->device), 200);
    assert_true(visit_cookie(&v, session));
    visit_end(&v);
}

static int logged_in(const char *name, const char *password, const char *cookie)
{
    struct visit v;
    char fields[VISIT_TEXT_MAX];
    snprintf(fields, sizeof fields, "username=%s&password=%s", name, password);
    int status = visit_post(&v, app, login_submit, "/login", fields, cookie);
    visit_end(&v);
    return status;
}

LIMITS_TEST(a_guess_beyond_the_limit_is_refused_without_a_hash)
{
    struct person p = registered();
    strcpy(config->limit_login_account, "2 1/d");
    assert_int_equal(logged_in(p.name, "wrong-one", NULL), 422);
    assert_int_equal(logged_in(p.name, "wrong-two", NULL), 422);
    uint64_t hashes = metrics_get(METRIC_HASHES);
    for (int i = 0; i < 20; i++)
        assert_int_equal(logged_in(p.name, "wrong-more", NULL), 429);
    assert_int_equal(logged_in(p.name, "long+enough", NULL), 429);
    assert_int_equal(metrics_get(METRIC_HASHES), hashes);
}

LIMITS_TEST(the_owner_gets_in_from_a_known_device_while_others_guess)
{
    struct person p = registered();
    strcpy(config->limit_login_account, "1 1/d");
    strcpy(config->limit_hash_site, "3 1/d"); /* strangers and known devices each have so many */
    strcpy(config->limit_login_device, "3 1/d");
    while (logged_in(p.name, "wrong", NULL) != 429)
        continue;
    assert_int_equal(logged_in(p.name, "long+enough", p.device), 200);
    assert_int_equal(logged_in(p.name, "wrong", p.device), 422);
    assert_int_equal(logged_in(p.name, "long+enough", p.device), 200);
    assert_int_equal(logged_in(p.name, "long+enough", p.device), 429); /* its own limits */
}

LIMITS_TEST(a_device_is_known_for_its_user_only_and_can_not_be_made_up)
{
    struct person p = registered(), other = registered();
    char forged[VISIT_TEXT_MAX];
    strcpy(config->limit_login_account, "1 1/d");
    assert_int_equal(logged_in(p.name, "wrong", NULL), 422);
    assert_int_equal(logged_in(p.name, "long+enough", other.device), 429);
    strcpy(forged, p.device);
    forged[strlen(forged) - 1] ^= 1;
    assert_int_equal(logged_in(p.name, "long+enough", forged), 429);
    strcpy(forged, p.device);
    forged[strlen("device=")] = forged[strlen("device=")] == '0' ? '1' : '0';
    assert_int_equal(logged_in(p.name, "long+enough", forged), 429);
    assert_int_equal(logged_in(p.name, "long+enough", "device=."), 429);
    assert_int_equal(logged_in(p.name, "long+enough", p.device), 200);
}

LIMITS_TEST(right_passwords_do_not_count_as_wrong_ones)
{
    struct person p = registered();
    strcpy(config->limit_login_account, "1 1/d");
    strcpy(config->limit_login_new, "3 1/d");
    for (int i = 0; i < 3; i++)
        assert_int_equal(logged_in(p.name, "long+enough", NULL), 200);
    assert_int_equal(logged_in(p.name, "long+enough", NULL), 429); /* each was from a new device */
}

LIMITS_TEST(a_name_that_does_not_exist_is_limited_in_the_same_way)
{
    struct person p = registered();
    char missing[33];
    snprintf(missing, sizeof missing, "m%012" PRIx64, random_u64() >> 16);
    strcpy(config->limit_login_account, "2 1/d");
    const char *const names[] = { p.name, missing };
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        assert_int_equal(logged_in(names[i], "wrong", NULL), 422);
        assert_int_equal(logged_in(names[i], "wrong", NULL), 422);
        assert_int_equal(logged_in(names[i], "wrong", NULL), 429);
    }
}

LIMITS_TEST(a_known_device_keeps_its_number)
{
    struct person p = registered();
    struct visit v;
    char fields[VISIT_TEXT_MAX], again[VISIT_TEXT_MAX];
    snprintf(fields, sizeof fields, "username=%s&password=long+enough", p.name);
    assert_int_equal(visit_post(&v, app, login_submit, "/login", fields, p.device), 200);
    device_cookie(&v, again);
    assert_string_equal(again, p.device);
    visit_end(&v);
}

/* A wrong password for a name of its own, from 10.0.NETWORK.HOST. */
static int guessed_from(unsigned network, unsigned host)
{
    struct visit v;
    char fields[VISIT_TEXT_MAX], address[64];
    snprintf(fields, sizeof fields, "username=g%012" PRIx64 "-%u&password=wrong", random_u64() >> 16, name_count++);
    snprintf(address, sizeof address, "REMOTE_ADDR=10.%u.%u.%u", network >> 8, network & 0xff, host);
    visit_begin(&v, app, "/login", fields, NULL);
    v.envp[0] = address;
    assert_int_equal(login_submit(&v.x), STEP_DONE);
    int status = v.x.status;
    visit_end(&v);
    return status;
}

/* Each of these alone refuses a guess before its hash, whatever name is guessed. */
LIMITS_TEST(guesses_count_for_the_address_the_network_and_the_site)
{
    static const struct {
        size_t limit;                   /* offset in struct config */
        bool other_host, other_network; /* refused, too */
    } cases[] = {
        { offsetof(struct config, limit_login_address), false, false },
        { offsetof(struct config, limit_login_network), true, false },
        { offsetof(struct config, limit_hash_address), false, false },
        { offsetof(struct config, limit_hash_network), true, false },
        { offsetof(struct config, limit_hash_site), true, true },
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const unsigned network = fresh_network();
        char *rate = (char *)config + cases[i].limit;
        strcpy(rate, "1 1/d");
        (void)guessed_from(network, 1); /* a test before may have used up that of the site */
        uint64_t hashes = metrics_get(METRIC_HASHES);
        assert_int_equal(guessed_from(network, 1), 429);
        assert_int_equal(metrics_get(METRIC_HASHES), hashes);
        assert_int_equal(guessed_from(network, 2), cases[i].other_host ? 429 : 422);
        assert_int_equal(guessed_from(network ^ 1, 3), cases[i].other_network ? 429 : 422);
        strcpy(rate, "off");
    }
}

/* Twenty tokens or sessions of one user are one reader. Guests are no user: nginx counts their addresses. */
LIMITS_TEST(reading_counts_for_the_user_and_not_for_guests)
{
    struct visit v;
    strcpy(config->limit_read, "2 1/d");
    const uint64_t user_id = random_u64() >> 16;
    for (int i = 0; i < 8; i++) { /* each visit has a session of its own, from an address of its own */
        char address[32];
        snprintf(address, sizeof address, "192.0.2.%d", i);
        visit_from(&v, address);
        v.x.visitor.user_id = i < 4 ? user_id : 0;
        assert_int_equal(limits_take_set(&v.x, LIMITED_BY(LIMIT_READ)), i < 2 || i >= 4);
        visit_end(&v);
    }
}

/* The file of a user with 12,000 records takes three; at most as many as are there at once, so that it is not refused
 * for ever. */
LIMITS_TEST(a_file_of_many_records_counts_for_more_than_one)
{
    static const struct {
        const char *user, *address; /* rates */
        bool taken[3];
    } cases[] = { { "6 1/d", "off", { true, true, false } },
                  { "off", "4 1/d", { true, false, false } },
                  { "1 1/d", "2 1/d", { true, false, false } } };
    struct visit v;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const unsigned network = fresh_network();
        const uint64_t user_id = random_u64() >> 16;
        sql_do_with(app->stores.db,
                    "INSERT INTO user_month (user_id, year, month, sent_count, received_count) "
                    "VALUES (?, 2024, 2, 9000, 1000), (?, 2025, 1, 0, 2000)",
                    DB_PARAMS(DB_U64(user_id), DB_U64(user_id)));
        strcpy(config->limit_export, cases[i].user);
        strcpy(config->limit_export_address, cases[i].address);
        for (size_t k = 0; k < ARRAY_LEN(cases[i].taken); k++) {
            visit_by(&v, network, user_id);
            assert_int_equal(export_limit_take(&v.x), cases[i].taken[k]);
            assert_int_equal(v.x.status, cases[i].taken[k] ? 0 : 429);
            visit_end(&v);
        }
        sql_do_with(app->stores.db, "DELETE FROM user_month WHERE user_id = ?", DB_PARAMS(DB_U64(user_id)));
    }
}

/* Names are counted one by one, whether they exist or not, and also over the accounts of an address. */
LIMITS_TEST(names_count_for_the_user_and_the_address)
{
    static const struct {
        size_t names;
        bool other_user, taken;
    } steps[] = { { 3, false, true }, { 3, false, false }, { 2, false, true }, { 1, false, false },
                  { 0, false, true }, { 3, true, true },   { 1, true, false } };
    struct visit v;
    strcpy(config->limit_names, "5 1/d");
    strcpy(config->limit_names_address, "8 1/d");
    const uint64_t user_id = random_u64() >> 16;
    const unsigned network = fresh_network();
    for (size_t i = 0; i < ARRAY_LEN(steps); i++) {
        visit_by(&v, network, user_id + steps[i].other_user);
        assert_int_equal(names_take(&v.x, steps[i].names), steps[i].taken);
        visit_end(&v);
    }
    visit_from(&v, "192.0.2.9"); /* more than there ever is: all of it */
    v.x.visitor.user_id = user_id + 2;
    strcpy(config->limit_names_address, "off");
    assert_true(names_take(&v.x, 100));
    assert_false(names_take(&v.x, 1));
    visit_end(&v);
}

/* The status of a POST with this cookie from 10.NETWORK.1. */
static int posted_from(unsigned network, handler_fn *handler, const char *uri, const char *fields, const char *cookie)
{
    struct visit v;
    char address[64];
    snprintf(address, sizeof address, "REMOTE_ADDR=10.%u.%u.1", network >> 8 & 0xff, network & 0xff);
    visit_begin(&v, app, uri, fields, cookie);
    v.envp[cookie == NULL ? 0 : 1] = address;
    assert_int_equal(visit_look_up(&v), ST_OK);
    assert_int_equal(handler(&v.x), STEP_DONE);
    int status = v.x.status;
    visit_end(&v);
    return status;
}

/* A search reads up to a thousand records, so all users of an address have one limit; lists have none. */
LIMITS_TEST(searches_count_for_the_address)
{
    char name[VISIT_NAME_MAX], cookie[VISIT_TEXT_MAX];
    strcpy(config->limit_search_address, "1 1/d");
    const unsigned network = fresh_network();
    static const int wanted[] = { 200, 429 };
    for (size_t i = 0; i < ARRAY_LEN(wanted); i++) {
        fresh_username(name);
        (void)visit_register(app, name, cookie);
        assert_int_equal(posted_from(network, records_sent, "/records/sent?q=a", NULL, cookie), wanted[i]);
        assert_int_equal(posted_from(network, records_received, "/records/received", NULL, cookie), 200);
    }
}

static enum step records_sent_page(struct exchange *x)
{
    x->wants_json = false;
    return records_sent(x);
}

/* It has the sums of both directions; a program gets one. */
LIMITS_TEST(a_page_of_one_person_is_two_searches)
{
    char name[VISIT_NAME_MAX], cookie[VISIT_TEXT_MAX], uri[VISIT_TEXT_MAX];
    strcpy(config->limit_search_address, "4 1/d");
    const unsigned network = fresh_network();
    fresh_username(name);
    (void)visit_register(app, name, cookie);
    snprintf(uri, sizeof uri, "/records/sent?person=%s", name);
    assert_int_equal(posted_from(network, records_sent, uri, NULL, cookie), 200);                      /* 3 are left */
    assert_int_equal(posted_from(network, records_sent_page, "/records/sent?q=a", NULL, cookie), 200); /* 2 */
    assert_int_equal(posted_from(network, records_sent_page, uri, NULL, cookie), 200);                 /* 0 */
    assert_int_equal(posted_from(network, records_sent, "/records/sent?q=a", NULL, cookie), 429);
}

/* Whatever makes a slow hash takes it from the budget of its address first; a right password is no way around it. */
LIMITS_TEST(every_slow_hash_counts_for_the_address_that_makes_it)
{
    static const struct {
        handler_fn *handler;
        const char *uri, *fields;
    } ways[] = {
        { login_submit, "/login", "username=NAME&password=long+enough" },
        { login_submit, "/login", "username=NAME&password=wrong" },
        { login_submit, "/login", "username=NOBODY&password=wrong" },
        { register_submit, "/register", "username=NOBODY&nickname=n&password=long+enough+too" },
        { password_submit, "/account/password", "old_password=long+enough&new_password=longer+than+that" },
        { password_submit, "/account/password", "old_password=wrong&new_password=longer+than+that" },
        { recovery_submit, "/account/recovery", "password=long+enough" },
        { token_submit, "/account/tokens", "password=long+enough&name=t&scopes=read&days=1" },
        { deletion_submit, "/account/delete", "username=NAME&password=long+enough" },
    };
    struct person p = registered();
    char session[VISIT_TEXT_MAX];
    session_begin(&p, session);
    strcpy(config->limit_hash_address, "1 1/d");
    for (size_t i = 0; i < ARRAY_LEN(ways); i++) {
        const unsigned network = fresh_network();
        const bool guest = ways[i].handler == login_submit || ways[i].handler == register_submit;
        struct str text = str_from(ways[i].fields), name;
        bool known = str_starts(text, STR("username=NAME"));
        char typed[VISIT_TEXT_MAX], fresh_name[33];
        snprintf(fresh_name, sizeof fresh_name, "n%012" PRIx64, random_u64() >> 16);
        name = str_skip(text, known ? strlen("username=NAME") : strlen("username=NOBODY"));
        if (str_starts(text, STR("username=")))
            snprintf(typed, sizeof typed, "username=%s%.*s", known ? p.name : fresh_name, STR_ARG(name));
        else
            snprintf(typed, sizeof typed, "%s", ways[i].fields);
        assert_int_equal(posted_from(network, login_submit, "/login", "username=somebody&password=wrong", NULL), 422);
        uint64_t hashes = metrics_get(METRIC_HASHES);
        assert_int_equal(posted_from(network, ways[i].handler, ways[i].uri, typed, guest ? NULL : session), 429);
        assert_int_equal(metrics_get(METRIC_HASHES), hashes);
    }
}

/* A password that was not normalized needs two hashes. With one left it is refused, never called wrong. */
LIMITS_TEST(a_password_that_needs_two_hashes_is_not_wrong_for_lack_of_one)
{
    static const struct {
        handler_fn *handler;
        const char *uri, *fields;
    } ways[] = {
        { login_submit, "/login", "username=somebody&password=cafe%CC%81+au+lait" },
        { password_submit, "/account/password", "old_password=a%C2%A0blank&new_password=longer+than+that" },
        { recovery_submit, "/account/recovery", "password=a%E3%80%80blank" },
        { token_submit, "/account/tokens", "password=cafe%CC%81&name=t&scopes=read&days=1" },
    };
    struct person p = registered();
    char session[VISIT_TEXT_MAX];
    session_begin(&p, session);
    strcpy(config->limit_hash_address, "1 1/d");
    for (size_t i = 0; i < ARRAY_LEN(ways); i++) {
        const unsigned network = fresh_network();
        const char *cookie = ways[i].handler == login_submit ? NULL : session;
        uint64_t hashes = metrics_get(METRIC_HASHES);
        assert_int_equal(posted_from(network, ways[i].handler, ways[i].uri, ways[i].fields, cookie), 429);
        assert_int_equal(metrics_get(METRIC_HASHES), hashes);
    }
}

/* device: the cookie of the answer. */
static int password_changed(const char *cookie, char *device)
{
    struct visit v;
    visit_begin(&v, app, "/account/password", "old_password=long+enough&new_password=longer+than+that", cookie);
    assert_int_equal(visit_look_up(&v), ST_OK);
    assert_int_equal(password_submit(&v.x), STEP_DONE);
    device_cookie(&v, device);
    int status = v.x.status;
    visit_end(&v);
    return status;
}

/* Who has learned the password may have made a device known. */
LIMITS_TEST(a_new_password_makes_all_other_devices_unknown)
{
    struct person p = registered();
    char session[VISIT_TEXT_MAX], renewed[VISIT_TEXT_MAX];
    session_begin(&p, session);
    assert_int_equal(password_changed(session, renewed), 204);
    assert_string_not_equal(renewed, p.device);
    strcpy(config->limit_login_account, "1 1/d");
    assert_int_equal(logged_in(p.name, "wrong", p.device), 422);
    assert_int_equal(logged_in(p.name, "longer+than+that", p.device), 429); /* as from elsewhere */
    assert_int_equal(logged_in(p.name, "longer+than+that", renewed), 200);
}

LIMITS_TEST(the_end_of_all_sessions_makes_devices_unknown)
{
    struct person p = registered();
    struct visit v;
    visit_begin(&v, app, "/", NULL, NULL);
    assert_int_equal(known_device_forget_all(app->stores.redis, v.x.arena, str_from(p.name), clock_now_ms() + 1),
                     ST_OK);
    visit_end(&v);
    strcpy(config->limit_login_account, "1 1/d");
    assert_int_equal(logged_in(p.name, "wrong", p.device), 422);
    assert_int_equal(logged_in(p.name, "long+enough", p.device), 429);
}

/* Such a mark would hold for a year, also for a device that becomes known later. */
LIMITS_TEST(a_mark_that_nobody_of_the_site_has_written_makes_no_device_unknown)
{
    static const char *const planted[][2] = {
        { "SET", "9223372036854775807" }, { "SET", "x" }, { "LPUSH", "1" }, { "SET", "99999999999999999999" }
    };
    for (size_t i = 0; i < ARRAY_LEN(planted); i++) {
        struct person p = registered();
        (void)redis_number(app->stores.redis, "%s hb:{limit}:devices:%s %s", planted[i][0], p.name, planted[i][1]);
        strcpy(config->limit_login_account, "1 1/d");
        assert_int_equal(logged_in(p.name, "wrong", NULL), 422);
        assert_int_equal(logged_in(p.name, "long+enough", NULL), 429);
        assert_int_equal(logged_in(p.name, "long+enough", p.device), 200);
        strcpy(config->limit_login_account, "1000 1000/s");
    }
}

TESTS(app_setup, app_teardown)
