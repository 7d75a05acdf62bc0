#include "test_migrate_fixture.h"
#include "support/test.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "migrate/migrate.h"
#include "mysql/db.h"

bool migrator_dies(const struct config *config, const char *sql_dir, const char *point, unsigned n)
{
    char crash[64];
    int how;
    snprintf(crash, sizeof crash, "%s:%u", point, n);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        if (setenv("HB_CRASH", crash, 1) != 0)
            _exit(2);
        _exit(migrate_run(db_new(config), sql_dir, NULL) == ST_OK ? 0 : 2);
    }
    assert_int_equal(waitpid(child, &how, 0), child);
    if (WIFEXITED(how))
        assert_int_equal(WEXITSTATUS(how), 0);
    else
        assert_int_equal(WTERMSIG(how), SIGKILL);
    return WIFSIGNALED(how);
}
