/* What the files about transfers from and to a channel share. */
#ifndef HB_LEDGER_EXTERNAL_INTERNAL_H
#define HB_LEDGER_EXTERNAL_INTERNAL_H

#include "ledger/external.h"

/* Valid UTF-8 of MEMO_CODE_POINTS_MAX code points at most. */
bool memo_is_valid(struct str memo);
/* Valid UTF-8, and not empty. */
bool author_is_valid(const struct external_author *author);
/* The name of the interface, as the routines take it. */
struct db_param external_interface_param(enum external_interface interface);

#endif
