/* user/token, user/token_store and their pages on real stores: made once, used by every process, revoked at once. */
#include "account/account_page.h"
#include "account/token_page.h"
#include "base/clock.h"
#include "base/public_id.h"
#include "base/random.h"
#include "test_user_app.h"
#include "user/token.h"
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
    char token[TOKEN_MAX], id[PUBLIC_ID_TEXT_MAX];
};

/* By the form. */
static struct made made(const char *cookie, const char *fields)
{
    struct made m;
    struct visit *v = json_of(token_submit, "/account/tokens", fields, cookie);
    visit_json_text(v, "token", m.token, sizeof m.token);
    visit_json_text(v, "id", m.id, sizeof m.id);
    visit_says(v, 201);
    return m;
}

/* Stores a token that may read, for a day, without the form and its slow hash. */
static enum status token_store(struct db *db, uint64_t user_id, struct made *m, bool *full)
{
    uint8_t hash[HASH_BYTES];
    const int64_t now_ms = clock_now_ms();
    struct token t = { .user_id = user_id,
                       .name = STR("bot"),
                       .scopes = SCOPE_READ,
                       .created_ms = now_ms,
                       .expires_ms = now_ms + 24 * (int64_t)HOUR_MS };
    token_new(&app->id_key, m->token);
    hash_sha256(m->token, TOKEN_LEN, hash);
    enum status st = token_insert(db, arena, &t, hash, full);
    public_id_encode(&app->id_key, t.id, m->id);
    return st;
}

static struct made token_of(uint64_t user_id)
{
    struct made m;
    bool full;
    assert_int_equal(token_store(app->stores.db, user_id, &m, &full), ST_OK);
    return m;
}

/* For each test: a user, an unused token of this user, and the key of its copy in Redis. */
static struct account user;
static struct made m;
static char key[TOKEN_KEY_MAX];

static void token_key(const char *token)
{
    uint8_t hash[HASH_BYTES];
    hash_sha256(token, TOKEN_LEN, hash);
    token_key_write(hash, key);
}

static int token_begin(void **state)
{
    (void)state;
    user = account_new(app);
    m = token_of(user.id);
    token_key(m.token);
    return 0;
}

#define TOKEN_TEST(name) TEST_WITH(name, token_begin, NULL)

/* Begins a request with the token; cookie: one that is sent with it, or NULL. */
static void bearer_begin(struct visit *v, struct services *process, const char *token, const char *cookie)
{
    visit_begin(v, process, "/", NULL, cookie);
    v->x.bearer = str_from(token);
}

/* The result of a request with a token. */
struct looked {
    enum status st; /* ST_NOT_FOUND: the hot pool passes the request on */
    uint64_t user_id;
    unsigned scopes;
};

/* Looks the token up as a process with these services and this clock does. */
static struct looked look_up_at(struct services *process, const char *token, int64_t now_ms)
{
    struct visit v;
    struct looked l = { .st = ST_OK };
    bearer_begin(&v, process, token, NULL);
    v.x.now_ms = now_ms;
    if (visitor_queue(&v.x)) {
        redis_round(process->stores.redis);
        l.st = visitor_read(&v.x);
    }
    l.user_id = v.x.visitor.user_id;
    l.scopes = v.x.visitor.scopes;
    visit_end(&v);
    return l;
}

static uint64_t user_at(int64_t now_ms)
{
    const struct looked l = look_up_at(app, m.token, now_ms);
    assert_int_equal(l.st, ST_OK);
    return l.user_id;
}

/* The user of the token; 0: refused. */
static uint64_t user_of(struct services *process, const char *token)
{
    const struct looked l = look_up_at(process, token, clock_now_ms());
    assert_int_equal(l.st, ST_OK);
    return l.user_id;
}

static enum status hot_status(const char *token)
{
    return look_up_at(&hot, token, clock_now_ms()).st;
}

static int token_deleted(const struct made *of, const char *cookie)
{
    struct visit *v = visit_new(app, "/account/tokens/ID/delete", "", cookie);
    assert_int_equal(visit_look_up(v), ST_OK);
    assert_true(public_id_decode(&app->id_key, str_from(of->id), &v->x.id));
    visit_handle(v, token_delete_submit);
    return visit_close(v);
}

