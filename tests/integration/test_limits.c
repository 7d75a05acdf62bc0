/* web/limits and user/login_limits: Redis counts, and requests beyond a limit are refused before any work is done. */
#include <inttypes.h>

#include "account/deletion_page.h"
#include "account/password_page.h"
#include "account/recovery_page.h"
#include "account/register.h"
#include "account/token_page.h"
#include "base/clock.h"
#include "base/random.h"
#include "io/metrics.h"
#include "pages/send_receivers.h"
#include "records/export_limit.h"
#include "records/records.h"
#include "test_user_app.h"
#include "user/known_device.h"
#include "web/limits.h"

#define LIMITS_TEST(name) TEST_WITH(name, no_limits, NULL)

static unsigned name_count;

static struct str fresh(struct arena *a)
{
    return arena_printf(a, "t%012" PRIx64 "-%u", random_u64() >> 16, name_count++);
}

/* A request of a user (0: a guest) from 10.NETWORK.HOST. */
static void visit_from(struct visit *v, unsigned network, unsigned host, uint64_t user_id)
{
    visit_begin(v, app, "/", NULL, NULL);
    snprintf(v->cookie, sizeof v->cookie, "REMOTE_ADDR=10.%u.%u.%u", network >> 8 & 0xff, network & 0xff, host);
    v->envp[0] = v->cookie;
    v->x.visitor.user_id = user_id;
}

static unsigned fresh_network(void)
{
    return (unsigned)(random_u64() & 0xffff);
}

/* A request, and a name to which no user belongs. */
static struct visit one;
static struct str name;

static int one_begin(void **state)
{
    visit_from(&one, 1, 1, 0);
    name = fresh(one.x.arena);
    return no_limits(state);
}

static int one_end(void **state)
{
    (void)state;
    visit_end(&one);
    return 0;
}

#define TAKE_TEST(name) TEST_WITH(name, one_begin, one_end)

/* Takes one use from the name's limit; a refusal is answered in `one`. */
static bool taken(struct str subject)
{
    return limits_take(&one.x, &(struct limit_use){ LIMIT_LOGIN_ACCOUNT, subject }, 1);
}

TAKE_TEST(what_is_beyond_a_limit_is_429_with_retry_after)
{
    strcpy(config->limit_login_account, "3 1/d");
    uint64_t before = metrics_get(METRIC_LIMITED_LOGIN_ACCOUNT);
    for (int i = 0; i < 4; i++)
        assert_int_equal(taken(name), i < 3);
    assert_int_equal(one.x.status, 429);
    assert_true(visit_body_has(&one, "\"type\":\"urn:hongbao:problem:too-many\""));
    int64_t wait_s = visit_json_int(&one, "retry_after");
    assert_in_range(wait_s, 86001, 86400);
    assert_true(str_equal(visit_header(&one, "Retry-After"), str_from(text_printf("%" PRId64, wait_s))));
    assert_int_equal(metrics_get(METRIC_LIMITED_LOGIN_ACCOUNT) - before, 1);
    const int64_t ms = REDIS("PTTL hb:{limit}:login_account:%.*s", STR_ARG(name));
    assert_in_range(ms, 1, 3 * 86400000); /* keys expire */
    assert_true(taken(fresh(one.x.arena)));
}

TAKE_TEST(a_limit_refills_with_time)
{
    strcpy(config->limit_login_account, "2 1000000/s");
    for (int i = 0; i < 50; i++) /* twice in a microsecond can't happen: a call takes longer */
        assert_true(taken(name));
}

TAKE_TEST(pauses_grow_with_the_tiers)
{
    strcpy(config->limit_login_account, "1 1/h 3 1/d");
    assert_true(taken(name));
    assert_false(taken(name));
    assert_true(visit_json_int(&one, "retry_after") <= 3600);
    strcpy(config->limit_login_account, "1 1000000/s 3 1/d");
    const struct str other = fresh(one.x.arena);
    for (int i = 0; i < 4; i++)
        assert_int_equal(taken(other), i < 3);
    assert_true(visit_json_int(&one, "retry_after") > 3600);
}

TAKE_TEST(of_several_limits_all_are_taken_or_none)
{
    strcpy(config->limit_login_account, "1 1/d");
    strcpy(config->limit_hash_site, "3 1/d");
    struct limit_use uses[] = { { LIMIT_HASH_SITE, fresh(one.x.arena) }, { LIMIT_LOGIN_ACCOUNT, name } };
    for (int i = 0; i < 6; i++)
        assert_int_equal(limits_take(&one.x, uses, 2), i == 0);
    for (int i = 0; i < 3; i++) {
        uses[1].subject = fresh(one.x.arena);
        assert_int_equal(limits_take(&one.x, uses, 2), i < 2);
    }
}

