/* `hongbao verify-receipt`: checks the signature of a receipt, without any server. */
#ifndef HB_COMMANDS_VERIFY_RECEIPT_H
#define HB_COMMANDS_VERIFY_RECEIPT_H

#include "config/config.h"

/* `hongbao verify-receipt FILE [--keys FILE]`: FILE is a receipt as JSON (GET /p/ID/receipt.json). The keys come from
 * the configuration, or from a file as /.well-known/hongbao-receipt-keys answers it; then config is not read. argv[0]
 * is the command's name. Prints what the receipt says. Returns the exit code: 0 the signature is good · 1 forged: it is
 * not, or no known key has made it · 2 a bad argument, or a file that can't be read or is not what it should be (with a
 * message on stderr). */
int verify_receipt_command(const struct config *config, int argc, char **argv);

#endif
