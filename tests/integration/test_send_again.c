/* The send form that is filled in: for a person, with a packet sent before, and the people one knows. */
#include "base/clock.h"
#include "base/random.h"
#include "packet/people.h"
#include "packet/receivers.h"
#include "pages/send.h"
#include "support/test.h"
#include "test_packet_app.h"

enum { URI_MAX = 256, MANY = 1000, HOUR_MS = 3600000 };

static struct person ming, hong;

static int setup(void **state)
{
    if (app_setup(state) != 0)
        return 1;
    person_new(app, &ming, 100000);
    person_new(app, &hong, 100000);
    return 0;
}

/* Sends a packet; id_text becomes its public id. */
static void sent(const struct person *p, const char *fields, char id_text[URI_MAX])
{
    struct visit *v = person_json(p, send_form_post, "/send", fields, 0);
    visit_json_text(v, "id", id_text, URI_MAX);
    visit_says(v, 201);
}

static struct visit *again(const struct person *p, const char *id_text)
{
    return person_visit_new(app, p, send_form_get, text_printf("/send?again=%s", id_text), NULL, 0, false);
}

TEST(a_packet_is_sent_again_with_the_same_values_and_a_new_key)
{
    char id[URI_MAX];
    sent(&ming, "kind=lucky&amount=12.30&count=4&split=gaussian&greeting=A%26B&request_key=again-first-key", id);
    visit_says(again(&ming, id), 200, "value=\"lucky\" checked",
               "name=\"amount\" type=\"text\" inputmode=\"decimal\" autocomplete=\"off\" "
               "placeholder=\"0.00\" value=\"12.30\"",
               "value=\"4\"", ">A&amp;B</textarea>", "<option value=\"gaussian\" selected>", LACKS, "again-first-key");

    sent(&ming, "kind=even&amount=1.50&count=3", id);
    /* The amount is the amount of one share, as typed. */
    visit_says(again(&ming, id), 200, "value=\"even\" checked", "value=\"1.50\"");

    sent(&ming, "kind=even&amount=10.00&count=3&amount_of=total", id);
    visit_says(again(&ming, id), 200, "value=\"10.00\"", "<option value=\"total\" selected>");

    sent(&ming, "kind=lucky&amount=10.00&count=3&share_min=2.5", id);
    visit_says(again(&ming, id), 200, "value=\"2.50\"");

    sent(&ming, text_printf("kind=even&amount=1&count=1&to=%s", hong.username), id);
    visit_says(again(&ming, id), 200, hong.username);
    sent(&ming, text_printf("kind=exclusive&amount=5.20&to=%s", hong.username), id);
    visit_says(again(&ming, id), 200, "value=\"exclusive\" checked", text_printf(">%s</textarea>", hong.username));
}

#define TO(open)   "<details class=\"card receivers\"" open ">"
#define MORE(open) "<details class=\"card options\"" open ">"

/* Which parts of the form are open. */
static void parts_are(struct visit *v, int status, bool to, bool more)
{
    visit_says(v, status, to ? TO(" open") : TO(""), more ? MORE(" open") : MORE(""));
}

TEST(a_part_is_open_when_it_has_a_value_or_an_error)
{
    static const struct {
        const char *fields;
        bool more;
    } cases[] = {
        { "kind=lucky&amount=10&count=3", false },
        { "kind=lucky&amount=10&count=3&cover=plain&split=double-average&amount_of=share&lifetime=24h&phrase=", false },
        { "kind=lucky&amount=10&count=3&lifetime=7d", true },
        { "kind=even&amount=10&count=3&amount_of=total", true },
        { "kind=lucky&amount=10&count=3&phrase=sesame", true },
        { "kind=lucky&amount=10&count=3&split=uniform", true },
        { "kind=lucky&amount=10&count=3&note=lunch", true },
        { "kind=lucky&amount=10&count=3&share_min=1", true },
        { "kind=lucky&amount=10&count=3&cover=birthday", false },
    };
    char id[URI_MAX];
    EACH (row, cases) {
        sent(&ming, row->fields, id);
        parts_are(again(&ming, id), 200, false, row->more);
        const char *fields = text_printf("%s&to=nobody-of-this-name", row->fields);
        parts_are(person_html(&ming, send_form_post, "/send", fields, 0), 422, true, row->more);
    }
    static const char wrong[] = "kind=lucky&amount=10&count=3&cover=x&split=x&lifetime=x";
    parts_are(person_html(&ming, send_form_post, "/send", wrong, 0), 422, false, true);
}

