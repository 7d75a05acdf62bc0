/* Recovery codes on real stores: made, used once, and limited so that guesses cost nothing and keep nobody out. And the
 * password that is asked for again, for them and for other ways in. */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/random.h"
#include "io/metrics.h"
#include "test_user_app.h"
#include "user/account_page.h"
#include "user/deletion.h"
#include "user/login.h"
#include "user/passkey_page.h"
#include "user/passkey_store.h"
#include "user/password.h"
#include "user/password_page.h"
#include "user/recovery_code.h"
#include "user/recovery_login.h"
#include "user/recovery_page.h"
#include "user/recovery_store.h"
#include "user/store.h"
#include "user/token_page.h"
#include "user/token_store.h"

#define WRONG    "用户名或恢复码错误，或者这个恢复码已经用过"
#define PASSWORD "password=long+enough"

struct person {
    char name[VISIT_NAME_MAX];
    uint64_t id;
    char cookie[VISIT_TEXT_MAX];
    char codes[RECOVERY_CODES][RECOVERY_CODE_TEXT_LEN + 1];
};

/* A new user with the password "long enough", without codes. */
static void register_person(struct person *p)
{
    fresh_username(p->name);
    p->id = visit_register(app, p->name, p->cookie);
}

static void make_codes(struct person *p)
{
    struct visit v;
    assert_int_equal(visit_post(&v, app, recovery_submit, "/account/recovery", PASSWORD, p->cookie), 201);
    struct str rest = buf_view(&v.x.body);
    for (size_t i = 0; i < RECOVERY_CODES; i++) {
        rest = str_after(rest, STR("{\"code\":\""));
        assert_true(rest.len > RECOVERY_CODE_TEXT_LEN);
        snprintf(p->codes[i], sizeof p->codes[i], "%.*s", RECOVERY_CODE_TEXT_LEN, rest.ptr);
        assert_int_equal(p->codes[i][0], '0' + (int)i);
    }
    assert_null(str_after(rest, STR("{\"code\"")).ptr);
    visit_end(&v);
}

static void register_with_codes(struct person *p)
{
    register_person(p);
    make_codes(p);
}

/* Logs in with a code from an address. more: further fields ("&new_password=…"). body (2048 bytes) and cookie may be
 * NULL. Returns the status. */
static int recovered_from(const char *address, const char *name, const char *code, const char *more, char *body,
                          char *cookie)
{
    struct visit v;
    char fields[VISIT_TEXT_MAX], remote[64];
    snprintf(fields, sizeof fields, "username=%s&code=%s%s", name, code, more);
    snprintf(remote, sizeof remote, "REMOTE_ADDR=%s", address);
    visit_begin(&v, app, "/login/recovery", fields, NULL);
    v.envp[0] = remote;
    assert_int_equal(recovery_login_submit(&v.x), STEP_DONE);
    int status = v.x.status;
    if (body != NULL)
        snprintf(body, 2048, "%.*s", STR_ARG(buf_view(&v.x.body)));
    if (cookie != NULL)
        assert_true(visit_cookie(&v, cookie));
    if (status != 200)
        assert_null(visit_header(&v, "Set-Cookie").ptr);
    visit_end(&v);
    return status;
}

static int recovered(const char *name, const char *code)
{
    return recovered_from("192.0.2.1", name, code, "", NULL, NULL);
}

static int logged_in(const char *name, const char *password)
{
    struct visit v;
    char fields[VISIT_TEXT_MAX];
    snprintf(fields, sizeof fields, "username=%s&password=%s", name, password);
    int status = visit_post(&v, app, login_submit, "/login", fields, NULL);
    visit_end(&v);
    return status;
}

static uint64_t codes_left(const struct person *p)
{
    struct arena *a = arena_new(4096, 1 << 20);
    uint64_t left;
    assert_int_equal(recovery_codes_count(app->stores.db, a, p->id, &left), ST_OK);
    arena_free(a);
    return left;
}

