/* The reference of the settings is made from their table: docs/reference/config.md is what the program prints. */
#include "commands/settings.h"
#include "config/config.h"
#include "config/settings.h"
#include "support/test.h"

static char *printed(bool (*print)(FILE *out))
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    assert_true(print(out));
    assert_int_equal(fclose(out), 0);
    return text;
}

static char *reference_read(void)
{
    FILE *file = fopen(HB_SOURCE_DIR "/docs/reference/config.md", "r");
    char *text = NULL;
    size_t size = 0;
    assert_non_null(file);
    assert_true(getdelim(&text, &size, '\0', file) > 0);
    (void)fclose(file);
    return text;
}

TEST(the_table_of_the_reference_is_what_the_program_prints_and_the_manual_page_has_every_setting)
{
    char *table = printed(settings_markdown), *reference = reference_read();
    if (strstr(reference, table) == NULL)
        fail_msg("docs/reference/config.md: replace its table by the output of hongbao settings --markdown");
    free(table);
    free(reference);
    char name[] = "settings", html[] = "--html";
    char *none[] = { name, NULL }, *other[] = { name, html, NULL };
    assert_int_equal(settings_command(NULL, 1, none), 2);
    assert_int_equal(settings_command(NULL, 2, other), 2);
    char *page = printed(settings_man);
    size_t count;
    const struct config_setting *settings = config_settings(&count);
    for (size_t i = 0; i < count; i++) {
        char entry[128];
        (void)snprintf(entry, sizeof entry, "\n.TP\n.B %s\n", settings[i].name);
        if (strstr(page, entry) == NULL)
            fail_msg("no entry of %s", settings[i].name);
    }
    assert_non_null(strstr(page, "\nDefault: DATADIR/sql. Allowed: 1 – 255 bytes.\n"));
    assert_non_null(strstr(page, "\nDefault: unix:/run/redis/redis\\-server.sock. "));
    free(page);
}

/* The status of `hongbao setting NAME`. */
static int setting_status(const char *name)
{
    static struct config config;
    char command[] = "setting", *arguments[] = { command, strdup(name), NULL };
    config_defaults(&config);
    int status = setting_command(&config, 2, arguments);
    free(arguments[1]);
    return status;
}

TEST(every_setting_but_passwords_and_the_secret_has_a_value_to_show)
{
    size_t count;
    const struct config_setting *settings = config_settings(&count);
    for (size_t i = 0; i < count; i++) {
        bool hidden = strstr(settings[i].name, "password") != NULL && strncmp(settings[i].name, "limit_", 6) != 0;
        hidden = (hidden && strcmp(settings[i].name, "password_login") != 0) || strcmp(settings[i].name, "secret") == 0;
        if (setting_status(settings[i].name) != (hidden ? 2 : 0))
            fail_msg("%s", settings[i].name);
    }
    assert_int_equal(setting_status("--setup"), 0);
    assert_int_equal(setting_status("redis_socket"), 2);
    assert_int_equal(setting_status("base_ulr"), 2);
    assert_int_equal(setting_status(""), 2);
}

TESTS(NULL, NULL)
