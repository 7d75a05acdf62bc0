#include "ops/tls_ask.h"

#include <errno.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <stdbool.h>
#include <sys/time.h>
#include <unistd.h>

static int address_connect(const struct sockaddr *address, socklen_t address_len)
{
    const struct timeval limit = { .tv_sec = TLS_ASK_S_MAX };
    int fd = socket(address->sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return -1;
    (void)setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    (void)setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit); /* of connect, too */
    if (connect(fd, address, address_len) == 0)
        return fd;
    int error = errno;
    (void)close(fd);
    errno = error;
    return -1;
}

static X509 *handshake(SSL_CTX *ctx, int fd, const char *host)
{
    X509 *certificate = NULL;
    SSL *ssl = SSL_new(ctx);
    errno = 0;
    if (ssl != NULL && SSL_set_fd(ssl, fd) == 1 && SSL_set_tlsext_host_name(ssl, host) == 1 && SSL_connect(ssl) == 1)
        certificate = SSL_get1_peer_certificate(ssl);
    int error = errno;
    SSL_free(ssl);
    ERR_clear_error();
    errno = error != 0 ? error : EPROTO;
    return certificate;
}

X509 *tls_ask(const struct sockaddr *address, socklen_t address_len, const char *host)
{
    int fd = address_connect(address, address_len);
    if (fd < 0)
        return NULL;
    SSL_CTX *ctx = SSL_CTX_new(TLS_client_method());
    X509 *certificate = NULL;
    errno = ENOMEM;
    if (ctx != NULL) {
        SSL_CTX_set_verify(ctx, SSL_VERIFY_NONE, NULL);
        certificate = handshake(ctx, fd, host);
    }
    int error = errno;
    SSL_CTX_free(ctx);
    (void)close(fd);
    errno = error;
    return certificate;
}