static int confirmed(handler_fn *handler, const char *uri, const char *fields, const struct person *p)
{
    struct visit v;
    int status = visit_post(&v, app, handler, uri, fields, p->cookie);
    visit_end(&v);
    return status;
}

/* ---- making ---- */

static void codes_are_shown_once_and_only_hashes_are_kept(void **state)
{
    struct person p;
    struct visit v;
    struct db_rows rows;
    struct arena *a = arena_new(4096, 1 << 20);
    (void)state;
    register_with_codes(&p);
    assert_int_equal(
        db_query(app->stores.db, a, &rows, "SELECT hash FROM recovery_code WHERE user_id = ?", DB_PARAMS(DB_U64(p.id))),
        ST_OK);
    assert_int_equal(rows.count, RECOVERY_CODES);
    for (size_t i = 0; i < rows.count; i++)
        assert_true(str_starts(db_cell(&rows, i, 0), STR("k1$")));
    arena_free(a);
    assert_int_equal(visit_page(&v, app, recovery_show, "/account/recovery", NULL, p.cookie), 200);
    for (size_t i = 0; i < RECOVERY_CODES; i++)
        assert_false(visit_body_has(&v, p.codes[i]));
    assert_true(visit_body_has(&v, "还剩10个恢复码"));
    visit_end(&v);
    assert_int_equal(visit_get(&v, app, account_show, "/account", p.cookie), 200);
    assert_int_equal(visit_json_int(&v, "recovery_codes"), RECOVERY_CODES);
    visit_end(&v);
}

/* The version before kept a slow hash of each code: such a set still logs in, and a hash counts for its budget. */
static void a_code_of_the_version_before_logs_in_once(void **state)
{
    struct person p;
    char chars[RECOVERY_CODE_CHARS + 1], hash[PASSWORD_HASH_MAX];
    size_t len = 0;
    (void)state;
    register_with_codes(&p);
    for (const char *c = p.codes[6]; *c != '\0'; c++)
        if (*c != '-')
            chars[len++] = *c;
    chars[len] = '\0';
    assert_int_equal(len, RECOVERY_CODE_CHARS);
    assert_int_equal(password_hash(&(struct hash_permit){ 1 }, str_from(chars), hash), ST_OK);
    assert_int_equal(db_exec(app->stores.db, NULL, "UPDATE recovery_code SET hash = ? WHERE user_id = ? AND slot = 6",
                             DB_PARAMS(DB_TEXT(str_from(hash)), DB_U64(p.id))),
                     ST_OK);
    uint64_t hashes = metrics_get(METRIC_HASHES);
    assert_int_equal(recovered(p.name, p.codes[6]), 200);
    assert_int_equal(metrics_get(METRIC_HASHES), hashes + 1);
    assert_int_equal(recovered(p.name, p.codes[6]), 422);
    assert_int_equal(recovered(p.name, p.codes[7]), 200); /* of today: no slow hash */
    assert_int_equal(metrics_get(METRIC_HASHES), hashes + 1);
}

static void making_codes_costs_one_slow_hash(void **state)
{
    struct person p;
    (void)state;
    register_with_codes(&p);
    uint64_t hashes = metrics_get(METRIC_HASHES);
    make_codes(&p);
    assert_int_equal(metrics_get(METRIC_HASHES), hashes + 1); /* of the password */
}

static void a_new_set_replaces_the_earlier_one(void **state)
{
    struct person p, earlier;
    (void)state;
    register_with_codes(&p);
    earlier = p;
    make_codes(&p);
    assert_int_equal(codes_left(&p), RECOVERY_CODES);
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(recovered(p.name, earlier.codes[i]), 422);
    assert_int_equal(recovered(p.name, p.codes[0]), 200);
}

static void codes_are_made_only_with_the_password(void **state)
{
    static const char *const wrong[][2] = { { "password=long+enougH", "密码不正确" }, { "", "请填写密码" } };
    struct person p, before;
    struct visit v;
    (void)state;
    register_with_codes(&p);
    before = p;
    for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
        assert_int_equal(visit_page(&v, app, recovery_submit, "/account/recovery", wrong[i][0], p.cookie), 422);
        assert_true(visit_body_has(&v, wrong[i][1]));
        assert_false(visit_body_has(&v, "enougH"));
        visit_end(&v);
    }
    assert_int_equal(recovered(p.name, before.codes[9]), 200);
}

