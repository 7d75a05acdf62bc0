/* Reads the instance number from a packet id (packet/id.h). Only tests need that. */
#ifndef HB_TESTS_SUPPORT_ID_PARTS_H
#define HB_TESTS_SUPPORT_ID_PARTS_H

#include "packet/id.h"

static inline uint16_t id_instance(uint64_t id)
{
    return (uint16_t)(id >> ID_SEQUENCE_BITS & (ID_INSTANCES - 1));
}

#endif
