/* Recovery codes on real stores: made, used once, and limited so that guesses cost nothing and keep nobody out. Also
 * the password that the site demands again, for these codes and for other ways in. */
#include <inttypes.h>

#include "account/account_page.h"
#include "account/login.h"
#include "account/passkey_page.h"
#include "account/password_page.h"
#include "account/recovery_login.h"
#include "account/recovery_page.h"
#include "account/token_page.h"
#include "base/clock.h"
#include "base/random.h"
#include "io/metrics.h"
#include "test_user_app.h"
#include "user/deletion.h"
#include "user/passkey_store.h"
#include "user/password.h"
#include "user/recovery_code.h"
#include "user/recovery_store.h"
#include "user/store.h"
#include "user/token_store.h"

#define WRONG    "用户名或恢复码错误，或者这个恢复码已经用过"
#define PASSWORD "password=long+enough"

struct person {
    struct account user;
    char codes[RECOVERY_CODES][RECOVERY_CODE_TEXT_LEN + 1];
};

/* By the form. */
static void make_codes(struct person *of)
{
    struct visit *v = json_of(recovery_submit, "/account/recovery", PASSWORD, of->user.cookie);
    struct str rest = buf_view(&v->x.body);
    for (size_t i = 0; i < RECOVERY_CODES; i++) {
        rest = str_after(rest, STR("{\"code\":\""));
        assert_true(rest.len > RECOVERY_CODE_TEXT_LEN);
        snprintf(of->codes[i], sizeof of->codes[i], "%.*s", RECOVERY_CODE_TEXT_LEN, rest.ptr);
        assert_int_equal(of->codes[i][0], '0' + (int)i);
    }
    assert_null(str_after(rest, STR("{\"code\"")).ptr);
    visit_says(v, 201);
}

/* A code that this site could have made for any name, made with the site's secret. */
static struct recovery_code code_of_anybody(const char *name, unsigned slot)
{
    struct recovery_code code;
    assert_true(recovery_code_make(arena, &config->keys.of[KEY_RECOVERY_CODE], str_from(name), slot, &code));
    return code;
}

/* A person with codes that were stored without the form and its slow hash. */
static struct person person_with_codes(void)
{
    struct person made = { .user = account_new(app) };
    struct str hashes[RECOVERY_CODES];
    for (unsigned i = 0; i < RECOVERY_CODES; i++) {
        const struct recovery_code code = code_of_anybody(made.user.name, i);
        hashes[i] = recovery_code_hash(arena, &config->keys.of[KEY_RECOVERY_HASH], str_from(made.user.name), &code);
        memcpy(made.codes[i], code.text, sizeof code.text);
    }
    assert_int_equal(recovery_codes_replace(app->stores.db, arena, made.user.id, hashes, clock_now_ms()), ST_OK);
    return made;
}

static struct person p; /* of each test */

static int person_begin(void **state)
{
    (void)no_limits(state);
    p = person_with_codes();
    return 0;
}

#define CODES_TEST(name) TEST_WITH(name, person_begin, NULL)

/* Logs in with a code from an address. more: further fields ("&new_password=…"). */
static struct visit *recovery_of(const char *address, const char *name, const char *code, const char *more)
{
    char remote[64];
    snprintf(remote, sizeof remote, "REMOTE_ADDR=%s", address);
    struct visit *v = visit_new(app, "/login/recovery", text_printf("username=%s&code=%s%s", name, code, more), NULL);
    v->envp[0] = remote;
    visit_handle(v, recovery_login_submit);
    v->envp[0] = NULL;
    assert_int_equal(visit_header(v, "Set-Cookie").ptr != NULL, v->x.status == 200);
    return v;
}

static struct visit *recovery_by(const char *name, const char *code)
{
    return recovery_of("192.0.2.1", name, code, "");
}

static int recovered(const char *name, const char *code)
{
    return visit_close(recovery_by(name, code));
}

