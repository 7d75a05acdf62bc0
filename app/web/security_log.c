#include "web/security_log.h"

#include <arpa/inet.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { REQUEST_ID_CHARS = 32, PAIRS_MAX = 256 };

const char *address_text(struct str remote, char *out)
{
    char text[ADDRESS_TEXT_MAX];
    struct in_addr four;
    struct in6_addr six;
    const char *written = NULL;

    if (str_equal(remote, STR("unix:")))
        return "unix";
    if (remote.len > 0 && remote.len < sizeof text && memchr(remote.ptr, '\0', remote.len) == NULL) {
        memcpy(text, remote.ptr, remote.len);
        text[remote.len] = '\0';
        if (inet_pton(AF_INET, text, &four) == 1)
            written = inet_ntop(AF_INET, &four, out, ADDRESS_TEXT_MAX);
        else if (inet_pton(AF_INET6, text, &six) == 1 && IN6_IS_ADDR_V4MAPPED(&six))
            written = inet_ntop(AF_INET, &six.s6_addr[12], out, ADDRESS_TEXT_MAX);
        else if (inet_pton(AF_INET6, text, &six) == 1)
            written = inet_ntop(AF_INET6, &six, out, ADDRESS_TEXT_MAX);
    }
    return written != NULL ? written : "-";
}

/* nginx's $request_id, 32 hex digits; "-" for anything else. */
static struct str request_id_text(struct str id)
{
    bool valid = id.len == REQUEST_ID_CHARS;
    for (size_t i = 0; i < id.len && valid; i++)
        valid = (id.ptr[i] >= '0' && id.ptr[i] <= '9') || (id.ptr[i] >= 'a' && id.ptr[i] <= 'f');
    return valid ? id : STR("-");
}

void security_log(const struct exchange *x, enum security_event event, uint64_t user_id, const char *format, ...)
{
    char address[ADDRESS_TEXT_MAX], pairs[PAIRS_MAX] = "";
    va_list args;

    if (format != NULL) {
        va_start(args, format);
        (void)vsnprintf(pairs, sizeof pairs, format, args);
        va_end(args);
    }
    security_event_log(event, "user_id=%" PRIu64 " address=%s request_id=%.*s%s%s", user_id,
                       address_text(exchange_param(x, "REMOTE_ADDR"), address), STR_ARG(request_id_text(x->request_id)),
                       pairs[0] == '\0' ? "" : " ", pairs);
}
