/* torture [--sample N] [--seed S] [--only WAY:PASS]: the torture test of torture.h. It uses the settings
 * of HB_CONFIG and empties the stores. Exit 0 when every run ended well: no crash, no leak, no timeout, every answer
 * true, the audit clean.
 *
 * The first run only counts the calls and records the way (a hash of the call stack) of each. Then one run for each
 * pass of each way, in which this call fails. --sample N (or TORTURE_SAMPLE=N in the environment, which wins): only N
 * runs, each way once before any way twice; 0, the default: all. The seed decides which ways
 * come first. */
#include "torture.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/random.h"
#include "commands/audit.h"
#include "commands/demo.h"
#include "commands/serve.h"
#include "io/metrics.h"
#include "live/fence.h"
#include "live/keys.h"
#include "migrate/migrate.h"
#include "redis/fence.h"
#include "redis/function_load.h"
#include "redis/reply.h"
#include "site/services.h"
#include "user/deletion.h"

enum {
    RUN_SECONDS_MAX = 120 * HB_TEST_PATIENCE,
    RUNS_PER_WORLD = 50, /* after so many runs the stores are emptied: an audit reads the rows of all runs */
    FAILED_MAX = 10,
    KINDS_MAX = 64,
    ROUNDS_MAX = 3,
    STARTS_MAX = 3,
    TEXTS_BYTES = 1 << 20
};

static struct config config;
static struct services app; /* the services of a run, or of making a world; each is a separate process */
static const char *log_path;
static const char socket_format[] = "hongbao-torture-%ld";

static _Noreturn void die(const char *what)
{
    (void)fprintf(stderr, "torture: %s\n", what);
    exit(1);
}

static void expect(bool ok, const char *what)
{
    if (!ok)
        die(what);
}

/* ---- one run, in a process of its own ---- */

typedef int command_fn(const struct config *config, int argc, char **argv);

static void listen_on_0(const char *name)
{
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    (void)snprintf(address.sun_path + 1, sizeof address.sun_path - 1, "%s", name);
    socklen_t len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + strlen(name));
    expect(fd >= 0 && bind(fd, (const struct sockaddr *)&address, len) == 0 && listen(fd, 64) == 0, "no socket");
    expect(dup2(fd, 0) == 0, "no descriptor 0");
    if (fd != 0)
        (void)close(fd);
}

/* Runs a command of the program while the visitors send requests; runs it again when it could not start. */
static void phase(const char *name, command_fn *command, const char *pool, visit_fn *visit, const char *socket)
{
    char *serve[] = { (char *)"serve", (char *)"--pool", (char *)pool, NULL };
    char *settle[] = { (char *)"settle", NULL };
    int how, code = 1;
    (void)fflush(NULL);
    pid_t visitors = fork();
    expect(visitors >= 0, "no process");
    if (visitors == 0) {
        log_init("visitors", LOG_ERROR);
        visit(&config, socket);
    }
    torture_on();
    for (int i = 0; i < STARTS_MAX && code != 0; i++)
        code = pool != NULL ? command(&config, 3, serve) : command(&config, 1, settle);
    torture_off();
    (void)fprintf(stderr, "torture: %s ends\n", name);
    expect(waitpid(visitors, &how, 0) == visitors && WIFEXITED(how) && WEXITSTATUS(how) == 0, "the visitors failed");
    expect(code == 0, "a command does not start");
}

/* ---- the stores ---- */

static void services_start(void)
{
    char error[512];
    expect(services_open(&app, &config, SERVICES_MYSQL, error, sizeof error) == ST_OK, error);
}

static void sql_run(const char *sql)
{
    expect(db_exec(app.stores.db, NULL, sql, NULL, 0) == ST_OK, "MySQL is unreachable");
}

/* Checks that the query returns this number; why: the error if it does not. */
static void sql_expect(int64_t wanted, const char *why, const char *sql)
{
    struct db_rows rows;
    expect(db_query(app.stores.db, torture_texts, &rows, sql, NULL, 0) == ST_OK && rows.count == 1,
           "MySQL is unreachable");
    expect(db_cell(&rows, 0, 0).ptr != NULL && db_cell_i64(&rows, 0, 0) == wanted, why);
}

static void redis_run(const struct str *words, size_t count)
{
    struct redis_call call;
    expect(redis_do(app.stores.redis, &call, words, count) == ST_OK, "Redis is unreachable");
    redis_call_free(&call);
}

