/* The security log of requests (base/security_event.h), with user, address and request id. */
#ifndef HB_WEB_SECURITY_LOG_H
#define HB_WEB_SECURITY_LOG_H

#include <netinet/in.h>
#include <stddef.h>
#include <stdint.h>

#include "base/security_event.h"
#include "base/str.h"
#include "web/exchange.h"

#define ADDRESS_TEXT_MAX INET6_ADDRSTRLEN

/* The client's address in its usual short form, from nginx's $remote_addr. An IPv4 address inside IPv6
 * (::ffff:192.0.2.1) is written as IPv4, "unix" stands for a Unix socket, "-" for anything else. The text is in out
 * (ADDRESS_TEXT_MAX bytes, the caller's) or static. Pure. */
const char *address_text(struct str remote, char *out);

/* Writes the event's line: event, user_id, address, request_id, then the pairs of format (NULL: none), our own words
 * and numbers only. user_id 0: the user is not known. The address is "-" for views in the hot pool, which does not get
 * it; the access log has it under the same request_id. */
void security_log(const struct exchange *x, enum security_event event, uint64_t user_id, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

#endif
