#include "packet/cover.h"

#include <assert.h>

#include "io/picture_hash.h"

static const struct str cover_names[COVER_COUNT] = {
    [COVER_PLAIN] = STR("plain"),           [COVER_SPRING_FESTIVAL] = STR("spring-festival"),
    [COVER_MID_AUTUMN] = STR("mid-autumn"), [COVER_BIRTHDAY] = STR("birthday"),
    [COVER_WEDDING] = STR("wedding"),       [COVER_BABY] = STR("baby"),
    [COVER_NEW_JOB] = STR("new-job"),       [COVER_THANKS] = STR("thanks")
};

struct str packet_cover_name(enum packet_cover cover)
{
    assert((unsigned)cover < COVER_COUNT);
    return cover_names[cover];
}

struct str packet_cover_stored(enum packet_cover cover)
{
    return cover == COVER_PLAIN ? STR("") : packet_cover_name(cover);
}

enum packet_cover packet_cover_from(struct str name)
{
    for (unsigned i = 0; i < COVER_COUNT; i++)
        if (str_equal(cover_names[i], name))
            return (enum packet_cover)i;
    return COVER_PLAIN;
}

struct str packet_cover_shown(struct str stored)
{
    return packet_cover_hash(stored).ptr != NULL ? STR("own") : packet_cover_name(packet_cover_from(stored));
}

struct str packet_cover_hash(struct str stored)
{
    return str_skip_prefix(&stored, STR("@")) && picture_hash_valid(stored) ? stored : STR_NONE;
}
