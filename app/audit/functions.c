/* The functions in Redis: whoever replaces one runs his own text with the rights of the pool that calls it. One that is
 * missing is no violation: the settle worker loads it, and until then nothing is executed. */
#include "audit/audit_internal.h"
#include "redis/cluster.h"
#include "redis/function_load.h"

static enum status primary_compare(struct audit *audit, struct stores *stores, size_t primary)
{
    struct redis_functions_state state;
    enum status st = status_retry(redis_functions_compare(stores->redis, stores->functions, primary, &state));
    for (size_t i = 0; i < state.other_count; i++)
        audit_note(audit, AUDIT_FUNCTIONS, "server", primary, "%.*s has another text than that of this program",
                   STR_ARG(redis_function_name(state.others[i])));
    return st;
}

enum status audit_functions(struct audit *audit, struct stores *stores)
{
    const size_t primaries = redis_primaries(stores->redis);
    enum status st = primaries == 0 ? ST_UNAVAILABLE : ST_OK;
    for (size_t i = 0; st == ST_OK && i < primaries; i++)
        st = primary_compare(audit, stores, i);
    return st;
}
