# shellcheck shell=bash disable=SC2154
# The tests, by label or by name, and the bugs that they have to catch.

# tests_run [LABEL|LABEL/NAME...]: builds what these tests need and runs them; without a word all of them.
tests_run() {
    local preset=${HB_BUILD:-dev} all word found status=0
    local -a chosen=() options=()
    packages_install run test
    if [ $# -eq 0 ]; then
        build_preset "$preset"
    else
        build_targets "$preset" build.ninja # ctest knows the tests once CMake has run
        all=$(tests_list "$preset")
        for word; do
            found=$(tests_find "$word" "$all") || exit 2
            mapfile -t -O "${#chosen[@]}" chosen <<<"$found"
        done
        build_preset "$preset" "${chosen[@]}"
        options=(-R "^($(IFS='|' && echo "${chosen[*]}"))\$")
    fi
    tests_npm "${chosen[@]}"
    # Tests without servers leave those of a run beside them alone.
    if [ $# -eq 0 ] || printf '%s\n' "${chosen[@]}" | grep -qvE '^(unit|tidy)\.'; then
        tests_stop_servers "$ROOT/build/$preset/servers"
    fi
    unset HB_BUILD
    ctest --test-dir "$ROOT/build/$preset" --output-on-failure --no-tests=error -j "$(cpu_count)" \
        "${options[@]}" </dev/null || status=$?
    return "$status"
}

# tests_check: what to run before a commit.
tests_check() {
    packages_install run test
    build_preset "${HB_BUILD:-dev}"
    tests_run unit integration tidy
}

# tests_stop_servers PARENT: at the end, whatever ctest's own clean-up could not do because ctest itself was ended.
tests_stop_servers() {
    # shellcheck disable=SC2064
    trap "$(printf '%q ' "$ROOT/tests/support/servers" stop-all "$1") >&2" EXIT
    trap 'exit 130' INT TERM HUP
}

# tests_list PRESET: every test, LABEL.NAME, one a line; each is also the target that builds what it needs.
tests_list() {
    ctest --test-dir "$ROOT/build/$1" -N -L . -FA . | sed -n 's/^ *Test *#[0-9]*: //p'
}

# tests_find WORD TESTS: the tests of a label (unit); the one of that name (unit/base_str is unit.test_base_str), else
# those whose names contain it. False when there are none, and says what there is.
tests_find() {
    local label=${1%%/*} name=${1#*/} of_label
    if ! [[ $1 =~ ^[a-z0-9]+(/[A-Za-z0-9_-]+)?$ ]] || ! of_label=$(grep "^$label\\." <<<"$2"); then
        say "dev: there is no label '$label'; there are: $(cut -d. -f1 <<<"$2" | sort -u | tr '\n' ' ')"
        return 1
    fi
    if [ "$1" = "$label" ]; then
        echo "$of_label"
    elif ! grep -x "$label\\.\\(test_\\)\\?$name" <<<"$of_label" && ! grep -F -- "$name" <<<"$of_label"; then
        say "dev: there is no test '$1'; near it: $(tests_near "$name" "$2")"
        return 1
    fi
}

# tests_near NAME TESTS: those that share the beginning of a word with it, the nearest first.
tests_near() {
    local word
    for word in ${1//[^a-z]/ }; do
        [ "$word" = test ] || grep -F -- "${word:0:3}" <<<"$2" || true
    done | sort | uniq -c | sort -k1,1nr -k2 | sed -n '1,12s,^ *[0-9]* \([a-z0-9]*\)\.\(test_\)\?,\1/,p' | tr '\n' ' '
}

# tests_npm TEST...: what the tests need of npm; without a test for all of them.
tests_npm() {
    local names=" $*"
    if [ $# -eq 0 ] || [[ $names == *' e2e.'* || $names == *' pages.'* ]]; then
        checks_npm tests/e2e
    fi
    if [ $# -eq 0 ] || [[ $names == *' pages.'* ]]; then
        checks_npm tests/pages
    fi
}

# tests_mutants [FILTER]: plants the bugs of tests/mutants in a copy, one at a time; the tests must catch each.
tests_mutants() {
    packages_install run test
    command -v git >/dev/null || die "mutants are planted in a copy of what git knows; there is no git"
    mkdir -p -- "$ROOT/build"
    exec 8>"$ROOT/build/mutants.lock"
    flock -n 8 || die "mutants are being planted already"
    tests_stop_servers "$ROOT/build/mutants/build/servers"
    local status=0
    node "$ROOT/tests/mutants/mutants.js" "$ROOT/build/mutants" "$@" </dev/null 8>&- || status=$?
    return "$status"
}
