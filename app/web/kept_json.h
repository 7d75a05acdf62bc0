/* A JSON answer that is the same for everybody and for the life of the process. The first request makes it. It is then
 * kept, with its entity tag and compressed: compressing a large answer costs nginx as much as making it. */
#ifndef HB_WEB_KEPT_JSON_H
#define HB_WEB_KEPT_JSON_H

#include "base/buf.h"
#include "base/digest.h"
#include "base/value.h"

struct exchange;

/* All zero: not made yet. Free with kept_json_free. */
struct kept_json {
    struct buf body;                              /* empty: not made yet */
    struct buf gzip;                              /* empty: too short to be worth it */
    char tag[sizeof "W/\"\"" + 2 * DIGEST_BYTES]; /* weak: the same for both */
};

/* Fills the model, which is in the request's arena. Any status except ST_OK: there is no answer now. */
typedef enum status kept_json_make(struct exchange *x, struct model *m);

/* Answers 200 with the kept answer, or 304. make is called when there is none yet. When make or the memory fails,
 * nothing is kept, and the answer is the problem for the status, which no cache stores. cache_control: how long caches
 * may keep it. */
void kept_json_respond(struct exchange *x, struct kept_json *kept, kept_json_make *make, struct str cache_control);
void kept_json_free(struct kept_json *kept);

#endif
