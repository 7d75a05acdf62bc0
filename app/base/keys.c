#include "base/keys.h"

#include <assert.h>
#include <string.h>

#include "base/array.h"

enum { ID_KEY_BYTES = crypto_shorthash_KEYBYTES };

enum role_bit {
    HOT = 1U << 0,
    PAGE = 1U << 1,
    AUTH = 1U << 2,
    CARD = 1U << 3,
    SETTLE = 1U << 4,
    MONEY = 1U << 5,
    SSO = 1U << 6
};

static const struct {
    const char *name;
    enum role_bit bit;
} ROLES[] = { { "hot", HOT },       { "page", PAGE },   { "auth", AUTH }, { "card", CARD },
              { "settle", SETTLE }, { "money", MONEY }, { "sso", SSO } };

/* name: NULL for KEY_BEFORE, from which the names of the root FIRST are derived. The names for ids and receipts come
 * from the first version. */
static const struct purpose {
    const char *word;
    enum { FIRST, SECOND } root;
    const char *name;
    size_t bytes;
    unsigned roles; /* who needs it */
} PURPOSES[KEY_PURPOSES] = {
    [KEY_IDS] = { "ids", FIRST, "hongbao public id v1", ID_KEY_BYTES, HOT | PAGE | AUTH | CARD },
    [KEY_RECEIPTS] = { "receipts", FIRST, "hongbao receipt keys v1", KEY_BYTES, PAGE },
    [KEY_CHALLENGES] = { "challenges", FIRST, "hongbao passkey challenges v2", KEY_BYTES, AUTH },
    [KEY_HANDLES] = { "handles", FIRST, "hongbao passkey users v2", KEY_BYTES, AUTH },
    [KEY_DEVICES] = { "devices", FIRST, "hongbao devices v3", KEY_BYTES, PAGE | AUTH | SSO },
    [KEY_RECOVERY_HASH] = { "recovery_hashes", FIRST, "hongbao recovery hashes v1", KEY_BYTES, AUTH },
    [KEY_RECOVERY_CODE] = { "recovery_codes", SECOND, "hongbao recovery codes v2", KEY_BYTES, AUTH },
    [KEY_SCREENS] = { "screens", SECOND, "hongbao screens v2", KEY_BYTES, HOT | PAGE },
    [KEY_PHRASE_HASH] = { "phrase_hashes", SECOND, "hongbao phrase hashes v2", KEY_BYTES, HOT | PAGE },
    [KEY_PHRASE_SEAL] = { "phrase_seals", SECOND, "hongbao phrase seals v2", KEY_BYTES, HOT | PAGE },
    [KEY_USERNAMES] = { "usernames", SECOND, "hongbao usernames v2", KEY_BYTES, AUTH | SSO },
    [KEY_SHOWN] = { "shown", SECOND, "hongbao shown once v1", KEY_BYTES, AUTH },
    [KEY_LOGIN_LINKS] = { "login_links", SECOND, "hongbao login links v1", KEY_BYTES, AUTH },
    [KEY_TOPUPS] = { "topups", SECOND, "hongbao topups v1", KEY_BYTES, PAGE },
    [KEY_INVITATIONS] = { "invitations", SECOND, "hongbao invitations v1", KEY_BYTES, AUTH },
    [KEY_ISSUER] = { "issuer", SECOND, "hongbao logins by an issuer v1", KEY_BYTES, SSO },
    [KEY_BEFORE] = { "before", FIRST, NULL, KEY_BYTES, HOT | PAGE | AUTH | SSO },
};

/* ---- derivation ---- */

/* The key from which the keys of a root are derived. The key of SECOND can't be computed from the key of FIRST. */
static struct key root_derive(struct str secret, int root)
{
    static const unsigned char second[] = "hongbao keys v2";
    struct key key;
    crypto_generichash(key.bytes, sizeof key.bytes, (const unsigned char *)secret.ptr, secret.len,
                       root == SECOND ? second : NULL, root == SECOND ? sizeof second - 1 : 0);
    return key;
}

struct key key_derive(struct str secret, enum key_purpose purpose)
{
    const struct purpose *p = &PURPOSES[purpose];
    struct key root = root_derive(secret, p->root), key = { { 0 } };
    if (p->name == NULL)
        key = root;
    else
        crypto_generichash(key.bytes, p->bytes, (const unsigned char *)p->name, strlen(p->name), root.bytes,
                           sizeof root.bytes);
    sodium_memzero(&root, sizeof root);
    return key;
}

void keys_derive(struct str secret, bool older, struct keys *out)
{
    *out = (struct keys){ 0 };
    for (size_t i = 0; i < KEY_PURPOSES; i++) {
        if (i == KEY_BEFORE && !older)
            continue;
        out->of[i] = key_derive(secret, (enum key_purpose)i);
        out->has[i] = true;
    }
}

const struct key *keys_get(const struct keys *keys, enum key_purpose purpose)
{
    assert(keys->has[purpose]);
    return &keys->of[purpose];
}

struct key_pair keys_pair(const struct keys *keys, enum key_purpose purpose)
{
    assert(PURPOSES[purpose].root == SECOND);
    return (struct key_pair){ keys_get(keys, purpose), keys->has[KEY_BEFORE] ? &keys->of[KEY_BEFORE] : NULL };
}

/* ---- the keys of a role ---- */

bool keys_of_role(struct str role, unsigned *set)
{
    *set = 0;
    for (size_t r = 0; r < ARRAY_LEN(ROLES); r++) {
        if (!str_equal(role, str_from(ROLES[r].name)))
            continue;
        for (size_t i = 0; i < KEY_PURPOSES; i++)
            *set |= (PURPOSES[i].roles & ROLES[r].bit) != 0 ? 1U << i : 0;
        return true;
    }
    return false;
}

const char *key_word(enum key_purpose purpose)
{
    return PURPOSES[purpose].word;
}

void key_hex(const struct key *key, char out[KEY_HEX_MAX])
{
    sodium_bin2hex(out, KEY_HEX_MAX, key->bytes, sizeof key->bytes);
}

const char *key_add(struct keys *out, struct str word, struct str hex)
{
    for (size_t i = 0; i < KEY_PURPOSES; i++) {
        size_t len;
        if (!str_equal(word, str_from(PURPOSES[i].word)))
            continue;
        if (out->has[i])
            return "the key is there twice";
        if (hex.len != 2 * (size_t)KEY_BYTES ||
            sodium_hex2bin(out->of[i].bytes, KEY_BYTES, hex.ptr, hex.len, NULL, &len, NULL) != 0 || len != KEY_BYTES)
            return "a key has 64 hex digits";
        out->has[i] = true;
        return NULL;
    }
    return "there is no such key";
}

const char *keys_lack(const struct keys *keys, unsigned set)
{
    for (size_t i = 0; i < KEY_PURPOSES; i++)
        if ((set & 1U << i) != 0 && i != KEY_BEFORE && !keys->has[i])
            return PURPOSES[i].word;
    return NULL;
}

bool keys_print(const struct keys *keys, struct str role, FILE *out)
{
    unsigned set;
    bool written = keys_of_role(role, &set) && fputs("# Made by hongbao keys; secret.\n", out) >= 0;
    for (size_t i = 0; written && i < KEY_PURPOSES; i++) {
        char hex[KEY_HEX_MAX];
        if ((set & 1U << i) == 0 || !keys->has[i])
            continue;
        key_hex(&keys->of[i], hex);
        written = fprintf(out, "%s = %s\n", key_word((enum key_purpose)i), hex) > 0;
        sodium_memzero(hex, sizeof hex);
    }
    return written;
}
