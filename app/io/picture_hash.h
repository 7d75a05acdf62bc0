/* The name of a picture that users see: the hash of its file. */
#ifndef HB_IO_PICTURE_HASH_H
#define HB_IO_PICTURE_HASH_H

#include <stdbool.h>

#include "base/str.h"

#define PICTURE_HASH_LEN 26

/* The hash of a file: the first 128 bits of its BLAKE2b in base32. */
void picture_hash(struct str bytes, char out[PICTURE_HASH_LEN]);
/* True when the text is written like a hash. */
bool picture_hash_valid(struct str text);

#endif
