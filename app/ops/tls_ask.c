#include "ops/tls_ask.h"

#include <errno.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <stdbool.h>
#include <unistd.h>

#include "base/clock.h"
#include "ops/socket_wait.h"

/* Whether the connection is made by the deadline; errno says why not. */
static bool connected(int fd, const struct sockaddr *address, socklen_t address_len, int64_t deadline_ms)
{
    int error = 0;
    socklen_t len = sizeof error;
    if (connect(fd, address, address_len) == 0)
        return true;
    if (errno != EINPROGRESS || !socket_wait(fd, POLLOUT, deadline_ms) ||
        getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &len) != 0)
        return false;
    errno = error;
    return error == 0;
}

static int address_connect(const struct sockaddr *address, socklen_t address_len, int64_t deadline_ms)
{
    int fd = socket(address->sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0 || connected(fd, address, address_len, deadline_ms))
        return fd;
    int error = errno;
    (void)close(fd);
    errno = error;
    return -1;
}

/* Whether the handshake ends well by the deadline; errno says why not, 0: TLS does. */
static bool shaken(SSL *ssl, int fd, int64_t deadline_ms)
{
    for (;;) {
        ERR_clear_error();
        errno = 0;
        int result = SSL_connect(ssl);
        if (result == 1)
            return true;
        int reason = SSL_get_error(ssl, result);
        if (reason != SSL_ERROR_WANT_READ && reason != SSL_ERROR_WANT_WRITE)
            return false;
        if (!socket_wait(fd, reason == SSL_ERROR_WANT_READ ? POLLIN : POLLOUT, deadline_ms))
            return false;
    }
}

static X509 *handshake(SSL_CTX *ctx, int fd, const char *host, int64_t deadline_ms)
{
    X509 *certificate = NULL;
    SSL *ssl = SSL_new(ctx);
    errno = 0;
    if (ssl != NULL && SSL_set_fd(ssl, fd) == 1 && SSL_set_tlsext_host_name(ssl, host) == 1 &&
        shaken(ssl, fd, deadline_ms))
        certificate = SSL_get1_peer_certificate(ssl);
    int error = errno;
    SSL_free(ssl);
    ERR_clear_error();
    errno = error != 0 ? error : EPROTO;
    return certificate;
}

X509 *tls_ask(const struct sockaddr *address, socklen_t address_len, const char *host, int limit_ms)
{
    const int64_t deadline_ms = clock_monotonic_ms() + limit_ms;
    int fd = address_connect(address, address_len, deadline_ms);
    if (fd < 0)
        return NULL;
    SSL_CTX *ctx = SSL_CTX_new(TLS_client_method());
    X509 *certificate = NULL;
    errno = ENOMEM;
    if (ctx != NULL) {
        SSL_CTX_set_verify(ctx, SSL_VERIFY_NONE, NULL);
        certificate = handshake(ctx, fd, host, deadline_ms);
    }
    int error = errno;
    SSL_CTX_free(ctx);
    (void)close(fd);
    errno = error;
    return certificate;
}
