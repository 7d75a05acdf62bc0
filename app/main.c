/* hongbao: one program, `hongbao [--config FILE] COMMAND …`. COMMANDS lists what it can do. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/crash.h"
#include "base/log.h"
#include "base/random.h"
#include "base/str.h"
#include "commands/audit.h"
#include "commands/demo.h"
#include "commands/help.h"
#include "commands/invitation.h"
#include "commands/keys.h"
#include "commands/migrate.h"
#include "commands/money.h"
#include "commands/replay.h"
#include "commands/script.h"
#include "commands/serve.h"
#include "commands/service.h"
#include "commands/settings.h"
#include "commands/user.h"
#include "commands/verify.h"
#include "commands/verify_receipt.h"
#include "commands/version.h"
#include "config/config.h"
#include "config/spelling.h"
#include "doctor/check.h"
#include "doctor/doctor.h"
#include "io/picture_child.h"
#include "io/process.h"
#include "io/sandbox.h"

typedef int command_fn(const struct config *config, int argc, char **argv);

static command_fn verify, picture, version, help;

#ifdef HB_CRASH_POINTS
static int crash_points(const struct config *config, int argc, char **argv)
{
    (void)config, (void)argc, (void)argv;
    return crash_points_print(stdout) ? 0 : 1;
}
#endif

#define EACH_ROLE "" /* a command that connects as several or as none, and reads their files and the secret itself */
#define NO_SECRET "none" /* a command that connects to nothing: what this user may read of the settings is enough */

static const struct command {
    const char *name;
    command_fn *run;
    const char *usage;
    const char *summary;
    /* the role whose users connect to the stores (docs/reference/rights.md); NULL: reads no configuration */
    const char *role;
    const char *instead; /* an option with which the command needs no configuration; NULL: none */
    const char *(*role_of)(int argc, char **argv); /* chooses the role by the arguments; NULL: it is always role */
} COMMANDS[] = {
    { "serve", serve_command, "--pool hot|page|auth|sso|card|money [--check]",
      "answer FastCGI requests on descriptor 0", "page", NULL, serve_role },
    { "settle", settle_command, "[--check | --until-idle]", "write what happened in Redis to MySQL, expire, recover",
      "settle", NULL, NULL },
    { "audit", audit_command, "[--json] [--packet ID]", "prove that the money is right: exit 0 or 1", "audit", NULL,
      NULL },
    { "replay", replay_command, "[LETTER [--as CONTENT | --drop] | --packet ID]", "settle dead letters, or list them",
      "settle", NULL, NULL },
    { "migrate", migrate_command, "[--check | --restoring]", "bring the tables up to date", "migrate", NULL, NULL },
    { "setup", command_script, "[OPTION...]", "make the installed package a running site", NULL, NULL, NULL },
    { "check", check_command, "[--offline]", "tell all that is wrong with the configuration and its files: exit 0 or 1",
      "page", NULL, NULL },
    { "doctor", doctor_command, "[--json] [--nginx FILE] [--free MIB] [--skip NAME]... | --names",
      "tell all that is wrong with the installed service, and what mends it: exit 0 or 1", EACH_ROLE, "--names", NULL },
    { "backup", command_script, "[--verify] [--keep N] DIR", "copy both stores into a new folder while the site runs",
      "backup", NULL, NULL },
    { "restore", command_script, "[--replace [--site ID]] [--without-redis] [--violated] DIR",
      "bring a backup back into both stores", "migrate", NULL, NULL },
    { "trace", command_script, "REQUEST_ID [FOLDER...]", "print all lines of the logs about a request", NO_SECRET, NULL,
      NULL },
    { "setting", setting_command, "NAME | --setup | --names", "print the value of a setting, as processes use it",
      EACH_ROLE, NULL, NULL },
    { "picture", picture, "SHAPE PART",
      "make the small picture of a user from a file: standard input to standard output", NULL, NULL, NULL },
    { "settings", settings_command, "--markdown | --man", "print the reference of all settings", NULL, NULL, NULL },
    { "keys", role_keys_command, "ROLE", "print the keys that a role gets in place of the secret", EACH_ROLE, NULL,
      NULL },
    { "demo", demo_command, "--users N [--amount AMOUNT] --out FILE",
      "create users with money and sessions (demo = on)", "auth", NULL, NULL },
    { "user", user_command,
      "find WORD | show|disable|enable|end-sessions|reset NAME | login-link NAME [--days N] | "
      "import FILE [--links OUT [--days N]] [--check] | export [--csv]",
      "find a user, look, shut out, let in again; bring people in", "support", NULL, user_role },
    { "invitation", invitation_command,
      "create [--count N] [--days D] [--note TEXT] [--csv FILE] [--html FILE [--language zh-CN|en]] | "
      "list [--open] [--json | --csv [--codes]] | revoke NUMBER... | revoke --note TEXT",
      "let people register: links, a table, or a sheet to print", "support", NULL, NULL },
    { "money", money_command,
      "channels | channel NAME | credit|debit USERNAME AMOUNT | import FILE | reverse TRANSFER | withdrawals | "
      "post|void ID | topups | paid ID | balances | transfers | report [--channel NAME] [--reference R] [--memo TEXT] "
      "[--note TEXT] [--withdrawals WORD] [--withdraw-min AMOUNT] [--withdraw-hint TEXT] [--topup-url URL] "
      "[--topup-key] [--amount AMOUNT] [--reason TEXT] [--import FILE] [--from DAY | --since TIME] "
      "[--to DAY] [--daily] [--against FILE [--missing NAME]] [--after TRANSFER] [--min AMOUNT | --all] "
      "[--reference-prefix P] [--debit] [--check] [--json | --csv]",
      "put money in and out by channels, with references; report", "treasury", NULL, NULL },
    { "service", service_command,
      "add NAME --scopes SCOPES --channel NAME [--day-max AMOUNT] [--addresses CIDR...] | list [--json] | revoke NAME",
      "tokens of programs that move money by HTTP", "treasury", NULL, NULL },
    { "verify", verify, "SEED KIND TOTAL COUNT [SPLIT [SHARE_MAX [SHARE_MIN]]] [--decimals N] [--returned NUMBERS]",
      "recompute a packet's shares", NULL, NULL, NULL },
    { "verify-receipt", verify_receipt_command, "FILE [--keys FILE]", "check a receipt's signature: exit 0 or 1",
      "page", "--keys", NULL },
#ifdef HB_CRASH_POINTS
    { "crash-points", crash_points, "", "print the names that HB_CRASH accepts", NULL, NULL, NULL },
#endif
    { "version", version, "", "print the version", NULL, NULL, NULL },
    { "help", help, "[COMMAND | --man | --markdown]",
      "print this, the help of a command, the manual page or the reference", NULL, NULL, NULL },
};
enum { COMMAND_COUNT = ARRAY_LEN(COMMANDS), ERROR_MAX = 8192 };

