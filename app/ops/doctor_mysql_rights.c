/* The rights of each role in MariaDB, compared with deploy/rights/grants.sql. */
#include <string.h>
#include <unistd.h>

#include "base/address.h"
#include "base/array.h"
#include "ops/check.h"
#include "ops/doctor_internal.h"
#include "ops/doctor_words.h"
#include "ops/rights.h"

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

/* The end of one right of a list: "SELECT (a, b), INSERT" has its first comma outside of parentheses at 13. */
static size_t right_end(struct str list)
{
    size_t i = 0;
    for (int depth = 0; i < list.len && !(depth == 0 && list.ptr[i] == ','); i++)
        depth += list.ptr[i] == '(' ? 1 : list.ptr[i] == ')' ? -1 : 0;
    return i;
}

/* "UPDATE (`a`, b)" on an object: one word for each column. */
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

static void expected_read(struct doctor *d, const struct doctor_role *role, struct words *w)
{
    const char *database = role->config.mysql_database;
    file_add(w, rights_grants, role->name, database, d->arena);
    if (d->config->demo)
        file_add(w, rights_grants_demo, role->name, database, d->arena);
    if (role == &d->roles[ROLE_MIGRATE])
        words_add(w, STR("ALL PRIVILEGES on *"));
}

static bool actual_read(struct doctor *d, const struct doctor_role *role, struct words *w)
{
    struct db_rows rows;
    const char *database = role->config.mysql_database;
    if (db_query(role->db, d->arena, &rows, "SHOW GRANTS", NULL, 0) != ST_OK)
        return false;
    for (size_t i = 0; i < rows.count; i++) {
        struct str line = db_cell(&rows, i, 0);
        /* Databases of tests, beside the own one, are the migrator's business. */
        if (role == &d->roles[ROLE_MIGRATE] && str_after(line, STR("\\_%`.*")).ptr != NULL)
            continue;
        grant_add(w, line, database, d->arena);
    }
    return true;
}

/* The options by which the administrator reaches the first address: of Debian's server root without a password; of a
 * server that existed before the site only its administrator knows them. */
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

const char *doctor_grants(struct doctor *d)
{
    const char *folder = finding_text(&d->found, "%s/rights", config_data_dir());
    const char *file = finding_text(&d->found, "%s/grants.sql", folder);
    if (file == NULL || access(file, F_OK) != 0)
        folder = "deploy/rights";
    const char *demo = d->config->demo ? finding_text(&d->found, " %s/grants-demo.sql", folder) : "";
    return finding_text(&d->found, "cat %s/grants.sql%s | %s", folder, demo == NULL ? "" : demo,
                        doctor_mariadb_client(d, "mariadb"));
}

static void rights_compare(struct doctor *d, const struct doctor_role *role)
{
    struct words *expected = arena_alloc(d->arena, sizeof *expected), *actual = arena_alloc(d->arena, sizeof *actual);
    if (expected == NULL || actual == NULL || !actual_read(d, role, actual))
        return;
    expected_read(d, role, expected);
    const char *mend = doctor_grants(d);
    const char *lacks = words_without(expected, actual, d->arena), *more = words_without(actual, expected, d->arena);
    if (lacks[0] != '\0')
        finding_wrong(&d->found, "mysql-right-missing", d->is_service ? DOCTOR_SETUP : mend, "in MariaDB, %s lacks %s",
                      role->config.mysql_user, lacks);
    if (more[0] != '\0')
        finding_wrong(&d->found, "mysql-right-excess", d->is_service ? "hongbao setup" : mend,
                      "in MariaDB, %s has more than it needs: %s", role->config.mysql_user, more);
}

void doctor_check_mysql_rights(struct doctor *d)
{
    if (d->config->rights_dir[0] == '\0') {
        finding_unchecked(&d->found, "mysql-rights", "rights_dir is empty: all roles are one user");
        return;
    }
    for (size_t i = 0; i < ROLE_COUNT; i++)
        if (d->roles[i].db != NULL)
            rights_compare(d, &d->roles[i]);
}
