/* GET /money/report: the balance of the token's channel at the beginning and the end of a time, and what moved it. */
#ifndef HB_SERVICE_REPORT_H
#define HB_SERVICE_REPORT_H

#include "web/fields.h"

extern const struct field channel_report_fields[];
enum step channel_report_show(struct exchange *x);

#endif