/* ---- logging in ---- */

static void a_code_logs_in_once(void **state)
{
    struct person p;
    char cookie[VISIT_TEXT_MAX];
    (void)state;
    register_with_codes(&p);
    assert_int_equal(recovered_from("192.0.2.1", p.name, p.codes[4], "", NULL, cookie), 200);
    assert_int_equal(visit_user(app, cookie), p.id);
    assert_int_equal(visit_user(app, p.cookie), p.id); /* no new password: other sessions stay */
    assert_int_equal(recovered(p.name, p.codes[4]), 422);
    assert_int_equal(codes_left(&p), RECOVERY_CODES - 1);
    assert_int_equal(logged_in(p.name, "long+enough"), 200);
    assert_int_equal(recovered(p.name, p.codes[5]), 200);
    assert_int_equal(codes_left(&p), RECOVERY_CODES - 2);
}

static void of_logins_with_one_code_at_once_one_gets_in(void **state)
{
    enum { RACERS = 8 };
    struct person p;
    pid_t racers[RACERS];
    unsigned in = 0, out = 0;
    (void)state;
    register_with_codes(&p);
    struct arena *a = arena_new(4096, 1 << 20);
    struct user user;
    struct str hash;
    assert_int_equal(recovery_code_find(app->stores.db, a, str_from(p.name), 2, &user, &hash), ST_OK);
    for (int i = 0; i < RACERS; i++) {
        racers[i] = fork();
        assert_true(racers[i] >= 0);
        if (racers[i] == 0)
            _exit((int)recovery_code_use(db_new(app->stores.config), a, p.id, 2, hash, STR("")));
    }
    for (int i = 0; i < RACERS; i++) {
        int status;
        assert_int_equal(waitpid(racers[i], &status, 0), racers[i]);
        assert_true(WIFEXITED(status));
        in += WEXITSTATUS(status) == ST_OK;
        out += WEXITSTATUS(status) == ST_NOT_FOUND;
    }
    assert_int_equal(in, 1);
    assert_int_equal(out, RACERS - 1);
    arena_free(a);
}

static void a_new_password_ends_all_other_sessions(void **state)
{
    struct person p;
    char cookie[VISIT_TEXT_MAX];
    (void)state;
    register_with_codes(&p);
    assert_int_equal(recovered_from("192.0.2.1", p.name, p.codes[0], "&new_password=longer+than+that", NULL, cookie),
                     200);
    assert_int_equal(visit_user(app, cookie), p.id);
    assert_int_equal(visit_user(app, p.cookie), 0);
    assert_int_equal(logged_in(p.name, "long+enough"), 422);
    assert_int_equal(logged_in(p.name, "longer+than+that"), 200);
    assert_int_equal(recovered(p.name, p.codes[1]), 200); /* the other codes stay */
}

static void a_refused_new_password_keeps_the_code(void **state)
{
    struct person p;
    char body[2048], like[64];
    (void)state;
    register_with_codes(&p);
    snprintf(like, sizeof like, "&new_password=%s1", p.name);
    const char *const refused[] = { "&new_password=short", "&new_password=PassWord", like };
    for (size_t i = 0; i < ARRAY_LEN(refused); i++) {
        assert_int_equal(recovered_from("192.0.2.1", p.name, p.codes[0], refused[i], body, NULL), 422);
        assert_non_null(strstr(body, "\"field\":\"new_password\""));
    }
    assert_int_equal(recovered(p.name, p.codes[0]), 200);
    assert_int_equal(logged_in(p.name, "long+enough"), 200);
}

