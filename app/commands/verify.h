/* `hongbao verify`: recomputes the shares of a packet. */
#ifndef HB_COMMANDS_VERIFY_H
#define HB_COMMANDS_VERIFY_H

/* `hongbao verify SEED KIND TOTAL COUNT [SPLIT [SHARE_MAX [SHARE_MIN]]]`: prints `commitment HEX`, then one share a
 * line in share order, in yuan. SEED: 64 hex digits. KIND: lucky, even, exclusive, or the name of a split. TOTAL: the
 * whole packet in yuan. SPLIT: of a lucky packet; double-average when absent. SHARE_MAX: in yuan, the limit of one
 * share when the packet was sent; 200.00 when absent. SHARE_MIN: in yuan, its smallest share; 0.01 when absent. argv[0]
 * is the command's name. Returns the exit code: 0, 1 (no memory, or stdout failed), or 2 for a bad argument (message on
 * stderr). */
int verify_command(int argc, char **argv);

#endif
