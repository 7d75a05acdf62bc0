/* A login by an issuer, without a site: for tests that have a real issuer on the other side (e2e/oidc_protocol).
 *
 * Arguments: ISSUER CLIENT_ID SECRET REDIRECT_URI CA_FILE ("-": the system's) DOMAIN GROUP ("-": none). Commands are
 * lines of its input, with blanks between their words; "-" is an absent word. Each is answered with one line of JSON:
 *     probe                                     {"fault"}
 *     authorize CARRIED fresh|plain             {"fault","url","cookie"}
 *     finish COOKIE STATE CODE ISS ERROR        {"fault","kind", claims}
 *     logout TOKEN                              {"fault","sub","sid","jti"} */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/random.h"
#include "base/value.h"
#include "oidc/oidc.h"

enum {
    ISSUER = 1,
    CLIENT_ID,
    SECRET,
    REDIRECT_URI,
    CA_FILE,
    DOMAIN,
    GROUP,
    ARGUMENTS,
    WORDS_MAX = 6,
    ERROR_BYTES = 256
};

static struct str word_or_none(const char *word)
{
    return word == NULL || strcmp(word, "-") == 0 ? STR_NONE : str_from(word);
}

/* Cuts the line at its blanks; words that are missing are NULL. */
static void words_cut(char *line, char *words[WORDS_MAX])
{
    char *rest = NULL;
    for (size_t i = 0; i < WORDS_MAX; i++)
        words[i] = strtok_r(i == 0 ? line : NULL, " \n", &rest);
}

static void text_add(struct model *m, const char *name, struct str text)
{
    value_text_or_null(m, &m->root, name, str_or_empty(text));
}

static enum oidc_fault authorize(struct oidc *o, struct arena *a, char *words[WORDS_MAX], struct model *m)
{
    struct oidc_redirect redirect;
    bool fresh = words[2] != NULL && strcmp(words[2], "fresh") == 0;
    enum oidc_fault fault = oidc_authorize(o, a, clock_now_ms(), word_or_none(words[1]), fresh, &redirect);
    text_add(m, "url", redirect.url);
    text_add(m, "cookie", redirect.cookie);
    return fault;
}

static enum oidc_fault finish(struct oidc *o, struct arena *a, char *words[WORDS_MAX], struct model *m)
{
    const struct oidc_callback callback = { .state = word_or_none(words[2]),
                                            .code = word_or_none(words[3]),
                                            .iss = word_or_none(words[4]),
                                            .error = word_or_none(words[5]) };
    struct oidc_claims claims;
    enum oidc_fault fault = oidc_finish(o, a, clock_now_ms(), &callback, word_or_none(words[1]), &claims);
    text_add(m, "sub", claims.subject);
    text_add(m, "sid", claims.sid);
    text_add(m, "username", claims.username);
    text_add(m, "nickname", claims.nickname);
    text_add(m, "email", claims.email);
    text_add(m, "carried", claims.carried);
    value_bool(m, &m->root, "fresh", claims.fresh);
    value_int(m, &m->root, "groups", (int64_t)claims.groups.count);
    return fault;
}

static enum oidc_fault logout(struct oidc *o, struct arena *a, char *words[WORDS_MAX], struct model *m)
{
    struct oidc_logout out;
    enum oidc_fault fault = oidc_logout_token(o, a, clock_now_ms(), word_or_none(words[1]), &out);
    text_add(m, "sub", out.subject);
    text_add(m, "sid", out.sid);
    text_add(m, "jti", out.jti);
    return fault;
}

static void command(struct oidc *o, struct arena *a, char *line)
{
    static const char *const kinds[] = { "none", "temporary", "user", "policy", "setup", "forged" };
    char *words[WORDS_MAX];
    struct model m;
    struct buf out = BUF_EMPTY;

    words_cut(line, words);
    model_init(&m, a);
    enum oidc_fault fault = words[0] == NULL                     ? OIDC_ERROR
                            : strcmp(words[0], "authorize") == 0 ? authorize(o, a, words, &m)
                            : strcmp(words[0], "finish") == 0    ? finish(o, a, words, &m)
                            : strcmp(words[0], "logout") == 0    ? logout(o, a, words, &m)
                                                                 : oidc_probe(o, a);
    value_text(&m, &m.root, "fault", str_from(oidc_fault_name(fault)));
    value_text(&m, &m.root, "kind", str_from(kinds[oidc_fault_kind(fault)]));
    value_json(&out, &m.root);
    (void)printf("%.*s\n", STR_ARG(buf_view(&out)));
    (void)fflush(stdout);
    buf_free(&out);
}

int main(int argc, char **argv)
{
    static const struct key key = { { 7 } };
    char error[ERROR_BYTES], *line = NULL;
    size_t size = 0;
    if (argc != ARGUMENTS || !random_init())
        return 2;
    struct str domain = word_or_none(argv[DOMAIN]), group = word_or_none(argv[GROUP]);
    const struct oidc_settings settings = { .issuer = str_from(argv[ISSUER]),
                                            .client_id = str_from(argv[CLIENT_ID]),
                                            .client_secret = str_from(argv[SECRET]),
                                            .scopes = STR("openid profile email groups"),
                                            .redirect_uri = str_from(argv[REDIRECT_URI]),
                                            .domains = { &domain, domain.ptr != NULL },
                                            .groups_claim = STR("groups"),
                                            .groups = { &group, group.ptr != NULL },
                                            .key = &key };
    struct oidc_curl *curl = oidc_curl_open(word_or_none(argv[CA_FILE]).ptr, error, sizeof error);
    if (curl == NULL) {
        (void)fprintf(stderr, "%s\n", error);
        return 1;
    }
    const struct oidc_http http = oidc_curl_http(curl);
    struct oidc *o = oidc_new(&settings, &http);
    struct arena *a = arena_new(65536, (size_t)4 << 20);
    while (o != NULL && a != NULL && getline(&line, &size, stdin) > 0) {
        arena_reset(a);
        command(o, a, line);
    }
    free(line);
    arena_free(a);
    oidc_free(o);
    oidc_curl_close(curl);
    return 0;
}
