/* Configurations of nginx, as `hongbao doctor --nginx FILE` reads them. */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "doctor/nginx_conf.h"
#include "fuzz.h"

enum { PATH_BYTES = 64 };

static void list_check(const struct nginx_conf_list *list)
{
    assert(list->count <= NGINX_CONF_ITEMS_MAX);
    for (size_t i = 0; i < list->count; i++)
        assert(list->items[i] != NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static int file = -1;
    struct nginx_conf conf;
    char path[PATH_BYTES];
    fuzz_begin();
    if (str_find(fuzz_text(data, size), STR("include")) < size)
        return 0; /* it would read other files of this machine */
    if (file < 0)
        file = memfd_create("nginx", MFD_CLOEXEC);
    assert(file >= 0 && ftruncate(file, 0) == 0 && pwrite(file, data, size, 0) == (ssize_t)size);
    (void)snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    nginx_conf_init(&conf, fuzz_arena, path);
    assert(nginx_conf_read(&conf) == ST_OK);
    list_check(&conf.listens);
    list_check(&conf.sockets);
    list_check(&conf.certificates);
    list_check(&conf.keys);
    list_check(&conf.logs);
    assert(conf.body_bytes_max >= -1);
    return 0;
}
