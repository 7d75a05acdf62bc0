/* `hongbao replay`: the way back for dead letters (docs/how-to/dead-letters.md). */
#ifndef HB_OPS_REPLAY_H
#define HB_OPS_REPLAY_H

#include <stdio.h>

#include "base/config.h"
#include "base/status.h"
#include "base/str.h"
#include "live/stores.h"

/* Settles the letter's event, with other content unless content is STR_NONE, and says on out what came of it; tells
 * Redis. ST_OK: settled · ST_INVALID: refused, and it stays · a store's trouble. */
enum status replay_letter(struct stores *stores, uint64_t letter_id, struct str content, FILE *out);
/* Settles all letters of the packet in their order; stops at the first that is refused. Then, or when there is none,
 * tells Redis once more what waits and what does not. */
enum status replay_packet(struct stores *stores, uint64_t packet_id, FILE *out);
/* Gives the letter up: its event is never settled. */
enum status replay_drop(struct stores *stores, uint64_t letter_id, FILE *out);

/* `replay [LETTER [--as CONTENT | --drop] | --packet ID]`. 0: done, 1: refused, 2: could not. */
int replay_command(const struct config *config, int argc, char **argv);

#endif
