/* The names that --skip takes. */
#include "base/array.h"
#include "ops/doctor_internal.h"

/* The findings of docs/reference/doctor.md in its order, and then those that are only "not checked". */
static const char *const FINDINGS[] = {
    /* clang-format off */
    "environment", "base-url", "scripts", "migrations", "templates", "static", "receipt-keys", "metrics-file",
    "setup-needed", "unreadable-file", "secret-missing", "secret-file", "secret-weak", "role-keys", "writable-file",
    "static-copy",
    "metrics-missing", "metrics-mode", "nginx-counts", "file-mode", "file-missing", "redis-down", "mysql-down",
    "role-file", "role-passwords",
    "redis-login", "mysql-session", "mysql-login", "site-other", "site-tables-gone", "site-tables-older",
    "site-redis-older", "out-of-service", "unit-masked", "unit-failed", "unit-stopped",
    "unit-disabled", "unit-old-file",
    "redis-appendonly", "redis-appendfsync", "redis-rewrite", "redis-eviction", "redis-maxmemory", "redis-memory",
    "redis-timeout", "redis-replica", "redis-version", "redis-disk", "redis-default", "redis-replay", "redis-fence",
    "redis-functions", "redis-functions-other", "redis-right-missing", "redis-right-excess", "redis-nopass",
    "redis-passwords", "mysql-right-missing",
    "mysql-right-excess", "mysql-flush", "mysql-doublewrite", "mysql-binlog", "mysql-routines", "mysql-read-only",
    "mysql-checks",
    "mysql-foreign-keys", "mysql-charset", "schema", "schema-interrupted", "schema-engine", "schema-definer",
    "demo-money",
    "dead-letters", "partitions", "timezone", "audit-violations", "backup-none", "backup-old",
    "clock-redis", "clock-mysql", "disk-redis", "disk-mysql", "disk-logs",
    "disk-run", "nginx-conf", "nginx-port", "nginx-address", "nginx-body", "log-rotation",
    "certificate-missing",
    "certificate-expired", "certificate-expires", "certificate-early", "certificate-host",
    "certificate-self-signed", "certificate-key", "certificate-key-mode", "certificate-served", "pool-missing",
    "pool-down", "pool-silent", "pool-not-ready", "pool-socket-mode", "worker-down", "process-program",
    "process-settings",
    "redis-settings", "redis-state", "mysql-settings",
    /* clang-format on */
};

const char *const *doctor_findings(size_t *count)
{
    *count = ARRAY_LEN(FINDINGS);
    return FINDINGS;
}
