/* doctor/doctor_pools, doctor_files, doctor_nginx, doctor_machine, doctor_processes: the doctor's findings about
 * sockets, files and processes, without stores. */
#include <signal.h>

#include <fastcgi.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>

#include "doctor/doctor_internal.h"
#include "io/metrics_processes.h"
#include "io/program_id.h"
#include "support/assert_text.h"
#include "support/test_folder.h"

enum { TEXT_BYTES = 16 << 10 };

static char printed[TEXT_BYTES];
static struct config config;
static struct doctor doctor;

static int begin(void **state)
{
    config = (struct config){ .base_url = "http://hongbao.example", .secret = "0123456789abcdef0123456789abcdef" };
    doctor = (struct doctor){ .config = &config, .nginx_is_read = true, .redis_is_up = true, .mysql_is_up = true };
    int failed = folder_setup(state);
    doctor.arena = arena;
    return failed;
}

#define DOCTOR_TEST(name) TEST_WITH(name, begin, folder_teardown)

/* Sets a setting of text. */
#define SET(member, ...) (void)snprintf(config.member, sizeof config.member, __VA_ARGS__)

/* Writes to `printed` what the doctor prints about the findings of a check. */
static void tell(void (*check)(struct doctor *d))
{
    memset(printed, 0, sizeof printed);
    FILE *out = fmemopen(printed, sizeof printed - 1, "w");
    doctor.found = (struct findings){ .arena = doctor.arena };
    check(&doctor);
    assert_non_null(out);
    assert_true(findings_print(&doctor.found, out));
    assert_int_equal(fclose(out), 0);
}

/* Expects these texts in what was printed last, or by the call. */
#define TOLD(...) assert_parts(printed, __VA_ARGS__)
#define TELLS(call, ...)                                                                                               \
    do {                                                                                                               \
        call;                                                                                                          \
        TOLD(__VA_ARGS__);                                                                                             \
    } while (0)

/* ---- pools ---- */

static int listener_open(const char *name)
{
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    (void)snprintf(address.sun_path, sizeof address.sun_path, "%s", folder_path(name));
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_true(fd >= 0);
    assert_int_equal(bind(fd, (const struct sockaddr *)&address, sizeof address), 0);
    assert_int_equal(listen(fd, 1), 0);
    assert_int_equal(chmod(folder_file, S_IRUSR | S_IWUSR), 0);
    return fd;
}

/* Answers one request with this text as its standard output. */
_Noreturn static void pool_serve(int listener, const char *answer)
{
    const FCGI_Header header = { .version = FCGI_VERSION_1,
                                 .type = FCGI_STDOUT,
                                 .requestIdB0 = 1,
                                 .contentLengthB0 = (unsigned char)strlen(answer) };
    char asked[TEXT_BYTES];
    int fd = accept(listener, NULL, NULL);
    if (read(fd, asked, sizeof asked) > 0 && write(fd, &header, sizeof header) > 0)
        (void)write(fd, answer, strlen(answer));
    _exit(0);
}

static void pools_beside_a_bad_certificate(struct doctor *d)
{
    finding_wrong(&d->found, "certificate-self-signed", "another", "it is signed by itself");
    d->certificates_wrong = 1;
    doctor_check_pools(d);
    d->certificates_wrong = 0;
}

static void pools_beside_a_fault(struct doctor *d)
{
    finding_wrong(&d->found, "disk-redis", "make room", "it is full");
    doctor_check_pools(d);
}

/* Runs the check for the hot pool, whose socket has this mode and which gives this answer. */
static void pool_tell_by(void (*check)(struct doctor *d), const char *answer, mode_t mode)
{
    int listener = listener_open("hot.sock");
    assert_int_equal(chmod(folder_file, mode), 0);
    doctor.nginx.sockets = (struct nginx_conf_list){ .items = { folder_file }, .count = 1 };
    pid_t pool = fork();
    if (pool == 0)
        pool_serve(listener, answer);
    assert_true(pool > 0);
    (void)close(listener);
    tell(check);
    assert_int_equal(waitpid(pool, NULL, 0), pool);
    assert_int_equal(unlink(folder_file), 0);
}

