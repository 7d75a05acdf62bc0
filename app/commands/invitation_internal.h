/* Declarations for the files of `hongbao invitation` alone. */
#ifndef HB_COMMANDS_INVITATION_INTERNAL_H
#define HB_COMMANDS_INVITATION_INTERNAL_H

#include "base/arena.h"
#include "base/buf.h"
#include "config/config.h"
#include "user/invitation_store.h"
#include "web/language.h"

/* The link with the code of an invitation. In the arena; STR_NONE without memory. */
struct str invitation_link(struct arena *a, const struct config *config, const struct invitation *i, struct str *code);
/* Appends a CSV file of all columns; with_codes: also code and link of those that are open. ST_NO_MEMORY. */
enum status invitation_csv(struct arena *a, const struct config *config, const struct invitation *list, size_t count,
                           int64_t now_ms, bool with_codes, struct buf *out);
/* Appends a page to print, with a QR code for each. ST_INVALID: the templates can't be read, and error says why. */
enum status invitation_sheet(struct arena *a, const struct config *config, const struct invitation *list, size_t count,
                             enum language language, struct buf *out, char *error, size_t error_size);

#endif