TAKE_TEST(what_is_given_back_can_be_taken_again_but_never_more)
{
    strcpy(config->limit_login_account, "2 1/d");
    const struct limit_use use = { LIMIT_LOGIN_ACCOUNT, name };
    assert_true(taken(name) && taken(name));
    limits_give_back(&one.x, &use, 1);
    assert_true(taken(name));
    assert_false(taken(name));
    for (int i = 0; i < 5; i++)
        limits_give_back(&one.x, &use, 1);
    assert_true(taken(name) && taken(name));
    assert_false(taken(name));
}

LIMITS_TEST(an_address_and_its_network_have_limits_of_their_own)
{
    struct visit v;
    const unsigned network = fresh_network();
    strcpy(config->limit_register_address, "1 1/d");
    strcpy(config->limit_register_network, "2 1/d");
    const unsigned set = LIMITED_BY(LIMIT_REGISTER_ADDRESS) | LIMITED_BY(LIMIT_REGISTER_NETWORK);
    for (unsigned host = 1; host <= 3; host++) {
        visit_from(&v, network, host, 0);
        assert_int_equal(limits_take_set(&v.x, set), host <= 2);
        assert_false(limits_take_set(&v.x, set));
        visit_end(&v);
    }
}

LIMITS_TEST(while_redis_is_away_nothing_passes)
{
    struct visit v;
    struct services *lacking = services_without(app, "redis");
    strcpy(test_services_config(lacking)->limit_send, "5 1/h");
    visit_begin(&v, lacking, "/send", NULL, NULL);
    v.x.visitor.user_id = 1;
    assert_false(limits_take_set(&v.x, LIMITED_BY(LIMIT_SEND)));
    assert_int_equal(v.x.status, 503);
    assert_true(visit_header(&v, "Retry-After").ptr != NULL);
    services_without_free(lacking);
    visit_end(&v);
}

TAKE_TEST(switched_off_nothing_is_counted)
{
    strcpy(config->limit_send, "1 1/d");
    config->limits = false;
    one.x.visitor.user_id = 7;
    for (int i = 0; i < 3; i++)
        assert_true(limits_take_set(&one.x, LIMITED_BY(LIMIT_SEND)));
}

/* ---- logins ---- */

static int logged_in(const char *username, const char *password, const char *cookie)
{
    return visit_close(
        json_of(login_submit, "/login", text_printf("username=%s&password=%s", username, password), cookie));
}

LIMITS_TEST(a_guess_beyond_the_limit_is_refused_without_a_hash)
{
    struct account p = account_new(app);
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
    struct account p = account_new(app);
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
    struct account p = account_new(app), other = account_new(app);
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
    struct account p = account_new(app);
    strcpy(config->limit_login_account, "1 1/d");
    strcpy(config->limit_login_new, "3 1/d");
    for (int i = 0; i < 3; i++)
        assert_int_equal(logged_in(p.name, "long+enough", NULL), 200);
    assert_int_equal(logged_in(p.name, "long+enough", NULL), 429); /* each was from a new device */
}

LIMITS_TEST(a_name_that_does_not_exist_is_limited_in_the_same_way)
{
    struct account p = account_new(app);
    char missing[VISIT_NAME_MAX];
    fresh_username(missing);
    strcpy(config->limit_login_account, "2 1/d");
    const char *const names[] = { p.name, missing };
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        for (int k = 0; k < 3; k++)
            assert_int_equal(logged_in(names[i], "wrong", NULL), k < 2 ? 422 : 429);
}

LIMITS_TEST(a_known_device_keeps_its_number)
{
    struct account p = account_new(app);
    char again[VISIT_TEXT_MAX];
    struct visit *v =
        json_of(login_submit, "/login", text_printf("username=%s&password=long+enough", p.name), p.device);
    visit_cookie_of(v, "device", again);
    assert_string_equal(again, p.device);
    visit_says(v, 200);
}

/* The status of a POST with this cookie from 10.NETWORK.HOST. */
static int posted_from(unsigned network, unsigned host, handler_fn *handler, const char *uri, const char *fields,
                       const char *cookie)
{
    char address[64];
    snprintf(address, sizeof address, "REMOTE_ADDR=10.%u.%u.%u", network >> 8 & 0xff, network & 0xff, host);
    struct visit *v = visit_new(app, uri, fields, cookie);
    v->envp[cookie == NULL ? 0 : 1] = address;
    assert_int_equal(visit_look_up(v), ST_OK);
    visit_handle(v, handler);
    return visit_close(v);
}

