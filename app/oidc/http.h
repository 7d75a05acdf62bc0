/* Requests to an issuer: HTTP with the limits that a server out of our hands needs. One implementation is
 * oidc_http_open (libcurl); tests have their own. */
#ifndef HB_OIDC_HTTP_H
#define HB_OIDC_HTTP_H

#include "base/arena.h"
#include "oidc/fault.h"

enum { OIDC_CONNECT_MS = 2000, OIDC_DEADLINE_MS = 5000 };

struct oidc_request {
    struct str url;           /* https; http only for a loopback address */
    struct str authorization; /* the value of the header; empty: none */
    const struct str *form;   /* the body of a POST, urlencoded; NULL: a GET */
    size_t answer_max;        /* bytes of the body */
    int64_t deadline_ms;      /* of clock_monotonic_ms */
};

struct oidc_answer {
    long status;
    struct str body; /* in the arena */
};

struct oidc_http {
    /* OIDC_OK: there is an answer, of whatever status. Otherwise OIDC_AWAY, OIDC_SLOW, OIDC_CUT, OIDC_TLS, OIDC_SIZE,
     * OIDC_ENDPOINT (no such URL) or OIDC_NO_MEMORY. */
    enum oidc_fault (*send)(void *ctx, struct arena *a, const struct oidc_request *request, struct oidc_answer *out);
    void *ctx;
};

struct oidc_curl;

/* Loads libcurl and opens a client for one thread: TLS 1.2 or newer, certificates and host names verified against the
 * trusted authorities of the system or those in ca_file (NULL: the system's), https alone (http for loopback), no
 * redirects, no proxies of the environment, no cookies, no .netrc. libcurl is loaded at run time, so that only the pool
 * that needs it has it and its 30 libraries in memory; call this before a sandbox closes. libcurl resolves names in a
 * thread of its own. NULL: error says why; free with oidc_curl_close. */
struct oidc_curl *oidc_curl_open(const char *ca_file, char *error, size_t error_size);
void oidc_curl_close(struct oidc_curl *c); /* NULL is fine */
/* The interface of the client, which must outlive it. */
struct oidc_http oidc_curl_http(struct oidc_curl *c);

#endif
