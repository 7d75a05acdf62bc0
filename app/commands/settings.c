#include "commands/settings.h"

#include <string.h>

#include "base/str.h"
#include "commands/man_text.h"
#include "config/settings.h"

enum { TEXT_BYTES_MAX = CONFIG_TEXT_MAX + 64 };

/* The default: DATADIR stands for the folder of the installed files, which depends on the build. */
static void preset_text(const struct config_setting *s, const char *quote, char *out, size_t size)
{
    struct str rest = str_from(s->preset);
    if (s->preset[0] == '\0')
        (void)snprintf(out, size, "%s", strcmp(s->name, "secret") == 0 ? "none" : "empty");
    else if (str_skip_prefix(&rest, str_from(config_data_dir())))
        (void)snprintf(out, size, "%sDATADIR%.*s%s", quote, STR_ARG(rest), quote);
    else
        (void)snprintf(out, size, "%s%s%s", quote, s->preset, quote);
}

static void allowed_text(const struct config_setting *s, char *out, size_t size)
{
    switch (s->type) {
    case CONFIG_INT: (void)snprintf(out, size, "%lld – %lld", (long long)s->min, (long long)s->max); break;
    case CONFIG_BOOL: (void)snprintf(out, size, "on, off"); break;
    case CONFIG_TEXT:
        (void)snprintf(out, size, "%lld – %lld bytes%s%s", (long long)s->min, (long long)s->max,
                       s->wanted != NULL ? ": " : "", s->wanted != NULL ? s->wanted : "");
        break;
    }
}

bool settings_markdown(FILE *out)
{
    size_t count;
    const struct config_setting *settings = config_settings(&count);
    bool written = fputs("| name | default | allowed | meaning |\n|---|---|---|---|\n", out) >= 0;
    for (size_t i = 0; written && i < count; i++) {
        char preset[TEXT_BYTES_MAX], allowed[TEXT_BYTES_MAX];
        preset_text(&settings[i], "`", preset, sizeof preset);
        allowed_text(&settings[i], allowed, sizeof allowed);
        written = fprintf(out, "| `%s` | %s | %s | %s%s |\n", settings[i].name, preset, allowed, settings[i].summary,
                          config_needs_setup(&settings[i]) ? "; a change needs `hongbao setup`, too" : "") > 0;
    }
    return written;
}

bool settings_man(FILE *out)
{
    static const char head[] =
        ".TH HONGBAO.CONF 5 \"\" hongbao \"File formats\"\n"
        ".SH NAME\nhongbao.conf \\- settings of hongbao, a red packet service\n"
        ".SH SYNOPSIS\n.I /etc/hongbao/hongbao.conf\n"
        ".SH DESCRIPTION\n"
        "One\n.I name = value\na line.\n.B #\nstarts a comment at the start of a line or behind a "
        "blank.\n"
        "A process reads this file, then the file of its role in\n.IR rights_dir ,\n"
        "then the environment, where\n.I name\nis HB_NAME; a later source overrides an earlier "
        "one.\n"
        "With a mistake in one of them it does not start;\n.B hongbao check\ntells all mistakes.\n"
        ".PP\nNames end in their unit:\n.IR _ms ,\n.IR _s ,\n.I _fen\n(the smallest unit of money: fen, or what\n"
        ".I unit_decimals\nmakes it),\n.IR _bytes .\nDATADIR is the folder of the installed files.\n"
        ".SH SETTINGS\n";
    size_t count;
    const struct config_setting *settings = config_settings(&count);
    bool written = fputs(head, out) >= 0;
    for (size_t i = 0; written && i < count; i++) {
        char preset[TEXT_BYTES_MAX], allowed[TEXT_BYTES_MAX];
        preset_text(&settings[i], "", preset, sizeof preset);
        allowed_text(&settings[i], allowed, sizeof allowed);
        written =
            fprintf(out, ".TP\n.B %s\n", settings[i].name) > 0 && man_text(out, settings[i].summary) &&
            fputs("\n.br\nDefault: ", out) >= 0 && man_text(out, preset) && fputs(". Allowed: ", out) >= 0 &&
            man_text(out, allowed) && fputs(".\n", out) >= 0 &&
            (!config_needs_setup(&settings[i]) || fputs("A change needs \\fBhongbao setup\\fP, too.\n", out) >= 0);
    }
    return written && fputs(".SH SEE ALSO\n.BR hongbao (1)\n", out) >= 0;
}

