/* The limits of the files of records and of the account. A file of many records costs more, so it takes more from the
 * limits. */
#ifndef HB_RECORDS_EXPORT_LIMIT_H
#define HB_RECORDS_EXPORT_LIMIT_H

#include "web/exchange.h"

enum { EXPORT_RECORDS_PER_USE = 5000 };

/* Takes one use from the limits of files, and one more for each EXPORT_RECORDS_PER_USE records that the user has. It
 * never takes more than the whole burst, so that every user can get a file. True: taken. False: the request is
 * answered, as by limits_take or with the problem of the store. */
bool export_limit_take(struct exchange *x);

#endif
