/* ops/tls_ask: the certificate of a server, and servers that never end their handshake. */
#include <errno.h>
#include <netinet/in.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ops/tls_ask.h"
#include "support/test_certificate.h"

/* The whole record takes far longer than SHORT_MS. */
enum { SHORT_MS = 200, DRIP_MS = 1, LIMIT_MS = 60 * 1000, VALID_S = 3600 };

static int listener_open(struct sockaddr_in *address)
{
    socklen_t len = sizeof *address;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    *address = (struct sockaddr_in){ .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    assert_true(fd >= 0);
    assert_int_equal(bind(fd, (struct sockaddr *)address, len), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)address, &len), 0);
    assert_int_equal(listen(fd, 1), 0);
    return fd;
}

/* Sends a record of 16 KiB, a byte at a time, until the client is gone. */
_Noreturn static void record_drip(int listener)
{
    static const char header[] = { 0x16, 0x03, 0x03, 0x40, 0x00 }; /* handshake, TLS 1.2, 0x4000 bytes */
    int fd = accept(listener, NULL, NULL);
    ssize_t n = send(fd, header, sizeof header, MSG_NOSIGNAL);
    while (n > 0) {
        (void)poll(NULL, 0, DRIP_MS);
        n = send(fd, "", 1, MSG_NOSIGNAL);
    }
    _exit(0);
}

/* A context with a certificate of its own for the name, that no authority has signed. */
static SSL_CTX *context_of(const char *name)
{
    SSL_CTX *ctx = SSL_CTX_new(TLS_server_method());
    EVP_PKEY *key = EVP_EC_gen("P-256");
    X509 *certificate = certificate_new(name, key, 0, VALID_S);
    assert_int_equal(SSL_CTX_use_certificate(ctx, certificate), 1);
    assert_int_equal(SSL_CTX_use_PrivateKey(ctx, key), 1);
    X509_free(certificate);
    EVP_PKEY_free(key);
    return ctx;
}

/* The second site of the server is that of two.example. */
static int site_choose(SSL *ssl, int *alert, void *second)
{
    const char *name = SSL_get_servername(ssl, TLSEXT_NAMETYPE_host_name);
    (void)alert;
    if (name != NULL && strcmp(name, "two.example") == 0)
        (void)SSL_set_SSL_CTX(ssl, second);
    return SSL_TLSEXT_ERR_OK;
}

/* Answers one client with the certificate of the name that it asks for, else with that of one.example. */
_Noreturn static void sites_serve(int listener, SSL_CTX *one, SSL_CTX *two)
{
    SSL *ssl = SSL_new(one);
    (void)SSL_CTX_set_tlsext_servername_callback(one, site_choose);
    (void)SSL_CTX_set_tlsext_servername_arg(one, two);
    (void)SSL_set_fd(ssl, accept(listener, NULL, NULL));
    (void)SSL_accept(ssl);
    _exit(0);
}

TEST(test_of_several_sites_the_certificate_of_the_host_is_got_whoever_has_signed_it)
{
    static const char *const hosts[] = { "one.example", "two.example" };
    SSL_CTX *one = context_of(hosts[0]), *two = context_of(hosts[1]);
    for (size_t i = 0; i < 2; i++) {
        struct sockaddr_in address;
        int listener = listener_open(&address);
        pid_t server = fork();
        if (server == 0)
            sites_serve(listener, one, two);
        assert_true(server > 0);
        (void)close(listener);
        X509 *certificate = tls_ask((struct sockaddr *)&address, sizeof address, hosts[i], LIMIT_MS);
        assert_int_equal(waitpid(server, NULL, 0), server);
        assert_non_null(certificate);
        assert_int_equal(X509_check_host(certificate, hosts[i], 0, 0, NULL), 1);
        X509_free(certificate);
    }
    SSL_CTX_free(one);
    SSL_CTX_free(two);
}

TEST(a_server_that_says_nothing_or_sends_byte_by_byte_is_left_at_the_deadline)
{
    struct sockaddr_in address;
    int listener = listener_open(&address);
    assert_null(tls_ask((struct sockaddr *)&address, sizeof address, "localhost", SHORT_MS));
    assert_int_equal(errno, ETIMEDOUT);
    (void)close(listener);
    assert_null(tls_ask((struct sockaddr *)&address, sizeof address, "localhost", SHORT_MS));
    assert_int_equal(errno, ECONNREFUSED);
    listener = listener_open(&address);
    pid_t server = fork();
    if (server == 0)
        record_drip(listener);
    assert_true(server > 0);
    X509 *certificate = tls_ask((struct sockaddr *)&address, sizeof address, "localhost", SHORT_MS);
    int error = errno;
    (void)kill(server, SIGKILL);
    assert_int_equal(waitpid(server, NULL, 0), server);
    (void)close(listener);
    assert_null(certificate);
    assert_int_equal(error, ETIMEDOUT);
}

TESTS(NULL, NULL)