/* Logs in with the code, which must succeed; writes the cookie. */
static void recovered_with(const char *code, const char *more, char *cookie)
{
    struct visit *v = recovery_of("192.0.2.1", p.user.name, code, more);
    assert_true(visit_cookie(v, cookie));
    visit_says(v, 200);
}

static uint64_t codes_left(void)
{
    uint64_t left;
    assert_int_equal(recovery_codes_count(app->stores.db, arena, p.user.id, &left), ST_OK);
    return left;
}

/* ---- making ---- */

CODES_TEST(codes_are_shown_once_and_only_hashes_are_kept)
{
    struct db_rows rows;
    uint64_t hashes = metrics_get(METRIC_HASHES);
    make_codes(&p);
    assert_int_equal(metrics_get(METRIC_HASHES), hashes + 1); /* of the password */
    assert_int_equal(db_query(app->stores.db, arena, &rows, "SELECT hash FROM recovery_code WHERE user_id = ?",
                              DB_PARAMS(DB_U64(p.user.id))),
                     ST_OK);
    assert_int_equal(rows.count, RECOVERY_CODES);
    for (size_t i = 0; i < rows.count; i++)
        assert_true(str_starts(db_cell(&rows, i, 0), STR("k1$")));
    struct visit *v = html_of(recovery_show, "/account/recovery", NULL, p.user.cookie);
    for (size_t i = 0; i < RECOVERY_CODES; i++)
        assert_false(visit_body_has(v, p.codes[i]));
    visit_says(v, 200, "还剩10个恢复码");
    visit_says(json_of(account_show, "/account", NULL, p.user.cookie), 200, "recovery_codes: 10");
}

/* The version before kept a slow hash of each code: such a set still logs in, and a hash counts for its budget. */
CODES_TEST(a_code_of_the_version_before_logs_in_once)
{
    const struct recovery_code code = code_of_anybody(p.user.name, 6);
    char hash[PASSWORD_HASH_MAX];
    assert_int_equal(password_hash(&(struct hash_permit){ 1 }, str_from(code.chars), hash), ST_OK);
    sql_run(app, "UPDATE recovery_code SET hash = ? WHERE user_id = ? AND slot = 6", DB_TEXT(str_from(hash)),
            DB_U64(p.user.id));
    uint64_t hashes = metrics_get(METRIC_HASHES);
    assert_int_equal(recovered(p.user.name, code.text), 200);
    assert_int_equal(metrics_get(METRIC_HASHES), hashes + 1);
    assert_int_equal(recovered(p.user.name, code.text), 422);
    assert_int_equal(recovered(p.user.name, p.codes[7]), 200); /* a code of today: no slow hash */
    assert_int_equal(metrics_get(METRIC_HASHES), hashes + 1);
}

CODES_TEST(a_new_set_replaces_the_earlier_one)
{
    const struct person earlier = p;
    make_codes(&p);
    assert_int_equal(codes_left(), RECOVERY_CODES);
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(recovered(p.user.name, earlier.codes[i]), 422);
    assert_int_equal(recovered(p.user.name, p.codes[0]), 200);
}

CODES_TEST(codes_are_made_only_with_the_password)
{
    static const char *const wrong[][2] = { { "password=long+enougH", "密码不正确" }, { "", "请填写密码" } };
    for (size_t i = 0; i < ARRAY_LEN(wrong); i++)
        visit_says(html_of(recovery_submit, "/account/recovery", wrong[i][0], p.user.cookie), 422, wrong[i][1], LACKS,
                   "enougH");
    assert_int_equal(recovered(p.user.name, p.codes[9]), 200);
}

/* ---- logging in ---- */