/* ---- data loss, so that recovery has work ---- */

static void live_lose(const struct told_packet *p)
{
    struct live_keys keys;
    live_keys(&keys, p->number, config.partitions);
    const struct str del[] = { STR("DEL"), keys.key[LIVE_KEY_PACKET], keys.key[LIVE_KEY_SHARES],
                               keys.key[LIVE_KEY_GRABS], keys.key[LIVE_KEY_ORDER] };
    redis_run(del, ARRAY_LEN(del));
}

/* Deletes the stream of the packet's partition, and the published position. */
static void stream_lose(const struct told_packet *p)
{
    struct live_keys keys;
    live_keys(&keys, p->number, config.partitions);
    const struct str del[] = { STR("DEL"), keys.key[LIVE_KEY_EVENTS], keys.key[LIVE_KEY_SETTLED] };
    redis_run(del, ARRAY_LEN(del));
}

/* Moves the packet's expiry into the past, in both stores. */
static void expire_now(const struct told_packet *p)
{
    static const char script[] =
        "if redis.call('EXISTS', KEYS[1]) == 1 then redis.call('HSET', KEYS[1], 'expires_ms', 1) end";
    struct live_keys keys;
    live_keys(&keys, p->number, config.partitions);
    const struct str eval[] = { STR("EVAL"), str_from(script), STR("1"), keys.key[LIVE_KEY_PACKET] };
    redis_run(eval, ARRAY_LEN(eval));
    sql_run(TEXT("UPDATE packet SET expires_ms = created_ms + 1 WHERE id = %" PRIu64, p->number));
}

/* Makes the state after the pool died before it wrote returns and thanks to Redis, and Redis then lost the packet. */
static void pool_died(const struct told_packet *p)
{
    live_lose(p);
    sql_run(
        TEXT("UPDATE share_return SET applied_ms = NULL, returned_ms = returned_ms - 60000 WHERE packet_id = %" PRIu64,
             p->number));
    sql_run(TEXT("UPDATE thanks SET applied_ms = NULL, created_ms = created_ms - 60000 WHERE packet_id = %" PRIu64,
                 p->number));
}

/* ---- promises ---- */

/* Checks that the user has exactly the row that an answer promised, or none. content: the promised content. */
static void row_check(bool promised, const char *why, const char *table, const struct told_packet *p, int user,
                      const char *content)
{
    const char *rows = TEXT("SELECT COUNT(*) FROM `%s` WHERE packet_id = %" PRIu64 " AND user_id = %" PRIu64, table,
                            p->number, torture->users[user].id);
    sql_expect(promised, why, rows);
    sql_expect(promised, why, TEXT("%s %s", rows, content));
}

/* Checks that the rows are those that the answers promised: one packet for each request key, ended or not; for each
 * user one grab with the share and amount of the answer, or none without an answer; a return, to the place that the
 * answer named; thanks. */
static void promises_check(void)
{
    for (int i = 0; i < TORTURE_PACKETS; i++) {
        const struct told_packet *p = &torture->packets[i];
        sql_expect(1, "not exactly one packet for a request key",
                   TEXT("SELECT COUNT(*) FROM packet WHERE sender_id = %" PRIu64 " AND request_key = '%s'",
                        torture->users[i == TORTURE_LEFT ? TORTURE_NEWCOMER : 0].id, p->key));
        sql_expect(p->ended, "the end of a packet differs from the answer",
                   TEXT("SELECT COUNT(ended_ms) FROM packet WHERE id = %" PRIu64, p->number));
        for (int user = 0; user < TORTURE_PEOPLE; user++) {
            const struct told_grab *grab = &p->grabs[user];
            const char *share = TEXT("AND share_no = %" PRIu32 " AND amount_fen = %" PRId64, grab->share_no, grab->fen);
            row_check(grab->told, "a grab's row differs from its answer", "grab", p, user, share);
            row_check(grab->returned, "a return's row differs from its answer", "share_return", p, user,
                      TEXT("%s AND (position IS NULL) = %d", share, grab->to_sender));
            row_check(grab->thanked, "the row of thanks differs from the answer", "thanks", p, user, "");
        }
    }
}

/* ---- the user who deletes the account ---- */

/* Moves the begin of the deletion so far back that all grabs are earlier and the worker need not wait. */
static void deletion_wait_end(void)
{
    expect(torture->left, "the deletion has not begun");
    sql_run(TEXT("UPDATE user SET deleting_ms = %" PRId64 " WHERE id = %" PRIu64, clock_now_ms() - DELETION_WAIT_MS - 1,
                 torture->users[TORTURE_NEWCOMER].id));
}