/* The time in the form of an input of type datetime-local. */
static const char *local_time(int64_t ms)
{
    char *text = arena_cstr(arena, clock_zone_minute(arena, ms));
    text[strcspn(text, " ")] = 'T';
    return text;
}

TEST(an_opening_to_come_is_filled_in_and_the_form_says_what_must_be_typed_again)
{
    char id[URI_MAX];
    const char *const opens = local_time(clock_now_ms() + HOUR_MS);
    const char *const asks_phrase = "<a href=\"#phrase\">", *const asks_time = "<a href=\"#opens_at\">";
    sent(&ming, "kind=even&amount=1.50&count=3", id);
    visit_says(again(&ming, id), 200, LACKS, asks_phrase, asks_time);

    sent(&ming, text_printf("kind=even&amount=1.50&count=3&phrase=sesame-again&opens_at=%s", opens), id);
    visit_says(again(&ming, id), 200, text_printf("value=\"%s\"", opens), asks_phrase, LACKS, asks_time,
               "sesame-again");

    uint64_t packet_id;
    assert_true(public_id_decode(&app->id_key, str_from(id), &packet_id));
    sql_run(app, "UPDATE packet SET opens_ms = created_ms WHERE id = ?", DB_U64(packet_id));
    visit_says(again(&ming, id), 200, asks_phrase, asks_time,
               "type=\"datetime-local\" autocomplete=\"off\" value=\"\"");
}

TEST(only_the_sender_can_send_a_packet_again)
{
    char id[URI_MAX];
    sent(&ming, "kind=even&amount=1.50&count=3", id);
    visit_says(again(&hong, id), 404);
    EACH_TEXT (text, "x", "00000000000000000000000000")
        visit_says(again(&ming, text), 404);
    uint64_t none = 12345;
    public_id_encode(&app->id_key, none, id);
    visit_says(again(&ming, id), 404);
}

TEST(a_deleted_receiver_leaves_the_count_to_those_who_are_left)
{
    struct person gone = person_with(0);
    char id[URI_MAX];
    sent(&ming, text_printf("kind=lucky&amount=1.50&count=2&to=%s,%s", hong.username, gone.username), id);
    visit_says(again(&ming, id), 200, "value=\"2\"");
    sql_run(app, "UPDATE user SET deleting_ms = 1 WHERE id = ?", DB_U64(gone.id));
    visit_says(again(&ming, id), 200, hong.username, LACKS, gone.username, "value=\"2\"");
    /* Otherwise a job would continue the deletion. */
    sql_run(app, "UPDATE user SET deleting_ms = NULL WHERE id = ?", DB_U64(gone.id));
}

TEST(a_link_names_the_receiver)
{
    visit_says(person_html(&ming, send_form_get, "/send?to=%22%3E%3Cb%3E", NULL, 0), 200, "value=\"exclusive\" checked",
               ">&quot;&gt;&lt;b&gt;</textarea>");
}

/* ---- people ---- */

static uint64_t next_id;

static void exchanged(const struct person *sender, const struct person *named, const struct person *taker, int64_t ms)
{
    const struct packet_row row = {
        .sender = sender, .receiver = named, .state = "closed", .count = 9, .created_ms = ms
    };
    packet_row_add(app, next_id, &row);
    if (taker != NULL)
        grab_row_add(app, next_id, 0, taker, 1, ms + 1);
    next_id++;
}

