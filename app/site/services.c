#include "site/services.h"

#include <stdio.h>
#include <stdlib.h>

#include "io/picture_child.h"
#include "io/svg_png.h"
#include "live/fence.h"
#include "live/stores.h"
#include "migrate/migrations.h"
#include "packet/receipt_keys.h"
#include "pages/page_cache.h"
#include "records/inbox.h"
#include "site/templates.h"
#include "sso/client.h"
#include "user/visitor.h"
#include "web/assets.h"

static enum status pages_open(struct services *s, const struct config *config, char *error, size_t error_size)
{
    error[0] = '\0';
    s->templates.needed = site_templates;
    enum status st = templates_load(config->template_dir, &s->templates, error, error_size);
    if (st != ST_OK && error[0] == '\0')
        (void)snprintf(error, error_size, "%s: %s", config->template_dir, status_name(st));
    if (st != ST_OK)
        return st;
    st = assets_load(config->static_dir, &s->assets);
    if (st != ST_OK) {
        (void)snprintf(error, error_size, "%s: %s", config->static_dir, status_name(st));
        return st;
    }
    if (!config->keys.has[KEY_RECEIPTS]) /* the role signs no receipts */
        return ST_OK;
    s->receipt_keys = malloc(sizeof *s->receipt_keys);
    return s->receipt_keys == NULL ? ST_NO_MEMORY : receipt_keys_open(s->receipt_keys, config, error, error_size);
}

/* A process whose migrations can't be read serves, but is not ready (site/ready.h). */
static enum status migrations_open(struct services *s, const struct config *config)
{
    enum status st = migrations_read(config->sql_dir, &s->migrations, stderr);
    return st == ST_INVALID ? ST_OK : st;
}

enum status services_open(struct services *s, const struct config *config, unsigned parts, char *error,
                          size_t error_size)
{
    *s = (struct services){ .visitor_queue = visitor_queue,
                            .visitor_read = visitor_read,
                            .picture_program = PICTURE_PROGRAM };
    if (config->keys.has[KEY_IDS]) /* the settle worker writes no addresses */
        public_id_key_set(&s->id_key, keys_get(&config->keys, KEY_IDS));
    enum status st = stores_open(&s->stores, config, (parts & SERVICES_MYSQL) != 0, error, error_size);
    if (st != ST_OK)
        return st;
    (void)snprintf(error, error_size, "out of memory");
    if ((parts & SERVICES_MYSQL) != 0)
        st = migrations_open(s, config);
    if ((parts & SERVICES_INBOX) != 0)
        s->news_count = inbox_news_count;
    if (st == ST_OK && (parts & SERVICES_PAGES) != 0) {
        live_fences_set(s->stores.redis, config);
        st = pages_open(s, config, error, error_size);
    }
    if (st == ST_OK && (parts & SERVICES_PAGE_CACHE) != 0) {
        s->page_cache = page_cache_new(PAGE_CACHE_PAGES_MAX, PAGE_CACHE_BYTES_MAX);
        st = s->page_cache == NULL ? ST_NO_MEMORY : ST_OK;
    }
    if (st == ST_OK && (parts & SERVICES_DRAWING) != 0)
        st = svg_png_open(&s->drawing, error, error_size);
    if (st == ST_OK && (parts & SERVICES_ISSUER) != 0 && config->oidc_issuer[0] != '\0')
        st = sso_open(&s->sso, config, error, error_size);
    if (st != ST_OK)
        services_close(s);
    return st;
}

void services_close(struct services *s)
{
    page_cache_free(s->page_cache);
    svg_png_close(s->drawing);
    sso_close(s->sso);
    templates_free(&s->templates);
    assets_free(s->assets);
    if (s->receipt_keys != NULL)
        receipt_keys_close(s->receipt_keys);
    free(s->receipt_keys);
    kept_json_free(&s->api);
    kept_json_free(&s->keys_shown);
    migrations_free(s->migrations);
    stores_close(&s->stores);
    *s = (struct services){ 0 };
}
