/* Reads the parts of nginx's configuration that the doctor checks: its files and logs, listening addresses,
 * certificates, and the sockets to which nginx passes requests. Follows `include`. It expects mistakes of a person, not
 * an attacker: nginx itself checks the file. */
#ifndef HB_DOCTOR_NGINX_CONF_H
#define HB_DOCTOR_NGINX_CONF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/status.h"
#include "base/str.h"

enum { NGINX_CONF_ITEMS_MAX = 64 };

/* A list of values; more than NGINX_CONF_ITEMS_MAX are left out. */
struct nginx_conf_list {
    const char *items[NGINX_CONF_ITEMS_MAX];
    size_t count;
};

struct nginx_conf {
    struct arena *arena;
    const char *file;                    /* NULL: not named */
    const char *prefix;                  /* the folder of file, with its slash: relative paths begin there */
    const char *pid_file, *error_log;    /* the first of each, which is nginx's own; NULL: none, or no file */
    struct nginx_conf_list files;        /* that were read: file and its includes */
    struct nginx_conf_list listens;      /* "443 ssl http2", "[::]:80", "unix:/path" */
    struct nginx_conf_list sockets;      /* the paths of server unix:… and fastcgi_pass unix:…, each once */
    struct nginx_conf_list certificates; /* the n-th key belongs to the n-th certificate */
    struct nginx_conf_list keys;
    struct nginx_conf_list
        logs; /* the files of the access logs in the site's format, `hongbao`; none with a variable */
    /* the largest client_max_body_size, except of uploads and of answers to 413 (0); -1: none */
    int64_t body_bytes_max;
    char error[512]; /* the first file that can't be read or understood */
};

/* file may be NULL. a is the caller's; file is borrowed. */
void nginx_conf_init(struct nginx_conf *conf, struct arena *a, const char *file);
/* ST_OK · ST_UNAVAILABLE, ST_INVALID (error says why) · ST_NO_MEMORY. */
enum status nginx_conf_read(struct nginx_conf *conf);

#endif