/* Redis must not have the newcomer's name in the packet. */
static void live_name_check(const struct told_packet *p)
{
    static const char script[] = "local all = table.concat(redis.call('HVALS', KEYS[1]), '\\n') .. '\\n'"
                                 " .. table.concat(redis.call('HVALS', KEYS[2]), '\\n') .. '\\n'"
                                 " .. table.concat(redis.call('LRANGE', KEYS[3], 0, -1), '\\n')"
                                 " return string.find(all, ARGV[1], 1, true) and 1 or 0";
    struct live_keys keys;
    struct redis_call call;
    int64_t there = 1;
    live_keys(&keys, p->number, config.partitions);
    const struct str eval[] = { STR("EVAL"),
                                str_from(script),
                                STR("3"),
                                keys.key[LIVE_KEY_PACKET],
                                keys.key[LIVE_KEY_GRABS],
                                keys.key[LIVE_KEY_ORDER],
                                str_from(torture->users[TORTURE_NEWCOMER].username) };
    expect(redis_do(app.stores.redis, &call, eval, ARRAY_LEN(eval)) == ST_OK && redis_reply_i64(call.reply, &there),
           "Redis is unreachable");
    redis_call_free(&call);
    expect(there == 0, "Redis has the name of the deleted user");
}

/* The user's row and the names are gone, and every fen is accounted for: what was deposited, less what others opened of
 * the own packet, and what the user opened, went to the channel forfeited. */
static void leaver_check(void)
{
    const uint64_t id = torture->users[TORTURE_NEWCOMER].id;
    int64_t fen = TORTURE_DEPOSIT_FEN;
    for (int user = 0; user < TORTURE_PEOPLE; user++)
        fen -= torture->packets[TORTURE_LEFT].grabs[user].fen;
    for (int i = 0; i < TORTURE_PACKETS; i++) {
        fen += torture->packets[i].grabs[TORTURE_NEWCOMER].fen;
        live_name_check(&torture->packets[i]);
    }
    sql_expect(1, "the user's row is not that of a deleted user",
               TEXT("SELECT COUNT(*) FROM user WHERE id = %" PRIu64 " AND username = CONCAT('~', id) AND nickname = ''"
                    " AND password_hash IS NULL AND deleted_ms > 0",
                    id));
    sql_expect(0, "the tables have the name of the deleted user",
               TEXT("SELECT (SELECT COUNT(*) FROM packet WHERE sender_id = %" PRIu64 " AND sender_name <> '')"
                    " + (SELECT COUNT(*) FROM packet_receiver WHERE user_id = %" PRIu64 " AND name <> '')"
                    " + (SELECT COUNT(*) FROM `grab` WHERE user_id = %" PRIu64 " AND nickname <> '')",
                    id, id, id));
    sql_expect(fen, "the money of the deleted user is not forfeited",
               TEXT("SELECT CAST(COALESCE(SUM(amount_fen), 0) AS SIGNED) FROM transfer"
                    " WHERE kind = 'forfeit' AND debit_id = %" PRIu64 " AND credit_id = 2",
                    id));
    sql_expect(0, "the deleted user has money", TEXT("SELECT balance_fen FROM account WHERE id = %" PRIu64, id));
    sql_expect(6,
               "the ledger lacks a deposit, a send, a refund, a withdrawal, its void or what was given up, or has more",
               TEXT("SELECT COUNT(*) FROM transfer WHERE %" PRIu64 " IN (debit_id, credit_id)", id));
}

static void audit_undisturbed(void)
{
    char *argv[] = { (char *)"audit", NULL };
    expect(audit_command(&config, 1, argv) == 0, "the audit is not clean");
}

/* With a failing call the audit may not run to its end, but it must not report a violation. */
static void audit_tortured(void)
{
    char *argv[] = { (char *)"audit", (char *)"--json", NULL };
    torture_on();
    int code = audit_command(&config, 2, argv);
    torture_off();
    expect(code != 1, "the audit reports a violation");
}

static bool some_missing(void)
{
    for (int i = 0; i < TORTURE_PACKETS; i++)
        if (torture->packets[i].missing)
            return true;
    return false;
}