static int verify(const struct config *config, int argc, char **argv)
{
    (void)config;
    return verify_command(argc, argv);
}

static int picture(const struct config *config, int argc, char **argv)
{
    struct picture_want want;
    (void)config;
    if (argc != 3 || !picture_shape_from(str_from(argv[1]), &want.shape) ||
        !picture_part_from(str_from(argv[2]), &want.part)) {
        (void)fputs("usage: hongbao picture square|cover auto|top|middle|bottom\n", stderr);
        return 2;
    }
    return picture_child_run(want);
}

static int version(const struct config *config, int argc, char **argv)
{
    (void)config, (void)argc, (void)argv;
    return printf("hongbao %s\n", VERSION) < 0;
}

static void usage_print(FILE *out)
{
    (void)fputs("usage: hongbao [--config FILE] COMMAND\n\n", out);
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        (void)fprintf(out, "  %s%s%s\n      %s\n", COMMANDS[i].name, COMMANDS[i].usage[0] == '\0' ? "" : " ",
                      COMMANDS[i].usage, COMMANDS[i].summary);
    (void)fputs("\nThe configuration is FILE, else $HB_CONFIG, else " CONFIG_FILE " if it exists; every\n"
                "setting can be overridden by HB_NAME.\n",
                out);
}

static struct command_help help_of(const struct command *command)
{
    return (struct command_help){ command->name, command->usage, command->summary };
}

/* Prints all commands. */
static int all_print(bool (*print)(const struct command_help *commands, size_t count, FILE *out))
{
    struct command_help all[COMMAND_COUNT];
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        all[i] = help_of(&COMMANDS[i]);
    return print(all, COMMAND_COUNT, stdout) && fflush(stdout) == 0 ? 0 : 1;
}

/* The command of this name; NULL: there is none. */
static const struct command *command_find(const char *name)
{
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        if (strcmp(name, COMMANDS[i].name) == 0)
            return &COMMANDS[i];
    return NULL;
}

static int command_usage_print(const struct command *command)
{
    const struct command_help help_text = help_of(command);
    return command_help_print(&help_text, stdout) ? 0 : 1;
}

static int command_unknown(const char *name)
{
    const char *names[COMMAND_COUNT];
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        names[i] = COMMANDS[i].name;
    const char *like = spelling_nearest(str_from(name), names, COMMAND_COUNT);
    (void)fprintf(stderr, "hongbao: no command '%s'%s%s%s\nhongbao --help lists the commands.\n", name,
                  like != NULL ? "; did you mean " : "", like != NULL ? like : "", like != NULL ? "?" : "");
    return 2;
}

