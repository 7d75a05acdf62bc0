/* `hongbao verify`: recomputes the shares of a packet. */
#ifndef HB_COMMANDS_VERIFY_H
#define HB_COMMANDS_VERIFY_H

/* `hongbao verify SEED KIND TOTAL COUNT [SPLIT [SHARE_MAX [SHARE_MIN]]] [--decimals N] [--returned NUMBERS]`: prints
 * `commitment HEX`, then one share a line in share order. SEED: 64 hex digits. KIND: lucky, even, exclusive, or the
 * name of a split. TOTAL: the whole packet. SPLIT: of a lucky packet; double-average when absent. SHARE_MAX: the limit
 * of one share when the packet was sent; 20000 smallest units when absent. SHARE_MIN: its smallest share; one smallest
 * unit when absent. Amounts have N decimals, 2 when absent, and so has the process (base/money.h). argv[0] is
 * the command's name. Returns the exit code: 0, 1 (no memory, or stdout failed), or 2 for a bad argument (message on
 * stderr). */
int verify_command(int argc, char **argv);

#endif
