/* Recovery codes on real stores: made, used once, and limited so that guesses cost nothing and keep nobody out. And the
 * password that is asked for again, for them and for other ways in. */
#include <inttypes.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/random.h"
#include "io/metrics.h"
#include "support/test.h"
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
static struct person person_new(void)
{
    struct person p;
    fresh_username(p.name);
    p.id = visit_register(app, p.name, p.cookie);
    return p;
}

static void make_codes(struct person *p)
{
    struct visit *v = json_of(recovery_submit, "/account/recovery", PASSWORD, p->cookie);
    struct str rest = buf_view(&v->x.body);
    for (size_t i = 0; i < RECOVERY_CODES; i++) {
        rest = str_after(rest, STR("{\"code\":\""));
        assert_true(rest.len > RECOVERY_CODE_TEXT_LEN);
        snprintf(p->codes[i], sizeof p->codes[i], "%.*s", RECOVERY_CODE_TEXT_LEN, rest.ptr);
        assert_int_equal(p->codes[i][0], '0' + (int)i);
    }
    assert_null(str_after(rest, STR("{\"code\"")).ptr);
    visit_says(v, 201);
}

static struct person person_with_codes(void)
{
    struct person p = person_new();
    make_codes(&p);
    return p;
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

static uint64_t codes_left(const struct person *p)
{
    uint64_t left;
    assert_int_equal(recovery_codes_count(app->stores.db, arena, p->id, &left), ST_OK);
    return left;
}

/* ---- making ---- */

TEST_WITH(codes_are_shown_once_and_only_hashes_are_kept, no_limits, NULL)
{
    struct person p = person_with_codes();
    struct db_rows rows;
    assert_int_equal(db_query(app->stores.db, arena, &rows, "SELECT hash FROM recovery_code WHERE user_id = ?",
                              DB_PARAMS(DB_U64(p.id))),
                     ST_OK);
    assert_int_equal(rows.count, RECOVERY_CODES);
    for (size_t i = 0; i < rows.count; i++)
        assert_true(str_starts(db_cell(&rows, i, 0), STR("k1$")));
    struct visit *v = html_of(recovery_show, "/account/recovery", NULL, p.cookie);
    for (size_t i = 0; i < RECOVERY_CODES; i++)
        assert_false(visit_body_has(v, p.codes[i]));
    visit_says(v, 200, "还剩10个恢复码");
    v = json_of(account_show, "/account", NULL, p.cookie);
    assert_int_equal(visit_json_int(v, "recovery_codes"), RECOVERY_CODES);
    visit_says(v, 200);
}

/* The version before kept a slow hash of each code: such a set still logs in, and a hash counts for its budget. */
TEST_WITH(a_code_of_the_version_before_logs_in_once, no_limits, NULL)
{
    struct person p = person_with_codes();
    char chars[RECOVERY_CODE_CHARS + 1], hash[PASSWORD_HASH_MAX];
    size_t len = 0;
    for (const char *c = p.codes[6]; *c != '\0'; c++)
        if (*c != '-')
            chars[len++] = *c;
    chars[len] = '\0';
    assert_int_equal(len, RECOVERY_CODE_CHARS);
    assert_int_equal(password_hash(&(struct hash_permit){ 1 }, str_from(chars), hash), ST_OK);
    sql_run(app, "UPDATE recovery_code SET hash = ? WHERE user_id = ? AND slot = 6", DB_TEXT(str_from(hash)),
            DB_U64(p.id));
    uint64_t hashes = metrics_get(METRIC_HASHES);
    assert_int_equal(recovered(p.name, p.codes[6]), 200);
    assert_int_equal(metrics_get(METRIC_HASHES), hashes + 1);
    assert_int_equal(recovered(p.name, p.codes[6]), 422);
    assert_int_equal(recovered(p.name, p.codes[7]), 200); /* of today: no slow hash */
    assert_int_equal(metrics_get(METRIC_HASHES), hashes + 1);
}

TEST_WITH(making_codes_costs_one_slow_hash, no_limits, NULL)
{
    struct person p = person_with_codes();
    uint64_t hashes = metrics_get(METRIC_HASHES);
    make_codes(&p);
    assert_int_equal(metrics_get(METRIC_HASHES), hashes + 1); /* of the password */
}

TEST_WITH(a_new_set_replaces_the_earlier_one, no_limits, NULL)
{
    struct person p = person_with_codes(), earlier = p;
    make_codes(&p);
    assert_int_equal(codes_left(&p), RECOVERY_CODES);
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(recovered(p.name, earlier.codes[i]), 422);
    assert_int_equal(recovered(p.name, p.codes[0]), 200);
}

TEST_WITH(codes_are_made_only_with_the_password, no_limits, NULL)
{
    static const char *const wrong[][2] = { { "password=long+enougH", "密码不正确" }, { "", "请填写密码" } };
    struct person p = person_with_codes(), before = p;
    for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
        visit_says(html_of(recovery_submit, "/account/recovery", wrong[i][0], p.cookie), 422, wrong[i][1], LACKS,
                   "enougH");
    }
    assert_int_equal(recovered(p.name, before.codes[9]), 200);
}

