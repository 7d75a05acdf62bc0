#include "io/redis_slot.h"

enum { POLYNOMIAL = 0x1021, BITS = 16, TOP_BIT = 0x8000 };

static uint16_t crc16(struct str bytes)
{
    unsigned crc = 0;
    for (size_t i = 0; i < bytes.len; i++) {
        crc ^= (unsigned)(unsigned char)bytes.ptr[i] << (BITS - 8);
        for (int bit = 0; bit < 8; bit++)
            crc = (crc & TOP_BIT) != 0 ? crc << 1 ^ POLYNOMIAL : crc << 1;
    }
    return (uint16_t)crc;
}

uint16_t redis_slot(struct str key)
{
    struct str behind, after_tag;
    (void)str_cut(key, '{', &behind);
    struct str tag = str_cut(behind, '}', &after_tag);
    return crc16(behind.ptr != NULL && after_tag.ptr != NULL && tag.len > 0 ? tag : key) % REDIS_SLOTS;
}