static int help(const struct config *config, int argc, char **argv)
{
    (void)config;
    if (argc < 2) {
        usage_print(stdout);
        return 0;
    }
    if (strcmp(argv[1], "--man") == 0)
        return all_print(command_help_man);
    if (strcmp(argv[1], "--markdown") == 0)
        return all_print(command_help_markdown);
    const struct command *command = command_find(argv[1]);
    return command == NULL ? command_unknown(argv[1]) : command_usage_print(command);
}

static bool config_needed(const struct command *command, int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        if (command->instead != NULL && strcmp(argv[i], command->instead) == 0)
            return false;
    return command->role != NULL;
}

/* True when an argument is -h or --help. */
static bool usage_wanted(int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0)
            return true;
    return false;
}

/* Prints each line of the text, with the name of the program before it. */
static void error_print(const char *text)
{
    struct str rest = str_from(text);
    while (rest.ptr != NULL) {
        struct str line = str_cut(rest, '\n', &rest);
        (void)fprintf(stderr, "hongbao: %.*s\n", STR_ARG(line));
    }
}

/* Reads the configuration as far as the command needs it. */
static enum status config_read(const struct command *command, struct config *config, const char *path, const char *role,
                               char error[ERROR_MAX])
{
    if (command->run == setting_command)
        return config_load_settings(config, path, error, ERROR_MAX);
    if (command->run == doctor_command)
        return config_load_without_secret(config, path, error, ERROR_MAX);
    return config_load(config, path, role, error, ERROR_MAX);
}

static int command_run(const struct command *command, const char *config_path, int argc, char **argv)
{
    if (usage_wanted(argc, argv))
        return command_usage_print(command);
    const char *role = command->role_of != NULL ? command->role_of(argc, argv) : command->role;
    struct config config;
    char error[ERROR_MAX];
    if (role != NULL && strcmp(role, EACH_ROLE) == 0)
        role = NULL;
    if (!random_init()) {
        (void)fputs("hongbao: no random numbers from the system\n", stderr);
        return 1;
    }
    config_defaults(&config);
    config.version = VERSION;
    if (role != NULL && strcmp(role, NO_SECRET) == 0) {
        config_load_unchecked(&config, config_path);
    } else if (config_needed(command, argc, argv)) {
        enum status st = config_read(command, &config, config_path, role, error);
        if (st != ST_OK) {
            error_print(error);
            return 2;
        }
        if (!clock_zone_set(config.timezone)) {
            (void)fprintf(stderr, "hongbao: unknown timezone %s\n", config.timezone);
            return 2;
        }
    }
    config_unit_set(&config);
    /* A server has a filter of its role, a script needs the calls of the programs that it executes, the doctor asks
     * systemd before it confines itself, and what only prints or computes meets nobody else's data. */
    const bool filtered = command->role != NULL && command->run != serve_command && command->run != settle_command &&
                          command->run != command_script && command->run != doctor_command;
    if (config.sandbox && filtered && sandbox_enter(SANDBOX_COMMAND, config_stores_by_tcp(&config)) != ST_OK)
        return 1;
    return command->run(&config, argc, argv);
}

static const char *config_path_default(void)
{
    const char *named = getenv("HB_CONFIG");
    return named != NULL ? named : access(CONFIG_FILE, F_OK) == 0 ? CONFIG_FILE : NULL;
}

int main(int argc, char **argv)
{
    const char *config_path = config_path_default();
    int first = 1;
    if (argc > 2 && strcmp(argv[1], "--config") == 0) {
        config_path = argv[2];
        (void)setenv("HB_CONFIG", config_path, 1); /* for the programs that a script calls */
        first = 3;
    }
    (void)signal(SIGPIPE, SIG_IGN);
    process_init(argv);
    log_init("hongbao", LOG_INFO);
    if (!sandbox_init()) {
        perror("hongbao: the process can't be closed to others");
        return 1;
    }
    const struct command *command = first < argc ? command_find(argv[first]) : NULL;
    if (command != NULL)
        return command_run(command, config_path, argc - first, argv + first);
    if (first < argc && (strcmp(argv[first], "--help") == 0 || strcmp(argv[first], "-h") == 0)) {
        usage_print(stdout);
        return 0;
    }
    if (first < argc && strcmp(argv[first], "--version") == 0)
        return version(NULL, 0, NULL);
    if (first < argc)
        return command_unknown(argv[first]);
    usage_print(stderr);
    return 2;
}
