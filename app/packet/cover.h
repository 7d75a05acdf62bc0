/* The covers of a packet's envelope: a closed list of names, and pictures of one's own (user/cover_store.h). A cover is
 * only a look. In MySQL and Redis it is a name, '@' and the hash of a picture, or empty for the default. */
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

/* What pages and JSON say of a stored cover: its name, and "own" for a picture. A static text. */
struct str packet_cover_shown(struct str stored);
/* The hash of the picture that a stored cover is, borrowed from it; STR_NONE: it is none. */
struct str packet_cover_hash(struct str stored);

#endif