/* ---- logging in ---- */

TEST_WITH(a_code_logs_in_once, no_limits, NULL)
{
    struct person p = person_with_codes();
    char cookie[VISIT_TEXT_MAX];
    assert_int_equal(recovered_from("192.0.2.1", p.name, p.codes[4], "", NULL, cookie), 200);
    assert_int_equal(visit_user(app, cookie), p.id);
    assert_int_equal(visit_user(app, p.cookie), p.id); /* no new password: other sessions stay */
    assert_int_equal(recovered(p.name, p.codes[4]), 422);
    assert_int_equal(codes_left(&p), RECOVERY_CODES - 1);
    visit_says(login_of(p.name, "long+enough"), 200);
    assert_int_equal(recovered(p.name, p.codes[5]), 200);
    assert_int_equal(codes_left(&p), RECOVERY_CODES - 2);
}

static struct str raced_hash; /* of code 2 */

static int code_racer(void *ctx)
{
    return (int)recovery_code_use(db_new(app->stores.config), arena, *(uint64_t *)ctx, 2, raced_hash, STR(""));
}

TEST_WITH(of_logins_with_one_code_at_once_one_gets_in, no_limits, NULL)
{
    enum { RACERS = 8 };
    struct person p = person_with_codes();
    unsigned results[RACE_RESULTS];
    struct user user;
    assert_int_equal(recovery_code_find(app->stores.db, arena, str_from(p.name), 2, &user, &raced_hash), ST_OK);
    race_run(RACERS, code_racer, &p.id, results);
    assert_int_equal(results[ST_OK], 1);
    assert_int_equal(results[ST_NOT_FOUND], RACERS - 1);
}

TEST_WITH(a_new_password_ends_all_other_sessions, no_limits, NULL)
{
    struct person p = person_with_codes();
    char cookie[VISIT_TEXT_MAX];
    assert_int_equal(recovered_from("192.0.2.1", p.name, p.codes[0], "&new_password=longer+than+that", NULL, cookie),
                     200);
    assert_int_equal(visit_user(app, cookie), p.id);
    assert_int_equal(visit_user(app, p.cookie), 0);
    visit_says(login_of(p.name, "long+enough"), 422);
    visit_says(login_of(p.name, "longer+than+that"), 200);
    assert_int_equal(recovered(p.name, p.codes[1]), 200); /* the other codes stay */
}

