/* The send form that is filled in: for a person, with a packet sent before, and the people one knows. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/random.h"
#include "packet/people.h"
#include "packet/receivers.h"
#include "pages/send.h"
#include "test_packet_fixture.h"

enum { URI_MAX = 256, MANY = 5000, HOUR_MS = 3600000, MINUTE_BYTES = 17 };

static struct services *app;
static struct arena *arena;
static struct person ming, hong;

static int setup(void **state)
{
    (void)state;
    app = packet_services_open();
    arena = arena_new(65536, 64 << 20);
    if (app == NULL || arena == NULL)
        return 1;
    person_new(app, &ming, 100000);
    person_new(app, &hong, 100000);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    arena_free(arena);
    packet_services_close(app);
    return 0;
}

/* Sends a packet; id_text becomes its public id. */
static void sent(const struct person *p, const char *fields, char id_text[URI_MAX])
{
    struct visit v;
    assert_int_equal(person_request(&v, app, p, send_form_post, "/send", fields, 0, true), 201);
    visit_json_text(&v, "id", id_text, URI_MAX);
    visit_end(&v);
}

static int again(struct visit *v, const struct person *p, const char *id_text)
{
    char uri[URI_MAX];
    snprintf(uri, sizeof uri, "/send?again=%s", id_text);
    return person_request(v, app, p, send_form_get, uri, NULL, 0, false);
}

static void a_packet_is_sent_again_with_the_same_values_and_a_new_key(void **state)
{
    (void)state;
    struct visit v;
    char id[URI_MAX];
    sent(&ming, "kind=lucky&amount=12.30&count=4&split=gaussian&greeting=A%26B&request_key=again-first-key", id);
    assert_int_equal(again(&v, &ming, id), 200);
    assert_true(visit_body_has(&v, "value=\"lucky\" checked"));
    assert_true(visit_body_has(&v, "name=\"amount\" type=\"text\" inputmode=\"decimal\" autocomplete=\"off\" "
                                   "placeholder=\"0.00\" value=\"12.30\""));
    assert_true(visit_body_has(&v, "value=\"4\""));
    assert_true(visit_body_has(&v, ">A&amp;B</textarea>"));
    assert_true(visit_body_has(&v, "<option value=\"gaussian\" selected>"));
    assert_false(visit_body_has(&v, "again-first-key"));
    visit_end(&v);

    sent(&ming, "kind=even&amount=1.50&count=3", id);
    assert_int_equal(again(&v, &ming, id), 200);
    assert_true(visit_body_has(&v, "value=\"even\" checked"));
    assert_true(visit_body_has(&v, "value=\"1.50\"")); /* of one share, as it was typed */
    visit_end(&v);

    sent(&ming, "kind=even&amount=10.00&count=3&amount_of=total", id);
    assert_int_equal(again(&v, &ming, id), 200);
    assert_true(visit_body_has(&v, "value=\"10.00\""));
    assert_true(visit_body_has(&v, "<option value=\"total\" selected>"));
    visit_end(&v);

    sent(&ming, "kind=lucky&amount=10.00&count=3&share_min=2.5", id);
    assert_int_equal(again(&v, &ming, id), 200);
    assert_true(visit_body_has(&v, "value=\"2.50\""));
    visit_end(&v);

    char fields[URI_MAX];
    snprintf(fields, sizeof fields, "kind=even&amount=1&count=1&to=%s", hong.username);
    sent(&ming, fields, id);
    assert_int_equal(again(&v, &ming, id), 200);
    assert_true(visit_body_has(&v, hong.username));
    visit_end(&v);
    snprintf(fields, sizeof fields, "kind=exclusive&amount=5.20&to=%s", hong.username);
    sent(&ming, fields, id);
    assert_int_equal(again(&v, &ming, id), 200);
    snprintf(fields, sizeof fields, ">%s</textarea>", hong.username);
    assert_true(visit_body_has(&v, "value=\"exclusive\" checked"));
    assert_true(visit_body_has(&v, fields));
    visit_end(&v);
}

#define TO(open)   "<details class=\"card receivers\"" open ">"
#define MORE(open) "<details class=\"card options\"" open ">"

/* Which parts of the form are open. */
static void parts_are(struct visit *v, bool to, bool more)
{
    assert_true(visit_body_has(v, to ? TO(" open") : TO("")));
    assert_true(visit_body_has(v, more ? MORE(" open") : MORE("")));
    visit_end(v);
}

