/* nginx: its files and what it listens on. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "doctor/check.h"
#include "doctor/doctor_internal.h"

enum { PORT_HTTP = 80, PORT_HTTPS = 443, TABLE_BYTES_MAX = 16 << 20, PORT_MAX = 65535 };

/* ---- ports ---- */

/* Whether a socket of the table of the kernel listens on the port: "  0: 0100007F:1F90 00000000:0000 0A …". */
static bool table_listens(const char *path, unsigned port)
{
    struct buf text = { .limit = TABLE_BYTES_MAX };
    char wanted[16];
    bool found = false;
    (void)snprintf(wanted, sizeof wanted, ":%04X ", port);
    struct str rest = buf_file(&text, path) == ST_OK ? buf_view(&text) : STR_NONE;
    while (rest.ptr != NULL && !found) {
        struct str line = str_cut(rest, '\n', &rest), behind = str_after(line, str_from(wanted));
        struct str remote, state;
        (void)str_cut(behind, ' ', &remote);
        (void)str_cut(line, ' ', &state);
        found = behind.ptr != NULL && str_starts(remote, STR("0A "));
    }
    buf_free(&text);
    return found;
}

static bool port_listens(unsigned port)
{
    return table_listens("/proc/net/tcp", port) || table_listens("/proc/net/tcp6", port);
}

unsigned doctor_listen_port(const char *listen)
{
    struct str rest, address = str_cut(str_from(listen), ' ', &rest), behind;
    uint64_t port = 0;
    if (str_starts(address, STR("unix:")))
        return 0;
    if (str_to_u64(address, &port))
        return port <= PORT_MAX ? (unsigned)port : 0;
    behind = str_after(address, STR("]"));
    if (behind.ptr == NULL)
        behind = address;
    (void)str_cut(behind, ':', &rest);
    return str_to_u64(rest, &port) && port <= PORT_MAX ? (unsigned)port : PORT_HTTP;
}

bool doctor_listen_has(const char *listen, struct str option)
{
    struct str rest = str_from(listen);
    while (rest.ptr != NULL)
        if (str_equal(str_cut(rest, ' ', &rest), option))
            return true;
    return false;
}

/* Whether an earlier `listen`, for IPv6 or of another site, has already reported this port. */
static bool port_is_told(const struct nginx_conf_list *listens, size_t index, unsigned port)
{
    for (size_t i = 0; i < index; i++)
        if (doctor_listen_port(listens->items[i]) == port)
            return true;
    return false;
}

static void ports_check(struct doctor *d)
{
    const struct nginx_conf_list *listens = &d->nginx.listens;
    if (listens->count == 0)
        finding_wrong(&d->found, "nginx-port",
                      d->has_setup ? "hongbao setup" : "include the site in nginx.conf (nginx/site.conf)",
                      "%s and its includes have no `listen`", d->nginx.file);
    for (size_t i = 0; i < listens->count; i++) {
        unsigned port = doctor_listen_port(listens->items[i]);
        if (port != 0 && !port_listens(port) && !port_is_told(listens, i, port))
            finding_wrong(&d->found, "nginx-port",
                          d->is_service ? "systemctl start nginx; journalctl -u nginx -n 20 --no-pager"
                                        : "start nginx, and look into its error log",
                          "nothing listens on port %u (listen %s)", port, listens->items[i]);
    }
}

/* ---- the address of the site ---- */

unsigned doctor_base_url(const struct config *c, bool *tls, char host[DOCTOR_HOST_MAX])
{
    struct str rest, url = str_from(c->base_url), port = STR_NONE;
    uint64_t number;
    *tls = str_skip_prefix(&url, STR("https://"));
    (void)str_skip_prefix(&url, STR("http://"));
    struct str name = str_cut(url, '/', &rest);
    if (str_skip_prefix(&name, STR("[")))
        name = str_cut(name, ']', &port);
    else
        name = str_cut(name, ':', &port);
    (void)str_skip_prefix(&port, STR(":"));
    (void)snprintf(host, DOCTOR_HOST_MAX, "%.*s", STR_ARG(name));
    return str_to_u64(str_or_empty(port), &number) && number <= PORT_MAX ? (unsigned)number
           : *tls                                                        ? (unsigned)PORT_HTTPS
                                                                         : (unsigned)PORT_HTTP;
}

/* The mend that gives base_url the address of a `listen`: the first one with TLS, else the first. */
static const char *address_mend(struct doctor *d, const char *host)
{
    const struct nginx_conf_list *listens = &d->nginx.listens;
    size_t i = 0;
    while (i < listens->count && !doctor_listen_has(listens->items[i], STR("ssl")))
        i++;
    const bool tls = i < listens->count;
    const unsigned port = doctor_listen_port(listens->items[tls ? i : 0]);
    const bool is_v6 = strchr(host, ':') != NULL;
    const char *url =
        finding_text(&d->found, "%s://%s%s%s", tls ? "https" : "http", is_v6 ? "[" : "", host, is_v6 ? "]" : "");
    if (url != NULL && port != 0 && port != (tls ? PORT_HTTPS : PORT_HTTP))
        url = finding_text(&d->found, "%s:%u", url, port);
    return url == NULL ? NULL : check_setting_mend(d->config, &d->found, "base_url", url);
}

static void address_check(struct doctor *d)
{
    const struct nginx_conf_list *listens = &d->nginx.listens;
    char host[DOCTOR_HOST_MAX];
    bool tls, found = false;
    unsigned port = doctor_base_url(d->config, &tls, host);
    for (size_t i = 0; i < listens->count; i++)
        found |=
            doctor_listen_port(listens->items[i]) == port && doctor_listen_has(listens->items[i], STR("ssl")) == tls;
    if (!found && listens->count > 0)
        finding_wrong(&d->found, "nginx-address", address_mend(d, host),
                      "base_url is %s, but nginx does not listen on port %u %s TLS: links and logins fail (unless a"
                      " balancer stands before it)",
                      d->config->base_url, port, tls ? "with" : "without");
}

static void body_check(struct doctor *d)
{
    int64_t most = d->nginx.body_bytes_max;
    if (most >= 0 && most < d->config->body_bytes_max)
        finding_wrong(
            &d->found, "nginx-body",
            check_setting_mend(d->config, &d->found, "body_bytes_max", finding_text(&d->found, "%" PRId64, most)),
            "nginx refuses requests above %" PRId64 " bytes (client_max_body_size), but body_bytes_max is"
            " %" PRId64,
            most, d->config->body_bytes_max);
}

bool doctor_nginx_read(struct doctor *d, const char *file)
{
    nginx_conf_init(&d->nginx, d->arena, file);
    d->nginx_status = ST_NOT_FOUND;
    if (file != NULL && !findings_skip(&d->found, "nginx"))
        d->nginx_status = nginx_conf_read(&d->nginx);
    d->nginx_is_read = d->nginx_status == ST_OK;
    return d->nginx.prefix != NULL;
}

void doctor_check_nginx(struct doctor *d)
{
    if (d->nginx.file == NULL) {
        finding_unchecked(&d->found, "nginx", "name the configuration of nginx: --nginx /etc/nginx/nginx.conf");
        return;
    }
    if (!d->nginx_is_read) {
        finding_wrong(&d->found, "nginx-conf", "nginx -t # says more", "nginx's configuration can't be read: %s",
                      d->nginx.error[0] != '\0' ? d->nginx.error : status_name(d->nginx_status));
        return;
    }
    doctor_script_tell(d, "nginx");
    ports_check(d);
    address_check(d);
    body_check(d);
}