/* A code that this site could have made for any name, as somebody would who knows its secret. */
static void code_of_anybody(const char *name, unsigned slot, char *out)
{
    struct arena *a = arena_new(4096, 1 << 20);
    struct recovery_code code;
    assert_true(recovery_code_make(a, &config->keys.of[KEY_RECOVERY_CODE], str_from(name), slot, &code));
    memcpy(out, code.text, sizeof code.text);
    arena_free(a);
}

static void every_wrong_case_gets_the_same_answer(void **state)
{
    struct person p, other, bare;
    char nobody[33], made_up[3][RECOVERY_CODE_TEXT_LEN + 1], first[2048], body[2048];
    (void)state;
    register_with_codes(&p);
    register_with_codes(&other);
    register_person(&bare);
    fresh_username(nobody);
    assert_int_equal(recovered(p.name, p.codes[7]), 200);
    code_of_anybody(nobody, 1, made_up[0]);
    code_of_anybody(bare.name, 1, made_up[1]);
    code_of_anybody(p.name, 1, made_up[2]);
    const struct {
        const char *name, *code;
    } wrong[] = { { p.name, "0-0000-0000-0000-0000" },
                  { p.name, other.codes[0] },
                  { nobody, other.codes[0] },
                  { bare.name, other.codes[1] },
                  { nobody, made_up[0] },
                  { bare.name, made_up[1] },
                  { p.name, made_up[2] },
                  { p.name, p.codes[7] } };
    for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
        uint64_t hashes = metrics_get(METRIC_HASHES);
        char *answer = i == 0 ? first : body;
        assert_int_equal(recovered_from("192.0.2.1", wrong[i].name, wrong[i].code, "", answer, NULL), 422);
        assert_int_equal(metrics_get(METRIC_HASHES), hashes);
        assert_string_equal(answer, first);
    }
    assert_non_null(strstr(first, "{\"field\":\"code\",\"message\":\"" WRONG "\"}"));
    assert_int_equal(codes_left(&p), RECOVERY_CODES - 1);
}

static void what_can_be_no_code_or_no_username_is_told_whoever_it_is(void **state)
{
    struct person p;
    char nobody[33], body[2048], first[2048];
    (void)state;
    register_with_codes(&p);
    fresh_username(nobody);
    assert_int_equal(recovered_from("192.0.2.1", p.name, "no code", "", first, NULL), 422);
    assert_non_null(strstr(first, "{\"field\":\"code\",\"message\":\"这不是恢复码"));
    assert_int_equal(recovered_from("192.0.2.1", nobody, "no code", "", body, NULL), 422);
    assert_string_equal(body, first);
    assert_int_equal(recovered_from("192.0.2.1", "No+Name+At+All", p.codes[0], "", body, NULL), 422);
    assert_non_null(strstr(body, "{\"field\":\"username\",\"message\":\"这里填用户名"));
}

static void a_disabled_user_stays_out_and_keeps_the_code(void **state)
{
    struct person p;
    char body[2048];
    struct arena *a = arena_new(4096, 1 << 20);
    struct user user;
    struct str hash;
    (void)state;
    register_with_codes(&p);
    assert_int_equal(user_disable(app->stores.db, p.id, clock_now_ms()), ST_OK);
    assert_int_equal(recovered_from("192.0.2.1", p.name, p.codes[0], "", body, NULL), 422);
    assert_non_null(strstr(body, "该账号已停用"));
    code_of_anybody(p.name, 0, p.codes[1]);
    assert_int_equal(recovered_from("192.0.2.1", p.name, p.codes[1], "", body, NULL), 422);
    assert_non_null(strstr(body, WRONG)); /* only a right code is told that */
    assert_int_equal(recovery_code_find(app->stores.db, a, str_from(p.name), 0, &user, &hash), ST_OK);
    assert_int_equal(recovery_code_use(app->stores.db, a, p.id, 0, hash, STR("")), ST_NOT_FOUND);
    assert_int_equal(user_enable(app->stores.db, p.id), ST_OK);
    assert_int_equal(recovered(p.name, p.codes[0]), 200);
    arena_free(a);
}

