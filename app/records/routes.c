#include "records/routes.h"

#include "base/array.h"
#include "records/account_export.h"
#include "records/home.h"
#include "records/records.h"
#include "records/story.h"
#include "records/story_picture.h"
#include "web/limits.h"

const struct route records_routes[] = {
    { "GET", "/", WANT_VISITOR | LIMITED_BY(LIMIT_READ), POOL_PAGE, home_show, NULL },
    { "GET", "/records/received", NEED_USER | LIMITED_BY(LIMIT_READ), POOL_PAGE, records_received, NULL },
    { "GET", "/records/sent", NEED_USER | LIMITED_BY(LIMIT_READ), POOL_PAGE, records_sent, NULL },
    { "GET", "/records/story", NEED_USER | LIMITED_BY(LIMIT_READ), POOL_PAGE, story_show, NULL },
    { "GET", "/story.png", NEED_USER | LIMITED_BY(LIMIT_READ), POOL_PAGE, story_share, NULL },
    { "GET", "/story.png", LIMITED_BY(LIMIT_CARD), POOL_CARD, story_picture, NULL },
    { "GET", "/records/received.csv", NEED_USER | LIMITED_BY(LIMIT_READ), POOL_PAGE, records_received_csv, NULL },
    { "GET", "/records/sent.csv", NEED_USER | LIMITED_BY(LIMIT_READ), POOL_PAGE, records_sent_csv, NULL },
    { "GET", "/account/export", NEED_USER | NO_TOKEN | LIMITED_BY(LIMIT_READ), POOL_PAGE, account_export, NULL },
};
const size_t records_routes_count = ARRAY_LEN(records_routes);
