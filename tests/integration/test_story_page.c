/* pages/story on a real database: the year's figures, who may see them, how many rows the page reads, and the numbers
 * that the picture gets. */
#include <inttypes.h>

#include "base/clock.h"
#include "packet/story.h"
#include "records/story.h"
#include "records/story_picture.h"
#include "test_drawn.h"
#include "test_packet_app.h"

/* If all were read, they would be more rows than 5 * STORY_RECEIVED_MAX. */
enum { MANY = 5000, YEAR_OF_MANY = 2025 };

static struct person first; /* of this test */

static int setup(void **state)
{
    if (app_setup(state) != 0)
        return 1;
    person_new(app, &first, 0);
    return 0;
}

/* Packets of this test have rows but no transfers, so an audit by another test must not find them. */
static int teardown(void **state)
{
    bool done = packets_forget(app, &first);
    return app_teardown(state) != 0 || !done;
}

static void month_add(const struct person *p, const char *values)
{
    sql_run(
        app,
        text_printf("INSERT INTO user_month (user_id, year, month, sent_count, sent_fen, received_count, received_fen, "
                    "best_count) VALUES (?, %s)",
                    values),
        DB_U64(p->id));
}

static void months_forget(const struct person *p)
{
    sql_run(app, "DELETE FROM user_month WHERE user_id = ?", DB_U64(p->id));
}

TEST(a_story_tells_sums_people_and_shares_of_the_year_only)
{
    struct person sender = person_with(0), taker = person_with(0);
    records_many(app, &sender, &taker, clock_zone_year_start_ms(2024), 3);
    month_add(&taker, "2024, 1, 2, 500, 3, 300, 1");
    month_add(&taker, "2025, 1, 9, 999, 9, 999, 9");
    visit_says(person_json(&taker, story_show, "/records/story?year=2024", NULL, 0), 200, "sent_fen: 500",
               "received_fen: 300", "best_count: 1",
               text_printf("\"given_most\":null,\"received_most\":{\"user\":{\"id\":%" PRIu64
                           ",\"nickname\":\"%s\"},\"amount_fen\":300,\"count\":3,\"exchanged\":3}",
                           sender.id, sender.nickname),
               "\"liveliest\":{\"date\":\"2024-01-01\",\"sent_count\":0,\"received_count\":3,", "\"cut\":false");
    visit_says(person_json(&sender, story_show, "/records/story?year=2024", NULL, 0), 200,
               text_printf("\"given_most\":{\"user\":{\"id\":%" PRIu64, taker.id));
    visit_says(person_html(&taker, story_show, "/records/story?year=2023", NULL, 0), 200, "这一年还没有红包", LACKS,
               "/story.png");
    visit_says(person_html(&taker, story_show, "/records/story?year=x", NULL, 0), 400);
    months_forget(&taker);
}

TEST(what_was_given_back_is_nobodys_gift)
{
    struct person sender = person_with(0), taker = person_with(0);
    records_many(app, &sender, &taker, clock_zone_year_start_ms(2024), 1);
    sql_run(app,
            "INSERT INTO share_return (packet_id, share_no, user_id, amount_fen, returned_ms) "
            "SELECT packet_id, share_no, user_id, amount_fen, grabbed_ms + 1 FROM grab "
            "WHERE user_id = ?",
            DB_U64(taker.id));
    visit_says(person_json(&taker, story_show, "/records/story?year=2024", NULL, 0), 200,
               "\"received_most\":null,\"largest\":null,\"fastest\":null");
    visit_says(person_json(&sender, story_show, "/records/story?year=2024", NULL, 0), 200, "\"given_most\":null");
}

TEST(a_deleted_person_has_todays_word)
{
    struct person sender = person_with(0), taker = person_with(0);
    records_many(app, &sender, &taker, clock_zone_year_start_ms(2024), 1);
    month_add(&taker, "2024, 1, 0, 0, 1, 100, 0");
    sql_run(app, "UPDATE user SET deleting_ms = 1 WHERE id = ?", DB_U64(sender.id));
    visit_says(person_html(&taker, story_show, "/records/story?year=2024", NULL, 0), 200, "已注销用户", LACKS,
               sender.nickname);
    sql_run(app, "UPDATE user SET deleting_ms = NULL WHERE id = ?", DB_U64(sender.id));
    months_forget(&taker);
}