TEST_WITH(a_refused_new_password_keeps_the_code, no_limits, NULL)
{
    struct person p = person_with_codes();
    char body[2048];
    const char *const refused[] = { "&new_password=short", "&new_password=PassWord",
                                    text_printf("&new_password=%s1", p.name) };
    for (size_t i = 0; i < ARRAY_LEN(refused); i++) {
        assert_int_equal(recovered_from("192.0.2.1", p.name, p.codes[0], refused[i], body, NULL), 422);
        assert_non_null(strstr(body, "\"field\":\"new_password\""));
    }
    assert_int_equal(recovered(p.name, p.codes[0]), 200);
    visit_says(login_of(p.name, "long+enough"), 200);
}

/* A code that this site could have made for any name, as somebody would who knows its secret. */
static void code_of_anybody(const char *name, unsigned slot, char *out)
{
    struct recovery_code code;
    assert_true(recovery_code_make(arena, &config->keys.of[KEY_RECOVERY_CODE], str_from(name), slot, &code));
    memcpy(out, code.text, sizeof code.text);
}

TEST_WITH(every_wrong_case_gets_the_same_answer, no_limits, NULL)
{
    struct person p = person_with_codes(), other = person_with_codes(), bare = person_new();
    char nobody[33], made_up[3][RECOVERY_CODE_TEXT_LEN + 1], first[2048], body[2048];
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

TEST_WITH(what_can_be_no_code_or_no_username_is_told_whoever_it_is, no_limits, NULL)
{
    struct person p = person_with_codes();
    char nobody[33], body[2048], first[2048];
    fresh_username(nobody);
    assert_int_equal(recovered_from("192.0.2.1", p.name, "no code", "", first, NULL), 422);
    assert_non_null(strstr(first, "{\"field\":\"code\",\"message\":\"这不是恢复码"));
    assert_int_equal(recovered_from("192.0.2.1", nobody, "no code", "", body, NULL), 422);
    assert_string_equal(body, first);
    assert_int_equal(recovered_from("192.0.2.1", "No+Name+At+All", p.codes[0], "", body, NULL), 422);
    assert_non_null(strstr(body, "{\"field\":\"username\",\"message\":\"这里填用户名"));
}

TEST_WITH(a_disabled_user_stays_out_and_keeps_the_code, no_limits, NULL)
{
    struct person p = person_with_codes();
    char body[2048];
    struct user user;
    struct str hash;
    assert_int_equal(user_disable(app->stores.db, p.id, clock_now_ms()), ST_OK);
    assert_int_equal(recovered_from("192.0.2.1", p.name, p.codes[0], "", body, NULL), 422);
    assert_non_null(strstr(body, "该账号已停用"));
    code_of_anybody(p.name, 0, p.codes[1]);
    assert_int_equal(recovered_from("192.0.2.1", p.name, p.codes[1], "", body, NULL), 422);
    assert_non_null(strstr(body, WRONG)); /* only a right code is told that */
    assert_int_equal(recovery_code_find(app->stores.db, arena, str_from(p.name), 0, &user, &hash), ST_OK);
    assert_int_equal(recovery_code_use(app->stores.db, arena, p.id, 0, hash, STR("")), ST_NOT_FOUND);
    assert_int_equal(user_enable(app->stores.db, p.id), ST_OK);
    assert_int_equal(recovered(p.name, p.codes[0]), 200);
}

static void expect_no_way_in_is_added(struct person *p)
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
    assert_int_equal(token_insert(app->stores.db, arena, &token, hash, &full), ST_UNAVAILABLE);
    assert_int_equal(passkey_insert(app->stores.db, arena, &passkey, 10, &full), ST_UNAVAILABLE);
    assert_int_equal(recovery_codes_replace(app->stores.db, arena, p->id, hashes, 1), ST_UNAVAILABLE);
}

