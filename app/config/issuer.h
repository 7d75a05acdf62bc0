/* The rules of the settings oidc_…: the login by an issuer (OpenID Connect). */
#ifndef HB_CONFIG_ISSUER_H
#define HB_CONFIG_ISSUER_H

#include <stdbool.h>
#include <stddef.h>

#include "config/config.h"

/* NULL: url is the identifier of an issuer (OpenID Connect Discovery 1.0, 3): https:// with a host, maybe a port and a
 * path, without query and fragment; http:// with a loopback address; or empty. Otherwise what is wrong, in words that
 * follow "oidc_issuer: "; valid until the next call. */
const char *issuer_mistake(const char *url);

/* Whether the text is a list of scopes (RFC 6749, 3.3) with one blank between two, and has `openid`. */
bool issuer_scopes_valid(const char *text);
/* Whether the text is the name of a claim. */
bool issuer_claim_valid(const char *text);
/* Whether the text is one line that draws something, or empty. */
bool issuer_name_valid(const char *text);
/* Whether the text is a list, as issuer_list_next reads it, of names of domains, without a port. */
bool issuer_domains_valid(const char *text);
/* The same of hosts, each maybe with a port. */
bool issuer_hosts_valid(const char *text);
/* The same of any names. */
bool issuer_groups_valid(const char *text);

/* Reads the next entry of a list with commas between its entries. False: there is no further one; *list is STR_NONE
 * then. The entry has no blanks around it. */
bool issuer_list_next(struct str *list, struct str *entry);

/* What is wrong with the file of the client's secret. */
enum issuer_secret {
    ISSUER_SECRET_RIGHT,
    ISSUER_SECRET_NONE,     /* no file is set: a public client, which has PKCE alone */
    ISSUER_SECRET_NOT_READ, /* errno says why */
    ISSUER_SECRET_EMPTY,    /* its first line */
    ISSUER_SECRET_LONG,     /* its first line has CONFIG_TEXT_MAX bytes or more */
};

/* Reads the first line of oidc_client_secret_file, without the blanks around it, into out. out is empty unless the
 * result is ISSUER_SECRET_RIGHT. */
enum issuer_secret issuer_secret_read(const struct config *c, char out[CONFIG_TEXT_MAX]);

#endif
