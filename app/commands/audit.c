#include "commands/audit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "audit/audit.h"
#include "audit/state.h"
#include "base/clock.h"
#include "base/public_id.h"
#include "commands/stores.h"
#include "io/metrics.h"
#include "live/stores.h"
#include "settle/cursor.h"

enum { ERROR_MAX = 1024, AUDIT_TIMEOUT_S = 600 };

/* An id as in links, or decimal. */
static bool packet_id_read(const struct config *config, struct str text, uint64_t *out)
{
    struct public_id_key key;
    if (str_to_u64(text, out))
        return *out != 0;
    public_id_key_set(&key, keys_get(&config->keys, KEY_IDS));
    return public_id_decode(&key, text, out);
}

static int usage(void)
{
    (void)fputs("usage: hongbao audit [--json] [--packet ID]\n", stderr);
    return 2;
}

/* For the doctor and /metrics. Only a process of the site makes the file of the counters. */
static void result_note(const struct config *config, const struct audit *audit, int64_t began_ms)
{
    if (access(config->metrics_file, W_OK) == 0 && metrics_open(config->metrics_file))
        audit_state_note(audit, began_ms, config->backup_record);
}

static int audit_and_print(struct stores *stores, uint64_t packet_id, bool json)
{
    struct audit *audit = calloc(1, sizeof *audit);
    if (audit == NULL) {
        (void)fputs("hongbao audit: out of memory\n", stderr);
        return 2;
    }
    audit->packet_id = packet_id;
    const int64_t began_ms = clock_now_ms();
    db_set_timeout_s(stores->db, AUDIT_TIMEOUT_S);
    enum status st = settle_partitions_check(stores);
    if (st == ST_OK)
        st = audit_run(stores, audit);
    int code = 2;
    if (st == ST_OK && !audit_print(audit, json, stdout))
        st = ST_NO_MEMORY;
    if (st == ST_OK && packet_id == 0)
        result_note(stores->config, audit, began_ms);
    if (st == ST_OK)
        code = audit_clean(audit) ? 0 : 1;
    else
        (void)fprintf(stderr, "hongbao audit: not completed: %s\n", status_name(st));
    if (st == ST_UNAVAILABLE)
        command_stores_tell(stores->config, "audit");
    free(audit);
    return code;
}

int audit_command(const struct config *config, int argc, char **argv)
{
    uint64_t packet_id = 0;
    bool json = false;
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], "--json") == 0)
            json = true;
        else if (strcmp(argv[i], "--packet") != 0 || i + 1 == argc ||
                 !packet_id_read(config, str_from(argv[++i]), &packet_id))
            return usage();
    struct stores stores;
    char error[ERROR_MAX];
    if (stores_open(&stores, config, true, error, sizeof error) != ST_OK) {
        (void)fprintf(stderr, "hongbao audit: %s\n", error);
        return 2;
    }
    int code = audit_and_print(&stores, packet_id, json);
    stores_close(&stores);
    return code;
}