/* A request that was under way when the user was disabled, or asked for the deletion. */
TEST_WITH(a_late_request_gives_no_way_in, no_limits, NULL)
{
    struct person disabled = person_new(), leaver = person_with_codes();
    enum deletion_result result;
    struct user user;
    struct str code, hash, left;
    assert_int_equal(user_disable(app->stores.db, disabled.id, clock_now_ms()), ST_OK);
    expect_no_way_in_is_added(&disabled);

    assert_int_equal(recovery_code_find(app->stores.db, arena, str_from(leaver.name), 0, &user, &code), ST_OK);
    assert_int_equal(user_hash_find(app->stores.db, arena, leaver.id, &hash), ST_OK);
    assert_int_equal(deletion_begin(&app->stores, arena, leaver.id, str_from(leaver.name), hash, true, &result), ST_OK);
    assert_int_equal(result, DELETION_BEGUN);
    assert_int_equal(recovery_code_use(app->stores.db, arena, leaver.id, 0, code, STR("hash")), ST_NOT_FOUND);
    assert_int_equal(user_password_set(app->stores.db, leaver.id, STR("hash")), ST_OK);
    assert_int_equal(user_hash_find(app->stores.db, arena, leaver.id, &left), ST_OK);
    assert_null(left.ptr);
    expect_no_way_in_is_added(&leaver);
}

TEST_WITH(without_redis_the_code_stays, no_limits, NULL)
{
    struct person p = person_with_codes();
    struct services *lacking = services_without(app, "redis");
    const char *fields = text_printf("username=%s&code=%s", p.name, p.codes[0]);
    visit_says(visit_json_new(lacking, recovery_login_submit, "/login/recovery", fields, NULL), 503);
    services_without_free(lacking);
    assert_int_equal(recovered(p.name, p.codes[0]), 200);
}

/* ---- pages ---- */

/* Makes codes by the page, and reads the first one where it is shown: once. */
static void codes_of_the_page(struct person *p)
{
    char once[2 * VISIT_TEXT_MAX];
    struct visit *v = html_of(recovery_submit, "/account/recovery", PASSWORD, p->cookie);
    struct str value = str_after(visit_header(v, "Set-Cookie"), STR("once="));
    assert_true(value.len > 0);
    snprintf(once, sizeof once, "%s; once=%.*s", p->cookie, (int)str_find(value, STR(";")), value.ptr);
    visit_says(v, 303, "Location: /account/recovery?made=1");
    v = html_of(recovery_show, "/account/recovery?made=1", NULL, once);
    struct str codes = str_after(buf_view(&v->x.body), STR("<li><code translate=\"no\">"));
    assert_true(codes.len > RECOVERY_CODE_TEXT_LEN);
    snprintf(p->codes[0], sizeof p->codes[0], "%.*s", RECOVERY_CODE_TEXT_LEN, codes.ptr);
    assert_true(str_starts(visit_header(v, "Set-Cookie"), STR("once=; Path=/account/recovery; HttpOnly;")));
    visit_says(v, 200);
    visit_says(html_of(recovery_show, "/account/recovery?made=1", NULL, p->cookie), 200, "恢复码已经显示过一次",
               "还剩10个恢复码", LACKS, p->codes[0]);
    assert_int_equal(codes_left(p), RECOVERY_CODES);
}