/* A wrong password for a name of its own. */
static int guessed_from(unsigned network, unsigned host)
{
    char username[VISIT_NAME_MAX];
    fresh_username(username);
    return posted_from(network, host, login_submit, "/login", text_printf("username=%s&password=wrong", username),
                       NULL);
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
    EACH (row, cases) {
        const unsigned network = fresh_network();
        char *rate = (char *)config + row->limit;
        strcpy(rate, "1 1/d");
        (void)guessed_from(network, 1); /* a test before may have used up the site's limit */
        uint64_t hashes = metrics_get(METRIC_HASHES);
        assert_int_equal(guessed_from(network, 1), 429);
        assert_int_equal(metrics_get(METRIC_HASHES), hashes);
        assert_int_equal(guessed_from(network, 2), row->other_host ? 429 : 422);
        assert_int_equal(guessed_from(network ^ 1, 3), row->other_network ? 429 : 422);
        strcpy(rate, "off");
    }
}

/* Twenty tokens or sessions of one user share the user's limit. Guests have no such limit: nginx counts their
 * addresses. */
LIMITS_TEST(reading_counts_for_the_user_and_not_for_guests)
{
    struct visit v;
    strcpy(config->limit_read, "2 1/d");
    const uint64_t user_id = random_u64() >> 16;
    for (int i = 0; i < 8; i++) { /* each visit has a session of its own, from an address of its own */
        visit_from(&v, 1, (unsigned)i, i < 4 ? user_id : 0);
        assert_int_equal(limits_take_set(&v.x, LIMITED_BY(LIMIT_READ)), i < 2 || i >= 4);
        visit_end(&v);
    }
}

/* The file of a user with 12,000 records takes three uses, but at most the whole burst, so that it is not refused for
 * ever. */
LIMITS_TEST(a_file_of_many_records_counts_for_more_than_one)
{
    static const struct {
        const char *user, *address; /* rates */
        bool taken[3];
    } cases[] = { { "6 1/d", "off", { true, true, false } },
                  { "off", "4 1/d", { true, false, false } },
                  { "1 1/d", "2 1/d", { true, false, false } } };
    struct visit v;
    EACH (row, cases) {
        const unsigned network = fresh_network();
        const uint64_t user_id = random_u64() >> 16;
        sql_run(app,
                "INSERT INTO user_month (user_id, year, month, sent_count, received_count) "
                "VALUES (?, 2024, 2, 9000, 1000), (?, 2025, 1, 0, 2000)",
                DB_U64(user_id), DB_U64(user_id));
        strcpy(config->limit_export, row->user);
        strcpy(config->limit_export_address, row->address);
        for (size_t k = 0; k < ARRAY_LEN(row->taken); k++) {
            visit_from(&v, network, 1, user_id);
            assert_int_equal(export_limit_take(&v.x), row->taken[k]);
            assert_int_equal(v.x.status, row->taken[k] ? 0 : 429);
            visit_end(&v);
        }
        sql_run(app, "DELETE FROM user_month WHERE user_id = ?", DB_U64(user_id));
    }
}

/* Each name counts, whether it exists or not, also across the accounts of an address. */
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
    EACH (step, steps) {
        visit_from(&v, network, 1, user_id + step->other_user);
        assert_int_equal(names_take(&v.x, step->names), step->taken);
        visit_end(&v);
    }
    visit_from(&v, network, 9, user_id + 2); /* more than the whole burst: takes all of it */
    strcpy(config->limit_names_address, "off");
    assert_true(names_take(&v.x, 100));
    assert_false(names_take(&v.x, 1));
    visit_end(&v);
}

/* A search reads up to a thousand records, so all users of an address share one limit; lists have none. */
LIMITS_TEST(searches_count_for_the_address)
{
    strcpy(config->limit_search_address, "1 1/d");
    const unsigned network = fresh_network();
    static const int wanted[] = { 200, 429 };
    for (size_t i = 0; i < ARRAY_LEN(wanted); i++) {
        struct account p = account_new(app);
        assert_int_equal(posted_from(network, 1, records_sent, "/records/sent?q=a", NULL, p.cookie), wanted[i]);
        assert_int_equal(posted_from(network, 1, records_received, "/records/received", NULL, p.cookie), 200);
    }
}

static enum step records_sent_page(struct exchange *x)
{
    x->wants_json = false;
    return records_sent(x);
}

