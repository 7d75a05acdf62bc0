#include "pages/routes.h"

#include "base/array.h"
#include "pages/calendar.h"
#include "pages/card.h"
#include "pages/end.h"
#include "pages/give_back.h"
#include "pages/grab.h"
#include "pages/order_show.h"
#include "pages/poster.h"
#include "pages/receipt.h"
#include "pages/screen.h"
#include "pages/send.h"
#include "pages/send_form.h"
#include "pages/show.h"
#include "pages/thanks.h"
#include "pages/verify.h"
#include "web/limits.h"

/* The hot pool passes requests for a packet that Redis does not have to the page pool, which serves the same paths. */
const struct route packet_routes[] = {
    { "GET", "/p/:id", WANT_VISITOR, POOL_HOT, packet_show_hot, NULL },
    { "POST", "/p/:id/open", NEED_USER | SAME_ORIGIN | FOR_OPEN, POOL_HOT, packet_open_hot, open_fields },
    { "GET", "/p/:id", WANT_VISITOR | LIMITED_BY(LIMIT_READ) | LIMITED_BY(LIMIT_COLD_ADDRESS), POOL_PAGE,
      packet_show_cold, NULL },
    { "POST", "/p/:id/open",
      NEED_USER | SAME_ORIGIN | FOR_OPEN | LIMITED_BY(LIMIT_READ) | LIMITED_BY(LIMIT_COLD_ADDRESS), POOL_PAGE,
      packet_open_cold, open_fields },
    { "POST", "/p/:id/return", NEED_USER | SAME_ORIGIN | FOR_OPEN | LIMITED_BY(LIMIT_READ), POOL_PAGE,
      packet_return_post, NULL },
    { "POST", "/p/:id/end", NEED_USER | SAME_ORIGIN | FOR_SEND | LIMITED_BY(LIMIT_READ), POOL_PAGE, packet_end_post,
      NULL },
    { "POST", "/p/:id/thanks", NEED_USER | SAME_ORIGIN | FOR_OPEN | LIMITED_BY(LIMIT_READ), POOL_PAGE,
      packet_thanks_post, thanks_fields },
    { "GET", "/p/:id/screen", WANT_VISITOR, POOL_HOT, packet_screen_hot, NULL },
    { "GET", "/p/:id/screen", WANT_VISITOR | LIMITED_BY(LIMIT_READ) | LIMITED_BY(LIMIT_COLD_ADDRESS), POOL_PAGE,
      packet_screen_cold, NULL },
    { "GET", "/p/:id/card.png", LIMITED_BY(LIMIT_CARD), POOL_CARD, packet_card, NULL },
    { "GET", "/p/:id/poster", NEED_USER | LIMITED_BY(LIMIT_READ), POOL_PAGE, packet_poster, NULL },
    { "GET", "/p/:id/calendar.ics", WANT_VISITOR | LIMITED_BY(LIMIT_READ), POOL_PAGE, packet_calendar, NULL },
    { "GET", "/p/:id/verify", WANT_VISITOR | LIMITED_BY(LIMIT_READ), POOL_PAGE, packet_verify, NULL },
    { "GET", "/p/:id/receipt", NEED_USER | LIMITED_BY(LIMIT_READ), POOL_PAGE, receipt_show, NULL },
    { "GET", "/p/:id/receipt.json", NEED_USER | LIMITED_BY(LIMIT_READ), POOL_PAGE, receipt_download, NULL },
    { "GET", "/.well-known/hongbao-receipt-keys", 0, POOL_PAGE, receipt_keys_show, NULL },
    { "GET", "/send", NEED_USER | LIMITED_BY(LIMIT_READ), POOL_PAGE, send_form_get, NULL },
    { "POST", "/send",
      NEED_USER | SAME_ORIGIN | FOR_SEND | KEEP_FORM | LIMITED_BY(LIMIT_SEND) | LIMITED_BY(LIMIT_SEND_ADDRESS),
      POOL_PAGE, send_form_post, send_fields },
    { "GET", "/orders/:key", NEED_USER | LIMITED_BY(LIMIT_READ), POOL_PAGE, order_show, NULL },
};
const size_t packet_routes_count = ARRAY_LEN(packet_routes);