static void a_part_is_open_when_it_has_a_value_or_an_error(void **state)
{
    (void)state;
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
        { "kind=lucky&amount=10&count=3&share_min=1", true },
        { "kind=lucky&amount=10&count=3&cover=birthday", false },
    };
    struct visit v;
    char id[URI_MAX], refused[URI_MAX];
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        sent(&ming, cases[i].fields, id);
        assert_int_equal(again(&v, &ming, id), 200);
        parts_are(&v, false, cases[i].more);
        snprintf(refused, sizeof refused, "%s&to=nobody-of-this-name", cases[i].fields);
        assert_int_equal(person_request(&v, app, &ming, send_form_post, "/send", refused, 0, false), 422);
        parts_are(&v, true, cases[i].more);
    }
    static const char wrong[] = "kind=lucky&amount=10&count=3&cover=x&split=x&lifetime=x";
    assert_int_equal(person_request(&v, app, &ming, send_form_post, "/send", wrong, 0, false), 422);
    parts_are(&v, false, true);
}

/* The time as an input of type datetime-local has it. */
static void local_time(int64_t ms, char out[MINUTE_BYTES])
{
    struct str minute = clock_zone_minute(arena, ms);
    snprintf(out, MINUTE_BYTES, "%.*s", STR_ARG(minute));
    out[strcspn(out, " ")] = 'T';
}

static void an_opening_to_come_is_filled_in_and_the_form_says_what_must_be_typed_again(void **state)
{
    (void)state;
    struct visit v;
    char id[URI_MAX], fields[URI_MAX], opens[MINUTE_BYTES];
    const char *const asks_phrase = "<a href=\"#phrase\">", *const asks_time = "<a href=\"#opens_at\">";
    sent(&ming, "kind=even&amount=1.50&count=3", id);
    assert_int_equal(again(&v, &ming, id), 200);
    assert_false(visit_body_has(&v, asks_phrase) || visit_body_has(&v, asks_time));
    visit_end(&v);

    local_time(clock_now_ms() + HOUR_MS, opens);
    snprintf(fields, sizeof fields, "kind=even&amount=1.50&count=3&phrase=sesame-again&opens_at=%s", opens);
    sent(&ming, fields, id);
    assert_int_equal(again(&v, &ming, id), 200);
    snprintf(fields, sizeof fields, "value=\"%s\"", opens);
    assert_true(visit_body_has(&v, fields));
    assert_true(visit_body_has(&v, asks_phrase));
    assert_false(visit_body_has(&v, asks_time));
    assert_false(visit_body_has(&v, "sesame-again"));
    visit_end(&v);

    uint64_t packet_id;
    assert_true(public_id_decode(&app->id_key, str_from(id), &packet_id));
    assert_int_equal(db_exec(app->stores.db, NULL, "UPDATE packet SET opens_ms = created_ms WHERE id = ?",
                             DB_PARAMS(DB_U64(packet_id))),
                     ST_OK);
    assert_int_equal(again(&v, &ming, id), 200);
    assert_true(visit_body_has(&v, asks_phrase) && visit_body_has(&v, asks_time));
    assert_true(visit_body_has(&v, "type=\"datetime-local\" autocomplete=\"off\" value=\"\""));
    visit_end(&v);
}

static void only_the_sender_can_send_a_packet_again(void **state)
{
    (void)state;
    struct visit v;
    char id[URI_MAX];
    static const char *const bad[] = { "x", "00000000000000000000000000" };
    sent(&ming, "kind=even&amount=1.50&count=3", id);
    assert_int_equal(again(&v, &hong, id), 404);
    visit_end(&v);
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        assert_int_equal(again(&v, &ming, bad[i]), 404);
        visit_end(&v);
    }
    uint64_t none = 12345;
    public_id_encode(&app->id_key, none, id);
    assert_int_equal(again(&v, &ming, id), 404);
    visit_end(&v);
}

