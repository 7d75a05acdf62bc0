/* hongbao: one program, `hongbao [--config FILE] COMMAND …`. COMMANDS lists what it can do. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/config.h"
#include "base/crash.h"
#include "base/log.h"
#include "base/random.h"
#include "io/process.h"
#include "ops/audit.h"
#include "ops/demo.h"
#include "ops/migrate.h"
#include "ops/replay.h"
#include "ops/serve.h"
#include "ops/verify.h"
#include "ops/verify_receipt.h"

#ifndef HB_VERSION
#define HB_VERSION "unknown"
#endif

typedef int command_fn(const struct config *config, int argc, char **argv);

static command_fn verify, version, help;

#ifdef HB_CRASH_POINTS
static int crash_points(const struct config *config, int argc, char **argv)
{
    (void)config, (void)argc, (void)argv;
    return crash_points_print(stdout) ? 0 : 1;
}
#endif

static const struct command {
    const char *name;
    command_fn *run;
    const char *usage;
    const char *summary;
    const char *role;    /* whose users it connects as (docs/reference/rights.md); NULL: it reads no configuration */
    const char *instead; /* an option that replaces the configuration, which is not read then; NULL: none */
} COMMANDS[] = {
    { "serve", serve_command, "--pool hot|page|auth|card [--check]", "answer FastCGI requests on descriptor 0", "web",
      NULL },
    { "settle", settle_command, "[--check]", "write what happened in Redis to MySQL, expire, recover", "settle", NULL },
    { "audit", audit_command, "[--json] [--packet ID]", "prove that the money is right: exit 0 or 1", "audit", NULL },
    { "replay", replay_command, "[LETTER [--as CONTENT | --drop] | --packet ID]", "settle dead letters, or list them",
      "settle", NULL },
    { "migrate", migrate_command, "[--check]", "bring the tables up to date", "migrate", NULL },
    { "check", check_command, "", "check configuration, scripts and templates, then exit", "web", NULL },
    { "demo", demo_command, "--users N --out FILE", "create users with money and sessions (demo = on)", "web", NULL },
    { "verify", verify, "SEED KIND TOTAL COUNT [SPLIT [SHARE_MAX [SHARE_MIN]]]", "recompute a packet's shares", NULL,
      NULL },
    { "verify-receipt", verify_receipt_command, "FILE [--keys FILE]", "check a receipt's signature: exit 0 or 1", "web",
      "--keys" },
#ifdef HB_CRASH_POINTS
    { "crash-points", crash_points, "", "print the names that HB_CRASH accepts", NULL, NULL },
#endif
    { "version", version, "", "print the version", NULL, NULL },
    { "help", help, "", "print this", NULL, NULL },
};
enum { COMMAND_COUNT = ARRAY_LEN(COMMANDS) };

static int verify(const struct config *config, int argc, char **argv)
{
    (void)config;
    return verify_command(argc, argv);
}

static int version(const struct config *config, int argc, char **argv)
{
    (void)config, (void)argc, (void)argv;
    return puts("hongbao " HB_VERSION) < 0;
}

static void usage_print(FILE *out)
{
    (void)fputs("usage: hongbao [--config FILE] COMMAND\n\n", out);
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        (void)fprintf(out, "  %s%s%s\n      %s\n", COMMANDS[i].name, COMMANDS[i].usage[0] == '\0' ? "" : " ",
                      COMMANDS[i].usage, COMMANDS[i].summary);
    (void)fputs("\nThe configuration is FILE, else $HB_CONFIG; every setting can be overridden by HB_NAME.\n", out);
}

static int help(const struct config *config, int argc, char **argv)
{
    (void)config, (void)argc, (void)argv;
    usage_print(stdout);
    return 0;
}

static bool config_needed(const struct command *command, int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        if (command->instead != NULL && strcmp(argv[i], command->instead) == 0)
            return false;
    return command->role != NULL;
}

static int command_run(const struct command *command, const char *config_path, int argc, char **argv)
{
    struct config config;
    char error[1024];
    if (!random_init()) {
        (void)fputs("hongbao: no random numbers from the system\n", stderr);
        return 1;
    }
    config_defaults(&config);
    if (config_needed(command, argc, argv)) {
        if (config_load(&config, config_path, command->role, error, sizeof error) != ST_OK) {
            (void)fprintf(stderr, "hongbao: %s\n", error);
            return 2;
        }
        if (!clock_zone_set(config.timezone)) {
            (void)fprintf(stderr, "hongbao: unknown timezone %s\n", config.timezone);
            return 2;
        }
    }
    return command->run(&config, argc, argv);
}

int main(int argc, char **argv)
{
    const char *config_path = getenv("HB_CONFIG");
    int first = 1;
    if (argc > 2 && strcmp(argv[1], "--config") == 0) {
        config_path = argv[2];
        first = 3;
    }
    (void)signal(SIGPIPE, SIG_IGN);
    process_init(argv);
    log_init("hongbao", LOG_INFO);
    for (size_t i = 0; first < argc && i < COMMAND_COUNT; i++)
        if (strcmp(argv[first], COMMANDS[i].name) == 0)
            return command_run(&COMMANDS[i], config_path, argc - first, argv + first);
    if (first < argc && (strcmp(argv[first], "--help") == 0 || strcmp(argv[first], "-h") == 0)) {
        usage_print(stdout);
        return 0;
    }
    if (first < argc && strcmp(argv[first], "--version") == 0)
        return version(NULL, 0, NULL);
    usage_print(stderr);
    return 2;
}
