/* The rights of each role in MariaDB, compared with deploy/rights/grants.sql. */
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/buf.h"
#include "config/address.h"
#include "config/settings.h"
#include "doctor/check.h"
#include "doctor/doctor_internal.h"
#include "doctor/doctor_words.h"
#include "doctor/rights.h"

enum { NAME_BYTES_MAX = 256 };

/* Removes the quotes of names and the database: "`hongbao`.`packet`" is packet. */
static struct str object_name(struct str text, const char *database, struct arena *a)
{
    char *name = arena_cstr(a, text);
    size_t len = 0;
    if (name == NULL)
        return STR("");
    for (size_t i = 0; i < text.len; i++)
        if (text.ptr[i] != '`')
            name[len++] = text.ptr[i];
    static const struct str KINDS[] = { STR("PROCEDURE "), STR("FUNCTION ") };
    struct str out = { name, len }, kind = STR("");
    for (size_t i = 0; i < ARRAY_LEN(KINDS); i++)
        if (str_skip_prefix(&out, KINDS[i]))
            kind = KINDS[i];
    (void)str_skip_prefix(&out, arena_printf(a, "%s.", database));
    return kind.len == 0 ? out : arena_printf(a, "%.*s%.*s", STR_ARG(kind), STR_ARG(out));
}

/* The position of the end of the first right of a list: "SELECT (a, b), INSERT" has its first comma outside of
 * parentheses at 13. */
static size_t right_end(struct str list)
{
    size_t i = 0;
    for (int depth = 0; i < list.len && !(depth == 0 && list.ptr[i] == ','); i++)
        depth += list.ptr[i] == '(' ? 1 : list.ptr[i] == ')' ? -1 : 0;
    return i;
}

/* Adds the right, as "UPDATE (`a`, b)", on an object: one word for each column. */
static void right_add(struct words *w, struct str right, struct str object, struct arena *a)
{
    struct str columns, word = str_trim(str_cut(right, '(', &columns)), rest;
    if (str_equal(word, STR("USAGE")))
        return;
    if (columns.ptr == NULL) {
        words_add(w, arena_printf(a, "%.*s on %.*s", STR_ARG(word), STR_ARG(object)));
        return;
    }
    rest = str_cut(columns, ')', &columns);
    while (rest.ptr != NULL) {
        struct str column = object_name(str_trim(str_cut(rest, ',', &rest)), "", a);
        words_add(w, arena_printf(a, "%.*s(%.*s) on %.*s", STR_ARG(word), STR_ARG(column), STR_ARG(object)));
    }
}

/* Adds the rights of "GRANT … ON object TO …". */
static void grant_add(struct words *w, struct str line, const char *database, struct arena *a)
{
    if (!str_skip_prefix(&line, STR("GRANT ")))
        return;
    size_t on = str_find(line, STR(" ON "));
    if (on == line.len)
        return;
    struct str rights = str_slice(line, 0, on), object = str_skip(line, on + 4);
    object = object_name(str_slice(object, 0, str_find(object, STR(" TO "))), database, a);
    while (rights.len > 0) {
        size_t end = right_end(rights);
        right_add(w, str_trim(str_slice(rights, 0, end)), object, a);
        rights = str_skip(rights, end < rights.len ? end + 1 : end);
    }
}

/* Adds what the file grants to the role. */
static void file_add(struct words *w, const char *file, const char *role, const char *database, struct arena *a)
{
    struct str rest = str_from(file), to = arena_printf(a, " TO 'hongbao_%s'@", role);
    while (rest.ptr != NULL) {
        struct str line = str_cut(rest, '\n', &rest);
        if (str_after(line, to).ptr != NULL)
            grant_add(w, line, database, a);
    }
}

void doctor_tables_read(struct doctor *d, struct words *w)
{
    struct str rest = str_from(rights_grants), object;
    while (rest.ptr != NULL) {
        struct str line = str_cut(rest, '\n', &rest);
        if (!str_skip_prefix(&line, STR("GRANT ")))
            continue;
        object = str_after(line, STR(" ON "));
        object = object_name(str_slice(object, 0, str_find(object, STR(" TO "))), "", d->arena);
        const bool is_table = str_find(object, STR(" ")) == object.len && str_find(object, STR(".")) == object.len;
        if (is_table && !str_equal(object, STR("*")))
            words_add(w, object);
    }
}

static void expected_read(struct doctor *d, const struct doctor_role *role, struct words *w)
{
    const char *database = role->config.mysql_database;
    file_add(w, rights_grants, role->name, database, d->arena);
    if (d->config->demo)
        file_add(w, rights_grants_demo, role->name, database, d->arena);
    if (role == &d->roles[ROLE_MIGRATE])
        words_add(w, STR("ALL PRIVILEGES on *"));
}