static void play(void)
{
    char socket[64];
    (void)snprintf(socket, sizeof socket, socket_format, (long)getpid());
    listen_on_0(socket);
    phase("registering", serve_command, "auth", visit_newcomers, socket);
    phase("sending", serve_command, "page", visit_senders, socket);
    treasury_work(&config, torture->packets[TORTURE_LUCKY].key);
    phase("withdrawing", serve_command, "auth", visit_payees, socket);
    treasury_void(&config);
    phase("paying", serve_command, "money", visit_programs, socket);
    live_lose(&torture->packets[TORTURE_EXCLUSIVE]);
    bool more = true;
    for (int round = 0; more; round++) {
        expect(round < ROUNDS_MAX, "a packet is not loaded into Redis");
        phase("grabbing", serve_command, "hot", visit_grabbers, socket);
        more = some_missing();
        if (!more) {
            live_lose(&torture->packets[TORTURE_ABANDONED]);
            expire_now(&torture->packets[TORTURE_ABANDONED]);
            expire_now(&torture->packets[TORTURE_EXPIRING]);
            phase("leaving", serve_command, "auth", visit_leavers, socket);
            deletion_wait_end();
        }
        phase("settling", settle_command, NULL, visit_settling, socket);
        if (more) /* all of its events are settled now */
            stream_lose(&torture->packets[TORTURE_LUCKY]);
    }
    leaver_check();
    phase("giving back", serve_command, "page", visit_givers, socket);
    pool_died(&torture->packets[TORTURE_ENDED]);
    phase("ending", settle_command, NULL, visit_settling, socket);
    phase("reading", serve_command, "page", visit_readers, socket);
    audit_tortured();
}