static void expect_no_way_in_is_added(struct person *p, struct arena *a)
{
    const uint8_t hash[HASH_BYTES] = { 1 };
    const struct str hashes[RECOVERY_CODES] = { STR("x") };
    struct token token = { .user_id = p->id, .name = STR("late"), .scopes = 1, .created_ms = 1, .expires_ms = 2 };
    struct passkey passkey = { .user_id = p->id,
                               .key = { -7, STR("late"), STR("key"), 0 },
                               .user_handle = STR("late"),
                               .name = STR("late"),
                               .created_ms = 1 };
    bool full;
    assert_int_equal(token_insert(app->stores.db, a, &token, hash, &full), ST_UNAVAILABLE);
    assert_int_equal(passkey_insert(app->stores.db, a, &passkey, 10, &full), ST_UNAVAILABLE);
    assert_int_equal(recovery_codes_replace(app->stores.db, a, p->id, hashes, 1), ST_UNAVAILABLE);
}

/* A request that was under way when the user was disabled, or asked for the deletion. */
static void a_late_request_gives_no_way_in(void **state)
{
    struct person disabled, leaver;
    struct arena *a = arena_new(4096, 1 << 20);
    enum deletion_result result;
    struct user user;
    struct str code, hash, left;
    (void)state;
    register_person(&disabled);
    assert_int_equal(user_disable(app->stores.db, disabled.id, clock_now_ms()), ST_OK);
    expect_no_way_in_is_added(&disabled, a);

    register_with_codes(&leaver);
    assert_int_equal(recovery_code_find(app->stores.db, a, str_from(leaver.name), 0, &user, &code), ST_OK);
    assert_int_equal(user_hash_find(app->stores.db, a, leaver.id, &hash), ST_OK);
    assert_int_equal(deletion_begin(&app->stores, a, leaver.id, str_from(leaver.name), hash, true, &result), ST_OK);
    assert_int_equal(result, DELETION_BEGUN);
    assert_int_equal(recovery_code_use(app->stores.db, a, leaver.id, 0, code, STR("hash")), ST_NOT_FOUND);
    assert_int_equal(user_password_set(app->stores.db, leaver.id, STR("hash")), ST_OK);
    assert_int_equal(user_hash_find(app->stores.db, a, leaver.id, &left), ST_OK);
    assert_null(left.ptr);
    expect_no_way_in_is_added(&leaver, a);
    arena_free(a);
}

static void without_redis_the_code_stays(void **state)
{
    struct person p;
    struct visit v;
    struct config nowhere = *config;
    struct services without_redis = *app;
    char fields[VISIT_TEXT_MAX];
    (void)state;
    register_with_codes(&p);
    snprintf(nowhere.redis, sizeof nowhere.redis, "unix:/nonexistent/redis.sock");
    without_redis.stores.redis = redis_new(&nowhere);
    snprintf(fields, sizeof fields, "username=%s&code=%s", p.name, p.codes[0]);
    visit_begin(&v, &without_redis, "/login/recovery", fields, NULL);
    assert_int_equal(recovery_login_submit(&v.x), STEP_DONE);
    assert_int_equal(v.x.status, 503);
    redis_free(without_redis.stores.redis);
    visit_end(&v);
    assert_int_equal(recovered(p.name, p.codes[0]), 200);
}

/* ---- pages ---- */

