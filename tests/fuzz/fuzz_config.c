/* A configuration file: it is refused with a message, or every setting is within its limits. */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/utf8.h"
#include "config/address.h"
#include "config/config.h"
#include "config/settings.h"
#include "fuzz.h"

#define HEAD "secret = 0123456789abcdef0123456789abcdef\n"
enum { ERROR_BYTES = 512, PATH_BYTES = 64 };

/* Checks that the addresses, written as text, read back the same. */
static void addresses_check(struct str text)
{
    struct address_list list, again;
    assert(address_list_read(text, &list) == NULL && list.count >= 1 && list.count <= ADDRESSES_MAX);
    for (size_t i = 0; i < list.count; i++) {
        char one[ADDRESS_TEXT_MAX];
        assert(address_list_read(str_from(address_print(&list.items[i], one)), &again) == NULL);
        assert(again.count == 1 && address_equal(&list.items[i], &again.items[0]));
    }
}

static void settings_check(const struct config *c)
{
    size_t count;
    const struct config_setting *settings = config_settings(&count);
    for (size_t i = 0; i < count; i++) {
        const char *place = (const char *)c + settings[i].offset;
        int64_t n;
        if (settings[i].type == CONFIG_INT) {
            memcpy(&n, place, sizeof n);
            assert(n >= settings[i].min && n <= settings[i].max);
        } else if (settings[i].type == CONFIG_TEXT) {
            size_t len = strnlen(place, CONFIG_TEXT_MAX);
            assert(len >= (size_t)settings[i].min && len <= (size_t)settings[i].max && utf8_valid(str_from(place)));
            assert(settings[i].mistake == NULL || settings[i].mistake(place) == NULL);
        }
    }
    addresses_check(str_from(c->redis));
    addresses_check(str_from(c->mysql));
    assert(c->share_fen_max <= c->packet_fen_max && c->session_idle_s <= c->session_absolute_s);
}

/* Messages are lines that a terminal can show. */
static void message_check(const char *message)
{
    assert(message[0] != '\0' && utf8_valid(str_from(message)));
    for (const char *p = message; *p != '\0'; p++)
        assert(*p == '\n' || ((unsigned char)*p >= ' ' && *p != 0x7f));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct config config;
    static int file = -1;
    char path[PATH_BYTES], error[ERROR_BYTES] = "";
    if (file < 0)
        file = memfd_create("config", MFD_CLOEXEC);
    assert(file >= 0 && ftruncate(file, 0) == 0);
    assert(pwrite(file, HEAD, sizeof HEAD - 1, 0) == (ssize_t)(sizeof HEAD - 1));
    assert(pwrite(file, data, size, (off_t)(sizeof HEAD - 1)) == (ssize_t)size);
    (void)snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    config_defaults(&config);
    enum status st = config_load(&config, path, NULL, error, sizeof error);
    assert(st == ST_OK || st == ST_INVALID);
    if (st == ST_OK)
        settings_check(&config);
    else
        message_check(error);
    return 0;
}
