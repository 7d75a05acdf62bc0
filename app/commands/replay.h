/* `hongbao replay`: an operator lists, settles or drops dead letters (docs/how-to/dead-letters.md).
 *
 * After a change each function updates Redis: which grabs of the packet are still held behind a dead letter. Their
 * result is ST_OK · ST_INVALID: refused, the letter stays as it was · any other status is a store's. The outcome is
 * written to out. */
#ifndef HB_COMMANDS_REPLAY_H
#define HB_COMMANDS_REPLAY_H

#include <stdio.h>

#include "base/status.h"
#include "base/str.h"
#include "config/config.h"
#include "live/stores.h"

/* Writes every unresolved letter, oldest first, or that there is none. Changes nothing. */
enum status replay_list(struct stores *stores, FILE *out);
/* Settles the letter's event; content, unless it is STR_NONE, replaces the event's own. */
enum status replay_letter(struct stores *stores, uint64_t letter_id, struct str content, FILE *out);
/* Settles all letters of the packet, oldest first; stops at the first that is refused. Updates Redis also when there
 * was no letter: an earlier replay may have died before it did. */
enum status replay_packet(struct stores *stores, uint64_t packet_id, FILE *out);
/* Resolves the letter without settling its event, which is lost for good. */
enum status replay_drop(struct stores *stores, uint64_t letter_id, FILE *out);

/* `replay [LETTER [--as CONTENT | --drop] | --packet ID]`. 0: done, 1: refused, 2: a store failed or bad argument. */
int replay_command(const struct config *config, int argc, char **argv);

#endif