/* Makes codes by the page, and reads the first one where it is shown: once. */
static void codes_of_the_page(struct person *p)
{
    struct visit v;
    char once[2 * VISIT_TEXT_MAX];
    assert_int_equal(visit_page(&v, app, recovery_submit, "/account/recovery", PASSWORD, p->cookie), 303);
    assert_true(str_equal(visit_header(&v, "Location"), STR("/account/recovery?made=1")));
    struct str value = str_after(visit_header(&v, "Set-Cookie"), STR("once="));
    assert_true(value.len > 0);
    snprintf(once, sizeof once, "%s; once=%.*s", p->cookie, (int)str_find(value, STR(";")), value.ptr);
    visit_end(&v);
    assert_int_equal(visit_page(&v, app, recovery_show, "/account/recovery?made=1", NULL, once), 200);
    struct str codes = str_after(buf_view(&v.x.body), STR("<li><code translate=\"no\">"));
    assert_true(codes.len > RECOVERY_CODE_TEXT_LEN);
    snprintf(p->codes[0], sizeof p->codes[0], "%.*s", RECOVERY_CODE_TEXT_LEN, codes.ptr);
    assert_true(str_starts(visit_header(&v, "Set-Cookie"), STR("once=; Path=/account/recovery; HttpOnly;")));
    visit_end(&v);
    assert_int_equal(visit_page(&v, app, recovery_show, "/account/recovery?made=1", NULL, p->cookie), 200);
    assert_false(visit_body_has(&v, p->codes[0]));
    assert_true(visit_body_has(&v, "恢复码已经显示过一次"));
    assert_true(visit_body_has(&v, "还剩10个恢复码"));
    visit_end(&v);
    assert_int_equal(codes_left(p), RECOVERY_CODES);
}

static void the_pages_work_without_scripts(void **state)
{
    struct person p;
    struct visit v;
    char fields[VISIT_TEXT_MAX], cookie[VISIT_TEXT_MAX];
    (void)state;
    register_person(&p);
    codes_of_the_page(&p);
    assert_int_equal(visit_page(&v, app, recovery_login_show, "/login/recovery?next=%2Fwallet", NULL, NULL), 200);
    assert_true(visit_body_has(&v, "href=\"/login?next=/wallet\""));
    visit_end(&v);
    assert_int_equal(visit_page(&v, app, login_show, "/login?next=%2Fwallet", NULL, NULL), 200);
    assert_true(visit_body_has(&v, "href=\"/login/recovery?next=/wallet\""));
    visit_end(&v);
    snprintf(fields, sizeof fields, "username=%s&code=%s&new_password=puny&next=/wallet", p.name, p.codes[0]);
    assert_int_equal(visit_page(&v, app, recovery_login_submit, "/login/recovery", fields, NULL), 422);
    assert_true(visit_body_has(&v, p.codes[0])); /* it is not typed again */
    assert_false(visit_body_has(&v, "puny"));
    visit_end(&v);
    snprintf(fields, sizeof fields, "username=%s&code=%s&next=/wallet", p.name, p.codes[0]);
    assert_int_equal(visit_page(&v, app, recovery_login_submit, "/login/recovery", fields, NULL), 422);
    assert_true(visit_body_has(&v, "id=\"new_password_error\">请填写密码")); /* the user has forgotten the old one */
    visit_end(&v);
    assert_int_equal(codes_left(&p), RECOVERY_CODES);
    snprintf(fields, sizeof fields, "username=%s&code=%s&new_password=longer+than+that&next=/wallet", p.name,
             p.codes[0]);
    assert_int_equal(visit_page(&v, app, recovery_login_submit, "/login/recovery", fields, "language=zh-CN"), 303);
    assert_true(str_equal(visit_header(&v, "Location"), STR("/login/recovery?used=password&next=/wallet")));
    assert_true(visit_cookie(&v, cookie));
    visit_end(&v);
    assert_int_equal(
        visit_page(&v, app, recovery_login_show, "/login/recovery?used=password&next=/wallet", NULL, cookie), 200);
    assert_true(visit_body_has(&v, "新密码已生效"));
    assert_true(visit_body_has(&v, "还剩9个恢复码"));
    assert_true(visit_body_has(&v, "<a class=\"button quiet wide\" href=\"/wallet\">"));
    visit_end(&v);
}

/* ---- limits ---- */

