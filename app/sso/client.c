#include "sso/client.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "config/issuer.h"

enum { LIST_MAX = 32, URL_MAX = CONFIG_TEXT_MAX + sizeof SSO_CALLBACK_PATH };

struct sso {
    char secret[CONFIG_TEXT_MAX], redirect[URL_MAX];
    struct str domains[LIST_MAX], groups[LIST_MAX], hosts[LIST_MAX];
    struct oidc_settings settings;
    struct oidc_curl *curl;
    struct oidc_http http;
    struct oidc *oidc;
};

/* The entries of a setting, which config has checked. */
static struct str_list list_of(const char *text, struct str items[LIST_MAX])
{
    struct str_list list = { items, 0 };
    struct str rest = str_from(text), entry;
    while (list.count < LIST_MAX && issuer_list_next(&rest, &entry))
        if (entry.len > 0)
            items[list.count++] = entry;
    return list;
}

static void settings_fill(struct sso *s, const struct config *c)
{
    (void)snprintf(s->redirect, sizeof s->redirect, "%s" SSO_CALLBACK_PATH, c->base_url);
    s->settings = (struct oidc_settings){ .issuer = str_from(c->oidc_issuer),
                                          .client_id = str_from(c->oidc_client_id),
                                          .client_secret = str_from(s->secret),
                                          .scopes = str_from(c->oidc_scopes),
                                          .redirect_uri = str_from(s->redirect),
                                          .username_claim = str_from(c->oidc_username_claim),
                                          .domains = list_of(c->oidc_domains, s->domains),
                                          .groups = list_of(c->oidc_groups, s->groups),
                                          .hosts = list_of(c->oidc_hosts, s->hosts),
                                          .key = keys_get(&c->keys, KEY_ISSUER) };
    s->settings.groups_claim = s->settings.groups.count > 0 ? str_from(c->oidc_groups_claim) : STR("");
}

static enum status secret_read(const struct config *c, char out[CONFIG_TEXT_MAX], char *error, size_t error_size)
{
    static const char *const wrong[] = { [ISSUER_SECRET_NOT_READ] = "can't be read",
                                         [ISSUER_SECRET_EMPTY] = "its first line is empty",
                                         [ISSUER_SECRET_LONG] = "its first line is too long" };
    enum issuer_secret is = issuer_secret_read(c, out);
    if (is == ISSUER_SECRET_RIGHT || is == ISSUER_SECRET_NONE)
        return ST_OK;
    (void)snprintf(error, error_size, "oidc_client_secret_file %s: %s%s%s", c->oidc_client_secret_file, wrong[is],
                   is == ISSUER_SECRET_NOT_READ ? ": " : "", is == ISSUER_SECRET_NOT_READ ? strerror(errno) : "");
    return ST_INVALID;
}

enum status sso_open(struct sso **out, const struct config *config, char *error, size_t error_size)
{
    struct sso *s = calloc(1, sizeof *s);
    if (s == NULL)
        return ST_NO_MEMORY;
    enum status st = secret_read(config, s->secret, error, error_size);
    if (st == ST_OK) {
        settings_fill(s, config);
        s->curl = oidc_curl_open(NULL, error, error_size);
        st = s->curl == NULL ? ST_INVALID : ST_OK;
    }
    if (st == ST_OK) {
        s->http = oidc_curl_http(s->curl);
        s->oidc = oidc_new(&s->settings, &s->http);
        st = s->oidc == NULL ? ST_NO_MEMORY : ST_OK;
    }
    if (st != ST_OK) {
        sso_close(s);
        return st;
    }
    *out = s;
    return ST_OK;
}

void sso_close(struct sso *sso)
{
    if (sso == NULL)
        return;
    oidc_free(sso->oidc);
    oidc_curl_close(sso->curl);
    free(sso);
}

struct oidc *sso_oidc(struct sso *sso)
{
    return sso->oidc;
}
