/* user/token, user/token_store and their pages on real stores: made once, used by every process, revoked at once. */
#include "base/array.h"
#include "base/clock.h"
#include "base/random.h"
#include "io/redis_reply.h"
#include "support/test.h"
#include "test_user_app.h"
#include "user/account_page.h"
#include "user/register.h"
#include "user/store.h"
#include "user/token.h"
#include "user/token_page.h"
#include "user/token_store.h"
#include "user/visitor.h"
#include "web/bearer.h"

#define READER "name=bot&scopes=read&days=1&password=long+enough" /* the form of a token that may read */

enum { HOUR_MS = 3600 * 1000, RACERS = 8 };

static struct services hot; /* without MySQL */

static int setup(void **state)
{
    if (app_setup(state) != 0)
        return 1;
    hot = *app;
    hot.stores.db = NULL;
    return 0;
}

struct made {
    char token[TOKEN_MAX];
    char id[PUBLIC_ID_TEXT_MAX];
};

static struct made made(const char *cookie, const char *fields)
{
    struct made m;
    struct visit *v = json_of(token_submit, "/account/tokens", fields, cookie);
    visit_json_text(v, "token", m.token, sizeof m.token);
    visit_json_text(v, "id", m.id, sizeof m.id);
    visit_says(v, 201);
    return m;
}

/* Begins a request with the token; cookie: NULL, or one beside it. */
static void bearer_begin(struct visit *v, struct services *process, const char *token, const char *cookie)
{
    visit_begin(v, process, "/", NULL, cookie);
    v->x.bearer = str_from(token);
}

/* Reads the visitor of a request with the token, as a process with these services and clock does. */
static enum status look_up_at(struct services *process, const char *token, int64_t now_ms, uint64_t *user_id,
                              unsigned *scopes)
{
    struct visit v;
    enum status st = ST_OK;
    bearer_begin(&v, process, token, NULL);
    v.x.now_ms = now_ms;
    if (visitor_queue(&v.x)) {
        redis_round(process->stores.redis);
        st = visitor_read(&v.x);
    }
    *user_id = v.x.visitor.user_id;
    *scopes = v.x.visitor.scopes;
    visit_end(&v);
    return st;
}

/* The user of the token; 0: refused. */
static uint64_t user_of(struct services *process, const char *token)
{
    uint64_t id;
    unsigned scopes;
    assert_int_equal(look_up_at(process, token, clock_now_ms(), &id, &scopes), ST_OK);
    return id;
}

/* ST_NOT_FOUND: the hot pool passes the request on. */
static enum status hot_status(const char *token)
{
    uint64_t id;
    unsigned scopes;
    return look_up_at(&hot, token, clock_now_ms(), &id, &scopes);
}

static int token_deleted(const struct made *m, const char *cookie)
{
    struct visit v;
    visit_begin(&v, app, "/account/tokens/ID/delete", "", cookie);
    assert_int_equal(visit_look_up(&v), ST_OK);
    assert_true(public_id_decode(&app->id_key, str_from(m->id), &v.x.id));
    assert_int_equal(token_delete_submit(&v.x), STEP_DONE);
    int status = v.x.status;
    visit_end(&v);
    return status;
}

static struct str token_key(const char *token, char *out)
{
    uint8_t hash[HASH_BYTES];
    hash_sha256(token, strlen(token), hash);
    token_key_write(hash, out);
    return (struct str){ out, TOKEN_KEY_LEN };
}

static int64_t redis_int(struct str word, struct str key)
{
    struct redis_call call = { 0 };
    const struct str args[] = { word, key };
    int64_t n = -99;
    assert_int_equal(redis_do(app->stores.redis, &call, args, ARRAY_LEN(args)), ST_OK);
    assert_true(redis_reply_i64(call.reply, &n));
    redis_call_free(&call);
    return n;
}

