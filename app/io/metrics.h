/* Counters and histograms shared by all processes of an instance through one small mapped file. An increment is one
 * atomic add, an observation two. Every process can print them all as Prometheus text. Call metrics_open once at start;
 * the counts survive a restart. io/metrics_processes.h keeps the list of processes in the same file. */
#ifndef HB_IO_METRICS_H
#define HB_IO_METRICS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

/* The roles of long-lived processes: the pools, and the settle worker. Only append: the file has these numbers. */
enum metrics_role {
    METRICS_HOT,
    METRICS_PAGE,
    METRICS_AUTH,
    METRICS_CARD,
    METRICS_SETTLE,
    METRICS_MONEY,
    METRICS_SSO,
    METRICS_ROLE_COUNT
};

/* X(identifier, Prometheus name with labels, help; NULL: of a family that another line describes). Only append: the
 * position of a line is its slot in the file. A line without a name is not printed as a counter: an earlier version
 * used it, or metrics_set stores a value there. A counter whose family ends with _seconds_total counts microseconds. */
#define METRICS(X)                                                                                                     \
    X(METRIC_REQUESTS_HOT, "hongbao_requests_total{pool=\"hot\"}", "Requests answered.")                               \
    X(METRIC_REQUESTS_PAGE, "hongbao_requests_total{pool=\"page\"}", NULL)                                             \
    X(METRIC_REQUESTS_AUTH, "hongbao_requests_total{pool=\"auth\"}", NULL)                                             \
    X(METRIC_ERRORS_BEFORE, NULL, NULL)                                                                                \
    X(METRIC_SENT, "hongbao_packets_sent_total", "Packets sent.")                                                      \
    X(METRIC_GRABBED, "hongbao_grabs_total{result=\"grabbed\"}", "Open requests by result.")                           \
    X(METRIC_ALREADY, "hongbao_grabs_total{result=\"already\"}", NULL)                                                 \
    X(METRIC_EMPTY, "hongbao_grabs_total{result=\"empty\"}", NULL)                                                     \
    X(METRIC_GRAB_REFUSED, "hongbao_grabs_total{result=\"refused\"}", NULL)                                            \
    X(METRIC_GRAB_UNKNOWN, "hongbao_grabs_total{result=\"unknown\"}", NULL)                                            \
    X(METRIC_SETTLED, "hongbao_settled_events_total", "Events settled.")                                               \
    X(METRIC_SETTLE_STOPPED, "hongbao_settle_stopped_total", "Times a partition was stopped.")                         \
    X(METRIC_REFUNDED_FEN, "hongbao_refunded_fen_total", "Smallest units refunded.")                                   \
    X(METRIC_REDIS_LOST, "hongbao_redis_connections_lost_total", "Redis connections dropped after an error.")          \
    X(METRIC_MYSQL_LOST, "hongbao_mysql_connections_lost_total", "MySQL connections dropped after an error.")          \
    X(METRIC_DEAD_LETTERS, "hongbao_dead_letters_total", "Events put aside because they could not be settled.")        \
    X(METRIC_AUDIT_SAMPLED, "hongbao_audit_sampled_packets_total", "Packets audited by the settle worker.")            \
    X(METRIC_AUDIT_VIOLATED, "hongbao_audit_sampled_violations_total", "Violations that audits of the worker found.")  \
    X(METRIC_REQUESTS_CARD, "hongbao_requests_total{pool=\"card\"}", NULL)                                             \
    X(METRIC_HASHES, "hongbao_password_hashes_total", "Passwords hashed, to check or to store them.")                  \
    X(METRIC_LIMITED_SEND, "hongbao_limited_total{limit=\"send\"}", "Requests refused by a limit.")                    \
    X(METRIC_LIMITED_SEND_ADDRESS, "hongbao_limited_total{limit=\"send_address\"}", NULL)                              \
    X(METRIC_LIMITED_DEPOSIT, "hongbao_limited_total{limit=\"deposit\"}", NULL)                                        \
    X(METRIC_LIMITED_EXPORT, "hongbao_limited_total{limit=\"export\"}", NULL)                                          \
    X(METRIC_LIMITED_EXPORT_ADDRESS, "hongbao_limited_total{limit=\"export_address\"}", NULL)                          \
    X(METRIC_LIMITED_READ, "hongbao_limited_total{limit=\"read\"}", NULL)                                              \
    X(METRIC_LIMITED_COLD_ADDRESS, "hongbao_limited_total{limit=\"cold_address\"}", NULL)                              \
    X(METRIC_LIMITED_SEARCH_ADDRESS, "hongbao_limited_total{limit=\"search_address\"}", NULL)                          \
    X(METRIC_LIMITED_NAMES, "hongbao_limited_total{limit=\"names\"}", NULL)                                            \
    X(METRIC_LIMITED_NAMES_ADDRESS, "hongbao_limited_total{limit=\"names_address\"}", NULL)                            \
    X(METRIC_LIMITED_CARD, "hongbao_limited_total{limit=\"card\"}", NULL)                                              \
    X(METRIC_LIMITED_PICTURE, "hongbao_limited_total{limit=\"picture\"}", NULL)                                        \
    X(METRIC_LIMITED_REGISTER_ADDRESS, "hongbao_limited_total{limit=\"register_address\"}", NULL)                      \
    X(METRIC_LIMITED_REGISTER_NETWORK, "hongbao_limited_total{limit=\"register_network\"}", NULL)                      \
    X(METRIC_LIMITED_PASSKEY_ADDRESS, "hongbao_limited_total{limit=\"passkey_address\"}", NULL)                        \
    X(METRIC_LIMITED_PASSKEY_NETWORK, "hongbao_limited_total{limit=\"passkey_network\"}", NULL)                        \
    X(METRIC_LIMITED_PASSWORD, "hongbao_limited_total{limit=\"password\"}", NULL)                                      \
    X(METRIC_LIMITED_CONFIRM, "hongbao_limited_total{limit=\"confirm\"}", NULL)                                        \
    X(METRIC_LIMITED_RECOVERY_MAKE, "hongbao_limited_total{limit=\"recovery_make\"}", NULL)                            \
    X(METRIC_LIMITED_RECOVERY_CODE, "hongbao_limited_total{limit=\"recovery_code\"}", NULL)                            \
    X(METRIC_LIMITED_RECOVERY_ADDRESS, "hongbao_limited_total{limit=\"recovery_address\"}", NULL)                      \
    X(METRIC_LIMITED_RECOVERY_NETWORK, "hongbao_limited_total{limit=\"recovery_network\"}", NULL)                      \
    X(METRIC_LIMITED_INVITATION_ADDRESS, "hongbao_limited_total{limit=\"invitation_address\"}", NULL)                  \
    X(METRIC_LIMITED_INVITATION_NETWORK, "hongbao_limited_total{limit=\"invitation_network\"}", NULL)                  \
    X(METRIC_LIMITED_LOGIN_DEVICE, "hongbao_limited_total{limit=\"login_device\"}", NULL)                              \
    X(METRIC_LIMITED_LOGIN_ACCOUNT, "hongbao_limited_total{limit=\"login_account\"}", NULL)                            \
    X(METRIC_LIMITED_LOGIN_NEW, "hongbao_limited_total{limit=\"login_new\"}", NULL)                                    \
    X(METRIC_LIMITED_LOGIN_ADDRESS, "hongbao_limited_total{limit=\"login_address\"}", NULL)                            \
    X(METRIC_LIMITED_LOGIN_NETWORK, "hongbao_limited_total{limit=\"login_network\"}", NULL)                            \
    X(METRIC_LIMITED_HASH_ADDRESS, "hongbao_limited_total{limit=\"hash_address\"}", NULL)                              \
    X(METRIC_LIMITED_HASH_NETWORK, "hongbao_limited_total{limit=\"hash_network\"}", NULL)                              \
    X(METRIC_LIMITED_HASH_SITE, "hongbao_limited_total{limit=\"hash_site\"}", NULL)                                    \
    X(METRIC_LIMITED_PHRASE, "hongbao_limited_total{limit=\"phrase\"}", NULL)                                          \
    X(METRIC_CALLS_REFUSED, "hongbao_refused_calls_total", "System calls that the filter of a role has refused.")      \
    X(METRIC_AUDIT_WALKS, "hongbao_audit_walks_total", "Walks of the settle worker over accounts and sessions.")       \
    X(METRIC_4XX_HOT, "hongbao_errors_total{pool=\"hot\",status=\"4xx\"}", "Requests refused (4xx) or failed (5xx).")  \
    X(METRIC_4XX_PAGE, "hongbao_errors_total{pool=\"page\",status=\"4xx\"}", NULL)                                     \
    X(METRIC_4XX_AUTH, "hongbao_errors_total{pool=\"auth\",status=\"4xx\"}", NULL)                                     \
    X(METRIC_4XX_CARD, "hongbao_errors_total{pool=\"card\",status=\"4xx\"}", NULL)                                     \
    X(METRIC_5XX_HOT, "hongbao_errors_total{pool=\"hot\",status=\"5xx\"}", NULL)                                       \
    X(METRIC_5XX_PAGE, "hongbao_errors_total{pool=\"page\",status=\"5xx\"}", NULL)                                     \
    X(METRIC_5XX_AUTH, "hongbao_errors_total{pool=\"auth\",status=\"5xx\"}", NULL)                                     \
    X(METRIC_5XX_CARD, "hongbao_errors_total{pool=\"card\",status=\"5xx\"}", NULL)                                     \
    X(METRIC_BUSY_HOT, "hongbao_busy_seconds_total{pool=\"hot\"}", "Time in which processes worked on requests.")      \
    X(METRIC_BUSY_PAGE, "hongbao_busy_seconds_total{pool=\"page\"}", NULL)                                             \
    X(METRIC_BUSY_AUTH, "hongbao_busy_seconds_total{pool=\"auth\"}", NULL)                                             \
    X(METRIC_BUSY_CARD, "hongbao_busy_seconds_total{pool=\"card\"}", NULL)                                             \
    X(METRIC_STARTS_HOT, "hongbao_process_starts_total{pool=\"hot\"}", "Processes started, also again in place.")      \
    X(METRIC_STARTS_PAGE, "hongbao_process_starts_total{pool=\"page\"}", NULL)                                         \
    X(METRIC_STARTS_AUTH, "hongbao_process_starts_total{pool=\"auth\"}", NULL)                                         \
    X(METRIC_STARTS_CARD, "hongbao_process_starts_total{pool=\"card\"}", NULL)                                         \
    X(METRIC_STARTS_SETTLE, "hongbao_process_starts_total{pool=\"settle\"}", NULL)                                     \
    X(METRIC_RECOVERED_LOADED, "hongbao_recoveries_total{kind=\"loaded\"}", "What recovery had to repair.")            \
    X(METRIC_RECOVERED_REFUNDED, "hongbao_recoveries_total{kind=\"refunded\"}", NULL)                                  \
    X(METRIC_RECOVERED_STREAM, "hongbao_recoveries_total{kind=\"stream\"}", NULL)                                      \
    X(METRIC_RECOVERED_FENCE, "hongbao_recoveries_total{kind=\"fence\"}", NULL)                                        \
    X(METRIC_RECOVERY_FAULTS, "hongbao_recovery_faults_total", "Checks that found a packet beyond repair.")            \
    X(METRIC_AUDIT_CLEAN_AT_MS, NULL, NULL) /* of audit/state.h, as the next two */                                    \
    X(METRIC_AUDIT_VIOLATED_AT_MS, NULL, NULL)                                                                         \
    X(METRIC_AUDIT_WORKER_AT_MS, NULL, NULL)                                                                           \
    X(METRIC_REQUESTS_MONEY, "hongbao_requests_total{pool=\"money\"}", NULL)                                           \
    X(METRIC_4XX_MONEY, "hongbao_errors_total{pool=\"money\",status=\"4xx\"}", NULL)                                   \
    X(METRIC_5XX_MONEY, "hongbao_errors_total{pool=\"money\",status=\"5xx\"}", NULL)                                   \
    X(METRIC_BUSY_MONEY, "hongbao_busy_seconds_total{pool=\"money\"}", NULL)                                           \
    X(METRIC_STARTS_MONEY, "hongbao_process_starts_total{pool=\"money\"}", NULL)                                       \
    X(METRIC_CAPPED_SEND_FEN, "hongbao_capped_total{cap=\"user_send_day_fen\"}",                                       \
      "Requests refused by a cap of the day.")                                                                         \
    X(METRIC_CAPPED_SEND_COUNT, "hongbao_capped_total{cap=\"user_send_day_count\"}", NULL)                             \
    X(METRIC_CAPPED_RECEIVE_FEN, "hongbao_capped_total{cap=\"user_receive_day_fen\"}", NULL)                           \
    X(METRIC_REQUESTS_SSO, "hongbao_requests_total{pool=\"sso\"}", NULL)                                               \
    X(METRIC_4XX_SSO, "hongbao_errors_total{pool=\"sso\",status=\"4xx\"}", NULL)                                       \
    X(METRIC_5XX_SSO, "hongbao_errors_total{pool=\"sso\",status=\"5xx\"}", NULL)                                       \
    X(METRIC_BUSY_SSO, "hongbao_busy_seconds_total{pool=\"sso\"}", NULL)                                               \
    X(METRIC_STARTS_SSO, "hongbao_process_starts_total{pool=\"sso\"}", NULL)                                           \
    X(METRIC_LIMITED_OIDC_ADDRESS, "hongbao_limited_total{limit=\"oidc_address\"}", NULL)                              \
    X(METRIC_LIMITED_OIDC_NETWORK, "hongbao_limited_total{limit=\"oidc_network\"}", NULL)

