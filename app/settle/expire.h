/* Packets whose time is over get their close event; the refund follows through the stream, behind all grabs. */
#ifndef HB_SETTLE_EXPIRE_H
#define HB_SETTLE_EXPIRE_H

#include <stdint.h>

#include "base/status.h"
#include "settle/recover.h"
#include "settle/settle.h"

/* Where the walk over the due packets stands: by key, from the longest due on; a packet that can't be closed yet does
 * not keep the others waiting. All zero: from the start. */
struct expire {
    int64_t expires_ms;
    uint64_t packet_id;
};

/* Closes what is due: at most a few hundred packets, the next call goes on behind them. *closed: newly closed.
 * What Redis does not know is handed to recovery, which counts in done.
 * ST_UNAVAILABLE: a store is away; nothing is lost, the packets stay due. */
enum status expire_pass(struct expire *e, struct settle *s, int64_t now_ms, uint64_t *closed,
                        struct recover_done *done);

#endif