CODES_TEST(a_code_logs_in_once)
{
    char cookie[VISIT_TEXT_MAX];
    recovered_with(p.codes[4], "", cookie);
    assert_int_equal(visit_user(app, cookie), p.user.id);
    assert_int_equal(visit_user(app, p.user.cookie), p.user.id); /* no new password: other sessions stay */
    assert_int_equal(recovered(p.user.name, p.codes[4]), 422);
    assert_int_equal(codes_left(), RECOVERY_CODES - 1);
    visit_says(login_of(p.user.name, "long+enough"), 200);
    assert_int_equal(recovered(p.user.name, p.codes[5]), 200);
    assert_int_equal(codes_left(), RECOVERY_CODES - 2);
}

static struct str raced_hash; /* of code 2 */

static int code_racer(void *ctx)
{
    return (int)recovery_code_use(db_new(app->stores.config), arena, *(uint64_t *)ctx, 2, raced_hash, STR(""));
}

CODES_TEST(of_logins_with_one_code_at_once_one_gets_in)
{
    enum { RACERS = 8 };
    unsigned results[RACE_RESULTS];
    struct user user;
    assert_int_equal(recovery_code_find(app->stores.db, arena, str_from(p.user.name), 2, &user, &raced_hash), ST_OK);
    race_run(RACERS, code_racer, &p.user.id, results);
    assert_ints({ results[ST_OK], 1 }, { results[ST_NOT_FOUND], RACERS - 1 });
}

CODES_TEST(a_new_password_ends_all_other_sessions)
{
    char cookie[VISIT_TEXT_MAX];
    recovered_with(p.codes[0], "&new_password=longer+than+that", cookie);
    assert_int_equal(visit_user(app, cookie), p.user.id);
    assert_int_equal(visit_user(app, p.user.cookie), 0);
    visit_says(login_of(p.user.name, "long+enough"), 422);
    visit_says(login_of(p.user.name, "longer+than+that"), 200);
    assert_int_equal(recovered(p.user.name, p.codes[1]), 200); /* the other codes stay */
}

CODES_TEST(a_refused_new_password_keeps_the_code)
{
    const char *const refused[] = { "short", "PassWord", text_printf("%s1", p.user.name) };
    for (size_t i = 0; i < ARRAY_LEN(refused); i++)
        visit_says(recovery_of("192.0.2.1", p.user.name, p.codes[0], text_printf("&new_password=%s", refused[i])), 422,
                   "\"field\":\"new_password\"");
    assert_int_equal(recovered(p.user.name, p.codes[0]), 200);
    visit_says(login_of(p.user.name, "long+enough"), 200);
}

CODES_TEST(every_wrong_case_gets_the_same_answer)
{
    struct person other = person_with_codes();
    struct account bare = account_new(app);
    char nobody[VISIT_NAME_MAX];
    fresh_username(nobody);
    assert_int_equal(recovered(p.user.name, p.codes[7]), 200);
    const struct recovery_code made_up[] = { code_of_anybody(nobody, 1), code_of_anybody(bare.name, 1),
                                             code_of_anybody(p.user.name, 1) };
    const struct {
        const char *name, *code;
    } wrong[] = { { p.user.name, "0-0000-0000-0000-0000" },
                  { p.user.name, other.codes[0] },
                  { nobody, other.codes[0] },
                  { bare.name, other.codes[1] },
                  { nobody, made_up[0].text },
                  { bare.name, made_up[1].text },
                  { p.user.name, made_up[2].text },
                  { p.user.name, p.codes[7] } };
    const char *first = NULL;
    for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
        uint64_t hashes = metrics_get(METRIC_HASHES);
        struct visit *v = recovery_by(wrong[i].name, wrong[i].code);
        const char *body = text_printf("%.*s", STR_ARG(buf_view(&v->x.body)));
        first = i == 0 ? body : first;
        assert_int_equal(metrics_get(METRIC_HASHES), hashes);
        assert_string_equal(body, first);
        visit_says(v, 422, "{\"field\":\"code\",\"message\":\"" WRONG "\"}");
    }
    assert_int_equal(codes_left(), RECOVERY_CODES - 1);
}