#define METRIC_ID(id, name, help) id,
enum metric { METRICS(METRIC_ID) METRIC_COUNT };
#undef METRIC_ID

/* X(identifier, family, labels, unit, help; NULL: of a family that another line describes). Only append. The unit is
 * SECONDS: observed in microseconds; or SIZES: whole numbers. */
#define HISTOGRAMS(X)                                                                                                  \
    X(HISTOGRAM_HOT_WRITE, "hongbao_request_seconds", "pool=\"hot\",class=\"write\"", SECONDS,                         \
      "Time from reading a request to its answer.")                                                                    \
    X(HISTOGRAM_HOT_READ, "hongbao_request_seconds", "pool=\"hot\",class=\"read\"", SECONDS, NULL)                     \
    X(HISTOGRAM_HOT_OTHER, "hongbao_request_seconds", "pool=\"hot\",class=\"other\"", SECONDS, NULL)                   \
    X(HISTOGRAM_PAGE_READ, "hongbao_request_seconds", "pool=\"page\",class=\"read\"", SECONDS, NULL)                   \
    X(HISTOGRAM_PAGE_WRITE, "hongbao_request_seconds", "pool=\"page\",class=\"write\"", SECONDS, NULL)                 \
    X(HISTOGRAM_PAGE_FILE, "hongbao_request_seconds", "pool=\"page\",class=\"file\"", SECONDS, NULL)                   \
    X(HISTOGRAM_PAGE_OTHER, "hongbao_request_seconds", "pool=\"page\",class=\"other\"", SECONDS, NULL)                 \
    X(HISTOGRAM_AUTH_READ, "hongbao_request_seconds", "pool=\"auth\",class=\"read\"", SECONDS, NULL)                   \
    X(HISTOGRAM_AUTH_WRITE, "hongbao_request_seconds", "pool=\"auth\",class=\"write\"", SECONDS, NULL)                 \
    X(HISTOGRAM_AUTH_OTHER, "hongbao_request_seconds", "pool=\"auth\",class=\"other\"", SECONDS, NULL)                 \
    X(HISTOGRAM_CARD_READ, "hongbao_request_seconds", "pool=\"card\",class=\"read\"", SECONDS, NULL)                   \
    X(HISTOGRAM_CARD_OTHER, "hongbao_request_seconds", "pool=\"card\",class=\"other\"", SECONDS, NULL)                 \
    X(HISTOGRAM_QUEUE_PAGE, "hongbao_queue_seconds", "pool=\"page\"", SECONDS,                                         \
      "Time from nginx to the reading of a request.")                                                                  \
    X(HISTOGRAM_QUEUE_AUTH, "hongbao_queue_seconds", "pool=\"auth\"", SECONDS, NULL)                                   \
    X(HISTOGRAM_QUEUE_CARD, "hongbao_queue_seconds", "pool=\"card\"", SECONDS, NULL)                                   \
    X(HISTOGRAM_BATCH, "hongbao_batch_requests", "", SIZES, "Requests that a hot process works on together.")          \
    X(HISTOGRAM_CROWD, "hongbao_crowd_grabs", "", SIZES, "Open requests decided by one call of the grab function.")    \
    X(HISTOGRAM_SETTLE_BATCH, "hongbao_settle_batch_events", "", SIZES, "Events settled by one transaction.")          \
    X(HISTOGRAM_SETTLE_SECONDS, "hongbao_settle_seconds", "", SECONDS, "Time that this transaction takes.")            \
    X(HISTOGRAM_MONEY_READ, "hongbao_request_seconds", "pool=\"money\",class=\"read\"", SECONDS, NULL)                 \
    X(HISTOGRAM_MONEY_WRITE, "hongbao_request_seconds", "pool=\"money\",class=\"write\"", SECONDS, NULL)               \
    X(HISTOGRAM_MONEY_OTHER, "hongbao_request_seconds", "pool=\"money\",class=\"other\"", SECONDS, NULL)               \
    X(HISTOGRAM_QUEUE_MONEY, "hongbao_queue_seconds", "pool=\"money\"", SECONDS, NULL)                                 \
    X(HISTOGRAM_SSO_READ, "hongbao_request_seconds", "pool=\"sso\",class=\"read\"", SECONDS, NULL)                     \
    X(HISTOGRAM_SSO_WRITE, "hongbao_request_seconds", "pool=\"sso\",class=\"write\"", SECONDS, NULL)                   \
    X(HISTOGRAM_SSO_OTHER, "hongbao_request_seconds", "pool=\"sso\",class=\"other\"", SECONDS, NULL)                   \
    X(HISTOGRAM_QUEUE_SSO, "hongbao_queue_seconds", "pool=\"sso\"", SECONDS, NULL)