TOKEN_TEST(a_token_stands_for_its_user_in_every_process)
{
    m = made(user.cookie, "name=bot&scopes=read+open&days=1&password=long+enough");
    token_key(m.token);
    assert_int_equal(hot_status(m.token), ST_NOT_FOUND);
    const struct looked l = look_up_at(app, m.token, clock_now_ms());
    assert_ints({ l.st, ST_OK }, { l.user_id, user.id }, { l.scopes, SCOPE_READ | SCOPE_OPEN });
    assert_int_equal(user_of(&hot, m.token), user.id);
    assert_in_range(REDIS("PTTL %s", key), 1, HOUR_MS);
}

TEST(the_stores_have_only_its_hash)
{
    struct account owner = account_new(app);
    struct made of_form = made(owner.cookie, READER);
    uint8_t hash[HASH_BYTES];
    struct db_rows rows;
    hash_sha256(of_form.token, TOKEN_LEN, hash);
    assert_int_equal(
        db_query(app->stores.db, arena, &rows, "SELECT hash FROM token WHERE user_id = ?", DB_PARAMS(DB_U64(owner.id))),
        ST_OK);
    assert_int_equal(rows.count, 1);
    assert_true(str_equal(db_cell(&rows, 0, 0), (struct str){ (char *)hash, HASH_BYTES }));
}

TOKEN_TEST(a_revoked_token_is_refused_at_once)
{
    struct made fresh = token_of(user.id);
    assert_int_equal(user_of(app, m.token), user.id);
    assert_int_equal(token_deleted(&m, user.cookie), 204);
    assert_int_equal(token_deleted(&fresh, user.cookie), 204);
    assert_int_equal(user_of(&hot, m.token), 0);
    assert_int_equal(user_of(app, m.token), 0);
    assert_int_equal(user_of(&hot, fresh.token), 0);
    assert_int_equal(token_deleted(&m, user.cookie), 404);
    assert_int_equal(sql_number(app, "SELECT COUNT(*) FROM token WHERE user_id = ?", user.id), 0);
}

/* Another process has read the row just before the revocation, and stores its copy after it. */
TOKEN_TEST(a_concurrent_reader_of_the_row_makes_no_copy)
{
    uint8_t hash[HASH_BYTES];
    struct visit v, other;
    hash_sha256(m.token, TOKEN_LEN, hash);
    bearer_begin(&v, app, m.token, NULL);
    assert_true(visitor_queue(&v.x));
    redis_round(app->stores.redis); /* there is no copy yet */
    visit_begin(&other, app, "/", NULL, NULL);
    assert_int_equal(token_revoke(&other.x, hash), ST_OK); /* the row is still there */
    visit_end(&other);
    assert_int_equal(visitor_read(&v.x), ST_OK);
    assert_int_equal(v.x.visitor.user_id, 0);
    visit_end(&v);
    assert_int_equal(user_of(&hot, m.token), 0);
    assert_true(REDIS("PTTL %s", key) > 23 * (int64_t)HOUR_MS);
    assert_int_equal(token_deleted(&m, user.cookie), 204); /* and it can be revoked again */
}

/* So a client with expired tokens can't make the site look them up all the time. */
TEST(a_token_that_is_over_is_looked_up_once_in_two_seconds)
{
    EACH_TEXT (text, "DELETE FROM token WHERE user_id = ?", "UPDATE token SET expires_ms = 1 WHERE user_id = ?") {
        (void)token_begin(NULL);
        sql_run(app, text, DB_U64(user.id));
        assert_int_equal(hot_status(m.token), ST_NOT_FOUND); /* goes to the page pool */
        bool kept = false;                                   /* a slow machine may take longer than it is */
        for (int tries = 0; tries < 20 && !kept; tries++) {
            assert_int_equal(user_of(app, m.token), 0);
            kept = hot_status(m.token) == ST_OK;
            assert_true(REDIS("PTTL %s", key) <= 2000);
        }
        assert_true(kept);
    }
}

