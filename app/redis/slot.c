#include "redis/slot.h"

enum { NIBBLE_BITS = 4, NIBBLE_MASK = 15, TOP_NIBBLE_SHIFT = 12 }; /* of a byte; of the 16-bit CRC */

/* CRC-16/XMODEM: polynomial 0x1021, initial value 0; a look-up for each half (nibble) of a byte. */
static uint16_t crc16(struct str bytes)
{
    /* remainders[n]: n × x^16 modulo the polynomial */
    static const uint16_t remainders[] = { 0x0000, 0x1021, 0x2042, 0x3063, 0x4084, 0x50a5, 0x60c6, 0x70e7,
                                           0x8108, 0x9129, 0xa14a, 0xb16b, 0xc18c, 0xd1ad, 0xe1ce, 0xf1ef };
    uint16_t crc = 0;
    for (size_t i = 0; i < bytes.len; i++) {
        unsigned byte = (unsigned char)bytes.ptr[i];
        crc = (uint16_t)(crc << NIBBLE_BITS ^ remainders[crc >> TOP_NIBBLE_SHIFT ^ byte >> NIBBLE_BITS]);
        crc = (uint16_t)(crc << NIBBLE_BITS ^ remainders[crc >> TOP_NIBBLE_SHIFT ^ (byte & NIBBLE_MASK)]);
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
