/* Addresses of an issuer and its endpoints. Only a small, plain part of what a URL may be is accepted, so that no two
 * readers (this one, libcurl, a browser) can see different hosts in it. Pure. */
#ifndef HB_OIDC_URL_H
#define HB_OIDC_URL_H

#include "base/str.h"

enum { OIDC_URL_MAX = 1024 };

struct oidc_url {
    bool https;
    struct str host;  /* a name, an IPv4 address, or an IPv6 address in brackets; as written */
    uint16_t port;    /* the scheme's where none is written */
    struct str path;  /* from the slash, perhaps empty */
    struct str query; /* STR_NONE: none */
};

/* Reads an absolute URL of https, or of http for a loopback address (127.0.0.0/8, ::1, localhost). No user, no
 * fragment, no backslash, blank, control character or byte beyond ASCII. The parts are slices of text. */
bool oidc_url_read(struct str text, struct oidc_url *out);
/* True when the host and port of url are "HOST" (port 443) or "HOST:PORT". */
bool oidc_url_is_at(const struct oidc_url *url, struct str host);
/* True when both have the same scheme, host and port. */
bool oidc_url_same_origin(const struct oidc_url *a, const struct oidc_url *b);

#endif