TEST(a_token_stands_for_its_user_in_every_process)
{
    char key[TOKEN_KEY_MAX];
    struct account user = account_new(app);
    uint64_t found;
    unsigned scopes;
    struct made m = made(user.cookie, "name=bot&scopes=read+open&days=1&password=long+enough");
    assert_int_equal(hot_status(m.token), ST_NOT_FOUND);
    assert_int_equal(look_up_at(app, m.token, clock_now_ms(), &found, &scopes), ST_OK);
    assert_int_equal(found, user.id);
    assert_int_equal(scopes, SCOPE_READ | SCOPE_OPEN);
    assert_int_equal(user_of(&hot, m.token), user.id);
    int64_t left_ms = redis_int(STR("PTTL"), token_key(m.token, key));
    assert_true(left_ms > 0 && left_ms <= HOUR_MS);
}

TEST(the_stores_have_only_its_hash)
{
    struct account user = account_new(app);
    struct made m = made(user.cookie, READER);
    uint8_t hash[HASH_BYTES];
    struct db_rows rows;
    hash_sha256(m.token, TOKEN_LEN, hash);
    assert_int_equal(
        db_query(app->stores.db, arena, &rows, "SELECT hash FROM token WHERE user_id = ?", DB_PARAMS(DB_U64(user.id))),
        ST_OK);
    assert_int_equal(rows.count, 1);
    assert_true(str_equal(db_cell(&rows, 0, 0), (struct str){ (char *)hash, HASH_BYTES }));
}

TEST(a_revoked_token_is_refused_at_once)
{
    struct account user = account_new(app);
    struct made used = made(user.cookie, "name=used&scopes=read&days=1&password=long+enough");
    struct made fresh = made(user.cookie, "name=fresh&scopes=read&days=1&password=long+enough");
    assert_int_equal(user_of(app, used.token), user.id);
    assert_int_equal(token_deleted(&used, user.cookie), 204);
    assert_int_equal(token_deleted(&fresh, user.cookie), 204);
    assert_int_equal(user_of(&hot, used.token), 0);
    assert_int_equal(user_of(app, used.token), 0);
    assert_int_equal(user_of(&hot, fresh.token), 0);
    assert_int_equal(token_deleted(&used, user.cookie), 404);
    assert_int_equal(sql_number(app, "SELECT COUNT(*) FROM token WHERE user_id = ?", user.id), 0);
}

/* Another process has read the row just before the revocation, and stores its copy after it. */
TEST(a_concurrent_reader_of_the_row_makes_no_copy)
{
    char key[TOKEN_KEY_MAX];
    struct account user = account_new(app);
    struct made m = made(user.cookie, READER);
    uint8_t hash[HASH_BYTES];
    struct visit v;
    hash_sha256(m.token, TOKEN_LEN, hash);
    bearer_begin(&v, app, m.token, NULL);
    assert_true(visitor_queue(&v.x));
    redis_round(app->stores.redis); /* there is no copy yet */
    struct visit other;
    visit_begin(&other, app, "/", NULL, NULL);
    assert_int_equal(token_revoke(&other.x, hash), ST_OK); /* the row is still there */
    visit_end(&other);
    assert_int_equal(visitor_read(&v.x), ST_OK);
    assert_int_equal(v.x.visitor.user_id, 0);
    visit_end(&v);
    assert_int_equal(user_of(&hot, m.token), 0);
    assert_true(redis_int(STR("PTTL"), token_key(m.token, key)) > 23 * (int64_t)HOUR_MS);
    assert_int_equal(token_deleted(&m, user.cookie), 204); /* and it can be revoked again */
}

