/* A TLS handshake, for commands that look at a server. */
#ifndef HB_OPS_TLS_ASK_H
#define HB_OPS_TLS_ASK_H

#include <openssl/x509.h>
#include <sys/socket.h>

/* The certificate that the server at the address shows for the name of a host, for the caller to free; NULL: there was
 * no handshake, errno says why (EPROTO: the server refused it; ETIMEDOUT: connection and handshake took longer than
 * limit_ms). The certificate is not verified. */
X509 *tls_ask(const struct sockaddr *address, socklen_t address_len, const char *host, int limit_ms);

#endif
