/* The certificates: the files that nginx's configuration names, and what nginx serves. */
#include <arpa/inet.h>
#include <errno.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "ops/doctor_internal.h"
#include "ops/tls_ask.h"

#define SELF_SIGNED_FILE "/etc/hongbao/tls/fullchain.pem" /* of deploy/commands/setup/certificate.sh */
#define SELF_SIGN        "hongbao setup --non-interactive --self-signed"
#define CERTBOT_FOLDER   "/etc/letsencrypt/"

enum { DAYS_MIN = 14, HANDSHAKE_MS_MAX = 5000 };

/* ---- the files ---- */

static X509 *certificate_read(const char *path)
{
    BIO *file = BIO_new_file(path, "r");
    X509 *certificate = file == NULL ? NULL : PEM_read_bio_X509(file, NULL, NULL, NULL);
    BIO_free(file);
    ERR_clear_error();
    return certificate;
}

/* Makes the self-signed certificate and its key anew, or names others. */
static const char *replacement(struct doctor *d, const char *path)
{
    if (!d->is_service)
        return finding_text(&d->found, "nginx -s reload # once %s and its key are right", path);
    return strcmp(path, SELF_SIGNED_FILE) == 0
               ? SELF_SIGN
               : "hongbao setup --certificate FILE --key FILE # the certificate with its chain, and its key";
}

/* The command that gives the site a valid certificate. */
static const char *renewal(struct doctor *d, const char *path)
{
    if (!d->is_service)
        return finding_text(&d->found, "nginx -s reload # once %s is renewed", path);
    if (strcmp(path, SELF_SIGNED_FILE) == 0)
        return SELF_SIGN;
    if (str_starts(str_from(path), STR(CERTBOT_FOLDER)))
        return "certbot renew; systemctl reload nginx";
    return finding_text(&d->found, "systemctl reload nginx # once %s is renewed", path);
}

static void dates_check(struct doctor *d, const char *path, const X509 *certificate)
{
    int days = 0, seconds = 0;
    const char *mend = renewal(d, path);
    if (ASN1_TIME_diff(&days, &seconds, NULL, X509_get0_notAfter(certificate)) != 1)
        return;
    if (days < 0 || seconds < 0)
        finding_wrong(&d->found, "certificate-expired", mend, "the certificate %s expired %d days ago", path, -days);
    else if (days < DAYS_MIN)
        finding_wrong(&d->found, "certificate-expires", mend, "the certificate %s expires in %d days", path, days);
    if (ASN1_TIME_diff(&days, &seconds, NULL, X509_get0_notBefore(certificate)) == 1 && (days > 0 || seconds > 0))
        finding_wrong(&d->found, "certificate-early", mend,
                      "the certificate %s is not valid for another %d days, or the clock is wrong", path, days);
}

/* Whether this machine trusts the certificate, whatever its days are. */
static bool is_trusted(X509 *certificate)
{
    X509_STORE *authorities = X509_STORE_new();
    X509_STORE_CTX *verifier = X509_STORE_CTX_new();
    bool trusted = false;
    if (authorities != NULL && verifier != NULL && X509_STORE_set_default_paths(authorities) == 1 &&
        X509_STORE_CTX_init(verifier, authorities, certificate, NULL) == 1) {
        X509_STORE_CTX_set_flags(verifier, X509_V_FLAG_NO_CHECK_TIME | X509_V_FLAG_PARTIAL_CHAIN);
        trusted = X509_verify_cert(verifier) == 1;
    }
    X509_STORE_CTX_free(verifier);
    X509_STORE_free(authorities);
    ERR_clear_error();
    return trusted;
}

/* The certificate of `hongbao setup --self-signed` was asked for, to try the site. */
static void signer_check(struct doctor *d, const char *path, X509 *certificate)
{
    if (strcmp(path, SELF_SIGNED_FILE) != 0 && X509_self_signed(certificate, 1) == 1 && !is_trusted(certificate))
        finding_wrong(&d->found, "certificate-self-signed",
                      d->is_service
                          ? "hongbao setup --certificate FILE --key FILE # of an authority (docs/how-to/tls.md)"
                          : "request a certificate of an authority (docs/how-to/tls.md)",
                      "the certificate %s is signed by itself: browsers warn of it, and some programs refuse it", path);
}

static void key_check(struct doctor *d, const char *path, const char *certificate_path, X509 *certificate)
{
    struct stat info;
    BIO *file = BIO_new_file(path, "r");
    EVP_PKEY *key = file == NULL ? NULL : PEM_read_bio_PrivateKey(file, NULL, NULL, (void *)"");
    if (stat(path, &info) == 0 && (info.st_mode & S_IRWXO) != 0)
        finding_wrong(&d->found, "certificate-key-mode", finding_text(&d->found, "chmod 0600 %s", path),
                      "everybody on this machine may read the private key %s", path);
    if (key == NULL)
        finding_wrong(&d->found, "certificate-key",
                      geteuid() == 0 ? replacement(d, certificate_path) : "sudo hongbao doctor",
                      "the private key %s can't be read", path);
    else if (certificate != NULL && X509_check_private_key(certificate, key) != 1)
        finding_wrong(&d->found, "certificate-key", replacement(d, certificate_path),
                      "the private key %s is not that of the certificate %s", path, certificate_path);
    EVP_PKEY_free(key);
    BIO_free(file);
    ERR_clear_error();
}

