/* doctor/nginx_conf: the parts of nginx's files that the doctor reads. site/nginx_counts: the size of a file of nginx
 * is the number of requests that its limit has refused. */
#include "doctor/nginx_conf.h"
#include "site/nginx_counts.h"
#include "support/test_folder.h"

static struct nginx_conf conf;

static enum status read_text(const char *text)
{
    folder_write_as("nginx.conf", text, 0644);
    nginx_conf_init(&conf, arena, folder_file);
    return nginx_conf_read(&conf);
}

TEST(directives_are_read_in_every_block_and_access_logs_each_once)
{
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
    assert_int_equal(read_text("access_log /log/a hongbao buffer=64k; access_log /log/a hongbao; access_log off;"
                               "access_log log/b hongbao; access_log /log/count hongbao_count if=$x;"
                               "access_log syslog:server=192.0.2.1 hongbao; access_log /log/$host hongbao;"),
                     ST_OK);
    assert_int_equal(conf.logs.count, 2);
    assert_string_equal(conf.logs.items[0], "/log/a");
    assert_true(str_ends(str_from(conf.logs.items[1]), STR("/log/b")));
}

TEST(includes_are_followed_sizes_have_units_and_half_a_file_is_read)
{
    folder_write_as("one.conf", "listen 1;", 0644);
    folder_write_as("two.conf", "listen 2; include one.conf;", 0644);
    assert_int_equal(read_text("include two.conf; listen 3;"), ST_OK);
    assert_int_equal(conf.listens.count, 3);
    assert_string_equal(conf.listens.items[1], "1");
    assert_int_equal(read_text("include t*.conf; include none-*.conf;"), ST_OK);
    assert_int_equal(conf.listens.count, 2);
    assert_int_equal(read_text("include none.conf;"), ST_UNAVAILABLE);
    assert_non_null(strstr(conf.error, "none.conf: No such file"));
    folder_write_as("round.conf", "include round.conf;", 0644);
    assert_int_equal(read_text("include round.conf;"), ST_INVALID);
    assert_non_null(strstr(conf.error, "too many includes"));
    static const struct {
        const char *text;
        int64_t bytes;
    } rows[] = { { "client_max_body_size 1M;", 1 << 20 },
                 { "client_max_body_size 100;", 100 },
                 { "client_max_body_size 0; client_max_body_size 1k;", 1 << 10 }, /* 0: nginx's answers to 413 */
                 { "client_max_body_size 16k; location /a { client_max_body_size 5m; }",
                   16 << 10 }, /* uploads: web/router.h */
                 { "client_max_body_size much;", -1 } };
    EACH (row, rows) {
        assert_int_equal(read_text(row->text), ST_OK);
        if (conf.body_bytes_max != row->bytes)
            fail_msg("%s is %lld", row->text, (long long)conf.body_bytes_max);
    }
    static const char *const texts[] = {
        "", ";", "{", "}", "\"", "'\\", "listen", "listen 1", "#", "include", "a \"b"
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        assert_int_equal(read_text(texts[i]), ST_OK);
        assert_int_equal(conf.listens.count, 0);
    }
    assert_int_equal(read_text("listen;"), ST_OK);
    assert_string_equal(conf.listens.items[0], "");
}

/* Appends as nginx does, so many lines. */
static void refuse(const char *name, size_t times)
{
    FILE *f = fopen(folder_path(name), "a");
    assert_non_null(f);
    for (size_t i = 0; i < times; i++)
        assert_int_equal(fputc('\n', f), '\n');
    assert_int_equal(fclose(f), 0);
}

TEST(each_file_is_the_count_of_its_limit)
{
    struct metric_sample counts[NGINX_COUNTS_MAX];
    assert_int_equal(nginx_counts_read(folder, counts), 0);
    assert_int_equal(nginx_counts_read("/no/such/folder", counts), 0);
    refuse("hongbao-limited-visitor", 3);
    refuse("hongbao-limited-guest", 0);
    refuse("hongbao-limited-login", 1);
    assert_int_equal(mkdir(folder_path("hongbao-limited-connections"), 0700), 0); /* no file of nginx: not counted */
    assert_int_equal(nginx_counts_read(folder, counts), 3);
    static const struct metric_sample wanted[] = { { "hongbao_limited_total{limit=\"nginx_visitor\"}", 3 },
                                                   { "hongbao_limited_total{limit=\"nginx_guest\"}", 0 },
                                                   { "hongbao_limited_total{limit=\"nginx_login\"}", 1 } };
    for (size_t i = 0; i < 3; i++) {
        assert_string_equal(counts[i].name, wanted[i].name);
        assert_int_equal(counts[i].value, wanted[i].value);
    }
    refuse("hongbao-limited-login", 4);
    assert_int_equal(nginx_counts_read(folder, counts), 3);
    assert_int_equal(counts[2].value, 5);
}

TESTS(folder_setup, folder_teardown)