static void stderr_to_log(void)
{
    int fd = open(log_path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    expect(fd >= 0 && dup2(fd, STDOUT_FILENO) >= 0 && dup2(fd, STDERR_FILENO) >= 0, "no log");
    (void)close(fd);
}

/* Returns only when the run is good; leaks are reported at exit. */
static void run_inside(void)
{
    (void)alarm(RUN_SECONDS_MAX);
    stderr_to_log();
    services_start();
    play();
    promises_check();
    leaver_check(); /* what was rebuilt since has no name either */
    services_close(&app);
    audit_undisturbed();
}

/* ---- the world ---- */

static void users_take(FILE *in)
{
    for (int i = 0; i < TORTURE_USERS; i++)
        expect(fscanf(in, "%" SCNu64 "\t%39s\t%79s\n", &torture->users[i].id, torture->users[i].username,
                      torture->users[i].cookie) == 3,
               "no users");
}

static void fences_open(void)
{
    char text[REDIS_FENCE_TEXT_MAX];
    live_fences_set(app.stores.redis, &config);
    for (uint32_t i = 0; i < (uint32_t)config.partitions; i++)
        expect(redis_fence_text(app.stores.redis, i, text) == ST_OK &&
                   live_fence_open(&app.stores.live, i, str_from(text)) == ST_OK,
               "Redis is unreachable");
}

/* Empties the stores and creates a few users with money. */
static void world_inside(void)
{
    static const char *const tables[] = { "thanks",
                                          "share_return",
                                          "packet_receiver",
                                          "grab",
                                          "transfer",
                                          "packet",
                                          "user_month",
                                          "stream_cursor",
                                          "account",
                                          "user",
                                          "username_retired",
                                          "channel",
                                          "withdrawal",
                                          "external_transfer",
                                          "service_hour",
                                          "service",
                                          "topup",
                                          "topup_payment" };
    services_start();
    expect(migrate_run(app.stores.db, config.sql_dir, NULL) == ST_OK, "no schema");
    sql_run("SET FOREIGN_KEY_CHECKS = 0");
    for (size_t i = 0; i < ARRAY_LEN(tables); i++)
        sql_run(TEXT("DELETE FROM `%s`", tables[i]));
    sql_run("SET FOREIGN_KEY_CHECKS = 1");
    sql_run("UPDATE instance_lease SET until_ms = 0");
    sql_run("UPDATE site SET generation = 1 WHERE generation = 0"); /* as a settle worker has compared the stores */
    sql_run("INSERT INTO account (id, kind) VALUES (1, 'bank'), (2, 'channel'), (3, 'pending')");
    sql_run("INSERT INTO channel (id, name, author, created_ms)"
            " VALUES (1, 'demo', 'migrate', 1), (2, 'forfeited', 'migrate', 1)");
    redis_run(&STR("FLUSHALL"), 1);
    expect(redis_functions_load(app.stores.redis, app.stores.functions) == ST_OK, "no functions");
    fences_open(); /* users grab before a settle worker runs */
    FILE *out = tmpfile();
    expect(out != NULL && demo_make(&app.stores, TORTURE_USERS, DEMO_MONEY_FEN, out) == ST_OK, "no users");
    rewind(out);
    users_take(out);
    (void)fclose(out);
    services_close(&app);
}

/* ---- runs ---- */

/* Runs the function in a child process; returns the status of waitpid. */
static int run_forked(void (*inside)(void))
{
    int how;
    (void)fflush(NULL);
    pid_t child = fork();
    expect(child >= 0, "no process");
    if (child == 0) {
        inside();
        exit(0);
    }
    expect(waitpid(child, &how, 0) == child, "no child");
    return how;
}

static void world_make(void)
{
    expect(run_forked(world_inside) == 0, "the stores can't be prepared");
}

/* The call that is to fail. */
struct target {
    uint64_t way, pass;
};

static int run(struct target target, bool recording)
{
    static unsigned run_no;
    memset(torture->packets, 0, sizeof torture->packets);
    torture->left = false;
    for (int i = 0; i < TORTURE_PACKETS; i++)
        (void)snprintf(torture->packets[i].key, TORTURE_KEY_MAX, "t%u-%d", run_no, i);
    (void)snprintf(torture->users[TORTURE_NEWCOMER].username, TORTURE_KEY_MAX, "newcomer%u", run_no);
    torture->users[TORTURE_NEWCOMER].cookie[0] = '\0';
    run_no++;
    torture->calls = 0;
    torture->target_way = target.way;
    torture->target_pass = target.pass;
    torture->target_seen = 0;
    torture->fired = false;
    torture->frame_count = 0;
    torture->recording = recording;
    return run_forked(run_inside);
}

/* ---- report ---- */

__attribute__((weak)) void __sanitizer_symbolize_pc(void *pc, const char *format, char *out, size_t out_size);

static void print_way(void)
{
    (void)fprintf(stderr, "  failed call: %s\n", torture->what == NULL ? "none" : torture->what);
    for (int i = 2; i < torture->frame_count; i++) {
        char text[512] = "";
        if (__sanitizer_symbolize_pc != NULL)
            __sanitizer_symbolize_pc((char *)torture->frames[i] - 1, "%f %s:%l", text, sizeof text);
        (void)fprintf(stderr, "    %p %s\n", torture->frames[i], text);
    }
}

static void print_log(void)
{
    char line[4096];
    FILE *in = fopen(log_path, "re");
    while (in != NULL && fgets(line, sizeof line, in) != NULL)
        (void)fprintf(stderr, "  | %s", line);
    if (in != NULL)
        (void)fclose(in);
}

static void print_failure(struct target target, int how)
{
    (void)fprintf(stderr, "torture: with %" PRIx64 ":%" PRIu64 " it %s %d\n", target.way, target.pass,
                  WIFSIGNALED(how) ? "died of signal" : "ended with",
                  WIFSIGNALED(how) ? WTERMSIG(how) : WEXITSTATUS(how));
    print_way();
    print_log();
}

/* ---- choosing ---- */

static int way_order(const void *left, const void *right)
{
    uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return (a > b) - (a < b);
}

/* A pseudo-random number for the order of the targets; depends on target and seed only. */
static uint64_t shuffled(struct target target, uint64_t seed)
{
    uint64_t x = (target.way ^ seed * 0x9e3779b97f4a7c15u) * 0xbf58476d1ce4e5b9u;
    return (x ^ x >> 31) * 0x94d049bb133111ebu;
}

static uint64_t target_seed;

static int target_order(const void *left, const void *right)
{
    const struct target *a = left, *b = right;
    if ((a->pass == 1) != (b->pass == 1))
        return a->pass == 1 ? -1 : 1;
    uint64_t x = shuffled(*a, target_seed), y = shuffled(*b, target_seed);
    if (x != y)
        return x < y ? -1 : 1;
    return a->pass < b->pass ? -1 : 1;
}

/* The recorded calls in the order in which they are to fail: the first pass of each way, then the others. */
static struct target *targets_order(uint64_t count, uint64_t *way_count)
{
    struct target *targets = calloc(count, sizeof *targets);
    expect(targets != NULL, "no memory");
    qsort(torture->ways, count, sizeof torture->ways[0], way_order);
    *way_count = 0;
    for (uint64_t i = 0; i < count; i++) {
        bool again = i > 0 && torture->ways[i] == torture->ways[i - 1];
        targets[i] = (struct target){ .way = torture->ways[i], .pass = again ? targets[i - 1].pass + 1 : 1 };
        *way_count += !again;
    }
    qsort(targets, count, sizeof *targets, target_order);
    return targets;
}

/* Number of failures of each call. */
static struct kind {
    const char *name;
    uint64_t failed;
} kinds[KINDS_MAX];
static size_t kind_count;

static void kind_count_up(const char *name)
{
    size_t i = 0;
    while (i < kind_count && strcmp(kinds[i].name, name) != 0)
        i++;
    expect(i < KINDS_MAX, "too many kinds of calls");
    if (i == kind_count)
        kinds[kind_count++].name = name;
    kinds[i].failed++;
}

static void print_sum(uint64_t fired, unsigned failed)
{
    for (size_t i = 0; i < kind_count; i++)
        (void)printf("torture: %8" PRIu64 " × %s\n", kinds[i].failed, kinds[i].name);
    (void)printf("torture: %" PRIu64 " calls failed, %u runs did not end well\n", fired, failed);
}

/* Makes count calls fail, one per run. Returns the number of runs that did not end well. */
static unsigned targets_run(const struct target *targets, uint64_t count)
{
    unsigned failed = 0;
    uint64_t fired = 0;
    for (uint64_t i = 0; i < count && failed < FAILED_MAX; i++) {
        if (i % RUNS_PER_WORLD == 0) {
            (void)printf("torture: %" PRIu64 " of %" PRIu64 " runs, %u did not end well\n", i, count, failed);
            world_make();
        }
        int how = run(targets[i], false);
        fired += torture->fired;
        if (torture->fired)
            kind_count_up(torture->what);
        if (how == 0)
            continue;
        failed++;
        print_failure(targets[i], how);
        world_make();
    }
    print_sum(fired, failed);
    return failed;
}

static void prepare(void)
{
    char error[512];
    const char *path = getenv("HB_CONFIG");
    log_init("torture", LOG_ERROR);
    (void)signal(SIGPIPE, SIG_IGN);
    config_defaults(&config);
    expect(path != NULL && random_init(), "HB_CONFIG names no file");
    if (config_load(&config, path, NULL, error, sizeof error) != ST_OK)
        die(error);
    config.sandbox = false; /* the processes of a run start others, and visitors use sockets */
    expect(clock_zone_set(config.timezone), "no time zone");
    torture_texts = arena_new(TEXTS_BYTES, TEXTS_BYTES);
    torture = mmap(NULL, sizeof *torture, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    expect(torture != MAP_FAILED && torture_texts != NULL, "no memory");
    static char log_file[64];
    (void)snprintf(log_file, sizeof log_file, "/tmp/hongbao-torture-%ld.log", (long)getpid());
    log_path = log_file;
}

static const char *option(int argc, char **argv, const char *name, const char *otherwise)
{
    for (int i = 1; i + 1 < argc; i++)
        if (strcmp(argv[i], name) == 0)
            return argv[i + 1];
    return otherwise;
}

int main(int argc, char **argv)
{
    const char *sample = getenv("TORTURE_SAMPLE"), *only = option(argc, argv, "--only", NULL);
    uint64_t runs = strtoull(sample != NULL ? sample : option(argc, argv, "--sample", "0"), NULL, 10), ways;
    prepare();
    world_make();
    int how = run((struct target){ 0 }, true);
    uint64_t count = torture->calls;
    target_seed = strtoull(option(argc, argv, "--seed", "1"), NULL, 10);
    if (how != 0) {
        print_failure((struct target){ 0 }, how);
        return 1;
    }
    expect(count < TORTURE_CALLS_MAX, "too many calls");
    struct target *targets = targets_order(count, &ways);
    (void)printf("torture: %" PRIu64 " calls by %" PRIu64 " ways\n", count, ways);
    if (only != NULL) {
        expect(sscanf(only, "%" SCNx64 ":%" SCNu64, &targets[0].way, &targets[0].pass) == 2, "WAY:PASS");
        runs = 1;
    }
    unsigned failed = targets_run(targets, runs > 0 && runs < count ? runs : count);
    free(targets);
    (void)unlink(log_path);
    return failed == 0 ? 0 : 1;
}