TEST_WITH(the_pages_work_without_scripts, no_limits, NULL)
{
    struct person p = person_new();
    char fields[VISIT_TEXT_MAX], cookie[VISIT_TEXT_MAX];
    codes_of_the_page(&p);
    visit_says(html_of(recovery_login_show, "/login/recovery?next=%2Fwallet", NULL, NULL), 200,
               "href=\"/login?next=/wallet\"");
    visit_says(html_of(login_show, "/login?next=%2Fwallet", NULL, NULL), 200, "href=\"/login/recovery?next=/wallet\"");
    snprintf(fields, sizeof fields, "username=%s&code=%s&new_password=puny&next=/wallet", p.name, p.codes[0]);
    /* The code is not typed again. */
    visit_says(html_of(recovery_login_submit, "/login/recovery", fields, NULL), 422, p.codes[0], LACKS, "puny");
    snprintf(fields, sizeof fields, "username=%s&code=%s&next=/wallet", p.name, p.codes[0]);
    /* The user has forgotten the old password. */
    visit_says(html_of(recovery_login_submit, "/login/recovery", fields, NULL), 422,
               "id=\"new_password_error\">请填写密码");
    assert_int_equal(codes_left(&p), RECOVERY_CODES);
    struct visit *v =
        html_of(recovery_login_submit, "/login/recovery",
                text_printf("username=%s&code=%s&new_password=longer+than+that&next=/wallet", p.name, p.codes[0]),
                "language=zh-CN");
    assert_true(visit_cookie(v, cookie));
    visit_says(v, 303, "Location: /login/recovery?used=password&next=/wallet");
    visit_says(html_of(recovery_login_show, "/login/recovery?used=password&next=/wallet", NULL, cookie), 200,
               "新密码已生效", "还剩9个恢复码", "<a class=\"button quiet wide\" href=\"/wallet\">");
}

/* ---- limits ---- */

TEST_WITH(guesses_are_limited_by_address_cost_no_hash_and_keep_nobody_out, no_limits, NULL)
{
    struct person p = person_with_codes(), other = person_with_codes();
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

TEST_WITH(a_used_code_is_limited_by_itself, no_limits, NULL)
{
    struct person p = person_with_codes();
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

TEST_WITH(sets_of_codes_are_limited, no_limits, NULL)
{
    struct person p = person_new();
    strcpy(config->limit_recovery_make, "1 1/d");
    make_codes(&p);
    visit_says(json_of(recovery_submit, "/account/recovery", PASSWORD, p.cookie), 429);
    assert_int_equal(recovered(p.name, p.codes[0]), 200);
}

/* Whoever has a session and not the password. */
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
    for (size_t i = 0; i < ARRAY_LEN(forms); i++) {
        struct person p = person_new();
        strcpy(config->limit_password, "2 1/d");
        visit_says(json_of(forms[i].handler, forms[i].uri, forms[i].wrong, p.cookie), 422);
        visit_says(json_of(recovery_submit, "/account/recovery", PASSWORD, p.cookie), 201); /* a right one is none */
        visit_says(json_of(forms[i].handler, forms[i].uri, forms[i].wrong, p.cookie), 422);
        uint64_t hashes = metrics_get(METRIC_HASHES);
        for (int k = 0; k < 10; k++)
            visit_says(json_of(forms[i].handler, forms[i].uri, forms[i].wrong, p.cookie), 429);
        visit_says(json_of(forms[i].handler, forms[i].uri, forms[i].right, p.cookie), 429);
        assert_int_equal(metrics_get(METRIC_HASHES), hashes);
        assert_int_equal(visit_user(app, p.cookie), p.id); /* only this is refused */
        visit_says(login_of(p.name, "long+enough"), 200);
        strcpy(config->limit_password, "off");
        strcpy(config->limit_confirm, "1 1/d");
        visit_says(json_of(forms[i].handler, forms[i].uri, forms[i].right, p.cookie), forms[i].done);
        visit_says(json_of(forms[i].handler, forms[i].uri, forms[i].right, p.cookie), 429);
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
    struct person p = person_new();
    char fields[VISIT_TEXT_MAX];
    for (size_t i = 0; i < ARRAY_LEN(forms); i++)
        for (size_t k = 0; k < ARRAY_LEN(typed); k++) {
            snprintf(fields, sizeof fields, "%s%s", forms[i].fields, typed[k][0]);
            visit_says(json_of(forms[i].handler, forms[i].uri, fields, p.cookie), 422,
                       "{\"field\":\"password\",\"message\":", typed[k][1], LACKS, "\"challenge\":");
        }
    visit_says(json_of(account_show, "/account", NULL, p.cookie), 200, "recovery_codes: 0", "\"tokens\":[]");
}

TESTS(app_setup, app_teardown)