static void guesses_are_limited_by_address_cost_no_hash_and_keep_nobody_out(void **state)
{
    struct person p, other;
    (void)state;
    register_with_codes(&p);
    register_with_codes(&other);
    char address[32];
    snprintf(address, sizeof address, "10.%u.%u.1", (unsigned)(random_u64() & 0xff), (unsigned)(random_u64() & 0xff));
    strcpy(config->limit_recovery_address, "3 1/d");
    uint64_t hashes = metrics_get(METRIC_HASHES), refused = metrics_get(METRIC_LIMITED_RECOVERY_ADDRESS);
    for (int i = 0; i < 20; i++)
        assert_int_equal(recovered_from(address, p.name, other.codes[i % RECOVERY_CODES], "", NULL, NULL),
                         i < 3 ? 422 : 429);
    assert_int_equal(metrics_get(METRIC_HASHES), hashes);
    assert_int_equal(metrics_get(METRIC_LIMITED_RECOVERY_ADDRESS) - refused, 17);
    assert_int_equal(recovered_from(address, p.name, p.codes[0], "", NULL, NULL), 200); /* from the same address */
    strcpy(config->limit_recovery_address, "off");
    strcpy(config->limit_recovery_network, "1 1/d");
    assert_int_equal(recovered_from(address, p.name, "guess", "", NULL, NULL), 422);
    assert_int_equal(recovered_from(address, p.name, "guess", "", NULL, NULL), 429);
}

static void a_used_code_is_limited_by_itself(void **state)
{
    struct person p;
    (void)state;
    register_with_codes(&p);
    strcpy(config->limit_recovery_code, "3 1/d");
    assert_int_equal(recovered(p.name, p.codes[0]), 200);
    assert_int_equal(recovered(p.name, p.codes[0]), 422);
    assert_int_equal(recovered(p.name, p.codes[0]), 422);
    uint64_t hashes = metrics_get(METRIC_HASHES);
    for (int i = 0; i < 10; i++)
        assert_int_equal(recovered(p.name, p.codes[0]), 429);
    assert_int_equal(metrics_get(METRIC_HASHES), hashes);
    assert_int_equal(recovered(p.name, p.codes[1]), 200);
}

static void sets_of_codes_are_limited(void **state)
{
    struct person p;
    (void)state;
    register_person(&p);
    strcpy(config->limit_recovery_make, "1 1/d");
    make_codes(&p);
    assert_int_equal(confirmed(recovery_submit, "/account/recovery", PASSWORD, &p), 429);
    assert_int_equal(recovered(p.name, p.codes[0]), 200);
}

/* Whoever has a session and not the password. */
static void guesses_of_the_password_in_a_session_are_limited_before_hashing(void **state)
{
    static const struct {
        handler_fn *handler;
        const char *uri, *wrong, *right;
        int done;
    } forms[] = {
        { recovery_submit, "/account/recovery", "password=a+wrong+one", PASSWORD, 201 },
        { password_submit, "/account/password", "old_password=a+wrong+one&new_password=longer+than+that",
          "old_password=long+enough&new_password=longer+than+that", 204 },
        { token_submit, "/account/tokens", "name=bot&scopes=read&days=1&password=a+wrong+one",
          "name=bot&scopes=read&days=1&password=long+enough", 201 },
        { passkey_challenge_submit, "/account/passkeys/challenge", "password=a+wrong+one", PASSWORD, 200 },
    };
    struct person p;
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(forms); i++) {
        register_person(&p);
        strcpy(config->limit_password, "2 1/d");
        assert_int_equal(confirmed(forms[i].handler, forms[i].uri, forms[i].wrong, &p), 422);
        assert_int_equal(confirmed(recovery_submit, "/account/recovery", PASSWORD, &p), 201); /* a right one is none */
        assert_int_equal(confirmed(forms[i].handler, forms[i].uri, forms[i].wrong, &p), 422);
        uint64_t hashes = metrics_get(METRIC_HASHES);
        for (int k = 0; k < 10; k++)
            assert_int_equal(confirmed(forms[i].handler, forms[i].uri, forms[i].wrong, &p), 429);
        assert_int_equal(confirmed(forms[i].handler, forms[i].uri, forms[i].right, &p), 429);
        assert_int_equal(metrics_get(METRIC_HASHES), hashes);
        assert_int_equal(visit_user(app, p.cookie), p.id); /* only this is refused */
        assert_int_equal(logged_in(p.name, "long+enough"), 200);
        strcpy(config->limit_password, "off");
        strcpy(config->limit_confirm, "1 1/d");
        assert_int_equal(confirmed(forms[i].handler, forms[i].uri, forms[i].right, &p), forms[i].done);
        assert_int_equal(confirmed(forms[i].handler, forms[i].uri, forms[i].right, &p), 429);
        strcpy(config->limit_confirm, "off");
    }
}