/* Reads the rights that MariaDB shows for the role. The rights of PUBLIC, which SHOW GRANTS lists for each user, go to
 * `everybody`. */
static bool actual_read(struct doctor *d, const struct doctor_role *role, struct words *w, struct words *everybody)
{
    struct db_rows rows;
    const char *database = role->config.mysql_database;
    if (db_query(role->db, d->arena, &rows, "SHOW GRANTS", NULL, 0) != ST_OK)
        return false;
    for (size_t i = 0; i < rows.count; i++) {
        struct str line = db_cell(&rows, i, 0);
        /* The migrator may have rights on databases of tests beside its own database. */
        if (role == &d->roles[ROLE_MIGRATE] && str_after(line, STR("\\_%`.*")).ptr != NULL)
            continue;
        grant_add(str_ends(line, STR(" TO PUBLIC")) ? everybody : w, line, database, d->arena);
    }
    return true;
}

/* The options by which the administrator reaches the first address. Debian's server lets root in without a password;
 * for a server that existed before the site, only its administrator knows the options. */
static const char *mysql_options_text(struct doctor *d)
{
    struct address_list list;
    const bool is_of_others = d->is_service && check_mysql_unit(d->config) == NULL;
    if (address_list_read(str_from(d->config->mysql), &list) != NULL)
        return "";
    const struct address *first = &list.items[0];
    const char *user = is_of_others ? "ADMINISTRATOR" : "root";
    return first->port == 0
               ? finding_text(&d->found, "--socket=%s --user=%s%s", first->name, user,
                              is_of_others ? " --password" : "")
               : finding_text(&d->found, "--host=%s --port=%u --user=%s --password", first->name, first->port, user);
}

const char *doctor_mariadb_client(struct doctor *d, const char *program)
{
    return finding_text(&d->found, "%s %s %s", program, mysql_options_text(d), d->config->mysql_database);
}

const char *doctor_mariadb(struct doctor *d, const char *statement)
{
    return finding_text(&d->found, "%s -e \"%s\"", doctor_mariadb_client(d, "mariadb"),
                        statement == NULL ? "" : statement);
}

/* The host from which the roles connect, as MariaDB sees it: "localhost", or the name of another machine. */
static struct str host_of_roles(struct doctor *d)
{
    struct db_rows rows;
    for (size_t i = 0; i < ROLE_COUNT; i++)
        if (d->roles[i].db != NULL && db_query(d->roles[i].db, d->arena, &rows,
                                               "SELECT SUBSTRING_INDEX(CURRENT_USER(), '@', -1)", NULL, 0) == ST_OK)
            return db_cell(&rows, 0, 0);
    return STR("localhost");
}

const char *doctor_grants(struct doctor *d)
{
    const char *folder = finding_text(&d->found, "%s/rights", config_data_dir());
    const char *file = finding_text(&d->found, "%s/grants.sql", folder);
    if (file == NULL || access(file, F_OK) != 0)
        folder = "deploy/rights";
    const char *demo = d->config->demo ? finding_text(&d->found, " %s/grants-demo.sql", folder) : "";
    const struct str host = host_of_roles(d);
    const char *as_users = str_equal(host, STR("localhost"))
                               ? ""
                               : finding_text(&d->found, " | sed \"s/@'localhost'/@'%.*s'/g\"", STR_ARG(host));
    return finding_text(&d->found, "cat %s/grants.sql%s%s | %s", folder, demo == NULL ? "" : demo, as_users,
                        doctor_mariadb_client(d, "mariadb"));
}

/* The object of a right in the words of GRANT: `hongbao`.`packet` for "packet", all tables for "*". */
static struct str object_text(const char *database, struct str object, struct arena *a)
{
    static const struct str KINDS[] = { STR("PROCEDURE "), STR("FUNCTION ") };
    struct str rest, kind = STR(""), name;
    for (size_t i = 0; i < ARRAY_LEN(KINDS); i++)
        if (str_skip_prefix(&object, KINDS[i]))
            kind = KINDS[i];
    name = str_cut(object, '.', &rest);
    if (rest.ptr == NULL) {
        rest = name;
        name = str_from(database);
    }
    const char *quote = str_equal(name, STR("*")) ? "" : "`", *quote_rest = str_equal(rest, STR("*")) ? "" : "`";
    return arena_printf(a, "%.*s%s%.*s%s.%s%.*s%s", STR_ARG(kind), quote, STR_ARG(name), quote, quote_rest,
                        STR_ARG(rest), quote_rest);
}

