/* The JSON of transfers, withdrawals, top-ups and reports: the same members in the command and by HTTP. Each function
 * adds the members to the object. Texts are borrowed, or in the arena of the model. */
#ifndef HB_MONEY_MODELS_H
#define HB_MONEY_MODELS_H

#include "base/clock.h"
#include "base/value.h"
#include "ledger/topup.h"
#include "ledger/withdrawal.h"
#include "money/report.h"
#include "money/transfers.h"

void transfer_line_model(struct model *m, struct value *object, const struct transfer_line *t);
/* A pending withdrawal. */
void withdrawal_model(struct model *m, struct value *object, const struct withdrawal *w);
/* A withdrawal that was posted or voided. */
void withdrawal_ended_model(struct model *m, struct value *object, const struct withdrawal *w);

/* A payment of an order of a top-up: id is the transfer, order the order. */
void topup_paid_model(struct model *m, struct value *object, const struct topup_paid *paid);

/* A member of struct report_flows: "credits", and what people read. */
struct report_column {
    const char *name, *title;
    size_t member; /* offset */
};
/* The columns in the order of the report. */
extern const struct report_column report_columns[];
extern const size_t report_columns_count;
int64_t report_column_fen(const struct report_flows *flows, const struct report_column *column);
/* A member NAME_fen for each column. */
void report_flows_model(struct model *m, struct value *object, const struct report_flows *flows);
/* "2026-11-30" of an instant of that day; empty for an open end (0, INT64_MAX). In the arena. */
struct str report_day_text(struct arena *a, int64_t ms);
/* The time of the report: from, to and read_at. */
void report_time_model(struct model *m, struct value *object, const struct report *r);

#endif