/* So that whoever keeps tokens that are over can't make the site look them up all the time. */
TEST(a_token_that_is_over_is_looked_up_once_in_two_seconds)
{
    static const char *const ends[] = { "DELETE FROM token WHERE user_id = ?",
                                        "UPDATE token SET expires_ms = 1 WHERE user_id = ?" };
    for (size_t i = 0; i < ARRAY_LEN(ends); i++) {
        char key[TOKEN_KEY_MAX];
        struct account user = account_new(app);
        struct made m = made(user.cookie, READER);
        sql_run(app, ends[i], DB_U64(user.id));
        assert_int_equal(hot_status(m.token), ST_NOT_FOUND); /* goes to the page pool */
        bool kept = false;                                   /* a slow machine may take longer than it is */
        for (int tries = 0; tries < 20 && !kept; tries++) {
            assert_int_equal(user_of(app, m.token), 0);
            kept = hot_status(m.token) == ST_OK;
            assert_true(redis_int(STR("PTTL"), token_key(m.token, key)) <= 2000);
        }
        assert_true(kept);
    }
}

TEST(a_redis_that_lost_its_data_gets_a_copy_again)
{
    char key[TOKEN_KEY_MAX];
    struct account user = account_new(app);
    struct made m = made(user.cookie, "name=bot&scopes=send&days=1&password=long+enough");
    assert_int_equal(user_of(app, m.token), user.id);
    assert_int_equal(redis_int(STR("DEL"), token_key(m.token, key)), 1);
    assert_int_equal(hot_status(m.token), ST_NOT_FOUND);
    assert_int_equal(user_of(app, m.token), user.id);
    assert_int_equal(user_of(&hot, m.token), user.id);
}

/* Whoever may write copies, as a page pool that was taken over, makes none that outlives its hour or its token. */
TEST(a_planted_copy_is_not_believed)
{
    char key[TOKEN_KEY_MAX], token[TOKEN_MAX];
    struct account user = account_new(app);
    const int64_t now_ms = clock_now_ms();
    const int64_t made_ms[] = { now_ms - HOUR_MS, now_ms + HOUR_MS, INT64_C(4102444800000) };
    token_new(&app->id_key, token);
    for (size_t i = 0; i <= ARRAY_LEN(made_ms); i++) {
        const struct token_copy copy = { .made_ms = i < ARRAY_LEN(made_ms) ? made_ms[i] : 1,
                                         .user_id = user.id,
                                         .scopes = SCOPE_SEND,
                                         .expires_ms = INT64_C(4102444800000),
                                         .username = STR("u"),
                                         .nickname = STR("n") };
        struct str value = token_copy_text(arena, &copy);
        if (i == ARRAY_LEN(made_ms)) /* as the version before wrote it */
            value = str_skip(value, strlen("v2,1,"));
        const struct str set[] = { STR("SET"), token_key(token, key), value };
        struct redis_call call = { 0 };
        assert_int_equal(redis_do(app->stores.redis, &call, set, ARRAY_LEN(set)), ST_OK);
        redis_call_free(&call);
        assert_int_equal(hot_status(token), ST_NOT_FOUND);
        assert_int_equal(user_of(app, token), 0);
        assert_true(redis_int(STR("STRLEN"), token_key(token, key)) <= (int64_t)strlen("revoked")); /* for 2 s */
    }
}

/* The clocks of the two pools differ so much that no copy of the one is fresh for the other. The request must not go
 * back and forth between them. */
TEST(a_copy_that_is_never_fresh_is_asked_for_once)
{
    static const int64_t later_ms[] = { -HOUR_MS, HOUR_MS };
    static char loaded[] = "TOKEN_LOADED=1";
    for (size_t i = 0; i < ARRAY_LEN(later_ms); i++) {
        struct account user = account_new(app);
        struct made m = made(user.cookie, READER);
        assert_true(user_of(app, m.token) != 0);
        for (int again = 0; again < 2; again++) {
            struct visit v;
            bearer_begin(&v, &hot, m.token, NULL);
            v.envp[0] = again ? loaded : NULL;
            v.x.now_ms += later_ms[i];
            assert_true(visitor_queue(&v.x));
            redis_round(hot.stores.redis);
            assert_int_equal(visitor_read(&v.x), again ? ST_UNAVAILABLE : ST_NOT_FOUND);
            assert_int_equal(v.x.visitor.user_id, 0);
            visit_end(&v);
        }
    }
}

