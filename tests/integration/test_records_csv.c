/* The records as a CSV file: every row once, in constant memory. */
#include "base/random.h"
#include "records/records.h"
#include "support/test.h"
#include "test_packet_two.h"
#include "test_stream_fixture.h"

/* So many that the rows of all years would take more memory than STREAM_GROWTH_KB_MAX. */
enum { MANY = 30000, TIMES = 2, PART_BYTES_MAX = 256 << 10 };

/* Returns the status. */
static int exported(const struct person *p, const char *uri, struct stream_written *w)
{
    struct visit v;
    bool is_sent = strncmp(uri, "/records/sent", 13) == 0;
    int status = person_request(&v, app, p, is_sent ? records_sent_csv : records_received_csv, uri, NULL, 0, false);
    w->mark = "\n";
    if (status == 200) {
        struct str type = visit_header(&v, "Content-Type"), name = visit_header(&v, "Content-Disposition");
        assert_true(str_starts(type, STR("text/csv; charset=utf-8")));
        assert_true(str_starts(name, STR("attachment; filename=\"hongbao-")));
        stream_run(&v.x, w, PART_BYTES_MAX);
    }
    visit_end(&v);
    return status;
}

static void assert_file(const struct person *p, const char *uri, const char *wanted)
{
    struct stream_written w = { .keep = true };
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
    const struct packet_row row = { .sender = &ming,
                                    .sender_name = "=ming",
                                    .kind = "lucky",
                                    .split = "uniform",
                                    .state = "closed",
                                    .greeting = greeting,
                                    .amount_fen = 1234,
                                    .refund_fen = 1000,
                                    .count = 3,
                                    .grabbed_count = 1,
                                    .created_ms = created_ms,
                                    .expires_ms = created_ms + 1 };
    packet_row_add(app, id, &row);
    grab_row_add(app, id, 0, &hong, 234, created_ms);
    return id;
}

TEST(a_file_has_every_row_with_its_cells_defused)
{
    char first[PUBLIC_ID_TEXT_MAX], second[PUBLIC_ID_TEXT_MAX], wanted[1024];
    uint64_t id = (UINT64_C(1) << 61) + (random_u64() >> 4);
    int64_t start = clock_zone_year_start_ms(2024);
    public_id_encode(&app->id_key, packet_add(id, "=1+1, \"x\"", start - 1), first);
    public_id_encode(&app->id_key, packet_add(id + 1, "恭喜", start), second);
    sql_run(app, "UPDATE packet SET note = '=note' WHERE id = ?", DB_U64(id + 1));
    assert_file(
        &ming, "/records/sent.csv",
        text_printf(
            "2024-01-01 00:00:00,%s,拼手气红包,恭喜,12.34,3,1,已过期,10.00,0.00,UTC+08:00,,'=note\r\n"
            "2023-12-31 23:59:59,%s,拼手气红包,\"'=1+1, \"\"x\"\"\",12.34,3,1,已过期,10.00,0.00,UTC+08:00,,\r\n",
            second, first)); /* of all years */
    snprintf(wanted, sizeof wanted, "2024-01-01 00:00:00,%s,拼手气红包,'=ming,恭喜,1,2.34,0.00,,UTC+08:00\r\n", second);
    assert_file(&hong, "/records/received.csv?year=2024", wanted);
    assert_file(&hong, "/records/received.csv?q=%E6%81%AD&min=1", wanted);
    assert_file(&hong, "/records/received.csv?kind=even", "");
    struct stream_written w = { .parts = 0 };
    assert_int_equal(exported(&hong, "/records/received.csv?kind=x", &w), 422);
    assert_int_equal(exported(&hong, "/records/received.csv?year=x", &w), 422);
}

static void return_add(uint64_t id, struct db_param position)
{
    sql_run(app,
            "INSERT INTO share_return (packet_id, share_no, user_id, amount_fen, position, "
            "returned_ms, applied_ms) VALUES (?, 0, ?, 234, ?, 1, 1)",
            DB_U64(id), DB_U64(hong.id), position);
}

/* The amount that was kept, and the cost of a packet, are sums over columns. */
TEST(a_share_given_back_is_in_a_column_of_its_own)
{
    char into[PUBLIC_ID_TEXT_MAX], to_sender[PUBLIC_ID_TEXT_MAX];
    uint64_t id = (UINT64_C(1) << 61) + (random_u64() >> 4);
    int64_t start = clock_zone_year_start_ms(2021);
    public_id_encode(&app->id_key, packet_add(id, "a", start), into);
    public_id_encode(&app->id_key, packet_add(id + 1, "b", start + 1000), to_sender);
    return_add(id, DB_U64(3));
    return_add(id + 1, DB_NULL);
    assert_file(&hong, "/records/received.csv?year=2021",
                text_printf("2021-01-01 00:00:01,%s,拼手气红包,'=ming,b,1,2.34,2.34,,UTC+08:00\r\n"
                            "2021-01-01 00:00:00,%s,拼手气红包,'=ming,a,1,2.34,2.34,,UTC+08:00\r\n",
                            to_sender, into));
    assert_file(&ming, "/records/sent.csv?year=2021",
                text_printf("2021-01-01 00:00:01,%s,拼手气红包,b,12.34,3,1,已过期,10.00,2.34,UTC+08:00,,\r\n"
                            "2021-01-01 00:00:00,%s,拼手气红包,a,12.34,3,1,已过期,10.00,0.00,UTC+08:00,,\r\n",
                            to_sender, into));
}

TEST(a_large_file_takes_the_memory_of_a_small_one)
{
    struct person sender, taker;
    two_with_records(&sender, &taker, TIMES, MANY);
    struct stream_written sent = { .parts = 0 }, received = { .parts = 0 }, found = { .parts = 0 };
    assert_int_equal(exported(&sender, "/records/sent.csv", &sent), 200);
    assert_int_equal(exported(&taker, "/records/received.csv", &received), 200);
    assert_int_equal(exported(&taker, "/records/received.csv?q=%E7%A8%80%E6%9C%89", &found), 200);
    assert_ints({ sent.marks, 1 + TIMES * MANY }, { received.marks, 1 + TIMES * MANY },
                { found.marks, 1 + TIMES * MANY / 1000 });
    assert_true(sent.parts >= TIMES * MANY / 500);
    assert_true(sent.grown_kb < STREAM_GROWTH_KB_MAX);
    assert_true(received.grown_kb < STREAM_GROWTH_KB_MAX);
    assert_true(found.grown_kb < STREAM_GROWTH_KB_MAX);
}

TESTS(two_setup, two_teardown)
