#include "oidc/http.h"

#define CURL_DISABLE_TYPECHECK
#include <curl/curl.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/clock.h"

#define LIBRARY "libcurl.so.4"

/* Each member is the library's function of that name; the types come from its header. */
#define FUNCTIONS(X)                                                                                                   \
    X(curl_global_init)                                                                                                \
    X(curl_easy_init)                                                                                                  \
    X(curl_easy_reset)                                                                                                 \
    X(curl_easy_setopt)                                                                                                \
    X(curl_easy_perform)                                                                                               \
    X(curl_easy_getinfo)                                                                                               \
    X(curl_easy_cleanup)                                                                                               \
    X(curl_slist_append)                                                                                               \
    X(curl_slist_free_all)

struct oidc_curl {
#define MEMBER(name) __typeof__(&(name)) name;
    FUNCTIONS(MEMBER)
#undef MEMBER
    CURL *easy;
    const char *ca_file; /* NULL: the system's */
};

static bool symbol_find(void *library, const char *name, void *member, size_t size)
{
    void *address = dlsym(library, name);
    memcpy(member, &address, size);
    return address != NULL;
}

struct oidc_curl *oidc_curl_open(const char *ca_file, char *error, size_t error_size)
{
    const char *why = NULL;
    struct oidc_curl *c = calloc(1, sizeof *c);
    void *library = c == NULL ? NULL : dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
    bool found = library != NULL;
#define FIND(name) found = found && symbol_find(library, #name, &c->name, sizeof c->name);
    FUNCTIONS(FIND)
#undef FIND
    if (c == NULL)
        why = "no memory";
    else if (!found)
        why = dlerror();
    else if (c->curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK || (c->easy = c->curl_easy_init()) == NULL)
        why = "libcurl can't begin";
    if (found && why == NULL) {
        c->ca_file = ca_file;
        return c;
    }
    (void)snprintf(error, error_size, "%s", why != NULL ? why : LIBRARY);
    free(c);
    return NULL;
}

void oidc_curl_close(struct oidc_curl *c)
{
    if (c == NULL)
        return;
    c->curl_easy_cleanup(c->easy);
    free(c);
}

/* ---- a request ---- */

struct body {
    struct buf bytes;
    size_t max;
    bool too_large;
};

/* For libcurl: any other number than the bytes given ends the request. */
static size_t body_append(char *bytes, size_t size, size_t count, void *ctx)
{
    struct body *body = ctx;
    size_t len = size * count;
    if (len > body->max - body->bytes.len) {
        body->too_large = true;
        return 0;
    }
    buf_bytes(&body->bytes, bytes, len);
    return body->bytes.failed ? 0 : len;
}

/* Adds a header; false without memory. */
static bool header_add(struct oidc_curl *c, struct curl_slist **list, const char *header)
{
    struct curl_slist *more = header == NULL ? NULL : c->curl_slist_append(*list, header);
    if (more != NULL)
        *list = more;
    return more != NULL;
}

static struct curl_slist *headers_of(struct oidc_curl *c, struct arena *a, const struct oidc_request *request)
{
    struct curl_slist *list = NULL;
    bool added = header_add(c, &list, "Accept: application/json") && header_add(c, &list, "Expect:");
    if (added && request->authorization.len > 0)
        added = header_add(c, &list, arena_printf(a, "Authorization: %.*s", STR_ARG(request->authorization)).ptr);
    if (added)
        return list;
    c->curl_slist_free_all(list);
    return NULL;
}

#define SET(option, value) (set = set && c->curl_easy_setopt(c->easy, option, value) == CURLE_OK)