static void a_deleted_receiver_leaves_the_count_to_those_who_are_left(void **state)
{
    (void)state;
    struct visit v;
    struct person gone;
    char id[URI_MAX], fields[URI_MAX];
    person_new(app, &gone, 0);
    snprintf(fields, sizeof fields, "kind=lucky&amount=1.50&count=2&to=%s,%s", hong.username, gone.username);
    sent(&ming, fields, id);
    assert_int_equal(again(&v, &ming, id), 200);
    assert_true(visit_body_has(&v, "value=\"2\""));
    visit_end(&v);
    assert_int_equal(
        db_exec(app->stores.db, NULL, "UPDATE user SET deleting_ms = 1 WHERE id = ?", DB_PARAMS(DB_U64(gone.id))),
        ST_OK);
    assert_int_equal(again(&v, &ming, id), 200);
    assert_true(visit_body_has(&v, hong.username));
    assert_false(visit_body_has(&v, gone.username) || visit_body_has(&v, "value=\"2\""));
    visit_end(&v);
    /* else a job would go on with the deletion */
    assert_int_equal(
        db_exec(app->stores.db, NULL, "UPDATE user SET deleting_ms = NULL WHERE id = ?", DB_PARAMS(DB_U64(gone.id))),
        ST_OK);
}

static void a_link_names_the_receiver(void **state)
{
    (void)state;
    struct visit v;
    assert_int_equal(person_request(&v, app, &ming, send_form_get, "/send?to=%22%3E%3Cb%3E", NULL, 0, false), 200);
    assert_true(visit_body_has(&v, "value=\"exclusive\" checked"));
    assert_true(visit_body_has(&v, ">&quot;&gt;&lt;b&gt;</textarea>"));
    visit_end(&v);
}

/* ---- people ---- */

static uint64_t next_id;

static void exchanged(const struct person *sender, const struct person *named, const struct person *taker, int64_t ms)
{
    char key[PERSON_KEY_MAX];
    uint64_t id = next_id++;
    fresh_key(key);
    assert_int_equal(db_exec(app->stores.db, NULL,
                             "INSERT INTO packet (id, sender_id, sender_name, receiver_id, kind, split, amount_fen, "
                             "count, greeting, seed, commitment, state, created_ms, expires_ms, request_key) VALUES "
                             "(?, ?, 's', ?, 'even', 'even', 100, 9, '', REPEAT('s', 32), REPEAT('c', 32), 'closed', "
                             "?, ?, ?)",
                             DB_PARAMS(DB_U64(id), DB_U64(sender->id), named != NULL ? DB_U64(named->id) : DB_NULL,
                                       DB_I64(ms), DB_I64(ms), DB_TEXT(str_from(key)))),
                     ST_OK);
    if (taker != NULL)
        assert_int_equal(db_exec(app->stores.db, NULL,
                                 "INSERT INTO grab (packet_id, share_no, user_id, nickname, amount_fen, grabbed_ms) "
                                 "VALUES (?, 0, ?, 't', 1, ?)",
                                 DB_PARAMS(DB_U64(id), DB_U64(taker->id), DB_I64(ms + 1))),
                         ST_OK);
}

static void recent_people_are_those_one_exchanged_packets_with_each_once(void **state)
{
    (void)state;
    struct person me, friends[PEOPLE_MAX + 2];
    struct people people;
    struct visit v;
    char text[URI_MAX];
    next_id = (UINT64_C(1) << 61) + (random_u64() >> 4);
    person_new(app, &me, 0);
    for (size_t i = 0; i < ARRAY_LEN(friends); i++)
        person_new(app, &friends[i], 0);
    exchanged(&friends[0], NULL, &me, 1000);
    exchanged(&me, &friends[1], NULL, 2000);
    exchanged(&me, NULL, &friends[2], 3000);
    exchanged(&me, NULL, &me, 4000);
    exchanged(&friends[0], NULL, &friends[3], 5000); /* without me */
    assert_int_equal(people_recent(app->stores.db, arena, me.id, &people), ST_OK);
    assert_int_equal(people.count, 3);
    for (size_t i = 0; i < people.count; i++)
        assert_int_equal(people.ids[i], friends[2 - i].id);

    exchanged(&friends[0], NULL, &me, 6000); /* again: first now, and still once */
    for (size_t i = 3; i < ARRAY_LEN(friends); i++)
        exchanged(&friends[i], NULL, &me, 5000);
    assert_int_equal(people_recent(app->stores.db, arena, me.id, &people), ST_OK);
    assert_int_equal(people.count, PEOPLE_MAX);
    assert_int_equal(people.ids[0], friends[0].id);

    assert_int_equal(person_request(&v, app, &me, send_form_get, "/send", NULL, 0, false), 200);
    snprintf(text, sizeof text, "href=\"/send?to=%s\"", friends[0].username);
    assert_int_equal(visit_body_count(&v, "data-to="), PEOPLE_MAX);
    assert_true(visit_body_has(&v, text));
    visit_end(&v);
    assert_true(packets_forget(app, &me));
}

