#include "oidc/fault.h"

#include <assert.h>

#include "base/array.h"

static const struct {
    const char *name;
    enum oidc_kind kind;
} FAULTS[OIDC_FAULTS] = {
    [OIDC_OK] = { "ok", OIDC_KIND_NONE },
    [OIDC_AWAY] = { "away", OIDC_KIND_TEMPORARY },
    [OIDC_SLOW] = { "slow", OIDC_KIND_TEMPORARY },
    [OIDC_CUT] = { "cut", OIDC_KIND_TEMPORARY },
    [OIDC_UNAVAILABLE] = { "unavailable", OIDC_KIND_TEMPORARY },
    [OIDC_NO_MEMORY] = { "no-memory", OIDC_KIND_TEMPORARY },
    [OIDC_DENIED] = { "denied", OIDC_KIND_USER },
    [OIDC_STATE] = { "state", OIDC_KIND_USER },
    [OIDC_LATE] = { "late", OIDC_KIND_USER },
    [OIDC_CODE] = { "code", OIDC_KIND_USER },
    [OIDC_NO_CODE] = { "no-code", OIDC_KIND_USER },
    [OIDC_EMAIL] = { "email", OIDC_KIND_POLICY },
    [OIDC_DOMAIN] = { "domain", OIDC_KIND_POLICY },
    [OIDC_GROUP] = { "group", OIDC_KIND_POLICY },
    [OIDC_CLIENT] = { "client", OIDC_KIND_SETUP },
    [OIDC_ERROR] = { "error", OIDC_KIND_SETUP },
    [OIDC_TLS] = { "tls", OIDC_KIND_SETUP },
    [OIDC_REDIRECT] = { "redirect", OIDC_KIND_SETUP },
    [OIDC_ANSWER] = { "answer", OIDC_KIND_SETUP },
    [OIDC_SIZE] = { "size", OIDC_KIND_SETUP },
    [OIDC_DISCOVERY] = { "discovery", OIDC_KIND_SETUP },
    [OIDC_ENDPOINT] = { "endpoint", OIDC_KIND_SETUP },
    [OIDC_KEYS] = { "keys", OIDC_KIND_SETUP },
    [OIDC_MIX_UP] = { "mix-up", OIDC_KIND_FORGED },
    [OIDC_TOKEN] = { "token", OIDC_KIND_FORGED },
    [OIDC_ALGORITHM] = { "algorithm", OIDC_KIND_FORGED },
    [OIDC_CRITICAL] = { "critical", OIDC_KIND_FORGED },
    [OIDC_TYPE] = { "type", OIDC_KIND_FORGED },
    [OIDC_KEY] = { "key", OIDC_KIND_FORGED },
    [OIDC_SIGNATURE] = { "signature", OIDC_KIND_FORGED },
    [OIDC_ISSUER] = { "issuer", OIDC_KIND_FORGED },
    [OIDC_AUDIENCE] = { "audience", OIDC_KIND_FORGED },
    [OIDC_PARTY] = { "party", OIDC_KIND_FORGED },
    [OIDC_EXPIRED] = { "expired", OIDC_KIND_FORGED },
    [OIDC_FUTURE] = { "future", OIDC_KIND_FORGED },
    [OIDC_STALE] = { "stale", OIDC_KIND_FORGED },
    [OIDC_NONCE] = { "nonce", OIDC_KIND_FORGED },
    [OIDC_ACCESS_HASH] = { "access-hash", OIDC_KIND_FORGED },
    [OIDC_CLAIMS] = { "claims", OIDC_KIND_FORGED },
    [OIDC_SUBJECT] = { "subject", OIDC_KIND_FORGED },
    [OIDC_EVENTS] = { "events", OIDC_KIND_FORGED },
};

const char *oidc_fault_name(enum oidc_fault fault)
{
    assert((size_t)fault < ARRAY_LEN(FAULTS));
    return FAULTS[fault].name;
}

enum oidc_kind oidc_fault_kind(enum oidc_fault fault)
{
    assert((size_t)fault < ARRAY_LEN(FAULTS));
    return FAULTS[fault].kind;
}

bool oidc_fault_is_temporary(enum oidc_fault fault)
{
    return oidc_fault_kind(fault) == OIDC_KIND_TEMPORARY;
}
