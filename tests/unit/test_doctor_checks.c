/* ops/doctor_pools, doctor_files, doctor_certificates, doctor_nginx, doctor_machine, doctor_processes: what the doctor
 * finds in sockets, files and processes, without stores. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <fastcgi.h>
#include <openssl/ec.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "io/metrics_processes.h"
#include "io/program_id.h"
#include "ops/doctor_internal.h"

enum { ARENA_BYTES = 64 << 10, ARENA_BYTES_MAX = 4 << 20, TEXT_BYTES = 16 << 10, HOUR_S = 3600, DAY_S = 24 * HOUR_S };

static char folder[] = "/tmp/hb-doctor-XXXXXX";
static char path[128], printed[TEXT_BYTES];
static struct config config;
static struct doctor doctor;

static int begin(void **state)
{
    (void)state;
    config = (struct config){ .base_url = "http://hongbao.example", .secret = "0123456789abcdef0123456789abcdef" };
    doctor = (struct doctor){ .config = &config, .nginx_is_read = true, .redis_is_up = true, .mysql_is_up = true };
    doctor.arena = doctor.found.arena = arena_new(ARENA_BYTES, ARENA_BYTES_MAX);
    (void)snprintf(folder, sizeof folder, "/tmp/hb-doctor-XXXXXX");
    return doctor.arena == NULL || mkdtemp(folder) == NULL ? -1 : 0;
}

static int end(void **state)
{
    char command[128];
    (void)state;
    (void)snprintf(command, sizeof command, "rm -r %s", folder);
    arena_free(doctor.arena);
    return system(command);
}

/* A path in the folder, until the next call. */
static const char *in_folder(const char *name)
{
    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static void file_make(const char *name, mode_t mode)
{
    FILE *out = fopen(in_folder(name), "w");
    assert_non_null(out);
    assert_int_equal(fclose(out), 0);
    assert_int_equal(chmod(path, mode), 0);
}

/* What the check prints about what it finds. */
static const char *told(void (*check)(struct doctor *d))
{
    memset(printed, 0, sizeof printed);
    FILE *out = fmemopen(printed, sizeof printed - 1, "w");
    doctor.found = (struct findings){ .arena = doctor.arena };
    check(&doctor);
    assert_non_null(out);
    assert_true(findings_print(&doctor.found, out));
    assert_int_equal(fclose(out), 0);
    return printed;
}

static bool tells(const char *text)
{
    return strstr(printed, text) != NULL;
}

/* ---- pools ---- */

static int listener_open(const char *name)
{
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    (void)snprintf(address.sun_path, sizeof address.sun_path, "%s", in_folder(name));
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_true(fd >= 0);
    assert_int_equal(bind(fd, (const struct sockaddr *)&address, sizeof address), 0);
    assert_int_equal(listen(fd, 1), 0);
    assert_int_equal(chmod(path, S_IRUSR | S_IWUSR), 0);
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

/* What the check prints about the hot pool, whose socket has this mode, and which answers so. */
static void pool_tell_by(void (*check)(struct doctor *d), const char *answer, mode_t mode)
{
    int listener = listener_open("hot.sock");
    assert_int_equal(chmod(path, mode), 0);
    doctor.nginx.sockets = (struct nginx_conf_list){ .items = { path }, .count = 1 };
    pid_t pool = fork();
    if (pool == 0)
        pool_serve(listener, answer);
    assert_true(pool > 0);
    (void)close(listener);
    (void)told(check);
    assert_int_equal(waitpid(pool, NULL, 0), pool);
    assert_int_equal(unlink(path), 0);
}

static void pool_tell(const char *answer, mode_t mode)
{
    pool_tell_by(doctor_check_pools, answer, mode);
}

static void a_pool_that_is_not_ready_is_restarted_unless_something_else_explains_it(void **state)
{
    (void)state;
    const char *not_ready = "Status: 503 Service Unavailable\r\n\r\nfence: closed\n";
    pool_tell_by(pools_beside_a_bad_certificate, not_ready, 0660);
    assert_true(tells("mend: restart the pool hot") && !tells("mend: hongbao doctor"));
    pool_tell_by(pools_beside_a_fault, not_ready, 0660);
    assert_true(tells("mend: hongbao doctor") && !tells("mend: restart the pool hot"));
}

static void a_pool_that_is_not_ready_is_told_with_its_reasons(void **state)
{
    (void)state;
    pool_tell("Content-Type: text/plain\r\n\r\nready\n", 0660);
    assert_false(tells("hot.sock"));
    pool_tell("Status: 200 OK\r\n\r\nready\n", 0660);
    assert_false(tells("hot.sock"));
    pool_tell("Status: 503 Service Unavailable\r\n\r\nredis: no answer\ntables: too old\n", 0660);
    assert_true(tells("wrong: pool-not-ready:"));
    assert_true(tells("redis: no answer") && tells("tables: too old"));
    doctor.redis_is_up = false; /* which is told by its own name */
    pool_tell("Status: 503 Service Unavailable\r\n\r\nredis: no answer\ntables: too old\n", 0660);
    assert_true(!tells("redis: no answer") && tells("tables: too old"));
}

static void a_socket_to_which_everybody_may_connect_is_told(void **state)
{
    (void)state;
    pool_tell("Status: 200 OK\r\n\r\n", 0662); /* to connect is to write */
    assert_true(tells("wrong: pool-socket-mode:"));
    pool_tell("Status: 200 OK\r\n\r\n", 0660);
    assert_false(tells("wrong: pool-socket-mode:"));
}

/* ---- files ---- */

static void a_secret_that_others_may_read_is_told(void **state)
{
    (void)state;
    file_make("secret", 0640);
    (void)snprintf(config.secret_file, sizeof config.secret_file, "%s", path);
    (void)told(doctor_check_files);
    assert_false(tells("wrong: secret-file:"));
    assert_int_equal(chmod(config.secret_file, 0644), 0);
    (void)told(doctor_check_files);
    assert_true(tells("wrong: secret-file:"));
}

static void a_secret_that_somebody_typed_is_told(void **state)
{
    (void)state;
    (void)told(doctor_check_files);
    assert_false(tells("wrong: secret-weak:"));
    (void)snprintf(config.secret, sizeof config.secret, "abcabcabcabcabcabcabcabcabcabcabcabc");
    (void)told(doctor_check_files);
    assert_true(tells("wrong: secret-weak:"));
}

static void of_an_installed_site_a_mend_is_a_command(void **state)
{
    (void)state;
    doctor.is_service = true;
    doctor.has_setup = true;
    file_make("secret", 0600);
    (void)snprintf(config.secret_file, sizeof config.secret_file, "%s", path);
    (void)snprintf(config.secret, sizeof config.secret, "abcabcabcabcabcabcabcabcabcabcabcabc");
    (void)snprintf(config.metrics_file, sizeof config.metrics_file, "%s", folder); /* which is no file */
    (void)told(doctor_check_files);
    assert_true(tells("mend: systemctl stop hongbao.target; openssl rand -hex 32 >") &&
                tells("/secret; hongbao setup --non-interactive"));
    assert_true(tells("wrong: metrics-missing:") && tells("mend: mv /tmp/hb-doctor-"));
    (void)told(doctor_check_pools);
    assert_true(
        tells("names no socket of these pools: hot; page; auth; card\n    mend: hongbao setup --non-interactive\n"));
}

static void a_file_that_everybody_may_change_is_told(void **state)
{
    (void)state;
    file_make("page.mustache", 0664);
    (void)snprintf(config.template_dir, sizeof config.template_dir, "%s", folder);
    (void)told(doctor_check_files);
    assert_false(tells("wrong: writable-file:"));
    file_make("other.mustache", 0642);
    (void)told(doctor_check_files);
    assert_true(tells("wrong: writable-file:") && tells("other.mustache") && !tells("page.mustache"));
}

/* ---- certificates ---- */

/* What the doctor prints about a certificate that is valid between these times, in seconds from now. */
static void certificate_tell(long from_s, long to_s)
{
    EVP_PKEY *key = EVP_EC_gen("P-256");
    X509 *certificate = X509_new();
    X509_NAME *name = X509_get_subject_name(certificate);
    assert_int_equal(
        X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, (const unsigned char *)"hongbao.example", -1, -1, 0), 1);
    assert_int_equal(X509_set_issuer_name(certificate, name), 1);
    assert_non_null(X509_gmtime_adj(X509_getm_notBefore(certificate), from_s));
    assert_non_null(X509_gmtime_adj(X509_getm_notAfter(certificate), to_s));
    assert_int_equal(X509_set_pubkey(certificate, key), 1);
    assert_true(X509_sign(certificate, key, EVP_sha256()) > 0);
    FILE *out = fopen(in_folder("pem"), "w");
    assert_non_null(out);
    assert_int_equal(PEM_write_X509(out, certificate), 1);
    assert_int_equal(fclose(out), 0);
    X509_free(certificate);
    EVP_PKEY_free(key);
    doctor.nginx.certificates = (struct nginx_conf_list){ .items = { path }, .count = 1 };
    (void)told(doctor_check_certificates);
}

static void a_certificate_is_judged_to_the_second(void **state)
{
    (void)state;
    certificate_tell(-HOUR_S, 100L * DAY_S);
    assert_true(!tells("certificate-expire") && !tells("certificate-early"));
    certificate_tell(-2L * HOUR_S, -HOUR_S);
    assert_true(tells("wrong: certificate-expired:"));
    certificate_tell(-HOUR_S, HOUR_S);
    assert_true(tells("wrong: certificate-expires:") && !tells("certificate-expired"));
    certificate_tell(HOUR_S, 100L * DAY_S);
    assert_true(tells("wrong: certificate-early:"));
}

static void a_certificate_for_another_host_is_told(void **state)
{
    (void)state;
    (void)snprintf(config.base_url, sizeof config.base_url, "https://hongbao.example");
    certificate_tell(-HOUR_S, 100L * DAY_S);
    assert_false(tells("certificate-host"));
    (void)snprintf(config.base_url, sizeof config.base_url, "https://other.example");
    certificate_tell(-HOUR_S, 100L * DAY_S);
    assert_true(tells("wrong: certificate-host: no certificate is for other.example"));
    assert_true(tells("mend: nginx -s reload # once "));
    doctor.is_service = true;
    certificate_tell(-HOUR_S, 100L * DAY_S);
    assert_true(tells("mend: hongbao setup --certificate FILE --key FILE # "));
}

static void a_certificate_that_signs_itself_is_told(void **state)
{
    (void)state;
    certificate_tell(-HOUR_S, 100L * DAY_S);
    assert_true(tells("wrong: certificate-self-signed:"));
}

/* ---- nginx ---- */

/* What the doctor prints about a server of nginx with these lines, and its address. */
static void nginx_tell(const char *lines, const char *url)
{
    FILE *out = fopen(in_folder("nginx.conf"), "w");
    assert_non_null(out);
    assert_true(fprintf(out, "http { server { %s } }\n", lines) > 0);
    assert_int_equal(fclose(out), 0);
    (void)snprintf(config.base_url, sizeof config.base_url, "%s", url);
    config.body_bytes_max = 16384;
    nginx_conf_init(&doctor.nginx, doctor.arena, path);
    (void)told(doctor_check_nginx);
}

static void base_url_is_compared_with_what_nginx_listens_on(void **state)
{
    (void)state;
    nginx_tell("listen 1 ssl;", "https://hongbao.example:1");
    assert_true(tells("wrong: nginx-port: nothing listens on port 1 ") && !tells("nginx-address"));
    nginx_tell("listen 1;", "https://hongbao.example:1");
    assert_true(tells("wrong: nginx-address:") && tells("mend: base_url = http://hongbao.example:1\n"));
    nginx_tell("listen 80; listen 1 ssl;", "https://hongbao.example");
    assert_true(tells("wrong: nginx-address:") && tells("mend: base_url = https://hongbao.example:1\n"));
    nginx_tell("listen 443 ssl;", "https://[::1]:8443");
    assert_true(tells("mend: base_url = https://[::1]\n"));
}

static void a_body_that_nginx_refuses_is_told(void **state)
{
    (void)state;
    nginx_tell("listen 1; client_max_body_size 16k;", "http://hongbao.example:1");
    assert_false(tells("nginx-body"));
    nginx_tell("listen 1; client_max_body_size 16383;", "http://hongbao.example:1");
    assert_true(tells("wrong: nginx-body:") && tells("mend: body_bytes_max = 16383\n"));
}

/* ---- logs ---- */

static bool rotates(const char *text)
{
    return doctor_rotates(doctor.arena, str_from(text), "/var/log/nginx/hongbao.access.log");
}

static void a_file_of_logrotate_has_a_log_by_its_path_or_by_a_pattern(void **state)
{
    (void)state;
    assert_true(rotates("/var/log/nginx/*.log {\n\tdaily\n}\n"));
    assert_true(rotates("/var/log/other \"/var/log/nginx/hongbao.access.log\"{\n}"));
    assert_true(rotates("/var/log/nginx/hongbao.access.log"));
    assert_false(rotates("# /var/log/nginx/*.log\n/var/log/*.log {\n}\n"));
    assert_false(rotates("/var/log/nginx/*.log.old\n*.log\n"));
    assert_false(rotates(""));
}

/* ---- disks ---- */

static void a_disk_without_room_is_told(void **state)
{
    (void)state;
    doctor.redis_is_up = false;
    (void)snprintf(config.redis, sizeof config.redis, "unix:/nowhere/redis.sock");
    (void)snprintf(config.mysql, sizeof config.mysql, "unix:/nowhere/mysqld.sock");
    (void)snprintf(config.nginx_counts_dir, sizeof config.nginx_counts_dir, "%s", folder);
    (void)told(doctor_check_disks);
    assert_true(!tells("wrong: ") && tells("not checked: disk-redis:") && tells("not checked: disk-mysql:"));
    doctor.free_mib_min = 1 << 30;
    (void)told(doctor_check_disks);
    assert_true(tells("wrong: disk-logs: only ") && tells("mend: du -x -d 1 /tmp/hb-doctor-"));
    assert_false(tells("wrong: disk-redis") || tells("wrong: disk-mysql"));
}

/* ---- stores ---- */

/* As a tunnel does whose store is away: accepts two connections, and ends each without a word. */
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

static void a_store_behind_a_tunnel_that_closes_connections_is_down(void **state)
{
    (void)state;
    int listener = listener_open("tunnel.sock");
    (void)snprintf(config.redis, sizeof config.redis, "unix:%s", path);
    (void)snprintf(config.mysql, sizeof config.mysql, "unix:%s", path);
    pid_t tunnel = fork();
    if (tunnel == 0)
        tunnel_serve(listener);
    assert_true(tunnel > 0);
    (void)close(listener);
    (void)told(doctor_check_roles);
    assert_int_equal(waitpid(tunnel, NULL, 0), tunnel);
    assert_true(tells("wrong: redis-down: Redis does not answer") &&
                tells("wrong: mysql-down: MariaDB does not answer"));
    assert_true(tells("it accepts connections, and closes them at once") && tells("mend: start Redis, or set redis"));
    assert_false(tells("redis-login") || tells("mysql-login"));
}

/* ---- processes ---- */

/* What the doctor prints about a process that began with this program and these settings; those of now are 8. */
static void process_tell(uint64_t program, uint64_t settings)
{
    int ready[2];
    char byte;
    (void)snprintf(config.metrics_file, sizeof config.metrics_file, "%s", in_folder("metrics"));
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
    (void)told(doctor_check_processes);
    assert_int_equal(kill(process, SIGKILL), 0);
    assert_int_equal(waitpid(process, NULL, 0), process);
    (void)close(ready[0]);
    (void)close(ready[1]);
    assert_int_equal(unlink(config.metrics_file), 0);
}

static void a_process_of_another_program_or_with_other_settings_is_told(void **state)
{
    (void)state;
    process_tell(program_id(), 8);
    assert_string_equal(printed, "");
    process_tell(program_id() + 1, 8);
    assert_true(tells("wrong: process-program:") && tells(": card ") && !tells("process-settings"));
    process_tell(program_id(), 7);
    assert_true(tells("wrong: process-settings:") && tells(": card ") && !tells("process-program"));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_pool_that_is_not_ready_is_told_with_its_reasons),
        TEST(a_pool_that_is_not_ready_is_restarted_unless_something_else_explains_it),
        TEST(a_socket_to_which_everybody_may_connect_is_told),
        TEST(a_secret_that_others_may_read_is_told),
        TEST(a_secret_that_somebody_typed_is_told),
        TEST(a_file_that_everybody_may_change_is_told),
        TEST(of_an_installed_site_a_mend_is_a_command),
        TEST(a_certificate_is_judged_to_the_second),
        TEST(a_certificate_for_another_host_is_told),
        TEST(a_certificate_that_signs_itself_is_told),
        TEST(base_url_is_compared_with_what_nginx_listens_on),
        TEST(a_body_that_nginx_refuses_is_told),
        TEST(a_file_of_logrotate_has_a_log_by_its_path_or_by_a_pattern),
        TEST(a_disk_without_room_is_told),
        TEST(a_store_behind_a_tunnel_that_closes_connections_is_down),
        TEST(a_process_of_another_program_or_with_other_settings_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
