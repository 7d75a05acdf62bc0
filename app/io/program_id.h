/* Which program this is. */
#ifndef HB_IO_PROGRAM_ID_H
#define HB_IO_PROGRAM_ID_H

#include <stdint.h>

/* The first eight bytes of the linker's build id, which differs when anything in the program differs; 0: it was linked
 * without one. */
uint64_t program_id(void);

#endif