CODES_TEST(what_can_be_no_code_or_no_username_is_told_whoever_it_is)
{
    char nobody[VISIT_NAME_MAX];
    fresh_username(nobody);
    struct visit *v = recovery_by(p.user.name, "no code");
    const char *told = text_printf("%.*s", STR_ARG(buf_view(&v->x.body)));
    visit_says(v, 422, "{\"field\":\"code\",\"message\":\"这不是恢复码");
    visit_says(recovery_by(nobody, "no code"), 422, told);
    visit_says(recovery_by("No+Name+At+All", p.codes[0]), 422, "{\"field\":\"username\",\"message\":\"这里填用户名");
}

CODES_TEST(a_disabled_user_stays_out_and_keeps_the_code)
{
    struct user user;
    struct str hash;
    assert_int_equal(user_disable(app->stores.db, p.user.id, clock_now_ms()), ST_OK);
    visit_says(recovery_by(p.user.name, p.codes[0]), 422, "该账号已停用");
    /* Only a right code gets this answer. */
    visit_says(recovery_by(p.user.name, code_of_anybody(p.user.name, 0).text), 422, WRONG);
    assert_int_equal(recovery_code_find(app->stores.db, arena, str_from(p.user.name), 0, &user, &hash), ST_OK);
    assert_int_equal(recovery_code_use(app->stores.db, arena, p.user.id, 0, hash, STR("")), ST_NOT_FOUND);
    assert_int_equal(user_enable(app->stores.db, p.user.id), ST_OK);
    assert_int_equal(recovered(p.user.name, p.codes[0]), 200);
}

static void expect_no_way_in_is_added(uint64_t user_id)
{
    const uint8_t hash[HASH_BYTES] = { 1 };
    const struct str hashes[RECOVERY_CODES] = { STR("x") }, late = STR("late");
    struct token token = { .user_id = user_id, .name = late, .scopes = 1, .created_ms = 1, .expires_ms = 2 };
    struct passkey passkey = {
        .user_id = user_id, .key = { -7, late, STR("key"), 0 }, .user_handle = late, .name = late, .created_ms = 1
    };
    bool full;
    assert_int_equal(token_insert(app->stores.db, arena, &token, hash, &full), ST_UNAVAILABLE);
    assert_int_equal(passkey_insert(app->stores.db, arena, &passkey, 10, &full), ST_UNAVAILABLE);
    assert_int_equal(recovery_codes_replace(app->stores.db, arena, user_id, hashes, 1), ST_UNAVAILABLE);
}

/* A request that was under way when the user was disabled, or asked for the deletion. */
CODES_TEST(a_late_request_gives_no_way_in)
{
    const uint64_t disabled_id = account_new(app).id, id = p.user.id;
    enum deletion_result result;
    struct user user;
    struct str code, hash, left;
    assert_int_equal(user_disable(app->stores.db, disabled_id, clock_now_ms()), ST_OK);
    expect_no_way_in_is_added(disabled_id);

    assert_int_equal(recovery_code_find(app->stores.db, arena, str_from(p.user.name), 0, &user, &code), ST_OK);
    assert_int_equal(user_hash_find(app->stores.db, arena, id, &hash), ST_OK);
    assert_int_equal(deletion_begin(&app->stores, arena, id, str_from(p.user.name), hash, true, &result), ST_OK);
    assert_int_equal(result, DELETION_BEGUN);
    assert_int_equal(recovery_code_use(app->stores.db, arena, id, 0, code, STR("hash")), ST_NOT_FOUND);
    assert_int_equal(user_password_set(app->stores.db, id, STR("hash")), ST_OK);
    assert_int_equal(user_hash_find(app->stores.db, arena, id, &left), ST_OK);
    assert_null(left.ptr);
    expect_no_way_in_is_added(id);
}

CODES_TEST(without_redis_the_code_stays)
{
    struct services *lacking = services_without(app, "redis");
    const char *fields = text_printf("username=%s&code=%s", p.user.name, p.codes[0]);
    visit_says(visit_json_new(lacking, recovery_login_submit, "/login/recovery", fields, NULL), 503);
    services_without_free(lacking);
    assert_int_equal(recovered(p.user.name, p.codes[0]), 200);
}

