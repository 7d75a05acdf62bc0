/* Two users for a group of packet tests: TESTS(two_setup, two_teardown). The tables are shared
 * with other tests, so the packets of both are deleted at the end. */
#ifndef HB_TEST_PACKET_TWO_H
#define HB_TEST_PACKET_TWO_H

#include "base/clock.h"
#include "test_packet_app.h"

enum { MING_FEN = 5000 };

static struct person ming, hong; /* ming has MING_FEN, hong has no money */

static inline int two_setup(void **state)
{
    if (app_setup(state) != 0)
        return 1;
    person_new(app, &ming, MING_FEN);
    person_new(app, &hong, 0);
    return 0;
}

static inline int two_teardown(void **state)
{
    bool done = packets_forget(app, &ming);
    return app_teardown(state) != 0 || !done;
}

/* Two more users with many records: in each of so many years from 2022 on, sender has sent and taker has received
 * count packets (records_many). */
static inline void two_with_records(struct person *sender, struct person *taker, int years, int64_t count)
{
    person_new(app, sender, 0);
    person_new(app, taker, 0);
    for (int i = 0; i < years; i++)
        records_many(app, sender, taker, clock_zone_year_start_ms(2022 + i), count);
}

#endif
