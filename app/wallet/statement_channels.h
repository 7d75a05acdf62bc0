/* What a statement says of transfers from and to channels (docs/explanation/money.md): the channel, its reference, the
 * memo; of a withdrawal that came back, too: its channel and the reason. */
#ifndef HB_WALLET_STATEMENT_CHANNELS_H
#define HB_WALLET_STATEMENT_CHANNELS_H

#include "base/arena.h"
#include "base/status.h"
#include "base/value.h"
#include "mysql/db.h"
#include "wallet/statement.h"

/* Reads the channel of each entry that has one, in one query; none, when there is no such entry. The arena holds the
 * texts. ST_NO_MEMORY · else as db_query. */
enum status statement_channels_read(struct db *db, struct arena *a, struct statement *s);

/* Adds the members of an entry that has a channel: see statement_show. */
void statement_channel_model(struct model *m, struct value *o, const struct statement_entry *entry);

#endif