/* The page has the sums of both directions; a program's answer has one. */
LIMITS_TEST(a_page_of_one_person_is_two_searches)
{
    struct account p = account_new(app);
    const unsigned network = fresh_network();
    static const char search[] = "/records/sent?q=a";
    const char *of_one = text_printf("/records/sent?person=%s", p.name);
    const struct {
        handler_fn *handler;
        const char *uri;
        int status;
    } steps[] = { { records_sent, of_one, 200 },      /* 3 are left */
                  { records_sent_page, search, 200 }, /* 2 */
                  { records_sent_page, of_one, 200 }, /* 0 */
                  { records_sent, search, 429 } };
    strcpy(config->limit_search_address, "4 1/d");
    EACH (step, steps)
        assert_int_equal(posted_from(network, 1, step->handler, step->uri, NULL, p.cookie), step->status);
}

/* Each slow hash is first taken from the budget of its address, also for a right password. */
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
    struct account p = account_new(app);
    strcpy(config->limit_hash_address, "1 1/d");
    EACH (way, ways) {
        const unsigned network = fresh_network();
        const bool guest = way->handler == login_submit || way->handler == register_submit;
        struct str rest = str_from(way->fields);
        char nobody[VISIT_NAME_MAX];
        fresh_username(nobody);
        const char *username = str_skip_prefix(&rest, STR("username=NAME"))     ? p.name
                               : str_skip_prefix(&rest, STR("username=NOBODY")) ? nobody
                                                                                : NULL;
        const char *typed = username == NULL ? way->fields : text_printf("username=%s%.*s", username, STR_ARG(rest));
        assert_int_equal(guessed_from(network, 1), 422);
        uint64_t hashes = metrics_get(METRIC_HASHES);
        assert_int_equal(posted_from(network, 1, way->handler, way->uri, typed, guest ? NULL : p.cookie), 429);
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
    struct account p = account_new(app);
    strcpy(config->limit_hash_address, "1 1/d");
    EACH (way, ways) {
        const char *cookie = way->handler == login_submit ? NULL : p.cookie;
        uint64_t hashes = metrics_get(METRIC_HASHES);
        assert_int_equal(posted_from(fresh_network(), 1, way->handler, way->uri, way->fields, cookie), 429);
        assert_int_equal(metrics_get(METRIC_HASHES), hashes);
    }
}

/* A thief of the password may have made a device known. */
LIMITS_TEST(a_new_password_makes_all_other_devices_unknown)
{
    struct account p = account_new(app);
    char renewed[VISIT_TEXT_MAX];
    struct visit *v = json_of(password_submit, "/account/password",
                              "old_password=long+enough&new_password=longer+than+that", p.cookie);
    visit_cookie_of(v, "device", renewed);
    visit_says(v, 204);
    assert_string_not_equal(renewed, p.device);
    strcpy(config->limit_login_account, "1 1/d");
    assert_int_equal(logged_in(p.name, "wrong", p.device), 422);
    assert_int_equal(logged_in(p.name, "longer+than+that", p.device), 429); /* as from elsewhere */
    assert_int_equal(logged_in(p.name, "longer+than+that", renewed), 200);
}

LIMITS_TEST(the_end_of_all_sessions_makes_devices_unknown)
{
    struct account p = account_new(app);
    assert_int_equal(known_device_forget_all(app->stores.redis, arena, str_from(p.name), clock_now_ms() + 1), ST_OK);
    strcpy(config->limit_login_account, "1 1/d");
    assert_int_equal(logged_in(p.name, "wrong", p.device), 422);
    assert_int_equal(logged_in(p.name, "long+enough", p.device), 429);
}

/* Such a mark would be valid for a year, also for devices that become known later. */
LIMITS_TEST(a_mark_that_nobody_of_the_site_has_written_makes_no_device_unknown)
{
    static const char *const planted[][2] = {
        { "SET", "9223372036854775807" }, { "SET", "x" }, { "LPUSH", "1" }, { "SET", "99999999999999999999" }
    };
    for (size_t i = 0; i < ARRAY_LEN(planted); i++) {
        struct account p = account_new(app);
        (void)REDIS("%s hb:{limit}:devices:%s %s", planted[i][0], p.name, planted[i][1]);
        strcpy(config->limit_login_account, "1 1/d");
        assert_int_equal(logged_in(p.name, "wrong", NULL), 422);
        assert_int_equal(logged_in(p.name, "long+enough", NULL), 429);
        assert_int_equal(logged_in(p.name, "long+enough", p.device), 200);
        strcpy(config->limit_login_account, "1000 1000/s");
    }
}

TESTS(app_setup, app_teardown)
