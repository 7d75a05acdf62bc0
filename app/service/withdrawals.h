/* GET /money/withdrawals: the pending withdrawals of the token's channel. POST /money/withdrawals/ID/post and /void end
 * one, once. */
#ifndef HB_SERVICE_WITHDRAWALS_H
#define HB_SERVICE_WITHDRAWALS_H

#include "web/fields.h"

extern const struct field withdrawals_fields[], withdrawal_post_fields[], withdrawal_void_fields[];
enum step withdrawals_list(struct exchange *x);
/* 200 also when it had ended so before; 409 when it has ended in another way. */
enum step withdrawal_post_submit(struct exchange *x);
enum step withdrawal_void_submit(struct exchange *x);

#endif
