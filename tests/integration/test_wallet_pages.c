/* wallet/: a request key deposits once, and the statement shows every entry once. */
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
#include "ledger/ledger.h"
#include "test_user_fixture.h"
#include "user/session.h"
#include "user/store.h"
#include "wallet/deposit.h"
#include "wallet/statement.h"

static struct services *app;
static struct config demo_config;
static struct arena *arena;

/* Accounts that this test created; teardown removes their transfers. */
static uint64_t accounts[64];
static size_t account_count;

/* A user with a session. */
struct person {
    uint64_t id;
    char cookie[VISIT_TEXT_MAX];
};

static int setup(void **state)
{
    (void)state;
    app = site_open();
    arena = arena_new(64 << 10, 16 << 20);
    if (app == NULL || arena == NULL)
        return 1;
    demo_config = *app->stores.config;
    demo_config.demo = true;
    demo_config.deposit_fen_max = 1000000;
    app->stores.config = &demo_config;
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    accounts_forget(app, accounts, account_count);
    arena_free(arena);
    site_close(app);
    return 0;
}

static struct person person_new(void)
{
    struct person p;
    struct visit v;
    struct str name = arena_printf(arena, "w%016" PRIx64, random_u64());
    struct user user = { .username = name, .nickname = name };
    assert_int_equal(user_insert(app->stores.db, arena, &user, clock_now_ms()), ST_OK);
    p.id = user.id;
    assert_true(account_count < ARRAY_LEN(accounts));
    accounts[account_count++] = p.id;
    visit_begin(&v, app, "/login", "", NULL);
    assert_int_equal(session_start(&v.x, user.id, name, name), ST_OK);
    assert_true(visit_cookie(&v, p.cookie));
    visit_end(&v);
    return p;
}

static int deposited(const struct person *p, const char *amount, const char *request_key, int64_t *balance_fen)
{
    struct visit v;
    char fields[VISIT_TEXT_MAX];
    snprintf(fields, sizeof fields, "amount=%s&request_key=%s", amount, request_key);
    int status = visit_post(&v, app, deposit_submit, "/wallet/deposit", fields, p->cookie);
    if (status == 201 && balance_fen != NULL)
        *balance_fen = visit_json_int(&v, "balance_fen");
    visit_end(&v);
    return status;
}

static int64_t balance_of(uint64_t id)
{
    int64_t fen = -1;
    assert_int_equal(ledger_balance(app->stores.db, arena, id, &fen), ST_OK);
    return fen;
}

static int64_t entry_count(uint64_t id)
{
    struct db_rows rows;
    assert_int_equal(db_query(app->stores.db, arena, &rows,
                              "SELECT COUNT(*) FROM transfer WHERE credit_id = ? OR debit_id = ?",
                              DB_PARAMS(DB_U64(id), DB_U64(id))),
                     ST_OK);
    return db_cell_i64(&rows, 0, 0);
}

/* ---- deposit ---- */

static void a_deposit_fills_the_wallet_from_the_bank(void **state)
{
    (void)state;
    struct person p = person_new();
    int64_t balance_fen = 0, bank_fen = balance_of(ACCOUNT_BANK_ID);
    assert_int_equal(deposited(&p, "88.88", "", &balance_fen), 201);
    assert_int_equal(balance_fen, 8888);
    assert_int_equal(balance_of(p.id), 8888);
    assert_int_equal(balance_of(ACCOUNT_BANK_ID), bank_fen - 8888);
}

static void a_repeated_deposit_gets_the_same_answer_and_changes_nothing(void **state)
{
    (void)state;
    struct person p = person_new();
    struct visit v;
    int64_t balance_fen = 0;
    assert_int_equal(deposited(&p, "10", "form-1", &balance_fen), 201);
    assert_int_equal(deposited(&p, "10", "form-1", &balance_fen), 201);
    assert_int_equal(balance_fen, 1000);
    /* The amount of the first deposit counts; that of the repeat is ignored. */
    assert_int_equal(visit_post(&v, app, deposit_submit, "/wallet/deposit", "amount=99&request_key=form-1", p.cookie),
                     201);
    assert_int_equal(visit_json_int(&v, "amount_fen"), 1000);
    visit_end(&v);
    assert_int_equal(balance_of(p.id), 1000);
    assert_int_equal(entry_count(p.id), 1);
    assert_int_equal(deposited(&p, "10", "form-2", &balance_fen), 201);
    assert_int_equal(balance_fen, 2000);
}