#define HISTOGRAM_ID(id, family, labels, unit, help) id,
enum histogram { HISTOGRAMS(HISTOGRAM_ID) HISTOGRAM_COUNT };
#undef HISTOGRAM_ID

/* Maps the file; creates it when missing, with mode 0660: processes with users of their own share it by its group.
 * False: failed, errno says why; counting continues in private memory. */
bool metrics_open(const char *path);
/* Reads the file into private memory, for a process that only looks. False: it can't be read, errno says why. */
bool metrics_read(const char *path);
void metrics_add(enum metric m, uint64_t n);
uint64_t metrics_get(enum metric m);
/* Stores a value in place of the last one. */
void metrics_set(enum metric m, uint64_t value);

/* Counts a value, in microseconds or whole numbers by the unit of h. A negative value counts as 0. */
void metrics_observe(enum histogram h, int64_t value);
/* The number of values that were observed. */
uint64_t metrics_observed(enum histogram h);

/* The value of a counter that is not in the file. */
struct metric_sample {
    const char *name; /* with labels; its family is one of METRICS */
    uint64_t value;
};
/* Appends all counters and histograms in the Prometheus text format 0.0.4, and at the end of their families these other
 * counters, count of them. */
void metrics_print(struct buf *out, const struct metric_sample *others, size_t count);

#endif
