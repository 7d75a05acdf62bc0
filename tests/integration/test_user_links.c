/* Login links on real stores: made, used once, ended by what ends a way in; and files of people, which make users and
 * links. */
#include <inttypes.h>

#include "account/login_link_page.h"
#include "account/password_page.h"
#include "base/clock.h"
#include "base/random.h"
#include "commands/user.h"
#include "test_user_app.h"
#include "user/deletion.h"
#include "user/import.h"
#include "user/login_link.h"
#include "user/login_link_store.h"
#include "user/store.h"

#define GONE "这个登录链接不能用了"

enum { HOUR_MS = 3600 * 1000 };

/* A user without a password, as an import makes one. */
static struct account bare_new(void)
{
    struct account made = account_new(app);
    sql_run(app, "UPDATE user SET password_hash = NULL WHERE id = ?", DB_U64(made.id));
    return made;
}

static struct login_link link_new(uint64_t user_id)
{
    struct login_link link;
    const int64_t now_ms = clock_now_ms();
    login_link_new(&config->keys.of[KEY_LOGIN_LINKS], &link);
    assert_int_equal(login_link_put(app->stores.db, arena, user_id, &link, now_ms, now_ms + HOUR_MS), ST_OK);
    return link;
}

static int64_t links_of(uint64_t user_id)
{
    return sql_number(app, "SELECT COUNT(*) FROM login_link WHERE user_id = ?", user_id);
}

static struct visit *link_shown(const struct login_link *link, const char *cookie)
{
    return html_of(login_link_show, text_printf("/login/link?code=%s", link->code), NULL, cookie);
}

static struct visit *link_posted(const char *code)
{
    return json_of(login_link_submit, "/login/link", text_printf("code=%s", code), NULL);
}

static struct account user;     /* of each test: without a password */
static struct login_link given; /* the user's */

static int user_begin(void **state)
{
    (void)no_limits(state);
    user = bare_new();
    given = link_new(user.id);
    return 0;
}

#define LINK_TEST(name) TEST_WITH(name, user_begin, NULL)

/* ---- logging in ---- */

LINK_TEST(opening_a_link_uses_nothing_up_and_its_button_logs_in_once)
{
    char cookie[VISIT_TEXT_MAX];
    for (int i = 0; i < 3; i++)
        visit_says(link_shown(&given, NULL), 200, "name=\"code\"", given.code, user.name, LACKS, "Set-Cookie: sid=");
    struct visit *v = html_of(login_link_submit, "/login/link", text_printf("code=%s", given.code), "language=zh-CN");
    assert_true(visit_cookie(v, cookie));
    visit_says(v, 303, "Location: /login/link?done=1");
    assert_int_equal(visit_user(app, cookie), user.id);
    visit_says(html_of(login_link_show, "/login/link?done=1", NULL, cookie), 200, "href=\"/account/password\"",
               user.name);
    config->password_login = false;
    visit_says(html_of(login_link_show, "/login/link?done=1", NULL, cookie), 200, LACKS, "/account/password");
    config->password_login = true;
    visit_says(link_posted(given.code), 404, "urn:hongbao:problem:link-gone");
    visit_says(link_shown(&given, NULL), 404, GONE, LACKS, user.name);
    assert_int_equal(links_of(user.id), 0);
}

/* Who comes by a link has no password, and sets one soon after. */
LINK_TEST(a_password_can_be_set_after_a_link)
{
    char cookie[VISIT_TEXT_MAX];
    struct visit *v = link_posted(given.code);
    assert_true(visit_cookie(v, cookie));
    visit_says(v, 200, text_printf("\"username\":\"%s\"", user.name));
    visit_says(json_of(password_submit, "/account/password", "new_password=longer+than+that", cookie), 204);
    visit_says(login_of(user.name, "longer+than+that"), 200);
    visit_says(html_of(login_link_show, "/login/link?done=1", NULL, cookie), 200, LACKS, "/account/password");
}

