/* The covers of a packet's envelope: a closed list of names. A cover is only a look. */
#ifndef HB_PACKET_COVER_H
#define HB_PACKET_COVER_H

#include "base/str.h"

enum packet_cover {
    COVER_PLAIN, /* the default */
    COVER_SPRING_FESTIVAL,
    COVER_MID_AUTUMN,
    COVER_BIRTHDAY,
    COVER_WEDDING,
    COVER_BABY,
    COVER_NEW_JOB,
    COVER_THANKS,
    COVER_COUNT
};

/* The name used in forms and JSON ("spring-festival"). Never NULL. */
struct str packet_cover_name(enum packet_cover cover);
/* The name in MySQL and Redis, which store none for the default: empty for COVER_PLAIN. */
struct str packet_cover_stored(enum packet_cover cover);
/* The cover of a name, as stored or as shown. COVER_PLAIN also for a name that this program does not know: a newer one
 * has written it. */
enum packet_cover packet_cover_from(struct str name);

#endif
