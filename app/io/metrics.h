/* Counters shared by all processes of an instance through one small mapped file. An increment is one atomic add. Every
 * process can print all counters as Prometheus text. Call metrics_open once at start; the counts survive a restart. */
#ifndef HB_IO_METRICS_H
#define HB_IO_METRICS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"

/* X(identifier, Prometheus name with labels, help; NULL: same family as the line above). Only append: the position of a
 * line is its slot in the file. */
#define METRICS(X)                                                                                                     \
    X(METRIC_REQUESTS_HOT, "hongbao_requests_total{pool=\"hot\"}", "Requests answered.")                               \
    X(METRIC_REQUESTS_PAGE, "hongbao_requests_total{pool=\"page\"}", NULL)                                             \
    X(METRIC_REQUESTS_AUTH, "hongbao_requests_total{pool=\"auth\"}", NULL)                                             \
    X(METRIC_ERRORS, "hongbao_errors_total", "Requests answered with 5xx.")                                            \
    X(METRIC_SENT, "hongbao_packets_sent_total", "Packets sent.")                                                      \
    X(METRIC_GRABBED, "hongbao_grabs_total{result=\"grabbed\"}", "Open requests by result.")                           \
    X(METRIC_ALREADY, "hongbao_grabs_total{result=\"already\"}", NULL)                                                 \
    X(METRIC_EMPTY, "hongbao_grabs_total{result=\"empty\"}", NULL)                                                     \
    X(METRIC_GRAB_REFUSED, "hongbao_grabs_total{result=\"refused\"}", NULL)                                            \
    X(METRIC_GRAB_UNKNOWN, "hongbao_grabs_total{result=\"unknown\"}", NULL)                                            \
    X(METRIC_SETTLED, "hongbao_settled_events_total", "Events settled.")                                               \
    X(METRIC_SETTLE_STOPPED, "hongbao_settle_stopped_total", "Times a partition was stopped.")                         \
    X(METRIC_REFUNDED_FEN, "hongbao_refunded_fen_total", "Fen refunded.")                                              \
    X(METRIC_REDIS_LOST, "hongbao_redis_connections_lost_total", "Redis connections dropped after an error.")          \
    X(METRIC_MYSQL_LOST, "hongbao_mysql_connections_lost_total", "MySQL connections dropped after an error.")          \
    X(METRIC_DEAD_LETTERS, "hongbao_dead_letters_total", "Events put aside because they could not be settled.")        \
    X(METRIC_AUDIT_SAMPLED, "hongbao_audit_sampled_packets_total", "Packets audited by the settle worker.")            \
    X(METRIC_AUDIT_VIOLATED, "hongbao_audit_sampled_violations_total", "Audited packets that violate an invariant.")   \
    X(METRIC_REQUESTS_CARD, "hongbao_card_requests_total", "Requests answered by the card pool.")

#define METRIC_ID(id, name, help) id,
enum metric { METRICS(METRIC_ID) METRIC_COUNT };
#undef METRIC_ID

/* Maps the file; creates it when missing. False: failed; counting continues in private memory. */
bool metrics_open(const char *path);
void metrics_add(enum metric m, uint64_t n);
uint64_t metrics_get(enum metric m);
void metrics_print(struct buf *out); /* appends all counters in the Prometheus text format 0.0.4 */

#endif
