/* The sampling audit finds violations by itself, and does not report packets that change during an audit. */
#include "audit/sample.h"
#include "io/metrics.h"
#include "support/test.h"
#include "test_world.h"

enum { PICKS_MAX = 200 };

static struct audit_sample *sample_new(void)
{
    struct audit_sample *s = calloc(1, sizeof *s);
    assert_non_null(s);
    return s;
}

/* Runs the sampling audit, with the rights of the worker, until it picks the packet. */
static void sample_until(struct audit_sample *s, uint64_t packet_id)
{
    for (int i = 0; i < PICKS_MAX; i++) {
        enum status st = audit_sample_run(s, &w->settler->stores);
        assert_true(st == ST_OK || st == ST_NOT_FOUND); /* not found: the walk begins anew */
        if (s->audit.packet_id == packet_id)
            return;
    }
    fail_msg("the packet was never picked");
}

FAULTY_WORLD_TEST(every_packet_is_picked_in_the_end_and_a_valid_one_is_not_reported, 4)
{
    uint64_t ids[5];
    struct audit_sample *s = sample_new();
    assert_int_equal(audit_sample_run(s, &w->settler->stores), ST_NOT_FOUND);
    for (size_t i = 0; i < 5; i++)
        ids[i] = world_send(w, 0, PACKET_LUCKY, 900, 3, HOUR_MS, -1);
    world_grab_all(w, ids[0], 1, 3); /* finished */
    world_grab_all(w, ids[1], 1, 2);
    world_drain(w);
    world_grab_all(w, ids[2], 1, 2); /* waits for the worker */
    uint64_t sampled = metrics_get(METRIC_AUDIT_SAMPLED), violated = metrics_get(METRIC_AUDIT_VIOLATED);
    for (size_t i = 0; i < 5; i++)
        sample_until(s, ids[i]);
    assert_true(metrics_get(METRIC_AUDIT_SAMPLED) >= sampled + 5);
    assert_int_equal(metrics_get(METRIC_AUDIT_VIOLATED), violated);
    free(s);
}

FAULTY_WORLD_TEST(a_lasting_violation_is_counted_once_after_some_attempts, 3)
{
    struct audit_sample *s = sample_new();
    (void)world_even_settled(w, 300, 3, 1);
    world_sql(w, "UPDATE `grab` SET amount_fen = amount_fen + 1");
    uint64_t violated = metrics_get(METRIC_AUDIT_VIOLATED), sampled = metrics_get(METRIC_AUDIT_SAMPLED);
    for (int attempt = 1; attempt < AUDIT_SAMPLE_ATTEMPTS; attempt++) {
        assert_int_equal(audit_sample_run(s, &w->settler->stores), ST_OK);
        assert_int_equal(metrics_get(METRIC_AUDIT_VIOLATED), violated);
    }
    assert_int_equal(audit_sample_run(s, &w->settler->stores), ST_OK);
    assert_int_equal(metrics_get(METRIC_AUDIT_VIOLATED), violated + 1);
    assert_int_equal(metrics_get(METRIC_AUDIT_SAMPLED), sampled + 1);
    free(s);
}

FAULTY_WORLD_TEST(a_violation_that_disappears_is_not_counted, 3)
{
    struct audit_sample *s = sample_new();
    uint64_t id = world_even(w, 300, 3);
    (void)world_redis(w, id, "HSET {pk} state busy"); /* as while recovery rebuilds it */
    uint64_t violated = metrics_get(METRIC_AUDIT_VIOLATED);
    for (int attempt = 1; attempt < AUDIT_SAMPLE_ATTEMPTS; attempt++)
        assert_int_equal(audit_sample_run(s, &w->settler->stores), ST_OK);
    assert_int_equal(s->suspect_id, id);
    (void)world_redis(w, id, "HSET {pk} state open");
    assert_int_equal(audit_sample_run(s, &w->settler->stores), ST_OK);
    assert_ints({ s->suspect_id, 0 }, { metrics_get(METRIC_AUDIT_VIOLATED), violated });
    free(s);
}

FAULTY_WORLD_TEST(a_packet_too_large_for_the_worker_is_left_to_the_audit, 2)
{
    w->config->packet_shares_max = AUDIT_SAMPLE_SHARES_MAX + 1;
    struct audit_sample *s = sample_new();
    (void)world_even(w, AUDIT_SAMPLE_SHARES_MAX + 1, AUDIT_SAMPLE_SHARES_MAX + 1);
    assert_int_equal(audit_sample_run(s, &w->settler->stores), ST_NOT_FOUND); /* from the walk */
    assert_int_equal(audit_sample_run(s, &w->settler->stores), ST_NOT_FOUND); /* from the newest */
    free(s);
}

TESTS(NULL, NULL)