/* What holds for each request. libcurl's defaults: no cookies, no .netrc, no HTTP/0.9, headers of 300 KB at most. */
static bool limits_set(struct oidc_curl *c, const char *url)
{
    bool set = true;
    c->curl_easy_reset(c->easy);
    SET(CURLOPT_URL, url);
    SET(CURLOPT_PROTOCOLS_STR, strncmp(url, "https:", strlen("https:")) == 0 ? "https" : "http");
    SET(CURLOPT_FOLLOWLOCATION, 0L);
    SET(CURLOPT_PROXY, "");    /* none, whatever the environment says */
    SET(CURLOPT_HTTPAUTH, 0L); /* Authorization is a header of ours */
    SET(CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
    SET(CURLOPT_SSL_VERIFYPEER, 1L);
    SET(CURLOPT_SSL_VERIFYHOST, 2L);
    SET(CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
    if (c->ca_file != NULL)
        SET(CURLOPT_CAINFO, c->ca_file);
    SET(CURLOPT_QUICK_EXIT, 1L); /* a resolver that hangs is not waited for: its thread ends by itself */
    SET(CURLOPT_NOSIGNAL, 1L);
    SET(CURLOPT_USERAGENT, "hongbao");
    return set;
}

static bool request_set(struct oidc_curl *c, const struct oidc_request *request, struct curl_slist *headers,
                        struct body *body)
{
    int64_t left_ms = request->deadline_ms - clock_monotonic_ms();
    bool set = left_ms > 0; /* 0 would mean without end */
    SET(CURLOPT_TIMEOUT_MS, (long)left_ms);
    SET(CURLOPT_CONNECTTIMEOUT_MS, (long)(left_ms < OIDC_CONNECT_MS ? left_ms : OIDC_CONNECT_MS));
    SET(CURLOPT_HTTPHEADER, headers);
    SET(CURLOPT_WRITEFUNCTION, body_append);
    SET(CURLOPT_WRITEDATA, body);
    if (request->form != NULL) {
        SET(CURLOPT_POSTFIELDSIZE, (long)request->form->len);
        SET(CURLOPT_POSTFIELDS, request->form->ptr);
        SET(CURLOPT_FRESH_CONNECT,
            1L); /* libcurl repeats a request whose kept connection had ended; a code is for once */
    }
    return set;
}

static enum oidc_fault fault_of(CURLcode code, const struct body *body)
{
    switch (code) {
    case CURLE_OK: return OIDC_OK;
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_COULDNT_CONNECT:
    case CURLE_INTERFACE_FAILED: return OIDC_AWAY;
    case CURLE_OPERATION_TIMEDOUT: return OIDC_SLOW;
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_SSL_ISSUER_ERROR: return OIDC_TLS;
    case CURLE_WRITE_ERROR: return body->too_large ? OIDC_SIZE : OIDC_NO_MEMORY;
    case CURLE_OUT_OF_MEMORY: return OIDC_NO_MEMORY;
    case CURLE_URL_MALFORMAT:
    case CURLE_UNSUPPORTED_PROTOCOL: return OIDC_ENDPOINT;
    default: return OIDC_CUT;
    }
}

static enum oidc_fault perform(struct oidc_curl *c, struct arena *a, const struct oidc_request *request,
                               struct curl_slist *headers, struct oidc_answer *out)
{
    struct body body = { .bytes = { .limit = request->answer_max + 1 }, .max = request->answer_max };
    const char *url = arena_cstr(a, request->url);
    if (url == NULL || !limits_set(c, url) || !request_set(c, request, headers, &body))
        return clock_monotonic_ms() >= request->deadline_ms ? OIDC_SLOW : OIDC_NO_MEMORY;
    enum oidc_fault fault = fault_of(c->curl_easy_perform(c->easy), &body);
    *out = (struct oidc_answer){ 0 };
    if (fault == OIDC_OK && c->curl_easy_getinfo(c->easy, CURLINFO_RESPONSE_CODE, &out->status) != CURLE_OK)
        fault = OIDC_CUT;
    if (fault == OIDC_OK) {
        out->body = arena_str(a, str_or_empty(buf_view(&body.bytes)));
        fault = out->body.ptr == NULL ? OIDC_NO_MEMORY : OIDC_OK;
    }
    buf_free(&body.bytes);
    return fault;
}

static enum oidc_fault curl_send(void *ctx, struct arena *a, const struct oidc_request *request,
                                 struct oidc_answer *out)
{
    struct oidc_curl *c = ctx;
    struct curl_slist *headers = headers_of(c, a, request);
    if (headers == NULL)
        return OIDC_NO_MEMORY;
    enum oidc_fault fault = perform(c, a, request, headers, out);
    c->curl_easy_reset(c->easy); /* points at nothing of this request any more */
    c->curl_slist_free_all(headers);
    return fault;
}

struct oidc_http oidc_curl_http(struct oidc_curl *c)
{
    return (struct oidc_http){ curl_send, c };
}