/* ---- pages ---- */

CODES_TEST(the_pages_work_without_scripts)
{
    char once[VISIT_TEXT_MAX], code[RECOVERY_CODE_TEXT_LEN + 1], cookie[VISIT_TEXT_MAX];
    const char *const name = p.user.name, *session = p.user.cookie;
    /* New codes are shown once. */
    struct visit *v = html_of(recovery_submit, "/account/recovery", PASSWORD, session);
    visit_cookie_of(v, "once", once);
    const struct str line = str_after(buf_view(&v->x.headers), str_from(text_printf("Set-Cookie: %s", once)));
    assert_true(str_starts(line, STR("; Path=/account/recovery; HttpOnly; SameSite=Strict; Max-Age=600\r\n")));
    visit_says(v, 303, "Location: /account/recovery?made=1");
    /* A program gets them from the POST alone. */
    visit_says(json_of(recovery_show, "/account/recovery?made=1", NULL, text_printf("%s; %s", session, once)), 200,
               "recovery_codes: 10", LACKS, "\"code\":");
    v = html_of(recovery_show, "/account/recovery?made=1", NULL, text_printf("%s; %s", session, once));
    struct str codes = str_after(buf_view(&v->x.body), STR("<li><code translate=\"no\">"));
    assert_true(codes.len > RECOVERY_CODE_TEXT_LEN);
    snprintf(code, sizeof code, "%.*s", RECOVERY_CODE_TEXT_LEN, codes.ptr);
    assert_true(str_starts(visit_header(v, "Set-Cookie"), STR("once=; Path=/account/recovery; HttpOnly;")));
    visit_says(v, 200);
    visit_says(html_of(recovery_show, "/account/recovery?made=1", NULL, session), 200, "恢复码已经显示过一次",
               "还剩10个恢复码", LACKS, code);
    visit_says(html_of(recovery_login_show, "/login/recovery?next=%2Fwallet", NULL, NULL), 200,
               "href=\"/login?next=/wallet\"");
    visit_says(html_of(login_show, "/login?next=%2Fwallet", NULL, NULL), 200, "href=\"/login/recovery?next=/wallet\"");
    /* The code is not typed again. */
    visit_says(html_of(recovery_login_submit, "/login/recovery",
                       text_printf("username=%s&code=%s&new_password=puny&next=/wallet", name, code), NULL),
               422, code, LACKS, "puny");
    /* The user has forgotten the old password. */
    visit_says(html_of(recovery_login_submit, "/login/recovery",
                       text_printf("username=%s&code=%s&next=/wallet", name, code), NULL),
               422, "id=\"new_password_error\">请填写密码");
    assert_int_equal(codes_left(), RECOVERY_CODES);
    v = html_of(recovery_login_submit, "/login/recovery",
                text_printf("username=%s&code=%s&new_password=longer+than+that&next=/wallet", name, code),
                "language=zh-CN");
    assert_true(visit_cookie(v, cookie));
    visit_says(v, 303, "Location: /login/recovery?used=password&next=/wallet");
    visit_says(html_of(recovery_login_show, "/login/recovery?used=password&next=/wallet", NULL, cookie), 200,
               "新密码已生效", "还剩9个恢复码", "<a class=\"button quiet wide\" href=\"/wallet\">");
}

/* ---- limits ---- */

