/* config/issuer: what the settings of a login by an issuer may be, and the file of its secret. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "config/issuer.h"
#include "support/test.h"

TEST(an_issuer_is_an_https_address_to_the_letter_or_a_loopback)
{
    EACH_TEXT (url, "", "https://id.example.com", "https://id.example.com/", "https://id.example.com:8443/realms/staff",
               "https://[2001:db8::1]/x", "http://127.0.0.1:3000", "http://localhost/oidc", "http://[::1]:9")
        if (issuer_mistake(url) != NULL)
            fail_msg("%s: %s", url, issuer_mistake(url));
    static const struct {
        const char *url, *says;
    } wrong[] = {
        { "id.example.com", "it must begin with https://" },
        { "ftp://id.example.com", "it must begin with https://" },
        { "https://", "it has no host" },
        { "https://a@id.example.com", "it has a character that no host has" },
        { "https://id.example.com?x=1", "it must have no query and no fragment" },
        { "https://id.example.com/a#b", "it must have no query and no fragment" },
        { "https://id.example.com/a b", "its path has a character that no path has" },
        { "https://id.example.com:0/", "its port must be a number from 1 to 65535" },
        { "http://id.example.com", "it must begin with https://; http:// is for a loopback address alone" },
        { "http://localhost.example.com", "it must begin with https://; http:// is for a loopback address alone" },
        { "http://127.0.0.1.example.com", "it must begin with https://; http:// is for a loopback address alone" },
    };
    EACH (row, wrong) {
        const char *mistake = issuer_mistake(row->url);
        if (mistake == NULL || strcmp(mistake, row->says) != 0)
            fail_msg("%s: %s", row->url, mistake == NULL ? "taken" : mistake);
    }
}

TEST(each_of_the_other_texts_has_its_rule)
{
    static const struct {
        bool (*valid)(const char *text);
        const char *right[4], *wrong[5];
    } rules[] = {
        { issuer_scopes_valid,
          { "openid", "openid profile email", "groups openid" },
          { "", "profile", "openid  email", "openid,email", "openid a\"b" } },
        { issuer_claim_valid, { "", "preferred_username", "https://x.example/groups" }, { "a b", "a,b", "é" } },
        { issuer_name_valid, { "", "公司账号", "Example GmbH" }, { "a  b", "\u202e", " a" } },
        { issuer_domains_valid,
          { "", "example.com", "example.com, b.example" },
          { "@example.com", "example.com:1", "a,,b", "exa mple", "例子.公司" } },
        { issuer_hosts_valid,
          { "", "www.googleapis.com,oauth2.googleapis.com", "127.0.0.1:3000", "[::1]:1" },
          { "https://x", "x/y", "a,,b", "x:0", "-a" } },
        { issuer_groups_valid, { "", "staff", "Domain Users, 财务" }, { ",", "a,,b" } },
    };
    EACH (rule, rules) {
        for (size_t i = 0; i < ARRAY_LEN(rule->right) && rule->right[i] != NULL; i++)
            if (!rule->valid(rule->right[i]))
                fail_msg("refused: %s", rule->right[i]);
        for (size_t i = 0; i < ARRAY_LEN(rule->wrong) && rule->wrong[i] != NULL; i++)
            if (rule->valid(rule->wrong[i]))
                fail_msg("taken: %s", rule->wrong[i]);
    }
    char many[34 * 2] = "a";
    for (size_t i = 0; i < 32; i++)
        strcat(many, ",a");
    assert_false(issuer_groups_valid(many));
}

TEST(a_list_is_read_entry_by_entry_without_its_blanks)
{
    struct str list = STR(" a b , c,d "), entry;
    EACH_TEXT (wanted, "a b", "c", "d") {
        assert_true(issuer_list_next(&list, &entry));
        assert_true(str_equal(entry, str_from(wanted)));
    }
    assert_false(issuer_list_next(&list, &entry));
    assert_false(issuer_list_next(&list, &entry));
}

TEST(the_secret_is_the_first_line_of_its_file)
{
    char path[] = "/tmp/hongbao-issuer.XXXXXX", secret[CONFIG_TEXT_MAX], long_line[CONFIG_TEXT_MAX + 2];
    struct config c = { 0 };
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    memset(long_line, 'x', sizeof long_line - 1);
    long_line[sizeof long_line - 1] = '\0';
    const struct {
        const char *text;
        enum issuer_secret result;
        const char *secret;
    } files[] = { { " s3 cret \nmore\n", ISSUER_SECRET_RIGHT, "s3 cret" },
                  { "without an end", ISSUER_SECRET_RIGHT, "without an end" },
                  { "", ISSUER_SECRET_EMPTY, "" },
                  { "\nbelow\n", ISSUER_SECRET_EMPTY, "" },
                  { long_line, ISSUER_SECRET_LONG, "" },
                  { long_line + 2, ISSUER_SECRET_RIGHT, long_line + 2 } };
    assert_int_equal(issuer_secret_read(&c, secret), ISSUER_SECRET_NONE);
    strcpy(c.oidc_client_secret_file, path);
    EACH (row, files) {
        const size_t len = strlen(row->text);
        assert_int_equal(ftruncate(fd, 0), 0);
        assert_int_equal(pwrite(fd, row->text, len, 0), len);
        assert_int_equal(issuer_secret_read(&c, secret), row->result);
        assert_string_equal(secret, row->secret);
    }
    assert_int_equal(close(fd), 0);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(issuer_secret_read(&c, secret), ISSUER_SECRET_NOT_READ);
    assert_int_equal(errno, ENOENT);
    strcpy(c.oidc_client_secret_file, "/tmp");
    assert_int_equal(issuer_secret_read(&c, secret), ISSUER_SECRET_NOT_READ);
    assert_int_equal(errno, EISDIR);
}

TESTS(NULL, NULL)
