/* ops/nginx_conf: what the doctor reads of nginx's files. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ops/nginx_conf.h"

static char folder[] = "/tmp/hongbao-nginx-XXXXXX";
static char path[64];
static struct arena *arena;
static struct nginx_conf conf;

static int begin(void **state)
{
    (void)state;
    arena = arena_new(4096, 1 << 22);
    if (arena == NULL || mkdtemp(folder) == NULL)
        return -1;
    snprintf(path, sizeof path, "%s/nginx.conf", folder);
    return 0;
}

static int end(void **state)
{
    (void)state;
    char command[64];
    snprintf(command, sizeof command, "rm -r %s", folder);
    arena_free(arena);
    return system(command);
}

static void file_write(const char *name, const char *text)
{
    char file[128];
    snprintf(file, sizeof file, "%s/%s", folder, name);
    FILE *out = fopen(file, "w");
    assert_non_null(out);
    assert_true(fputs(text, out) >= 0);
    assert_int_equal(fclose(out), 0);
}

static enum status read_text(const char *text)
{
    file_write("nginx.conf", text);
    nginx_conf_init(&conf, arena, path);
    return nginx_conf_read(&conf);
}

static void directives_are_read_in_every_block(void **state)
{
    (void)state;
    assert_int_equal(read_text("user x; # listen 1;\nhttp {\n  client_max_body_size 16k;\n"
                               "  upstream a { server \"unix:/run/a b/hot.sock\" max_fails=0; server 127.0.0.1:1; }\n"
                               "  server { listen 443 ssl http2; listen [::]:80;listen unix:/x;\n"
                               "    ssl_certificate 'a/full.pem'; ssl_certificate_key /etc/key;\n"
                               "    location / { client_max_body_size 2k; fastcgi_pass unix:/run/page.sock; }\n"
                               "    location /b { fastcgi_pass unix:/run/page.sock; } }\n}\n"),
                     ST_OK);
    assert_int_equal(conf.listens.count, 3);
    assert_string_equal(conf.listens.items[0], "443 ssl http2");
    assert_string_equal(conf.listens.items[1], "[::]:80");
    assert_int_equal(conf.sockets.count, 2);
    assert_string_equal(conf.sockets.items[0], "/run/a b/hot.sock");
    assert_string_equal(conf.sockets.items[1], "/run/page.sock");
    assert_int_equal(conf.certificates.count, 1);
    assert_true(str_ends(str_from(conf.certificates.items[0]), STR("/a/full.pem")));
    assert_true(str_starts(str_from(conf.certificates.items[0]), str_from(folder)));
    assert_string_equal(conf.keys.items[0], "/etc/key");
    assert_int_equal(conf.body_bytes_max, 16 << 10);
}

static void access_logs_of_the_site_are_read_each_once(void **state)
{
    (void)state;
    assert_int_equal(read_text("access_log /log/a hongbao buffer=64k; access_log /log/a hongbao; access_log off;"
                               "access_log log/b hongbao; access_log /log/count hongbao_count if=$x;"
                               "access_log syslog:server=192.0.2.1 hongbao; access_log /log/$host hongbao;"),
                     ST_OK);
    assert_int_equal(conf.logs.count, 2);
    assert_string_equal(conf.logs.items[0], "/log/a");
    assert_true(str_ends(str_from(conf.logs.items[1]), STR("/log/b")));
}

static void includes_are_followed(void **state)
{
    (void)state;
    file_write("one.conf", "listen 1;");
    file_write("two.conf", "listen 2; include one.conf;");
    assert_int_equal(read_text("include two.conf; listen 3;"), ST_OK);
    assert_int_equal(conf.listens.count, 3);
    assert_string_equal(conf.listens.items[1], "1");
    assert_int_equal(read_text("include t*.conf; include none-*.conf;"), ST_OK);
    assert_int_equal(conf.listens.count, 2);
    assert_int_equal(read_text("include none.conf;"), ST_UNAVAILABLE);
    assert_non_null(strstr(conf.error, "none.conf: No such file"));
    file_write("round.conf", "include round.conf;");
    assert_int_equal(read_text("include round.conf;"), ST_INVALID);
    assert_non_null(strstr(conf.error, "too many includes"));
}

static void sizes_have_units_and_zero_is_without_limit(void **state)
{
    (void)state;
    assert_int_equal(read_text("client_max_body_size 1M;"), ST_OK);
    assert_int_equal(conf.body_bytes_max, 1 << 20);
    assert_int_equal(read_text("client_max_body_size 100;"), ST_OK);
    assert_int_equal(conf.body_bytes_max, 100);
    assert_int_equal(read_text("client_max_body_size 0; client_max_body_size 1k;"), ST_OK);
    assert_int_equal(conf.body_bytes_max, INT64_MAX);
    assert_int_equal(read_text("client_max_body_size 16k; location /a { client_max_body_size 5m; }"), ST_OK);
    assert_int_equal(conf.body_bytes_max, 16 << 10); /* 5m is of uploads (web/router.h) */
    assert_int_equal(read_text("client_max_body_size much;"), ST_OK);
    assert_int_equal(conf.body_bytes_max, -1);
}

static void half_a_file_is_read_as_far_as_it_goes(void **state)
{
    static const char *const texts[] = {
        "", ";", "{", "}", "\"", "'\\", "listen", "listen 1", "#", "include", "a \"b"
    };
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        assert_int_equal(read_text(texts[i]), ST_OK);
        assert_int_equal(conf.listens.count, 0);
    }
    assert_int_equal(read_text("listen;"), ST_OK);
    assert_string_equal(conf.listens.items[0], "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(directives_are_read_in_every_block),
        cmocka_unit_test(access_logs_of_the_site_are_read_each_once),
        cmocka_unit_test(includes_are_followed),
        cmocka_unit_test(sizes_have_units_and_zero_is_without_limit),
        cmocka_unit_test(half_a_file_is_read_as_far_as_it_goes),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