/* The ids of the recent people: of count friends from first on, which follow each other upwards or downwards. */
static void assert_recent(const struct person *me, const struct person *first, size_t count, int step)
{
    struct people people;
    assert_int_equal(people_recent(app->stores.db, arena, me->id, &people), ST_OK);
    assert_int_equal(people.count, count);
    for (size_t i = 0; i < count; i++, first += step)
        assert_int_equal(people.ids[i], first->id);
}

TEST(recent_people_are_those_one_exchanged_packets_with_each_once)
{
    struct person me, friends[PEOPLE_MAX + 2];
    next_id = (UINT64_C(1) << 61) + (random_u64() >> 4);
    person_new(app, &me, 0);
    for (size_t i = 0; i < ARRAY_LEN(friends); i++)
        person_new(app, &friends[i], 0);
    exchanged(&friends[0], NULL, &me, 1000);
    exchanged(&me, &friends[1], NULL, 2000);
    exchanged(&me, NULL, &friends[2], 3000);
    exchanged(&me, NULL, &me, 4000);
    exchanged(&friends[0], NULL, &friends[3], 5000); /* without me */
    assert_recent(&me, &friends[2], 3, -1);

    exchanged(&friends[0], NULL, &me, 9000); /* again: first now, and still once */
    for (size_t i = 3; i < ARRAY_LEN(friends); i++)
        exchanged(&friends[i], NULL, &me, 9000 - (int64_t)i);
    struct visit *v = person_html(&me, send_form_get, "/send", NULL, 0);
    assert_int_equal(visit_body_count(v, "data-to="), PEOPLE_MAX);
    visit_says(v, 200, text_printf("href=\"/send?to=%s\"", friends[0].username));
    friends[2] = friends[0];
    assert_recent(&me, &friends[2], PEOPLE_MAX, 1);
    assert_true(packets_forget(app, &me));
}

/* The packet that was exchanged last was for this person. */
static void named(struct person *one)
{
    sql_run(app, "INSERT INTO packet_receiver (packet_id, user_id, name, expires_ms) VALUES (?, ?, 'n', 0)",
            DB_U64(next_id - 1), DB_U64(one->id));
}

TEST(receivers_who_have_not_opened_are_recent_people)
{
    enum { PACKETS = 19, EACH = 9 }; /* together more rows than are read */
    struct person me, people[1 + EACH], *const latest = people, *const friends = people + 1;
    person_new(app, &me, 0);
    for (size_t i = 0; i < 1 + EACH; i++)
        person_new(app, &people[i], 0);
    exchanged(&me, NULL, &friends[0], 1000); /* of its two receivers one has opened it */
    named(&friends[0]);
    named(&friends[1]);
    exchanged(latest, NULL, NULL, 1500); /* without me */
    named(&friends[2]);
    assert_recent(&me, friends, 2, 1);

    for (int64_t n = 0; n < PACKETS; n++) {
        exchanged(&me, NULL, NULL, 2000 + n);
        for (size_t i = 0; i < EACH; i++)
            named(&friends[i]);
    }
    exchanged(&me, NULL, NULL, 3000);
    named(latest);
    assert_recent(&me, people, PEOPLE_MAX, 1);
    assert_true(packets_forget(app, &me));
}

TEST(a_user_with_many_packets_reads_as_few_rows)
{
    struct person me = person_with(0), other = person_with(0);
    struct people people;
    records_many(app, &me, &other, clock_zone_year_start_ms(2025), MANY);
    records_many(app, &other, &me, clock_zone_year_start_ms(2025), MANY);
    sql_run(app,
            "INSERT INTO packet_receiver (packet_id, user_id, name, expires_ms) "
            "SELECT id, ?, 'n', 0 FROM packet WHERE sender_id = ?",
            DB_U64(other.id), DB_U64(me.id));
    int64_t before = sql_rows_read(app);
    assert_int_equal(people_recent(app->stores.db, arena, me.id, &people), ST_OK);
    int64_t rows = sql_rows_read(app) - before;
    assert_int_equal(people.count, 1);
    if (rows > 500)
        fail_msg("%lld rows", (long long)rows);
    assert_true(packets_forget(app, &me));
}

TESTS(setup, app_teardown)
