/* The client of the issuer that the settings name, for a process of the sso pool. */
#ifndef HB_SSO_CLIENT_H
#define HB_SSO_CLIENT_H

#include <stddef.h>

#include "base/status.h"
#include "config/config.h"
#include "oidc/oidc.h"

#define SSO_CALLBACK_PATH "/login/oidc/callback"

struct sso;

/* Loads libcurl and reads the file of the secret; asks nobody. config outlives it. ST_INVALID: error (error_size bytes,
 * the caller's) has the reason · ST_NO_MEMORY. */
enum status sso_open(struct sso **out, const struct config *config, char *error, size_t error_size);
void sso_close(struct sso *sso); /* NULL is fine */
struct oidc *sso_oidc(struct sso *sso);

#endif