/* A row costs its key, its packet, and look-ups of returns and thanks. */
TEST(a_story_of_many_records_reads_a_limited_number_of_rows)
{
    struct person people[2];
    for (size_t i = 0; i < 2; i++)
        person_new(app, &people[i], 0);
    records_many(app, &people[0], &people[1], clock_zone_year_start_ms(YEAR_OF_MANY), MANY);
    for (size_t i = 0; i < 2; i++) {
        int64_t before = sql_rows_read(app);
        visit_says(person_json(&people[i], story_show, "/records/story?year=2025", NULL, 0), 200, "\"cut\":true");
        int64_t rows = sql_rows_read(app) - before;
        if (rows > 5 * STORY_RECEIVED_MAX)
            fail_msg("side %zu reads %" PRId64 " rows", i, rows);
    }
    /* A year before all records is found by keys: few rows are read. */
    int64_t before = sql_rows_read(app);
    visit_says(person_json(&people[1], story_show, "/records/story?year=2024", NULL, 0), 200);
    assert_true(sql_rows_read(app) - before < 20);
}

/* The SVG that the card pool draws for this address. */
static struct visit *drawn_of(const char *address)
{
    struct visit *v = visit_new(app, address, NULL, NULL);
    visit_handle(v, story_picture);
    return v;
}

/* The address that the page pool passes on for this address. */
static const char *shared_at(const struct person *p, const char *uri)
{
    struct visit *v = person_html(p, story_share, uri, NULL, 0);
    const struct str to = visit_header(v, "X-Accel-Redirect");
    assert_non_null(to.ptr);
    const char *address = text_printf("%.*s", STR_ARG(to));
    assert_null(visit_header(v, "Content-Disposition").ptr); /* nginx would send it with a refusal of the card pool */
    visit_says(v, 200);
    return address;
}

TEST(the_picture_has_counts_and_no_names_of_others_and_amounts_only_when_wanted)
{
    struct person sender = person_with(0), taker = person_with(0);
    records_many(app, &sender, &taker, clock_zone_year_start_ms(2024), 1);
    month_add(&taker, "2024, 1, 41, 432100, 67, 987600, 8");
    const char *address = shared_at(&taker, "/story.png?year=2024");
    assert_null(strstr(address, "_sum"));
    visit_says(drawn_of(address), 200, "Cache-Control: private, no-store",
               "Content-Disposition: attachment; filename=\"hongbao-2024.png\"", taker.nickname, ">2024<", ">41<",
               ">67<", ">8<", LACKS, "4321", "4,321", "9876", "9,876", sender.nickname);
    visit_says(drawn_of(shared_at(&taker, "/story.png?year=2024&amounts=1")), 200, "4,321.00", "9,876.00", LACKS,
               sender.nickname);
    months_forget(&taker);
}

/* The coin has the face that pages show. */
TEST(the_picture_has_the_face_of_its_person)
{
    static const char initial[] = ">香<", fourth[] = "<g transform=\"translate(0 -180)\"><g>";
    static const struct {
        const char *query, *has, *lacks;
    } FACES[] = { { "", initial, fourth },
                  { "&face=rabbit", fourth, initial },
                  { "&face=nothing", initial, fourth },
                  { "&face=%400000000000000000000000000", initial, fourth } }; /* a picture that is gone */
    struct visit v;
    EACH (row, FACES)
        visit_says(drawn_of(text_printf("/story.png?lang=en&name=%%E9%%A6%%99&year=2024&sent=1&received=1&best=1%s",
                                        row->query)),
                   200, row->has, LACKS, row->lacks, "<image");
    visit_begin(&v, app, "/story.png", NULL, NULL);
    v.x.visitor = (struct visitor){ .user_id = 1, .nickname = STR("香"), .face = face_from(STR("@a1b")) };
    const struct user_year year = { .year = 2024, .sent_count = 3, .received_count = 4, .best_count = 2 };
    struct str url = story_picture_url(&v.x, &year, false);
    assert_true(str_after(url, STR("&face=%40a1b&year=2024&sent=3&received=4&best=2")).ptr != NULL);
    visit_end(&v);
}

TESTS(setup, teardown)