CODES_TEST(guesses_are_limited_by_address_cost_no_hash_and_keep_nobody_out)
{
    struct person other = person_with_codes();
    const char *address = text_printf("10.%u.%u.1", (unsigned)(random_u64() & 0xff), (unsigned)(random_u64() & 0xff));
    strcpy(config->limit_recovery_address, "3 1/d");
    uint64_t hashes = metrics_get(METRIC_HASHES), refused = metrics_get(METRIC_LIMITED_RECOVERY_ADDRESS);
    for (int i = 0; i < 20; i++)
        visit_says(recovery_of(address, p.user.name, other.codes[i % RECOVERY_CODES], ""), i < 3 ? 422 : 429);
    assert_ints({ metrics_get(METRIC_HASHES), hashes }, { metrics_get(METRIC_LIMITED_RECOVERY_ADDRESS) - refused, 17 });
    visit_says(recovery_of(address, p.user.name, p.codes[0], ""), 200); /* from the same address */
    strcpy(config->limit_recovery_address, "off");
    strcpy(config->limit_recovery_network, "1 1/d");
    visit_says(recovery_of(address, p.user.name, "guess", ""), 422);
    visit_says(recovery_of(address, p.user.name, "guess", ""), 429);
}

CODES_TEST(a_used_code_is_limited_by_itself)
{
    strcpy(config->limit_recovery_code, "3 1/d");
    assert_int_equal(recovered(p.user.name, p.codes[0]), 200);
    assert_int_equal(recovered(p.user.name, p.codes[0]), 422);
    assert_int_equal(recovered(p.user.name, p.codes[0]), 422);
    uint64_t hashes = metrics_get(METRIC_HASHES);
    for (int i = 0; i < 10; i++)
        assert_int_equal(recovered(p.user.name, p.codes[0]), 429);
    assert_int_equal(metrics_get(METRIC_HASHES), hashes);
    assert_int_equal(recovered(p.user.name, p.codes[1]), 200);
}

CODES_TEST(sets_of_codes_are_limited)
{
    strcpy(config->limit_recovery_make, "1 1/d");
    make_codes(&p);
    visit_says(json_of(recovery_submit, "/account/recovery", PASSWORD, p.user.cookie), 429);
    assert_int_equal(recovered(p.user.name, p.codes[0]), 200);
}

/* A visitor who has the session, but not the password. */
TEST_WITH(guesses_of_the_password_in_a_session_are_limited_before_hashing, no_limits, NULL)
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
    EACH (form, forms) {
        const struct account user = account_new(app);
        strcpy(config->limit_password, "2 1/d");
        visit_says(json_of(form->handler, form->uri, form->wrong, user.cookie), 422);
        /* a right password does not count as a guess */
        visit_says(json_of(recovery_submit, "/account/recovery", PASSWORD, user.cookie), 201);
        visit_says(json_of(form->handler, form->uri, form->wrong, user.cookie), 422);
        uint64_t hashes = metrics_get(METRIC_HASHES);
        for (int k = 0; k < 10; k++)
            visit_says(json_of(form->handler, form->uri, form->wrong, user.cookie), 429);
        visit_says(json_of(form->handler, form->uri, form->right, user.cookie), 429);
        assert_int_equal(metrics_get(METRIC_HASHES), hashes);
        assert_int_equal(visit_user(app, user.cookie), user.id); /* only this is refused */
        visit_says(login_of(user.name, "long+enough"), 200);
        strcpy(config->limit_password, "off");
        strcpy(config->limit_confirm, "1 1/d");
        visit_says(json_of(form->handler, form->uri, form->right, user.cookie), form->done);
        visit_says(json_of(form->handler, form->uri, form->right, user.cookie), 429);
        strcpy(config->limit_confirm, "off");
    }
}

TEST_WITH(a_session_alone_adds_no_way_in, no_limits, NULL)
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
    const struct account user = account_new(app);
    EACH (form, forms)
        for (size_t k = 0; k < ARRAY_LEN(typed); k++)
            visit_says(json_of(form->handler, form->uri, text_printf("%s%s", form->fields, typed[k][0]), user.cookie),
                       422, "{\"field\":\"password\",\"message\":", typed[k][1], LACKS, "\"challenge\":");
    visit_says(json_of(account_show, "/account", NULL, user.cookie), 200, "recovery_codes: 0", "\"tokens\":[]");
}

TESTS(app_setup, app_teardown)