/* ---- what nginx serves ---- */

static socklen_t unix_address(struct str path, struct sockaddr_storage *out)
{
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    (void)snprintf(address.sun_path, sizeof address.sun_path, "%.*s", STR_ARG(path));
    memcpy(out, &address, sizeof address);
    return sizeof address;
}

/* The address of a `listen` on this machine: "443 ssl" and "*:443" are that of the loopback interface. */
static socklen_t listen_address(const char *listen, struct sockaddr_storage *out)
{
    struct str rest, text = str_cut(str_from(listen), ' ', &rest);
    char host[DOCTOR_HOST_MAX];
    if (str_skip_prefix(&text, STR("unix:")))
        return unix_address(text, out);
    const bool is_v6 = str_skip_prefix(&text, STR("["));
    const in_port_t port = htons((in_port_t)doctor_listen_port(listen));
    (void)snprintf(host, sizeof host, "%.*s", STR_ARG(str_cut(text, is_v6 ? ']' : ':', &rest)));
    if (is_v6) {
        struct sockaddr_in6 v6 = { .sin6_family = AF_INET6, .sin6_port = port };
        if (inet_pton(AF_INET6, host, &v6.sin6_addr) != 1 || IN6_IS_ADDR_UNSPECIFIED(&v6.sin6_addr))
            v6.sin6_addr = in6addr_loopback;
        memcpy(out, &v6, sizeof v6);
        return sizeof v6;
    }
    struct sockaddr_in v4 = { .sin_family = AF_INET, .sin_port = port };
    if (inet_pton(AF_INET, host, &v4.sin_addr) != 1 || v4.sin_addr.s_addr == htonl(INADDR_ANY))
        v4.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    memcpy(out, &v4, sizeof v4);
    return sizeof v4;
}

/* Whether one of the files has the certificate; also when none of them can be read, which is told. */
static bool is_of_files(const struct nginx_conf_list *files, const X509 *served)
{
    bool found = false;
    size_t read = 0;
    for (size_t i = 0; i < files->count; i++) {
        X509 *certificate = certificate_read(files->items[i]);
        read += certificate != NULL;
        found |= certificate != NULL && X509_cmp(certificate, served) == 0;
        X509_free(certificate);
    }
    return found || read == 0;
}

/* False: nginx serves another certificate than its files have. */
static bool served_check(struct doctor *d, const char *listen, const char *host)
{
    bool is_served = true;
    struct sockaddr_storage address = { 0 };
    socklen_t len = listen_address(listen, &address);
    X509 *served = tls_ask((const struct sockaddr *)&address, len, host, HANDSHAKE_MS_MAX);
    if (served == NULL && errno != ECONNREFUSED) /* told as nginx-port */
        finding_unchecked(&d->found, "certificate-served", "no TLS handshake for %s with nginx (listen %s): %s", host,
                          listen, strerror(errno));
    if (served != NULL && !is_of_files(&d->nginx.certificates, served)) {
        is_served = false;
        finding_wrong(&d->found, "certificate-served", d->is_service ? "systemctl reload nginx" : "nginx -s reload",
                      "nginx still serves an old certificate for %s (listen %s): its files have another one", host,
                      listen);
    }
    X509_free(served);
    return is_served;
}

void doctor_check_certificates(struct doctor *d)
{
    char host[DOCTOR_HOST_MAX];
    bool tls, named = false;
    const size_t wrong_before = d->found.wrong;
    (void)doctor_base_url(d->config, &tls, host);
    for (size_t i = 0; d->nginx_is_read && i < d->nginx.certificates.count; i++) {
        const char *path = d->nginx.certificates.items[i];
        X509 *certificate = certificate_read(path);
        if (certificate == NULL)
            finding_wrong(&d->found, "certificate-missing", replacement(d, path), "the certificate %s can't be read",
                          path);
        else {
            dates_check(d, path, certificate);
            signer_check(d, path, certificate);
            named |=
                X509_check_host(certificate, host, 0, 0, NULL) == 1 || X509_check_ip_asc(certificate, host, 0) == 1;
        }
        if (i < d->nginx.keys.count)
            key_check(d, d->nginx.keys.items[i], path, certificate);
        if (certificate != NULL && i + 1 == d->nginx.certificates.count && tls && !named)
            finding_wrong(&d->found, "certificate-host", replacement(d, path),
                          "no certificate is for %s, the host of base_url: browsers refuse it", host);
        X509_free(certificate);
    }
    bool is_served = true; /* told once, not also for IPv6 */
    for (size_t i = 0; d->nginx_is_read && is_served && i < d->nginx.listens.count; i++)
        if (doctor_listen_has(d->nginx.listens.items[i], STR("ssl")))
            is_served = served_check(d, d->nginx.listens.items[i], host);
    d->certificates_wrong = d->found.wrong - wrong_before;
}
