#include "io/redis_slot.h"

enum { HALF_BITS = 4, HALF_MASK = 15, HALF_SHIFT = 12 }; /* a byte has two halves; SHIFT: to the top of 16 bits */

/* CRC-16 of XMODEM: polynomial 0x1021, begins with 0. */
static uint16_t crc16(struct str bytes)
{
    /* the remainder of each half of a byte, shifted to the top */
    static const uint16_t remainders[] = { 0x0000, 0x1021, 0x2042, 0x3063, 0x4084, 0x50a5, 0x60c6, 0x70e7,
                                           0x8108, 0x9129, 0xa14a, 0xb16b, 0xc18c, 0xd1ad, 0xe1ce, 0xf1ef };
    uint16_t crc = 0;
    for (size_t i = 0; i < bytes.len; i++) {
        unsigned byte = (unsigned char)bytes.ptr[i];
        crc = (uint16_t)(crc << HALF_BITS ^ remainders[crc >> HALF_SHIFT ^ byte >> HALF_BITS]);
        crc = (uint16_t)(crc << HALF_BITS ^ remainders[crc >> HALF_SHIFT ^ (byte & HALF_MASK)]);
    }
    return crc;
}

uint16_t redis_slot(struct str key)
{
    struct str behind, after_tag;
    (void)str_cut(key, '{', &behind);
    struct str tag = str_cut(behind, '}', &after_tag);
    return crc16(behind.ptr != NULL && after_tag.ptr != NULL && tag.len > 0 ? tag : key) % REDIS_SLOTS;
}