TOKEN_TEST(a_redis_that_lost_its_data_gets_a_copy_again)
{
    assert_int_equal(user_of(app, m.token), user.id);
    assert_int_equal(REDIS("DEL %s", key), 1);
    assert_int_equal(hot_status(m.token), ST_NOT_FOUND);
    assert_int_equal(user_of(app, m.token), user.id);
    assert_int_equal(user_of(&hot, m.token), user.id);
}

/* An intruder who can write copies, as in a page pool, can't make one that outlives its hour or its token. */
TEST(a_planted_copy_is_not_believed)
{
    char token[TOKEN_MAX];
    const uint64_t user_id = account_new(app).id;
    const int64_t now_ms = clock_now_ms();
    const int64_t made_ms[] = { now_ms - HOUR_MS, now_ms + HOUR_MS, INT64_C(4102444800000) };
    token_new(&app->id_key, token);
    token_key(token);
    for (size_t i = 0; i <= ARRAY_LEN(made_ms); i++) {
        const struct token_copy copy = { .made_ms = i < ARRAY_LEN(made_ms) ? made_ms[i] : 1,
                                         .user_id = user_id,
                                         .scopes = SCOPE_SEND,
                                         .expires_ms = INT64_C(4102444800000),
                                         .username = STR("u"),
                                         .nickname = STR("n") };
        struct str value = token_copy_text(arena, &copy);
        if (i == ARRAY_LEN(made_ms)) /* as the version before wrote it */
            value = str_skip(value, strlen("v2,1,"));
        (void)REDIS("SET %s %.*s", key, STR_ARG(value));
        assert_int_equal(hot_status(token), ST_NOT_FOUND);
        assert_int_equal(user_of(app, token), 0);
        assert_true(REDIS("STRLEN %s", key) <= (int64_t)strlen("revoked")); /* for 2 s */
    }
}

/* The clocks of the two pools differ so much that a copy made by one is never fresh for the other. The request must not
 * go back and forth between them. */