static void pool_tell(const char *answer, mode_t mode)
{
    pool_tell_by(doctor_check_pools, answer, mode);
}

DOCTOR_TEST(a_pool_that_is_not_ready_or_open_to_everybody_is_told_with_its_reasons)
{
    const char *not_ready = "Status: 503 Service Unavailable\r\n\r\nfence: closed\n";
    TELLS(pool_tell_by(pools_beside_a_bad_certificate, not_ready, 0660), "mend: restart the pool hot",
          "!mend: hongbao doctor");
    TELLS(pool_tell_by(pools_beside_a_fault, not_ready, 0660), "mend: hongbao doctor", "!mend: restart the pool hot");
    /* connecting needs the right to write */
    TELLS(pool_tell("Status: 200 OK\r\n\r\n", 0662), "wrong: pool-socket-mode:");
    TELLS(pool_tell("Status: 200 OK\r\n\r\n", 0660), "!wrong: pool-socket-mode:");
    not_ready = "Status: 503 Service Unavailable\r\n\r\nredis: no answer\ntables: too old\n";
    TELLS(pool_tell("Content-Type: text/plain\r\n\r\nready\n", 0660), "!hot.sock");
    TELLS(pool_tell("Status: 200 OK\r\n\r\nready\n", 0660), "!hot.sock");
    TELLS(pool_tell(not_ready, 0660), "wrong: pool-not-ready:", "redis: no answer", "tables: too old");
    doctor.redis_is_up = false; /* a finding of its own reports this */
    TELLS(pool_tell(not_ready, 0660), "!redis: no answer", "tables: too old");
}

/* ---- files ---- */

DOCTOR_TEST(a_secret_or_a_file_that_others_may_read_or_change_is_told)
{
    folder_write_as("secret", "", 0640);
    SET(secret_file, "%s", folder_file);
    TELLS(tell(doctor_check_files), "!wrong: secret-file:", "!wrong: secret-weak:");
    assert_int_equal(chmod(config.secret_file, 0644), 0);
    TELLS(tell(doctor_check_files), "wrong: secret-file:");
    SET(secret, "abcabcabcabcabcabcabcabcabcabcabcabc");
    TELLS(tell(doctor_check_files), "wrong: secret-weak:");
    folder_write_as("page.mustache", "", 0664);
    SET(template_dir, "%s", folder);
    TELLS(tell(doctor_check_files), "!wrong: writable-file:");
    folder_write_as("other.mustache", "", 0642);
    TELLS(tell(doctor_check_files), "wrong: writable-file:", "other.mustache", "!page.mustache");
}

DOCTOR_TEST(of_an_installed_site_a_mend_is_a_command)
{
    doctor.is_service = true;
    doctor.has_setup = true;
    folder_write("secret", "");
    SET(secret_file, "%s", folder_file);
    SET(secret, "abcabcabcabcabcabcabcabcabcabcabcabc");
    SET(metrics_file, "%s", folder); /* a folder instead of a file */
    tell(doctor_check_files);
    TOLD("mend: systemctl stop hongbao.target; openssl rand -hex 32 >", "/secret; hongbao setup --non-interactive",
         "wrong: metrics-missing:", arena_printf(arena, "mend: mv %s", folder).ptr);
    tell(doctor_check_pools);
    TOLD("names no socket of these pools: hot; page; auth; card; money\n    mend: hongbao setup --non-interactive\n");
}

/* ---- nginx ---- */

/* What the doctor prints about a server of nginx with these lines, and its address. */
static void nginx_tell(const char *lines, const char *url)
{
    char text[TEXT_BYTES];
    (void)snprintf(text, sizeof text, "http { server { %s } }\n", lines);
    folder_write_as("nginx.conf", text, 0644);
    SET(base_url, "%s", url);
    config.body_bytes_max = 16384;
    assert_true(doctor_nginx_read(&doctor, folder_file));
    tell(doctor_check_nginx);
}