static void a_session_alone_adds_no_way_in(void **state)
{
    static const struct {
        handler_fn *handler;
        const char *uri, *fields;
    } forms[] = {
        { recovery_submit, "/account/recovery", "" },
        { token_submit, "/account/tokens", "name=bot&scopes=read&days=1" },
        { passkey_challenge_submit, "/account/passkeys/challenge", "" },
    };
    static const char *const typed[][2] = { { "", "请填写密码" },
                                            { "&password=", "请填写密码" },
                                            { "&password=a+wrong+one", "密码不正确" } };
    struct person p;
    struct visit v;
    char fields[VISIT_TEXT_MAX];
    (void)state;
    register_person(&p);
    for (size_t i = 0; i < ARRAY_LEN(forms); i++)
        for (size_t k = 0; k < ARRAY_LEN(typed); k++) {
            snprintf(fields, sizeof fields, "%s%s", forms[i].fields, typed[k][0]);
            assert_int_equal(visit_post(&v, app, forms[i].handler, forms[i].uri, fields, p.cookie), 422);
            assert_true(visit_body_has(&v, "{\"field\":\"password\",\"message\":"));
            assert_true(visit_body_has(&v, typed[k][1]));
            assert_false(visit_body_has(&v, "\"challenge\":"));
            visit_end(&v);
        }
    assert_int_equal(visit_get(&v, app, account_show, "/account", p.cookie), 200);
    assert_true(visit_body_has(&v, "\"tokens\":[]"));
    assert_int_equal(visit_json_int(&v, "recovery_codes"), 0);
    visit_end(&v);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(codes_are_shown_once_and_only_hashes_are_kept, no_limits),
        cmocka_unit_test_setup(a_code_of_the_version_before_logs_in_once, no_limits),
        cmocka_unit_test_setup(making_codes_costs_one_slow_hash, no_limits),
        cmocka_unit_test_setup(a_new_set_replaces_the_earlier_one, no_limits),
        cmocka_unit_test_setup(codes_are_made_only_with_the_password, no_limits),
        cmocka_unit_test_setup(a_code_logs_in_once, no_limits),
        cmocka_unit_test_setup(of_logins_with_one_code_at_once_one_gets_in, no_limits),
        cmocka_unit_test_setup(a_new_password_ends_all_other_sessions, no_limits),
        cmocka_unit_test_setup(a_refused_new_password_keeps_the_code, no_limits),
        cmocka_unit_test_setup(every_wrong_case_gets_the_same_answer, no_limits),
        cmocka_unit_test_setup(what_can_be_no_code_or_no_username_is_told_whoever_it_is, no_limits),
        cmocka_unit_test_setup(a_disabled_user_stays_out_and_keeps_the_code, no_limits),
        cmocka_unit_test_setup(a_late_request_gives_no_way_in, no_limits),
        cmocka_unit_test_setup(without_redis_the_code_stays, no_limits),
        cmocka_unit_test_setup(the_pages_work_without_scripts, no_limits),
        cmocka_unit_test_setup(guesses_are_limited_by_address_cost_no_hash_and_keep_nobody_out, no_limits),
        cmocka_unit_test_setup(a_used_code_is_limited_by_itself, no_limits),
        cmocka_unit_test_setup(sets_of_codes_are_limited, no_limits),
        cmocka_unit_test_setup(a_session_alone_adds_no_way_in, no_limits),
        cmocka_unit_test_setup(guesses_of_the_password_in_a_session_are_limited_before_hashing, no_limits),
    };
    return cmocka_run_group_tests(tests, app_setup, app_teardown);
}