TEST(an_expired_token_is_refused)
{
    char key[TOKEN_KEY_MAX];
    struct account user = account_new(app);
    uint64_t found;
    unsigned scopes;
    struct made m = made(user.cookie, READER);
    int64_t end_ms = sql_number(app, "SELECT expires_ms FROM token WHERE user_id = ?", user.id);
    assert_int_equal(look_up_at(app, m.token, end_ms - 1, &found, &scopes), ST_OK);
    assert_int_equal(found, user.id);
    assert_true(redis_int(STR("PTTL"), token_key(m.token, key)) <= 1);
    assert_int_equal(look_up_at(app, m.token, end_ms, &found, &scopes), ST_OK);
    assert_int_equal(found, 0);
    (void)redis_int(STR("DEL"), token_key(m.token, key)); /* the copy of a millisecond may still be there */
    assert_int_equal(look_up_at(app, m.token, clock_now_ms(), &found, &scopes), ST_OK); /* with a long copy */
    assert_int_equal(found, user.id);
    assert_int_equal(look_up_at(&hot, m.token, end_ms, &found, &scopes), ST_NOT_FOUND); /* the copy is old */
    assert_int_equal(found, 0);
}

TEST(its_last_use_is_noted_when_a_copy_is_made)
{
    char key[TOKEN_KEY_MAX];
    struct account user = account_new(app);
    uint64_t found;
    unsigned scopes;
    struct made m = made(user.cookie, READER);
    int64_t now_ms = clock_now_ms();
    assert_int_equal(sql_number(app, "SELECT used_ms FROM token WHERE user_id = ?", user.id), 0);
    assert_int_equal(look_up_at(app, m.token, now_ms, &found, &scopes), ST_OK);
    assert_int_equal(look_up_at(app, m.token, now_ms + 5, &found, &scopes), ST_OK);
    assert_int_equal(sql_number(app, "SELECT used_ms FROM token WHERE user_id = ?", user.id), now_ms);
    (void)redis_int(STR("DEL"), token_key(m.token, key));
    assert_int_equal(look_up_at(app, m.token, now_ms + 9, &found, &scopes), ST_OK);
    assert_int_equal(sql_number(app, "SELECT used_ms FROM token WHERE user_id = ?", user.id), now_ms + 9);
}

TEST(a_forged_token_reaches_no_store)
{
    struct visit v;
    bearer_begin(&v, app, "hbt_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA", NULL);
    assert_false(visitor_queue(&v.x));
    visit_end(&v);
}

TEST(a_cookie_beside_a_token_is_ignored)
{
    struct visit v;
    struct account user = account_new(app), other = account_new(app);
    struct made m = made(other.cookie, READER);
    bearer_begin(&v, app, m.token, user.cookie);
    assert_true(visitor_queue(&v.x));
    redis_round(app->stores.redis);
    assert_int_equal(visitor_read(&v.x), ST_OK);
    assert_int_equal(v.x.visitor.user_id, other.id);
    visit_end(&v);
    bearer_begin(&v, app, "nonsense", user.cookie);
    assert_false(visitor_queue(&v.x));
    visit_end(&v);
}

TEST(another_users_token_is_not_found_and_stays)
{
    struct account user = account_new(app), stranger = account_new(app);
    struct made m = made(user.cookie, READER);
    assert_int_equal(token_deleted(&m, stranger.cookie), 404);
    assert_int_equal(user_of(app, m.token), user.id);
}

TEST(a_user_has_at_most_20_tokens_that_are_not_expired)
{
    struct account user = account_new(app);
    for (int i = 0; i < TOKENS_MAX; i++)
        (void)made(user.cookie, READER);
    visit_says(json_of(token_submit, "/account/tokens", READER, user.cookie), 422, "最多有20个令牌");
    sql_run(app, "UPDATE token SET expires_ms = 1 WHERE user_id = ? LIMIT 2", DB_U64(user.id));
    (void)made(user.cookie, READER);
    assert_int_equal(sql_number(app, "SELECT COUNT(*) FROM token WHERE user_id = ?", user.id), TOKENS_MAX - 1);
}