LINK_TEST(what_is_no_open_link_gets_one_answer)
{
    struct login_link made_up, replaced = link_new(bare_new().id), old = given;
    login_link_new(&config->keys.of[KEY_LOGIN_LINKS], &made_up);
    given = link_new(user.id); /* ends the older one */
    sql_run(app, "UPDATE login_link SET created_ms = created_ms - 7200000, expires_ms = 1 + created_ms WHERE hash = ?",
            DB_BYTES(((struct str){ (const char *)replaced.hash, sizeof replaced.hash })));
    EACH_TEXT (code, "x", "00000000000000000000000000000000", old.code, made_up.code, replaced.code) {
        visit_says(link_posted(code), 404, "urn:hongbao:problem:link-gone");
        visit_says(html_of(login_link_show, text_printf("/login/link?code=%s", code), NULL, NULL), 404, GONE);
    }
    visit_says(html_of(login_link_show, "/login/link", NULL, NULL), 404, GONE);
    visit_says(link_posted(given.code), 200);
}

LINK_TEST(somebody_else_is_told_whose_link_it_is_and_is_logged_out_by_it)
{
    const struct account other = account_new(app);
    visit_says(link_shown(&given, other.cookie), 200, user.name, "你现在用别的账号登录着");
    visit_says(link_shown(&given, user.cookie), 200, LACKS, "你现在用别的账号登录着");
    char cookie[VISIT_TEXT_MAX];
    struct visit *v = json_of(login_link_submit, "/login/link", text_printf("code=%s", given.code), other.cookie);
    assert_true(visit_cookie(v, cookie));
    visit_says(v, 200);
    assert_ints({ visit_user(app, cookie), user.id }, { visit_user(app, other.cookie), 0 });
}

static int link_racer(void *ctx)
{
    return (int)login_link_use(db_new(app->stores.config), arena, *(uint64_t *)ctx, &given, clock_now_ms());
}

LINK_TEST(of_twenty_uses_of_one_link_at_once_one_succeeds)
{
    enum { RACERS = 20 };
    unsigned results[RACE_RESULTS];
    race_run(RACERS, link_racer, &user.id, results);
    assert_ints({ results[ST_OK], 1 }, { results[ST_NOT_FOUND], RACERS - 1 });
    assert_int_equal(links_of(user.id), 0);
}

/* ---- what ends a link ---- */

static void operate(const char *action, enum status wanted)
{
    const char *why;
    struct services *support = test_services_open_as("support");
    FILE *out = fopen("/dev/null", "w");
    assert_non_null(support);
    assert_non_null(out);
    assert_int_equal(user_operate(&support->stores, action, str_from(user.name), out, &why), wanted);
    fclose(out);
    test_services_close(support);
}

LINK_TEST(a_link_ends_with_disabling_and_with_a_reset_and_with_the_account)
{
    enum deletion_result result;
    struct login_link late;
    const int64_t now_ms = clock_now_ms();
    operate("reset", ST_OK);
    visit_says(link_posted(given.code), 404);
    given = link_new(user.id);
    operate("disable", ST_OK);
    visit_says(link_posted(given.code), 404);
    login_link_new(&config->keys.of[KEY_LOGIN_LINKS], &late);
    assert_int_equal(login_link_put(app->stores.db, arena, user.id, &late, now_ms, now_ms + HOUR_MS), ST_NOT_FOUND);
    operate("enable", ST_OK);
    visit_says(link_posted(given.code), 404);
    given = link_new(user.id);
    struct str hash;
    assert_int_equal(user_hash_find(app->stores.db, arena, user.id, &hash), ST_OK);
    assert_int_equal(deletion_begin(&app->stores, arena, user.id, str_from(user.name), hash, true, &result), ST_OK);
    assert_int_equal(result, DELETION_BEGUN);
    visit_says(link_posted(given.code), 404);
    assert_int_equal(links_of(user.id), 0);
    assert_int_equal(login_link_put(app->stores.db, arena, user.id, &late, now_ms, now_ms + HOUR_MS), ST_NOT_FOUND);
}

