/* The covers of a packet's envelope: a fixed list of names, and users' own pictures (user/cover_store.h). A cover only
 * changes the look. In MySQL and Redis it is a name, '@' and the hash of a picture, or empty for the default. */
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
/* The name in MySQL and Redis: empty for COVER_PLAIN, the default. */
struct str packet_cover_stored(enum packet_cover cover);
/* The cover of a name, as stored or as shown. COVER_PLAIN also for a name that this program does not know: a newer one
 * has written it. */
enum packet_cover packet_cover_from(struct str name);

/* The word for a stored cover in pages and JSON: its name, or "own" for a picture. A static text. */
struct str packet_cover_shown(struct str stored);
/* The hash of the picture in a stored cover, borrowed from it; STR_NONE: the cover is no picture. */
struct str packet_cover_hash(struct str stored);

#endif