DOCTOR_TEST(base_url_and_the_size_of_a_body_are_compared_with_nginx)
{
    TELLS(nginx_tell("listen 1 ssl;", "https://hongbao.example:1"), "wrong: nginx-port: nothing listens on port 1 ",
          "!nginx-address");
    TELLS(nginx_tell("listen 1;", "https://hongbao.example:1"),
          "wrong: nginx-address:", "mend: base_url = http://hongbao.example:1\n");
    TELLS(nginx_tell("listen 80; listen 1 ssl;", "https://hongbao.example"),
          "wrong: nginx-address:", "mend: base_url = https://hongbao.example:1\n");
    TELLS(nginx_tell("listen 443 ssl;", "https://[::1]:8443"), "mend: base_url = https://[::1]\n");
    TELLS(nginx_tell("listen 1; client_max_body_size 16k;", "http://hongbao.example:1"), "!nginx-body");
    TELLS(nginx_tell("listen 1; client_max_body_size 16383;", "http://hongbao.example:1"),
          "wrong: nginx-body:", "mend: body_bytes_max = 16383\n");
}

/* ---- disks ---- */

DOCTOR_TEST(a_disk_without_room_is_told)
{
    doctor.redis_is_up = false;
    SET(redis, "unix:/nowhere/redis.sock");
    SET(mysql, "unix:/nowhere/mysqld.sock");
    SET(nginx_counts_dir, "%s", folder);
    TELLS(tell(doctor_check_disks), "!wrong: ", "not checked: disk-redis:", "not checked: disk-mysql:");
    doctor.free_mib_min = 1 << 30;
    TELLS(tell(doctor_check_disks), "wrong: disk-logs: only ", "mend: du -x -d 1 /tmp/hb-test-", "!wrong: disk-redis",
          "!wrong: disk-mysql");
}

/* ---- stores ---- */

/* Acts like a tunnel whose store is away: accepts two connections, and closes each without sending anything. */
_Noreturn static void tunnel_serve(int listener)
{
    char asked[16];
    for (int i = 0; i < 2; i++) {
        int fd = accept(listener, NULL, NULL);
        (void)shutdown(fd, SHUT_WR);
        while (read(fd, asked, sizeof asked) > 0)
            continue;
        (void)close(fd);
    }
    _exit(0);
}

DOCTOR_TEST(a_store_behind_a_tunnel_that_closes_connections_is_down)
{
    int listener = listener_open("tunnel.sock");
    SET(redis, "unix:%s", folder_file);
    SET(mysql, "unix:%s", folder_file);
    pid_t tunnel = fork();
    if (tunnel == 0)
        tunnel_serve(listener);
    assert_true(tunnel > 0);
    (void)close(listener);
    tell(doctor_check_roles);
    assert_int_equal(waitpid(tunnel, NULL, 0), tunnel);
    TOLD("wrong: redis-down: Redis does not answer", "wrong: mysql-down: MariaDB does not answer",
         "it accepts connections, and closes them at once", "mend: start Redis, or set redis", "!redis-login",
         "!mysql-login");
}

/* ---- processes ---- */

/* Runs the check for a process that began with this program and these settings; the present ones are 8. */
static void process_tell(uint64_t program, uint64_t settings)
{
    int ready[2];
    char byte;
    SET(metrics_file, "%s", folder_path("metrics"));
    config.file_digest = 8;
    assert_int_equal(pipe(ready), 0);
    pid_t process = fork();
    if (process == 0) {
        metrics_process_with(program, settings);
        if (metrics_open(config.metrics_file))
            metrics_process_begin(METRICS_CARD);
        (void)write(ready[1], "", 1);
        for (;;)
            (void)pause();
    }
    assert_true(process > 0);
    assert_int_equal(read(ready[0], &byte, 1), 1);
    tell(doctor_check_processes);
    assert_int_equal(kill(process, SIGKILL), 0);
    assert_int_equal(waitpid(process, NULL, 0), process);
    (void)close(ready[0]);
    (void)close(ready[1]);
    assert_int_equal(unlink(config.metrics_file), 0);
}

DOCTOR_TEST(a_process_of_another_program_or_with_other_settings_is_told)
{
    process_tell(program_id(), 8);
    assert_string_equal(printed, "");
    TELLS(process_tell(program_id() + 1, 8), "wrong: process-program:", ": card ", "!process-settings");
    TELLS(process_tell(program_id(), 7), "wrong: process-settings:", ": card ", "!process-program");
}

TESTS(NULL, NULL)