/* 0: it made the token; 1: there were too many. */
static int racer(void *ctx)
{
    const uint64_t user_id = *(const uint64_t *)ctx;
    bool full;
    uint8_t hash[HASH_BYTES];
    struct db *db = db_new(app->stores.config);
    int64_t now_ms = clock_now_ms();
    struct token t = { .user_id = user_id,
                       .name = STR("racer"),
                       .scopes = SCOPE_READ,
                       .created_ms = now_ms,
                       .expires_ms = now_ms + HOUR_MS };
    random_bytes(hash, sizeof hash);
    enum status st = token_insert(db, arena, &t, hash, &full);
    return st == ST_OK ? 0 : st == ST_INVALID && full ? 1 : 2;
}

TEST(concurrent_forms_keep_the_limit)
{
    unsigned results[RACE_RESULTS];
    struct account user = account_new(app);
    for (int i = 0; i < TOKENS_MAX - RACERS / 2; i++)
        (void)made(user.cookie, READER);
    race_run(RACERS, racer, &user.id, results);
    assert_int_equal(results[0], RACERS / 2);
    assert_int_equal(results[1], RACERS / 2);
    assert_int_equal(sql_number(app, "SELECT COUNT(*) FROM token WHERE user_id = ?", user.id), TOKENS_MAX);
}

TEST(the_page_shows_a_token_once)
{
    char once[2 * VISIT_TEXT_MAX];
    struct account user = account_new(app);
    struct visit *v = html_of(token_submit, "/account/tokens",
                              "name=%3Cbot%3E&scope_read=1&scope_open=1&days=30&password=long+enough", user.cookie);
    struct str value = str_after(visit_header(v, "Set-Cookie"), STR("once="));
    assert_true(value.len > 0);
    snprintf(once, sizeof once, "%s; once=%.*s", user.cookie, (int)str_find(value, STR(";")), value.ptr);
    visit_says(v, 303, "Location: /account/developers?made=1", LACKS, "hbt_");
    v = html_of(developers_show, "/account/developers?made=1", NULL, once);
    assert_true(str_starts(visit_header(v, "Set-Cookie"), STR("once=; Path=/account/developers;")));
    visit_says(v, 200, "value=\"hbt_", "&lt;bot&gt;", "Cache-Control: no-store");
    visit_says(html_of(developers_show, "/account/developers?made=1", NULL, user.cookie), 200, "&lt;bot&gt;",
               "这个令牌已经显示过一次", LACKS, "hbt_");
    visit_says(json_of(account_show, "/account", NULL, user.cookie), 200,
               "\"name\":\"\\u003cbot\\u003e\",\"scopes\":\"read open\"", "\"used_at\":null");
}

TEST(a_refused_form_keeps_what_was_typed)
{
    struct account user = account_new(app);
    visit_says(
        html_of(token_submit, "/account/tokens", "name=my+bot&scope_send=1&days=400&password=long+enough", user.cookie),
        422, "value=\"my bot\"", "value=\"400\"", "name=\"scope_send\" value=\"1\" checked", "有效天数最多366天", LACKS,
        "name=\"scope_read\" value=\"1\" checked");
}

TEST(an_unreachable_store_is_503_and_never_a_guest)
{
    uint64_t id;
    unsigned scopes;
    struct account user = account_new(app);
    struct made m = made(user.cookie, READER);
    static const char *const stores[] = { "redis", "mysql" };
    for (size_t i = 0; i < ARRAY_LEN(stores); i++) {
        struct services *lacking = services_without(app, stores[i]);
        assert_int_equal(look_up_at(lacking, m.token, clock_now_ms(), &id, &scopes), ST_UNAVAILABLE);
        services_without_free(lacking);
    }
}

TESTS(setup, app_teardown)
