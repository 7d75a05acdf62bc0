/* Certificates that no authority has signed. */
#ifndef HB_TESTS_SUPPORT_TEST_CERTIFICATE_H
#define HB_TESTS_SUPPORT_TEST_CERTIFICATE_H

#include <openssl/ec.h>
#include <openssl/x509v3.h>

#include "support/test.h"

/* Of this host, for this key, valid between these times in seconds from now. Free with X509_free. */
static inline X509 *certificate_new(const char *host, EVP_PKEY *key, long from_s, long to_s)
{
    X509 *certificate = X509_new();
    X509_NAME *name = X509_get_subject_name(certificate);
    assert_int_equal(X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, (const unsigned char *)host, -1, -1, 0), 1);
    assert_int_equal(X509_set_issuer_name(certificate, name), 1);
    assert_non_null(X509_gmtime_adj(X509_getm_notBefore(certificate), from_s));
    assert_non_null(X509_gmtime_adj(X509_getm_notAfter(certificate), to_s));
    assert_int_equal(X509_set_pubkey(certificate, key), 1);
    assert_true(X509_sign(certificate, key, EVP_sha256()) > 0);
    return certificate;
}

#endif
