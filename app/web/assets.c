#include "web/assets.h"

#include <dirent.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/random.h"

enum { ASSETS_MAX = 64, ASSET_NAME_MAX = 64, ASSET_BYTES_MAX = 4 << 20, ASSET_HASH_CHARS = 10 };

#define ASSETS_URL "/static/"

struct asset {
    char file[ASSET_NAME_MAX];                        /* "app.css" */
    char key[ASSET_NAME_MAX];                         /* the name in templates: "app_css" */
    char url[ASSET_NAME_MAX + ASSET_HASH_CHARS + 16]; /* "/static/app.1f3a9c0d2e.css" */
};

struct assets {
    size_t count;
    uint64_t hash; /* of all assets */
    struct asset items[ASSETS_MAX];
};

/* The first ASSET_HASH_CHARS hex digits of the SHA-256 of the file. */
static enum status file_hash(const char *path, char hex[ASSET_HASH_CHARS + 1])
{
    uint8_t digest[HASH_BYTES];
    struct buf bytes = { .limit = ASSET_BYTES_MAX };
    enum status st = buf_file(&bytes, path);
    if (st == ST_OK) {
        hash_sha256(bytes.ptr, bytes.len, digest);
        (void)sodium_bin2hex(hex, ASSET_HASH_CHARS + 1, digest, ASSET_HASH_CHARS / 2);
    }
    buf_free(&bytes);
    return st;
}

/* readdir returns entries in any order. So the hash of all assets is a sum, which does not depend on the order. */
static void hash_add(struct assets *a, const struct asset *asset)
{
    uint8_t digest[HASH_BYTES];
    uint64_t part;
    hash_sha256(asset->url, strlen(asset->url), digest);
    memcpy(&part, digest, sizeof part);
    a->hash += part;
}

static enum status asset_add(struct assets *a, const char *dir, const char *name)
{
    char path[4096], hex[ASSET_HASH_CHARS + 1];
    struct stat info;
    const char *dot = strrchr(name, '.');
    int len = snprintf(path, sizeof path, "%s/%s", dir, name);
    if (dot == NULL || len < 0 || (size_t)len >= sizeof path || strlen(name) >= ASSET_NAME_MAX)
        return ST_OK;
    if (stat(path, &info) != 0 || !S_ISREG(info.st_mode))
        return ST_OK;
    if (a->count == ASSETS_MAX)
        return ST_NO_MEMORY;

    enum status st = file_hash(path, hex);
    if (st != ST_OK)
        return st;
    struct asset *asset = &a->items[a->count++];
    (void)snprintf(asset->url, sizeof asset->url, ASSETS_URL "%.*s.%s%s", (int)(dot - name), name, hex, dot);
    (void)snprintf(asset->file, sizeof asset->file, "%s", name);
    (void)snprintf(asset->key, sizeof asset->key, "%s", name);
    for (char *c = asset->key; *c != '\0'; c++)
        if (*c == '.' || *c == '-')
            *c = '_';
    hash_add(a, asset);
    return ST_OK;
}

enum status assets_load(const char *dir, struct assets **out)
{
    struct assets *a = calloc(1, sizeof *a);
    DIR *folder = opendir(dir);
    enum status st = folder == NULL ? ST_UNAVAILABLE : a == NULL ? ST_NO_MEMORY : ST_OK;
    for (struct dirent *entry; st == ST_OK && (entry = readdir(folder)) != NULL;)
        if (entry->d_name[0] != '.')
            st = asset_add(a, dir, entry->d_name);
    if (folder != NULL)
        (void)closedir(folder);
    if (st == ST_OK)
        *out = a;
    else
        free(a);
    return st;
}

/* Whether folder has the file under both of its names, with the same content as the asset. */
static bool asset_is_copied(const struct asset *asset, const char *folder)
{
    char path[4096], hex[ASSET_HASH_CHARS + 1];
    const char *linked = asset->url + strlen(ASSETS_URL), *dot = strrchr(asset->file, '.');
    (void)snprintf(path, sizeof path, "%s/%s", folder, linked);
    if (access(path, R_OK) != 0)
        return false;
    (void)snprintf(path, sizeof path, "%s/%s", folder, asset->file);
    return file_hash(path, hex) == ST_OK && strncmp(linked + (dot - asset->file) + 1, hex, ASSET_HASH_CHARS) == 0;
}

const char *assets_uncopied(const struct assets *a, const char *folder)
{
    for (size_t i = 0; i < a->count; i++)
        if (!asset_is_copied(&a->items[i], folder))
            return a->items[i].file;
    return NULL;
}

void assets_free(struct assets *a)
{
    free(a);
}

uint64_t assets_hash(const struct assets *a)
{
    return a->hash;
}

struct str assets_url(const struct assets *a, struct str file)
{
    for (size_t i = 0; i < a->count; i++)
        if (str_equal(str_from(a->items[i].file), file))
            return str_from(a->items[i].url);
    return STR("");
}

void assets_model(const struct assets *a, struct model *m, struct value *object)
{
    struct value *asset = value_page_object(m, object, "asset");
    for (size_t i = 0; i < a->count; i++)
        value_page_text(m, asset, a->items[i].key, str_from(a->items[i].url));
}
