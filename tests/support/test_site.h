/* A site without stores: its settings, keys, templates and static files. Texts of a request are in `arena`. */
#ifndef HB_TESTS_SUPPORT_TEST_SITE_H
#define HB_TESTS_SUPPORT_TEST_SITE_H

#include "base/arena.h"
#include "support/test.h"
#include "web/assets.h"
#include "web/exchange.h"
#include "web/templates.h"

#define SITE_SECRET STR("a secret of more than thirty-two characters")

static struct arena *arena;
static struct config config;
static struct services services = { .stores.config = &config };

static inline int site_setup(void **state)
{
    (void)state;
    char error[512];
    arena = arena_new(1 << 16, 1 << 24);
    config_defaults(&config);
    keys_derive(SITE_SECRET, false, &config.keys);
    strcpy(config.base_url, "http://hongbao.example");
    public_id_key_set(&services.id_key, (struct key[]){ key_derive(SITE_SECRET, KEY_IDS) });
    return arena == NULL ||
           templates_load(HB_SOURCE_DIR "/templates", &services.templates, error, sizeof error) != ST_OK ||
           assets_load(HB_SOURCE_DIR "/static", &services.assets) != ST_OK;
}

static inline int site_teardown(void **state)
{
    (void)state;
    templates_free(&services.templates);
    assets_free(services.assets);
    arena_free(arena);
    return 0;
}

#endif
