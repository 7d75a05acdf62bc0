#include "audit/audit.h"

#include <inttypes.h>
#include <stdarg.h>

#include "audit/audit_internal.h"
#include "base/buf.h"
#include "base/log.h"
#include "base/value.h"
#include "live/stores.h"
#include "settle/site.h"

#define AUDIT_CHECK_NAME(id, name, sentence) { name, sentence },
static const struct {
    const char *name, *sentence;
} CHECKS[AUDIT_CHECK_COUNT] = { AUDIT_CHECKS(AUDIT_CHECK_NAME) };
#undef AUDIT_CHECK_NAME

const char *audit_check_name(enum audit_check check)
{
    return CHECKS[check].name;
}

void audit_note(struct audit *audit, enum audit_check check, const char *kind, uint64_t id, const char *format, ...)
{
    uint64_t n = audit->checks[check].violations++;
    if (n >= AUDIT_ROWS_MAX)
        return;
    struct audit_row *row = &audit->checks[check].rows[n];
    va_list args;
    (void)snprintf(row->subject, sizeof row->subject, "%s %" PRIu64, kind, id);
    va_start(args, format);
    (void)vsnprintf(row->detail, sizeof row->detail, format, args);
    va_end(args);
}

static enum status tables_body(struct db *db, void *ctx)
{
    return audit_tables(ctx, db);
}

/* Tables of a version before have no identity. */
static enum status audit_site(struct audit *audit, struct stores *stores)
{
    struct settle_site_look look;
    enum status st = settle_site_look(stores->redis, stores->db, (uint32_t)stores->config->partitions, &look);
    if (st == ST_OK && look.verdict != SITE_UNKNOWN && !site_may_serve(look.verdict))
        audit_note(audit, AUDIT_SITE, "verdict", (uint64_t)look.verdict, "%s", site_verdict_text(look.verdict));
    return st == ST_NOT_FOUND ? ST_OK : st;
}

enum status audit_run(struct stores *stores, struct audit *out)
{
    *out = (struct audit){ .packet_id = out->packet_id, .range_rows = out->range_rows, .demo = stores->config->demo };
    enum status st = db_snapshot(stores->db, tables_body, out);
    if (st == ST_OK)
        st = audit_live(out, stores);
    if (st == ST_OK && out->packet_id == 0)
        st = audit_site(out, stores);
    if (st == ST_OK && out->packet_id == 0)
        st = audit_sessions(out, stores);
    if (st == ST_OK && out->packet_id == 0)
        st = audit_functions(out, stores);
    return st;
}

bool audit_clean(const struct audit *audit)
{
    for (size_t i = 0; i < AUDIT_CHECK_COUNT; i++)
        if (audit->checks[i].violations > 0)
            return false;
    return true;
}

uint64_t audit_violations_log(const struct audit *audit)
{
    char subject[AUDIT_SUBJECT_MAX * 2], detail[AUDIT_DETAIL_MAX * 2];
    uint64_t all = 0;
    for (size_t i = 0; i < AUDIT_CHECK_COUNT; i++) {
        const struct audit_row *row = &audit->checks[i].rows[0];
        if (audit->checks[i].violations > 0)
            log_error("audit violation", "check=%s subject=%s violations=%" PRIu64 " detail=%s", CHECKS[i].name,
                      log_quote(str_from(row->subject), subject, sizeof subject), audit->checks[i].violations,
                      log_quote(str_from(row->detail), detail, sizeof detail));
        all += audit->checks[i].violations;
    }
    return all;
}

static uint64_t row_count(const struct audit *audit, size_t check)
{
    uint64_t n = audit->checks[check].violations;
    return n < AUDIT_ROWS_MAX ? n : AUDIT_ROWS_MAX;
}

static void print_text(const struct audit *audit, FILE *out)
{
    for (size_t i = 0; i < AUDIT_CHECK_COUNT; i++) {
        uint64_t n = audit->checks[i].violations;
        if (n == 0)
            (void)fprintf(out, "%-5s ok    %s\n", CHECKS[i].name, CHECKS[i].sentence);
        else
            (void)fprintf(out, "%-5s FAIL  %s: %" PRIu64 "\n", CHECKS[i].name, CHECKS[i].sentence, n);
        for (uint64_t row = 0; row < row_count(audit, i); row++)
            (void)fprintf(out, "            %s: %s\n", audit->checks[i].rows[row].subject,
                          audit->checks[i].rows[row].detail);
        if (n > AUDIT_ROWS_MAX)
            (void)fprintf(out, "            and %" PRIu64 " more\n", n - AUDIT_ROWS_MAX);
    }
    (void)fprintf(out, "%" PRIu64 " packets, %" PRIu64 " grabs not yet settled: %s\n", audit->packets, audit->unsettled,
                  audit_clean(audit) ? "clean" : "VIOLATED");
}

static bool print_json(const struct audit *audit, FILE *out)
{
    struct buf b = BUF_EMPTY;
    buf_printf(&b, "{\"ok\":%s,\"packets\":%" PRIu64 ",\"unsettled\":%" PRIu64 ",\"checks\":[",
               audit_clean(audit) ? "true" : "false", audit->packets, audit->unsettled);
    for (size_t i = 0; i < AUDIT_CHECK_COUNT; i++) {
        buf_printf(&b, "%s{\"id\":\"%s\",\"title\":", i > 0 ? "," : "", CHECKS[i].name);
        value_json_string(&b, str_from(CHECKS[i].sentence));
        buf_printf(&b, ",\"violations\":%" PRIu64 ",\"rows\":[", audit->checks[i].violations);
        for (uint64_t row = 0; row < row_count(audit, i); row++) {
            buf_cstr(&b, row > 0 ? ",{\"subject\":" : "{\"subject\":");
            value_json_string(&b, str_from(audit->checks[i].rows[row].subject));
            buf_cstr(&b, ",\"detail\":");
            value_json_string(&b, str_from(audit->checks[i].rows[row].detail));
            buf_char(&b, '}');
        }
        buf_cstr(&b, "]}");
    }
    buf_cstr(&b, "]}\n");
    bool ok = !b.failed && fwrite(b.ptr, 1, b.len, out) == b.len;
    buf_free(&b);
    return ok;
}

bool audit_print(const struct audit *audit, bool json, FILE *out)
{
    if (json)
        return print_json(audit, out);
    print_text(audit, out);
    return true;
}
