/* /.well-known/security.txt (RFC 9116): where to report a vulnerability of this site. */
#ifndef HB_SITE_SECURITY_TXT_H
#define HB_SITE_SECURITY_TXT_H

#include "web/exchange.h"

enum { SECURITY_TXT_DAYS = 180 };

/* The text for a site: Contact, Expires (SECURITY_TXT_DAYS from now on, at the beginning of a day in UTC),
 * Preferred-Languages, and with https Canonical. In the arena; STR_NONE without memory. Pure. */
struct str security_txt(struct arena *a, const char *contact, const char *base_url, int64_t now_ms);

/* Handler of GET: 200 text/plain; 404 while security_contact is empty. */
enum step security_txt_show(struct exchange *x);

#endif