/* The packet that was exchanged last is for this person. */
static void named(struct person *one)
{
    const struct packet p = { .id = next_id - 1 };
    struct receivers receivers = { &(struct receiver){ .id = one->id, .name = STR("n") }, 1 };
    assert_int_equal(receivers_insert(app->stores.db, &p, &receivers), ST_OK);
}

static void receivers_who_have_not_opened_are_recent_people(void **state)
{
    (void)state;
    enum { PACKETS = 19, EACH = 9 }; /* together more rows than are read */
    struct person me, latest, friends[EACH];
    struct people people;
    person_new(app, &me, 0);
    person_new(app, &latest, 0);
    for (size_t i = 0; i < EACH; i++)
        person_new(app, &friends[i], 0);
    exchanged(&me, NULL, &friends[0], 1000); /* of its two receivers one has opened it */
    named(&friends[0]);
    named(&friends[1]);
    exchanged(&latest, NULL, NULL, 1500); /* without me */
    named(&friends[2]);
    assert_int_equal(people_recent(app->stores.db, arena, me.id, &people), ST_OK);
    assert_int_equal(people.count, 2);
    assert_int_equal(people.ids[0], friends[0].id);
    assert_int_equal(people.ids[1], friends[1].id);

    for (int64_t n = 0; n < PACKETS; n++) {
        exchanged(&me, NULL, NULL, 2000 + n);
        for (size_t i = 0; i < EACH; i++)
            named(&friends[i]);
    }
    exchanged(&me, NULL, NULL, 3000);
    named(&latest);
    assert_int_equal(people_recent(app->stores.db, arena, me.id, &people), ST_OK);
    assert_int_equal(people.count, PEOPLE_MAX);
    assert_int_equal(people.ids[0], latest.id);
    for (size_t i = 1; i < people.count; i++)
        assert_int_equal(people.ids[i], friends[i - 1].id);
    assert_true(packets_forget(app, &me));
}

static void a_user_with_many_packets_reads_as_few_rows(void **state)
{
    (void)state;
    struct person me, other;
    struct people people;
    person_new(app, &me, 0);
    person_new(app, &other, 0);
    records_many(app, &me, &other, clock_zone_year_start_ms(2025), MANY);
    records_many(app, &other, &me, clock_zone_year_start_ms(2025), MANY);
    assert_int_equal(db_exec(app->stores.db, NULL,
                             "INSERT INTO packet_receiver (packet_id, user_id, name, expires_ms) "
                             "SELECT id, ?, 'n', 0 FROM packet WHERE sender_id = ?",
                             DB_PARAMS(DB_U64(other.id), DB_U64(me.id))),
                     ST_OK);
    int64_t before = sql_rows_read(app), looked = sql_rows_read(app);
    assert_int_equal(people_recent(app->stores.db, arena, me.id, &people), ST_OK);
    int64_t rows = sql_rows_read(app) - looked - (looked - before);
    assert_int_equal(people.count, 1);
    if (rows > 500)
        fail_msg("%lld rows", (long long)rows);
    assert_true(packets_forget(app, &me));
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_packet_is_sent_again_with_the_same_values_and_a_new_key),
        cmocka_unit_test(a_part_is_open_when_it_has_a_value_or_an_error),
        cmocka_unit_test(an_opening_to_come_is_filled_in_and_the_form_says_what_must_be_typed_again),
        cmocka_unit_test(only_the_sender_can_send_a_packet_again),
        cmocka_unit_test(a_deleted_receiver_leaves_the_count_to_those_who_are_left),
        cmocka_unit_test(a_link_names_the_receiver),
        cmocka_unit_test(recent_people_are_those_one_exchanged_packets_with_each_once),
        cmocka_unit_test(receivers_who_have_not_opened_are_recent_people),
        cmocka_unit_test(a_user_with_many_packets_reads_as_few_rows),
    };
    return random_init() ? cmocka_run_group_tests(tests, setup, teardown) : 1;
}
