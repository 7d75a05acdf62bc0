/* The records as a CSV file: every row once, in constant memory. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/random.h"
#include "pages/records.h"
#include "test_packet_fixture.h"

enum { MANY = 30000, TIMES = 3, WARM_PARTS = 20, GROWTH_KB_MAX = 4096, PART_BYTES_MAX = 256 << 10 };

/* The sanitizer keeps freed memory; here it would look like memory in use. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "quarantine_size_mb=1";
}

static struct services *app;
static struct person ming, hong;

static int setup(void **state)
{
    (void)state;
    app = packet_services_open();
    if (app == NULL)
        return 1;
    person_new(app, &ming, 0);
    person_new(app, &hong, 0);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    static const char *const clear[] = {
        "DELETE grab FROM grab JOIN packet ON packet.id = grab.packet_id WHERE packet.sender_id >= ?",
        "DELETE FROM packet WHERE sender_id >= ?"
    };
    int failed = 0;
    for (size_t i = 0; i < ARRAY_LEN(clear); i++)
        failed |= db_exec(app->stores.db, NULL, clear[i], DB_PARAMS(DB_U64(ming.id))) != ST_OK;
    packet_services_close(app);
    return failed;
}

static long resident_kb(void)
{
    long pages = 0;
    FILE *file = fopen("/proc/self/statm", "re");
    assert_non_null(file);
    assert_int_equal(fscanf(file, "%*s %ld", &pages), 1);
    fclose(file);
    return pages * 4;
}

/* What an export wrote. */
struct written {
    struct buf all; /* when keep is set */
    bool keep;
    size_t rows, parts;
    long grown_kb; /* after the first parts */
};

static void part_look(struct written *w, struct buf *part, long *warm_kb)
{
    assert_true(part->len <= PART_BYTES_MAX);
    for (size_t i = 0; i < part->len; i++)
        w->rows += part->ptr[i] == '\n';
    if (w->keep)
        buf_str(&w->all, buf_view(part));
    buf_reset(part);
    if (++w->parts == WARM_PARTS)
        *warm_kb = resident_kb();
}

/* Runs an export as the router does. Returns the status. */
static int exported(const struct person *p, const char *uri, struct written *w)
{
    struct visit v;
    long warm_kb = 0;
    bool more = true;
    bool is_sent = strncmp(uri, "/records/sent", 13) == 0;
    int status = person_request(&v, app, p, is_sent ? records_sent_csv : records_received_csv, uri, NULL, 0, false);
    if (status == 200) {
        struct str type = visit_header(&v, "Content-Type"), name = visit_header(&v, "Content-Disposition");
        assert_true(str_starts(type, STR("text/csv; charset=utf-8")));
        assert_true(str_starts(name, STR("attachment; filename=\"hongbao-")));
        while (more) {
            assert_int_equal(v.x.stream->next(&v.x, &more), ST_OK);
            part_look(w, &v.x.body, &warm_kb);
        }
        v.x.stream->end(&v.x);
        w->grown_kb = resident_kb() - warm_kb;
    }
    visit_end(&v);
    return status;
}

static void assert_file(const struct person *p, const char *uri, const char *wanted)
{
    struct written w = { .keep = true };
    assert_int_equal(exported(p, uri, &w), 200);
    struct str all = buf_view(&w.all), rest;
    assert_true(str_skip_prefix(&all, STR("\xef\xbb\xbf")));
    assert_true(str_cut(all, '\n', &rest).len > 0); /* the columns */
    if (!str_equal(rest, str_from(wanted)))
        fail_msg("%s:\n%.*s\ninstead of\n%s", uri, STR_ARG(rest), wanted);
    buf_free(&w.all);
}