static void a_key_belongs_to_one_user(void **state)
{
    (void)state;
    struct person first = person_new(), second = person_new();
    int64_t balance_fen = 0;
    assert_int_equal(deposited(&first, "10", "same", NULL), 201);
    assert_int_equal(deposited(&second, "20", "same", &balance_fen), 201);
    assert_int_equal(balance_fen, 2000);
    assert_int_equal(balance_of(first.id), 1000);
}

static void deposits_without_a_key_are_all_made(void **state)
{
    (void)state;
    struct person p = person_new();
    assert_int_equal(deposited(&p, "1", "", NULL), 201);
    assert_int_equal(deposited(&p, "1", "", NULL), 201);
    assert_int_equal(balance_of(p.id), 200);
}

static void one_form_posted_concurrently_deposits_once(void **state)
{
    (void)state;
    enum { RACERS = 8 };
    struct person p = person_new();
    pid_t racers[RACERS];
    unsigned first = 0, repeated = 0;
    for (int i = 0; i < RACERS; i++) {
        racers[i] = fork();
        assert_true(racers[i] >= 0);
        if (racers[i] > 0)
            continue;
        struct db *db = db_new(app->stores.config);
        struct deposit d = { .user_id = p.id, .amount_fen = 500, .request_key = STR("race") };
        bool right = deposit_make(db, arena, &d, clock_now_ms()) == ST_OK && d.amount_fen == 500;
        _exit(!right ? 2 : d.repeated ? 1 : 0);
    }
    for (int i = 0; i < RACERS; i++) {
        int status;
        assert_int_equal(waitpid(racers[i], &status, 0), racers[i]);
        assert_true(WIFEXITED(status));
        first += WEXITSTATUS(status) == 0;
        repeated += WEXITSTATUS(status) == 1;
    }
    assert_int_equal(first, 1);
    assert_int_equal(repeated, RACERS - 1);
    assert_int_equal(balance_of(p.id), 500);
    assert_int_equal(entry_count(p.id), 1);
}

static void a_refused_deposit_gets_a_message_and_changes_nothing(void **state)
{
    (void)state;
    struct person p = person_new();
    struct visit v;
    assert_int_equal(deposited(&p, "", "", NULL), 422);
    assert_int_equal(deposited(&p, "-1", "", NULL), 422);
    assert_int_equal(deposited(&p, "0.00", "", NULL), 422);
    assert_int_equal(deposited(&p, "10000.01", "", NULL), 422);
    assert_int_equal(deposited(&p, "1", "not+a+key", NULL), 422);
    assert_int_equal(entry_count(p.id), 0);

    assert_int_equal(
        visit_page(&v, app, deposit_submit, "/wallet/deposit", "amount=1.234&request_key=my-key", p.cookie), 422);
    assert_true(visit_body_has(&v, "<title>错误："));
    assert_true(visit_body_has(&v, "金额格式不正确"));
    assert_true(visit_body_has(&v, "value=\"1.234\""));
    assert_true(visit_body_has(&v, "value=\"my-key\""));
    visit_end(&v);
}

static void without_demo_a_deposit_is_not_found(void **state)
{
    (void)state;
    struct person p = person_new();
    demo_config.demo = false;
    int status = deposited(&p, "1", "", NULL);
    demo_config.demo = true;
    assert_int_equal(status, 404);
    assert_int_equal(balance_of(p.id), 0);
}

static void a_browser_is_redirected_to_the_wallet(void **state)
{
    (void)state;
    struct person p = person_new();
    struct visit v;
    assert_int_equal(
        visit_page(&v, app, deposit_submit, "/wallet/deposit", "amount=%EF%BC%95%E3%80%82%EF%BC%95", p.cookie),
        303); /* ５。５ */
    assert_true(str_equal(visit_header(&v, "Location"), STR("/wallet")));
    visit_end(&v);
    assert_int_equal(balance_of(p.id), 550);
}

static void without_a_database_the_wallet_is_busy(void **state)
{
    (void)state;
    struct person p = person_new();
    struct config nowhere = *app->stores.config;
    struct services without_mysql = *app;
    struct visit v;
    snprintf(nowhere.mysql_socket, sizeof nowhere.mysql_socket, "/nonexistent/mysql.sock");
    without_mysql.stores.config = &nowhere;
    without_mysql.stores.db = db_new(&nowhere);
    assert_int_equal(visit_post(&v, &without_mysql, deposit_submit, "/wallet/deposit", "amount=1", p.cookie), 503);
    assert_true(visit_body_has(&v, "problem:busy"));
    assert_non_null(visit_header(&v, "Retry-After").ptr);
    visit_end(&v);
    assert_int_equal(visit_get(&v, &without_mysql, statement_show, "/wallet", p.cookie), 503);
    visit_end(&v);
    db_free(without_mysql.stores.db);
    assert_int_equal(balance_of(p.id), 0);
}