/* As when the operator's command has disabled the user, and was stopped before it deleted the link. */
LINK_TEST(a_disabled_user_is_told_and_keeps_the_link)
{
    struct user found;
    int64_t until_ms;
    assert_int_equal(user_disable(app->stores.db, user.id, clock_now_ms()), ST_OK);
    visit_says(link_posted(given.code), 403, "urn:hongbao:problem:link-disabled");
    assert_int_equal(login_link_find(app->stores.db, arena, &given, clock_now_ms(), &found, &until_ms), ST_OK);
    assert_int_equal(login_link_use(app->stores.db, arena, user.id, &given, clock_now_ms()), ST_NOT_FOUND);
    assert_int_equal(user_enable(app->stores.db, user.id), ST_OK);
    visit_says(link_posted(given.code), 200);
}

LINK_TEST(without_redis_the_link_stays)
{
    struct services *lacking = services_without(app, "redis");
    visit_says(visit_json_new(lacking, login_link_submit, "/login/link", text_printf("code=%s", given.code), NULL),
               503);
    services_without_free(lacking);
    visit_says(link_posted(given.code), 200);
}

/* ---- limits ---- */

static int posted_from(const char *address, const char *code)
{
    char remote[64];
    snprintf(remote, sizeof remote, "REMOTE_ADDR=%s", address);
    struct visit *v = visit_new(app, "/login/link", text_printf("code=%s", code), NULL);
    v->envp[0] = remote;
    visit_handle(v, login_link_submit);
    v->envp[0] = NULL;
    return visit_close(v);
}

LINK_TEST(guesses_are_limited_by_address_and_keep_nobody_out)
{
    const char *address = text_printf("10.%u.%u.1", (unsigned)(random_u64() & 0xff), (unsigned)(random_u64() & 0xff));
    strcpy(config->limit_recovery_address, "3 1/d");
    for (int i = 0; i < 6; i++)
        assert_int_equal(posted_from(address, "guess"), i < 3 ? 404 : 429);
    assert_int_equal(posted_from(address, given.code), 200);
    strcpy(config->limit_recovery_code, "2 1/d");
    given = link_new(user.id);
    assert_ints({ posted_from(address, given.code), 200 }, { posted_from(address, given.code), 404 },
                { posted_from(address, given.code), 429 });
}

/* ---- files of people ---- */

/* What an import has said: "line N: TEXT\n" for each line, and a link for each user who got one. */
static char told[4096], links[4096];

static void tell(void *ctx, uint64_t line, struct str what)
{
    const size_t len = strlen(told);
    (void)ctx;
    (void)snprintf(told + len, sizeof told - len, "line %" PRIu64 ": %.*s\n", line, STR_ARG(what));
}

static enum status keep(void *ctx, const struct user_invited *invited, int64_t expires_ms)
{
    const size_t len = strlen(links);
    (void)ctx, (void)expires_ms;
    (void)snprintf(links + len, sizeof links - len, "%.*s %s\n", STR_ARG(invited->username), invited->link->code);
    return ST_OK;
}

/* Imports the text. made: also the second pass. */
static struct user_import import(const char *text, bool with_links, bool made, enum status wanted)
{
    struct user_import im = { .links = with_links, .link_ms = HOUR_MS, .tell = tell, .keep = keep };
    told[0] = links[0] = '\0';
    im.stream = tmpfile();
    assert_non_null(im.stream);
    assert_true(fputs(text, im.stream) >= 0 && fflush(im.stream) == 0);
    enum status st = user_import_check(&im, &app->stores);
    if (st == ST_OK && made)
        st = user_import_make(&im, &app->stores);
    fclose(im.stream);
    if (st != wanted)
        fail_msg("status %d instead of %d: %s %s", st, wanted, im.why != NULL ? im.why : "", told);
    return im;
}

static uint64_t id_of(const char *name)
{
    struct user_state found;
    enum status st = user_state_find(app->stores.db, arena, str_from(name), &found);
    return st == ST_OK ? found.id : 0;
}