static uint64_t packet_add(uint64_t id, const char *greeting, int64_t created_ms)
{
    char key[PERSON_KEY_MAX];
    fresh_key(key);
    assert_int_equal(
        db_exec(app->stores.db, NULL,
                "INSERT INTO packet (id, sender_id, sender_name, kind, split, amount_fen, count, greeting, "
                "seed, commitment, state, grabbed_count, refund_fen, created_ms, expires_ms, request_key) "
                "VALUES (?, ?, '=ming', 'lucky', 'uniform', 1234, 3, ?, REPEAT('s', 32), REPEAT('c', 32), "
                "'closed', 1, 1000, ?, ?, ?)",
                DB_PARAMS(DB_U64(id), DB_U64(ming.id), DB_TEXT(str_from(greeting)), DB_I64(created_ms),
                          DB_I64(created_ms + 1), DB_TEXT(str_from(key)))),
        ST_OK);
    assert_int_equal(db_exec(app->stores.db, NULL,
                             "INSERT INTO grab (packet_id, share_no, user_id, nickname, amount_fen, grabbed_ms) "
                             "VALUES (?, 0, ?, 'h', 234, ?)",
                             DB_PARAMS(DB_U64(id), DB_U64(hong.id), DB_I64(created_ms))),
                     ST_OK);
    return id;
}

static void a_file_has_every_row_with_its_cells_defused(void **state)
{
    (void)state;
    char first[PUBLIC_ID_TEXT_MAX], second[PUBLIC_ID_TEXT_MAX], wanted[1024];
    uint64_t id = (UINT64_C(1) << 61) + (random_u64() >> 4);
    int64_t start = clock_zone_year_start_ms(2024);
    public_id_encode(&app->id_key, packet_add(id, "=1+1, \"x\"", start - 1), first);
    public_id_encode(&app->id_key, packet_add(id + 1, "恭喜", start), second);
    snprintf(wanted, sizeof wanted,
             "2024-01-01 00:00:00,%s,拼手气红包,恭喜,12.34,3,1,已过期,10.00\r\n"
             "2023-12-31 23:59:59,%s,拼手气红包,\"'=1+1, \"\"x\"\"\",12.34,3,1,已过期,10.00\r\n",
             second, first);
    assert_file(&ming, "/records/sent.csv", wanted); /* of all years */
    snprintf(wanted, sizeof wanted, "2024-01-01 00:00:00,%s,拼手气红包,'=ming,恭喜,1,2.34,\r\n", second);
    assert_file(&hong, "/records/received.csv?year=2024", wanted);
    assert_file(&hong, "/records/received.csv?q=%E6%81%AD&min=1", wanted);
    assert_file(&hong, "/records/received.csv?kind=even", "");
    struct written w = { .rows = 0 };
    assert_int_equal(exported(&hong, "/records/received.csv?kind=x", &w), 422);
    assert_int_equal(exported(&hong, "/records/received.csv?year=x", &w), 400);
}

static void a_large_file_takes_the_memory_of_a_small_one(void **state)
{
    (void)state;
    struct person sender, taker;
    person_new(app, &sender, 0);
    person_new(app, &taker, 0);
    for (int i = 0; i < TIMES; i++)
        records_many(app, &sender, &taker, clock_zone_year_start_ms(2022 + i), MANY);
    struct written sent = { .rows = 0 }, received = { .rows = 0 }, found = { .rows = 0 };
    assert_int_equal(exported(&sender, "/records/sent.csv", &sent), 200);
    assert_int_equal(exported(&taker, "/records/received.csv", &received), 200);
    assert_int_equal(exported(&taker, "/records/received.csv?q=%E7%A8%80%E6%9C%89", &found), 200);
    assert_int_equal(sent.rows, 1 + TIMES * MANY);
    assert_int_equal(received.rows, 1 + TIMES * MANY);
    assert_int_equal(found.rows, 1 + TIMES * MANY / 1000);
    assert_true(sent.parts >= TIMES * MANY / 500);
    assert_true(sent.grown_kb < GROWTH_KB_MAX);
    assert_true(received.grown_kb < GROWTH_KB_MAX);
    assert_true(found.grown_kb < GROWTH_KB_MAX);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_has_every_row_with_its_cells_defused),
        cmocka_unit_test(a_large_file_takes_the_memory_of_a_small_one),
    };
    return random_init() ? cmocka_run_group_tests(tests, setup, teardown) : 1;
}