/* ---- statement ---- */

static enum status transfer_body(struct db *db, void *ctx)
{
    return ledger_transfer(db, ctx);
}

static void moved(enum transfer_kind kind, uint64_t from, uint64_t to, int64_t fen, uint64_t packet_id)
{
    struct transfer t = { .kind = kind,
                          .debit_id = from,
                          .credit_id = to,
                          .amount_fen = fen,
                          .packet_id = packet_id,
                          .created_ms = 1800000000000 };
    assert_int_equal(db_transaction(app->stores.db, transfer_body, &t), ST_OK);
}

static void a_new_wallet_is_empty(void **state)
{
    (void)state;
    struct person p = person_new();
    struct visit v;
    assert_int_equal(visit_get(&v, app, statement_show, "/wallet", p.cookie), 200);
    assert_true(str_equal(str_trim(buf_view(&v.x.body)), STR("{\"balance_fen\":0,\"entries\":[],\"next\":null}")));
    visit_end(&v);
}

static void entries_show_signed_amounts_and_packets(void **state)
{
    (void)state;
    struct person p = person_new();
    struct visit v;
    uint64_t escrow = (uint64_t)1 << 60 | random_u64() >> 8;
    assert_int_equal(account_create(app->stores.db, escrow, ACCOUNT_ESCROW), ST_OK);
    accounts[account_count++] = escrow;
    moved(TRANSFER_DEPOSIT, ACCOUNT_BANK_ID, p.id, 1000, 0);
    moved(TRANSFER_SEND, p.id, escrow, 700, escrow);
    moved(TRANSFER_GRAB, escrow, p.id, 200, escrow);
    moved(TRANSFER_REFUND, escrow, p.id, 500, escrow);

    char wanted[1024], id[PUBLIC_ID_TEXT_MAX];
    public_id_encode(&app->id_key, escrow, id);
    static const char at[] = "2027-01-15T08:00:00.000Z";
    snprintf(wanted, sizeof wanted,
             "{\"balance_fen\":1000,\"entries\":["
             "{\"kind\":\"refund\",\"amount_fen\":500,\"packet\":\"%s\",\"created_at\":\"%s\"},"
             "{\"kind\":\"grab\",\"amount_fen\":200,\"packet\":\"%s\",\"created_at\":\"%s\"},"
             "{\"kind\":\"send\",\"amount_fen\":-700,\"packet\":\"%s\",\"created_at\":\"%s\"},"
             "{\"kind\":\"deposit\",\"amount_fen\":1000,\"packet\":null,\"created_at\":\"%s\"}],\"next\":null}",
             id, at, id, at, id, at, at);
    assert_int_equal(visit_get(&v, app, statement_show, "/wallet", p.cookie), 200);
    assert_true(str_equal(str_trim(buf_view(&v.x.body)), str_from(wanted)));
    visit_end(&v);

    assert_int_equal(visit_page(&v, app, statement_show, "/wallet", NULL, p.cookie), 200);
    for (size_t i = 0; i < 4; i++) {
        static const char *const words[] = { "红包退款", "收到红包", "发红包", "充值" };
        assert_true(visit_body_has(&v, words[i]));
    }
    assert_true(visit_body_has(&v, "+10.00"));
    assert_true(visit_body_has(&v, "-7.00"));
    assert_true(visit_body_has(&v, "name=\"request_key\""));
    visit_end(&v);
}

static void pages_show_every_entry_once_newest_first(void **state)
{
    (void)state;
    enum { ENTRIES = 2 * STATEMENT_PAGE_ENTRIES + 7 };
    struct person p = person_new(), other = person_new();
    bool seen[ENTRIES] = { false };
    uint64_t before = STATEMENT_NEWEST, last_id = UINT64_MAX;
    size_t pages = 0, count = 0;
    struct statement s;

    /* Transfers in both directions, with transfers of others in between. The amount identifies the transfer. */
    moved(TRANSFER_DEPOSIT, ACCOUNT_BANK_ID, p.id, 100000, 0);
    moved(TRANSFER_DEPOSIT, ACCOUNT_BANK_ID, other.id, 100000, 0);
    for (int i = 1; i < ENTRIES; i++) {
        bool in = i % 3 == 0;
        moved(TRANSFER_SEND, in ? other.id : p.id, in ? p.id : other.id, i, 0);
        moved(TRANSFER_SEND, other.id, ACCOUNT_BANK_ID, 1, 0);
    }
    do {
        assert_int_equal(statement_read(app->stores.db, arena, p.id, before, &s), ST_OK);
        for (size_t i = 0; i < s.count; i++) {
            int64_t fen = s.entries[i].amount_fen;
            size_t which = fen == 100000 ? 0 : (size_t)(fen < 0 ? -fen : fen);
            assert_true(s.entries[i].transfer_id < last_id);
            last_id = s.entries[i].transfer_id;
            assert_true(which < ENTRIES && !seen[which]);
            assert_int_equal(fen > 0, which % 3 == 0);
            seen[which] = true;
            count++;
        }
        if (pages == 0) /* an entry that is added between two pages is not on the later ones */
            moved(TRANSFER_DEPOSIT, ACCOUNT_BANK_ID, p.id, 5, 0);
        assert_int_equal(s.next, s.count == STATEMENT_PAGE_ENTRIES && count < ENTRIES ? last_id : 0);
        before = s.next;
        pages++;
    } while (before != 0);
    assert_int_equal(pages, 3);
    assert_int_equal(count, ENTRIES);
}