int settings_command(const struct config *config, int argc, char **argv)
{
    (void)config;
    bool (*print)(FILE * out) = argc != 2                            ? NULL
                                : strcmp(argv[1], "--markdown") == 0 ? settings_markdown
                                : strcmp(argv[1], "--man") == 0      ? settings_man
                                                                     : NULL;
    if (print == NULL) {
        (void)fputs("usage: hongbao settings --markdown | --man\n", stderr);
        return 2;
    }
    return print(stdout) && fflush(stdout) == 0 ? 0 : 1;
}

/* Says why there is no value of this name, and returns the exit status. */
static int setting_refuse(const char *name)
{
    size_t count;
    const struct config_setting *settings = config_settings(&count);
    for (size_t i = 0; i < count; i++) {
        if (strcmp(settings[i].name, name) == 0)
            return fprintf(stderr, "hongbao setting: %s is not shown, because it is a password or a key\n", name), 2;
        if (settings[i].older != NULL && strcmp(settings[i].older, name) == 0)
            return fprintf(stderr, "hongbao setting: %s is now called %s\n", name, settings[i].name), 2;
    }
    const char *like = config_setting_like(str_from(name));
    (void)fprintf(stderr, "hongbao setting: there is no such setting: %s%s%s%s\n", name,
                  like != NULL ? "; did you mean " : "", like != NULL ? like : "", like != NULL ? "?" : "");
    return 2;
}

static bool of_setup_print(const struct config *config, const struct config_setting *setting)
{
    return !config_needs_setup(setting) ||
           (printf("%s = ", setting->name) > 0 && config_value_print(config, setting, stdout) && putchar('\n') != EOF);
}

static bool name_print(const struct config *config, const struct config_setting *setting)
{
    (void)config;
    return config_is_secret(setting) || puts(setting->name) >= 0;
}

/* The setting with this name, which has a value to show; NULL: there is none. */
static const struct config_setting *setting_shown(const char *name)
{
    size_t count;
    const struct config_setting *settings = config_settings(&count);
    for (size_t i = 0; i < count; i++)
        if (strcmp(settings[i].name, name) == 0 && !config_is_secret(&settings[i]))
            return &settings[i];
    return NULL;
}

int setting_command(const struct config *config, int argc, char **argv)
{
    size_t count;
    const struct config_setting *settings = config_settings(&count);
    const struct config_setting *one = argc == 2 ? setting_shown(argv[1]) : NULL;
    bool (*print)(const struct config *, const struct config_setting *) = argc != 2 ? NULL
                                                                          : strcmp(argv[1], "--setup") == 0
                                                                              ? of_setup_print
                                                                          : strcmp(argv[1], "--names") == 0 ? name_print
                                                                                                            : NULL;
    bool written = true;
    if (print == NULL && one == NULL && argc == 2 && argv[1][0] != '-')
        return setting_refuse(argv[1]);
    if (print == NULL && one == NULL) {
        (void)fputs("usage: hongbao setting NAME | --setup | --names\n", stderr);
        return 2;
    }
    if (one != NULL)
        written = config_value_print(config, one, stdout) && putchar('\n') != EOF;
    for (size_t i = 0; print != NULL && i < count; i++)
        written = written && print(config, &settings[i]);
    return written && fflush(stdout) == 0 ? 0 : 1;
}
