/* ops/doctor_units: what `hongbao doctor` says about the states of units that systemctl prints. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/arena.h"
#include "ops/doctor_internal.h"

#define UNIT(id, load, active, sub, file, reload)                                                                      \
    "Id=" id "\nLoadState=" load "\nActiveState=" active "\nSubState=" sub "\nUnitFileState=" file                     \
    "\nNeedDaemonReload=" reload "\n\n"
#define TARGET(active, file) UNIT("hongbao.target", "loaded", active, active, file, "no")
#define RUNS(id)             UNIT(id, "loaded", "active", "running", "enabled", "no")

enum { ARENA_BYTES = 16 << 10, TEXT_BYTES = 4096 };

static char printed[TEXT_BYTES];
static const char *said_by_units = "";

/* What the doctor prints about these units. */
static const char *told(const char *units)
{
    struct findings found = { .arena = arena_new(ARENA_BYTES, 4 * ARENA_BYTES) };
    printed[0] = '\0';
    FILE *out = fmemopen(printed, sizeof printed, "w");
    assert_non_null(found.arena);
    assert_non_null(out);
    doctor_units_tell(&found, str_from(units), str_from(said_by_units));
    assert_true(findings_print(&found, out));
    assert_int_equal(fclose(out), 0);
    arena_free(found.arena);
    return printed;
}

static void test_a_failed_unit_is_told_with_its_last_words(void **state)
{
    (void)state;
    said_by_units = "hongbao-card@1.service other\nhongbao-hot@2.service can't read x: y\n";
    const char *text = told(TARGET("active", "enabled") //
                            UNIT("hongbao-hot@2.service", "loaded", "failed", "failed", "enabled", "no"));
    assert_non_null(strstr(text, "hongbao-hot@2.service; hongbao-hot@2.service says: can't read x: y\n"));
    assert_null(strstr(text, "other"));
    said_by_units = "";
}

static void test_a_service_that_runs_has_no_finding(void **state)
{
    (void)state;
    assert_string_equal(told(TARGET("active", "enabled") RUNS("hongbao-hot@1.service") RUNS("hongbao-hot.socket")
                                 UNIT("hongbao-backup.service", "loaded", "inactive", "dead", "static", "no")
                                     UNIT("hongbao-backup.timer", "loaded", "inactive", "dead", "disabled", "no")),
                        "");
}

static void test_each_state_is_one_finding_with_its_command(void **state)
{
    (void)state;
    const char *text = told(TARGET("active", "disabled")                                                           //
                            UNIT("hongbao-hot@1.service", "masked", "inactive", "dead", "masked", "no")            //
                            UNIT("hongbao-hot@2.service", "loaded", "activating", "auto-restart", "enabled", "no") //
                            UNIT("hongbao-backup.service", "loaded", "failed", "failed", "static", "no")           //
                            UNIT("hongbao-page@1.service", "loaded", "inactive", "dead", "enabled", "no")          //
                            UNIT("hongbao-page.socket", "loaded", "inactive", "dead", "enabled", "no")             //
                            UNIT("hongbao-settle.service", "loaded", "active", "running", "enabled", "yes"));
    assert_string_equal(
        text,
        "wrong: unit-masked: these units are masked, so they never start: hongbao-hot@1.service\n"
        "    mend: systemctl unmask hongbao-hot@1.service\n"
        "wrong: unit-failed: these units ended with an error: hongbao-hot@2.service hongbao-backup.service\n"
        "    mend: systemctl restart hongbao-hot@2.service hongbao-backup.service;"
        " journalctl -u 'hongbao-*' -n 50 --no-pager\n"
        "wrong: unit-stopped: these units are enabled, but do not run: hongbao-page@1.service hongbao-page.socket\n"
        "    mend: systemctl start hongbao-page@1.service hongbao-page.socket\n"
        "wrong: unit-disabled: these units do not start with the machine: hongbao.target\n"
        "    mend: systemctl enable --now hongbao.target\n"
        "wrong: unit-old-file: the files of these units have changed since systemd read them: hongbao-settle.service\n"
        "    mend: systemctl daemon-reload; systemctl try-restart 'hongbao-*@*.service' hongbao-settle.service\n");
}

static void test_of_a_service_that_is_stopped_only_the_target_is_named(void **state)
{
    (void)state;
    assert_string_equal(told(TARGET("inactive", "enabled")
                                 UNIT("hongbao-hot@1.service", "loaded", "inactive", "dead", "enabled", "no")),
                        "wrong: unit-stopped: the service is stopped: hongbao.target\n"
                        "    mend: systemctl start hongbao.target\n");
}

static void test_a_site_is_out_of_service_when_its_target_is_disabled_and_stopped(void **state)
{
    (void)state;
    const char *const removed =
        TARGET("inactive", "disabled") UNIT("hongbao-hot@1.service", "loaded", "inactive", "dead", "disabled", "no");
    assert_true(doctor_units_out_of_service(str_from(removed)));
    assert_string_equal(told(removed), "");
    assert_false(doctor_units_out_of_service(str_from(TARGET("active", "disabled"))));
    assert_false(doctor_units_out_of_service(str_from(TARGET("inactive", "enabled"))));
    assert_false(doctor_units_out_of_service(str_from(TARGET("failed", "disabled"))));
    assert_false(doctor_units_out_of_service(STR_NONE));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_failed_unit_is_told_with_its_last_words),
        cmocka_unit_test(test_a_service_that_runs_has_no_finding),
        cmocka_unit_test(test_each_state_is_one_finding_with_its_command),
        cmocka_unit_test(test_of_a_service_that_is_stopped_only_the_target_is_named),
        cmocka_unit_test(test_a_site_is_out_of_service_when_its_target_is_disabled_and_stopped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