static void a_full_last_page_has_no_next(void **state)
{
    (void)state;
    struct person p = person_new();
    struct statement s;
    for (int i = 0; i < STATEMENT_PAGE_ENTRIES; i++)
        moved(TRANSFER_DEPOSIT, ACCOUNT_BANK_ID, p.id, 1, 0);
    assert_int_equal(statement_read(app->stores.db, arena, p.id, STATEMENT_NEWEST, &s), ST_OK);
    assert_int_equal(s.count, STATEMENT_PAGE_ENTRIES);
    assert_int_equal(s.next, 0);
}

static void a_page_links_to_the_next_one(void **state)
{
    (void)state;
    struct person p = person_new();
    struct visit v;
    char uri[64], link[80];
    for (int i = 0; i <= STATEMENT_PAGE_ENTRIES; i++)
        moved(TRANSFER_DEPOSIT, ACCOUNT_BANK_ID, p.id, i + 1, 0);
    assert_int_equal(visit_get(&v, app, statement_show, "/wallet", p.cookie), 200);
    uint64_t next = 0;
    struct str rest, text = str_cut(str_after(buf_view(&v.x.body), STR("\"next\":\"")), '"', &rest);
    assert_true(str_to_u64(text, &next));
    visit_end(&v);
    snprintf(uri, sizeof uri, "/wallet?before=%" PRIu64, next);
    snprintf(link, sizeof link, "href=\"%s\"", uri);
    visit_page(&v, app, statement_show, "/wallet", NULL, p.cookie);
    assert_true(visit_body_has(&v, link));
    visit_end(&v);
    assert_int_equal(visit_get(&v, app, statement_show, uri, p.cookie), 200);
    assert_int_equal(visit_json_int(&v, "amount_fen"), 1);
    assert_true(visit_body_has(&v, "\"next\":null"));
    visit_end(&v);
}

static void a_malformed_key_is_a_bad_request(void **state)
{
    (void)state;
    static const char *const uris[] = { "/wallet?before=",   "/wallet?before=x",
                                        "/wallet?before=-1", "/wallet?before=1.5",
                                        "/wallet?before=0",  "/wallet?before=01",
                                        "/wallet?before=+1", "/wallet?before=99999999999999999999" };
    struct person p = person_new();
    for (size_t i = 0; i < ARRAY_LEN(uris); i++) {
        struct visit v;
        assert_int_equal(visit_get(&v, app, statement_show, uris[i], p.cookie), 400);
        visit_end(&v);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_deposit_fills_the_wallet_from_the_bank),
        cmocka_unit_test(a_repeated_deposit_gets_the_same_answer_and_changes_nothing),
        cmocka_unit_test(a_key_belongs_to_one_user),
        cmocka_unit_test(deposits_without_a_key_are_all_made),
        cmocka_unit_test(one_form_posted_concurrently_deposits_once),
        cmocka_unit_test(a_refused_deposit_gets_a_message_and_changes_nothing),
        cmocka_unit_test(without_demo_a_deposit_is_not_found),
        cmocka_unit_test(a_browser_is_redirected_to_the_wallet),
        cmocka_unit_test(without_a_database_the_wallet_is_busy),
        cmocka_unit_test(a_new_wallet_is_empty),
        cmocka_unit_test(entries_show_signed_amounts_and_packets),
        cmocka_unit_test(pages_show_every_entry_once_newest_first),
        cmocka_unit_test(a_full_last_page_has_no_next),
        cmocka_unit_test(a_page_links_to_the_next_one),
        cmocka_unit_test(a_malformed_key_is_a_bad_request),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