/* The code that the last import has given this user, or "". */
static const char *code_of(const char *name)
{
    const struct str rest = str_after(str_from(links), str_from(text_printf("%s ", name)));
    return rest.ptr == NULL ? "" : text_printf("%.*s", LOGIN_LINK_CODE_LEN, rest.ptr);
}

LINK_TEST(a_file_makes_users_with_empty_wallets_once)
{
    char one[VISIT_NAME_MAX], two[VISIT_NAME_MAX];
    fresh_username(one);
    fresh_username(two);
    const char *text =
        text_printf("\xef\xbb\xbfUsername;Nickname;note\r\n @%s ;艾丽;x\r\n%s;\"Bob; B\";\r\n", one, two);
    struct user_import im = import(text, false, false, ST_OK);
    assert_ints({ im.rows, 2 }, { im.present, 0 }, { id_of(one), 0 });
    im = import(text, false, true, ST_OK);
    assert_ints({ im.made, 2 }, { im.linked, 0 });
    assert_int_not_equal(id_of(one), 0);
    assert_ints(
        { sql_number(app, "SELECT balance_fen FROM account WHERE id = ? AND kind = 'wallet'", id_of(one)), 0 },
        { sql_number(app, "SELECT password_hash IS NULL AND nickname = 'Bob; B' FROM user WHERE id = ?", id_of(two)),
          1 });
    visit_says(login_of(one, "long+enough"), 422);
    const uint64_t before = id_of(two);
    im = import(text, false, true, ST_OK);
    assert_ints({ im.made, 0 }, { im.present, 2 }, { im.differing, 0 }, { id_of(two), before });
}

LINK_TEST(who_is_there_is_told_and_not_changed)
{
    const struct account there = account_new(app);
    struct user_import im = import(text_printf("username,nickname\n%s,Mallory\n", there.name), true, true, ST_OK);
    assert_ints({ im.made, 0 }, { im.present, 1 }, { im.differing, 1 }, { im.linked, 0 });
    assert_string_equal(told, "line 2: this user is there with another nickname, and stays so\n");
    assert_int_equal(sql_number(app, "SELECT nickname = 'Ming' FROM user WHERE id = ?", there.id), 1);
    visit_says(login_of(there.name, "long+enough"), 200);
}

LINK_TEST(links_are_for_those_without_another_way_in)
{
    char fresh[VISIT_NAME_MAX], silent[VISIT_NAME_MAX], cookie[VISIT_TEXT_MAX];
    const struct account has_password = account_new(app), disabled = bare_new();
    fresh_username(fresh);
    fresh_username(silent);
    assert_int_equal(user_disable(app->stores.db, disabled.id, clock_now_ms()), ST_OK);
    const char *text = text_printf("username,nickname,link\n%s,A,yes\n%s,B,no\n%s,Ming,yes\n%s,Ming,\n%s,Ming,\n",
                                   fresh, silent, has_password.name, user.name, disabled.name);
    struct user_import im = import(text, true, true, ST_OK);
    assert_ints({ im.made, 2 }, { im.linked, 2 });
    EACH_TEXT (name, silent, has_password.name, disabled.name)
        assert_string_equal(code_of(name), "");
    visit_says(link_posted(given.code), 404); /* the older link of the user */
    struct visit *v = link_posted(code_of(fresh));
    assert_true(visit_cookie(v, cookie));
    visit_says(v, 200);
    assert_int_equal(visit_user(app, cookie), id_of(fresh));
    visit_says(link_posted(code_of(user.name)), 200);
    /* A repeat makes links anew for those who still have no way in. */
    im = import(text, true, false, ST_OK);
    assert_ints({ im.linked, 2 }, { im.present, 5 });
}