/* The command that revokes from `from` the words of actual that expected lacks. */
static const char *revoke_mend(struct doctor *d, const struct words *actual, const struct words *expected,
                               const char *from)
{
    struct buf out = BUF_EMPTY;
    for (size_t i = 0; i < actual->count; i++) {
        struct str word = actual->items[i], object, right;
        const size_t on = str_find(word, STR(" on "));
        if (on == word.len || (expected != NULL && words_have(expected, word)))
            continue;
        right = str_slice(word, 0, on);
        object = object_text(d->config->mysql_database, str_skip(word, on + 4), d->arena);
        buf_printf(&out, "%sREVOKE %.*s ON %.*s FROM %s", out.len > 0 ? "; " : "", STR_ARG(right), STR_ARG(object),
                   from);
    }
    const char *statements = arena_cstr(d->arena, str_or_empty(buf_view(&out)));
    buf_free(&out);
    /* Single quotes keep the shell away from the backticks. */
    return statements == NULL || strchr(statements, '\'') != NULL
               ? finding_text(&d->found, "%s # REVOKE what the text names", doctor_mariadb_client(d, "mariadb"))
               : finding_text(&d->found, "%s -e '%s'", doctor_mariadb_client(d, "mariadb"), statements);
}

/* Reports the rights that roles have beyond their own. */
static void excess_tell(struct doctor *d, const struct doctor_role *role, const struct words *actual,
                        const struct words *expected)
{
    const char *more = words_without(actual, expected, d->arena);
    const struct str host = host_of_roles(d);
    if (more[0] == '\0')
        return;
    finding_wrong(&d->found, "mysql-right-excess",
                  revoke_mend(d, actual, expected,
                              finding_text(&d->found, "`%s`@`%.*s`", role->config.mysql_user, STR_ARG(host))),
                  "in MariaDB, %s has more than it needs: %s", role->config.mysql_user, more);
}

/* On a server with other databases, only the rights that reach the site: what the administrator grants everybody
 * elsewhere does not concern us. */
static const struct words *words_of_site(struct doctor *d, const struct words *all)
{
    struct words *own = arena_alloc(d->arena, sizeof *own);
    for (size_t i = 0; own != NULL && i < all->count; i++) {
        const struct str object = str_after(all->items[i], STR(" on "));
        if (str_find(object, STR(".")) == object.len || str_starts(object, STR("*.")) ||
            str_starts(object, STR("mysql.")))
            words_add(own, all->items[i]);
    }
    return own == NULL ? all : own;
}

/* Reports rights of PUBLIC, which every role has, too: a fresh MariaDB has some on the database `test`. */
static void everybody_tell(struct doctor *d, const struct words *everybody)
{
    static const struct words nothing;
    if (check_mysql_unit(d->config) == NULL)
        everybody = words_of_site(d, everybody);
    const char *all = words_without(everybody, &nothing, d->arena);
    if (all[0] != '\0')
        finding_wrong(&d->found, "mysql-right-excess", revoke_mend(d, everybody, NULL, "PUBLIC"),
                      "in MariaDB, everybody, and so each role, has %s", all);
}

static void rights_compare(struct doctor *d, const struct doctor_role *role, struct words *everybody)
{
    struct words *expected = arena_alloc(d->arena, sizeof *expected), *actual = arena_alloc(d->arena, sizeof *actual);
    if (expected == NULL || actual == NULL || !actual_read(d, role, actual, everybody))
        return;
    expected_read(d, role, expected);
    const char *lacks = words_without(expected, actual, d->arena);
    if (lacks[0] != '\0')
        finding_of(&d->found, "mysql-right-missing", d->has_setup ? DOCTOR_SETUP : doctor_grants(d),
                   "roles lack rights in MariaDB",
                   finding_text(&d->found, "%s lacks %s", role->config.mysql_user, lacks));
    excess_tell(d, role, actual, expected);
}

void doctor_check_mysql_rights(struct doctor *d)
{
    if (d->config->rights_dir[0] == '\0') {
        finding_unchecked(&d->found, "mysql-rights", "rights_dir is empty: all roles are one user");
        return;
    }
    struct words *everybody = arena_alloc(d->arena, sizeof *everybody);
    for (size_t i = 0; everybody != NULL && i < ROLE_COUNT; i++)
        if (d->roles[i].db != NULL)
            rights_compare(d, &d->roles[i], everybody);
    if (everybody != NULL)
        everybody_tell(d, everybody);
}