TEST(a_copy_that_is_never_fresh_is_asked_for_once)
{
    static const int64_t later_ms[] = { -HOUR_MS, HOUR_MS };
    static char loaded[] = "TOKEN_LOADED=1";
    for (size_t i = 0; i < ARRAY_LEN(later_ms); i++) {
        (void)token_begin(NULL);
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

TOKEN_TEST(an_expired_token_is_refused)
{
    const int64_t end_ms = sql_number(app, "SELECT expires_ms FROM token WHERE user_id = ?", user.id);
    assert_int_equal(user_at(end_ms - 1), user.id);
    assert_true(REDIS("PTTL %s", key) <= 1);
    assert_int_equal(user_at(end_ms), 0);
    (void)REDIS("DEL %s", key);                                   /* the copy of a millisecond may still be there */
    assert_int_equal(user_at(clock_now_ms()), user.id);           /* with a long copy */
    const struct looked late = look_up_at(&hot, m.token, end_ms); /* the copy is old */
    assert_ints({ late.st, ST_NOT_FOUND }, { late.user_id, 0 });
}

TOKEN_TEST(its_last_use_is_noted_when_a_copy_is_made)
{
    static const char used[] = "SELECT used_ms FROM token WHERE user_id = ?";
    const int64_t now_ms = clock_now_ms();
    assert_int_equal(sql_number(app, used, user.id), 0);
    (void)user_at(now_ms);
    (void)user_at(now_ms + 5);
    assert_int_equal(sql_number(app, used, user.id), now_ms);
    (void)REDIS("DEL %s", key);
    (void)user_at(now_ms + 9);
    assert_int_equal(sql_number(app, used, user.id), now_ms + 9);
}

TOKEN_TEST(a_cookie_beside_a_token_is_ignored)
{
    struct visit v;
    struct account other = account_new(app);
    bearer_begin(&v, app, m.token, other.cookie);
    assert_true(visitor_queue(&v.x));
    redis_round(app->stores.redis);
    assert_int_equal(visitor_read(&v.x), ST_OK);
    assert_int_equal(v.x.visitor.user_id, user.id);
    visit_end(&v);
    bearer_begin(&v, app, "nonsense", other.cookie);
    assert_false(visitor_queue(&v.x));
    visit_end(&v);
}

TOKEN_TEST(another_users_token_is_not_found_and_stays)
{
    assert_int_equal(token_deleted(&m, account_new(app).cookie), 404);
    assert_int_equal(user_of(app, m.token), user.id);
}

TOKEN_TEST(a_user_has_at_most_20_tokens_that_are_not_expired)
{
    for (int i = 1; i < TOKENS_MAX; i++)
        (void)token_of(user.id);
    visit_says(json_of(token_submit, "/account/tokens", READER, user.cookie), 422, "最多有20个令牌");
    sql_run(app, "UPDATE token SET expires_ms = 1 WHERE user_id = ? LIMIT 2", DB_U64(user.id));
    (void)made(user.cookie, READER);
    assert_int_equal(sql_number(app, "SELECT COUNT(*) FROM token WHERE user_id = ?", user.id), TOKENS_MAX - 1);
}

/* 0: it made the token; 1: there were too many. */
static int racer(void *ctx)
{
    bool full;
    struct made one;
    enum status st = token_store(db_new(app->stores.config), *(const uint64_t *)ctx, &one, &full);
    return st == ST_OK ? 0 : st == ST_INVALID && full ? 1 : 2;
}

TEST(concurrent_forms_keep_the_limit)
{
    unsigned results[RACE_RESULTS];
    uint64_t user_id = account_new(app).id;
    for (int i = 0; i < TOKENS_MAX - RACERS / 2; i++)
        (void)token_of(user_id);
    race_run(RACERS, racer, &user_id, results);
    assert_ints({ results[0], RACERS / 2 }, { results[1], RACERS / 2 },
                { sql_number(app, "SELECT COUNT(*) FROM token WHERE user_id = ?", user_id), TOKENS_MAX });
}

TEST(the_page_shows_a_token_once)
{
    char once[VISIT_TEXT_MAX];
    user = account_new(app);
    struct visit *v = html_of(token_submit, "/account/tokens",
                              "name=%3Cbot%3E&scope_read=1&scope_open=1&days=30&password=long+enough", user.cookie);
    visit_cookie_of(v, "once", once);
    visit_says(v, 303, "Location: /account/developers?made=1", LACKS, "hbt_");
    v = html_of(developers_show, "/account/developers?made=1", NULL, text_printf("%s; %s", user.cookie, once));
    assert_true(str_starts(visit_header(v, "Set-Cookie"), STR("once=; Path=/account/developers;")));
    visit_says(v, 200, "value=\"hbt_", "&lt;bot&gt;", "Cache-Control: no-store");
    visit_says(html_of(developers_show, "/account/developers?made=1", NULL, user.cookie), 200, "&lt;bot&gt;",
               "这个令牌已经显示过一次", LACKS, "hbt_");
    visit_says(json_of(account_show, "/account", NULL, user.cookie), 200,
               "\"name\":\"\\u003cbot\\u003e\",\"scopes\":\"read open\"", "\"used_at\":null");
}

TEST(a_refused_form_keeps_what_was_typed)
{
    visit_says(html_of(token_submit, "/account/tokens", "name=my+bot&scope_send=1&days=400&password=long+enough",
                       account_new(app).cookie),
               422, "value=\"my bot\"", "value=\"400\"", "name=\"scope_send\" value=\"1\" checked", "有效天数最多366天",
               LACKS, "name=\"scope_read\" value=\"1\" checked");
}

TOKEN_TEST(an_unreachable_store_is_503_and_never_a_guest)
{
    EACH_TEXT (store, "redis", "mysql") {
        struct services *lacking = services_without(app, store);
        assert_int_equal(look_up_at(lacking, m.token, clock_now_ms()).st, ST_UNAVAILABLE);
        services_without_free(lacking);
    }
}

TESTS(setup, app_teardown)