LINK_TEST(a_wrong_row_stops_everything)
{
    char fresh[VISIT_NAME_MAX], gone[VISIT_NAME_MAX];
    enum deletion_result result;
    struct str hash;
    const struct account deleted = account_new(app);
    strcpy(gone, deleted.name);
    fresh_username(fresh);
    assert_int_equal(user_hash_find(app->stores.db, arena, deleted.id, &hash), ST_OK);
    assert_int_equal(deletion_begin(&app->stores, arena, deleted.id, str_from(gone), hash, true, &result), ST_OK);
    const struct {
        const char *text, *said;
    } wrong[] = {
        { text_printf("username,nickname\n%s,A\n%s,B\n", fresh, gone),
          "line 3: the username belonged to a user who is deleted, and nobody else can have it\n" },
        { text_printf("username,nickname\n%s,A\n%s,B\n", fresh, fresh),
          "line 3: the username stands in an earlier row, too\n" },
        { text_printf("username,nickname\n%s,A\n~1,B\n小明,C\n,D\nx,E\n", fresh),
          "line 3: the username is none: 2 to 32 of a-z, 0-9, _ . and -, a letter or digit first\n"
          "line 4: the username is none: 2 to 32 of a-z, 0-9, _ . and -, a letter or digit first\n"
          "line 5: there is no username\n"
          "line 6: the username is none: 2 to 32 of a-z, 0-9, _ . and -, a letter or digit first\n" },
        { text_printf("username,nickname\n%s,\n", fresh), "line 2: there is no nickname\n" },
        { text_printf("username,nickname\n%s,123456789012345678901234567890123\n", fresh),
          "line 2: the nickname has more than 32 characters\n" },
        { text_printf("username,nickname,link\n%s,A,maybe\n", fresh),
          "line 2: the column link says neither yes nor no\n" },
        { text_printf("username,nickname\n%s\n", fresh), NULL },
        { "username,nickname\n", NULL },
        { text_printf("name,nickname\n%s,A\n", fresh), NULL },
        { text_printf("username\n%s\n", fresh), NULL },
        { text_printf("username,nickname,Username\n%s,A,b\n", fresh), NULL },
        { text_printf("username,nickname,subject\n%s,A,1\n", fresh), NULL },
    };
    EACH (row, wrong) {
        (void)import(row->text, true, true, ST_INVALID);
        if (row->said != NULL)
            assert_string_equal(told, row->said);
        assert_int_equal(id_of(fresh), 0);
    }
}

/* Several people may import the same file, and a person may register meanwhile. */
static int import_racer(void *ctx)
{
    struct user_import im = { .links = true, .link_ms = HOUR_MS, .tell = tell, .keep = keep };
    struct config own = *config;
    struct stores stores;
    char error[256];
    im.stream = tmpfile();
    if (im.stream == NULL || fputs(ctx, im.stream) < 0 || fflush(im.stream) != 0 ||
        stores_open(&stores, &own, true, error, sizeof error) != ST_OK)
        return RACE_RESULTS - 1;
    enum status st = user_import_check(&im, &stores);
    if (st == ST_OK)
        st = user_import_make(&im, &stores);
    return st == ST_OK ? (int)(im.made != 0) : RACE_RESULTS - 1;
}

LINK_TEST(of_imports_at_once_one_makes_the_users)
{
    enum { RACERS = 6, PEOPLE = 5 };
    unsigned results[RACE_RESULTS];
    char names[PEOPLE][VISIT_NAME_MAX], text[512] = "username,nickname\n";
    for (int i = 0; i < PEOPLE; i++) {
        fresh_username(names[i]);
        const size_t len = strlen(text);
        (void)snprintf(text + len, sizeof text - len, "%s,P\n", names[i]);
    }
    race_run(RACERS, import_racer, text, results);
    assert_ints({ results[1], 1 }, { results[0], RACERS - 1 });
    for (int i = 0; i < PEOPLE; i++)
        assert_ints({ sql_number(app, "SELECT COUNT(*) FROM account WHERE id = ?", id_of(names[i])), 1 },
                    { links_of(id_of(names[i])), 1 });
}

TESTS(app_setup, app_teardown)
