# shellcheck shell=bash disable=SC2154
# The tests, by label or by name, and the mutants that they must catch.

# tests_run [long|all|LABEL|LABEL/NAME...]: builds the targets that these tests need and runs the tests; without an
# argument those without the label long (tests/CMakeLists.txt).
tests_run() {
    local preset=${HB_BUILD:-dev} tier=quick all word found jobs
    local -a chosen=() options=()
    packages_install run test
    case $* in
    '') options=(-LE '^long$') ;;
    long | all)
        tier=$1
        shift
        # The tests of the package and of releases boot machines of their own, and an engine of containers needs what
        # these need. all: they are red where that is not possible.
        [ "$tier" = all ] || options=(-L '^long$')
        [ "$tier" = all ] || package_machine >&2 || options+=(-LE '^(package|release|container)$')
        packages_install long package container
        ;;
    esac
    if [ $# -eq 0 ]; then
        build_preset "$preset"
    else
        tier=chosen
        build_targets "$preset" build.ninja # ctest knows the tests once CMake has run
        all=$(tests_list "$preset")
        for word; do
            found=$(tests_find "$word" "$all") || exit 2
            mapfile -t -O "${#chosen[@]}" chosen <<<"$found"
        done
        build_preset "$preset" "${chosen[@]}"
        options=(-R "^($(IFS='|' && echo "${chosen[*]}"))\$")
    fi
    if [ "$tier" = chosen ]; then
        found=$(tests_list "$preset" -L '^long$')
        ! grep -qxFf <(printf '%s\n' "${chosen[@]}") <<<"$found" || packages_install long
    fi
    [[ " ${chosen[*]}" != *@(' package.'|' release.')* ]] || packages_install package
    [[ " ${chosen[*]}" != *' container.'* ]] || packages_install container
    # Others than root skip these.
    if [ "$(id -u)" -eq 0 ] && { [[ $tier == @(long|all) ]] || [[ " ${chosen[*]}" == *@(' cluster.'|' machines.'|.test_galera)* ]]; }; then
        packages_install cluster
    fi
    tests_npm "${chosen[@]}"
    unset HB_BUILD
    # Most tests of a site, and of a machine, wait for it most of the time. The quick ones have six sets of servers.
    jobs=$(($(cpu_count) + 2))
    [ "$tier" != quick ] || jobs=$((jobs + 1))
    if [ "$tier" = chosen ] && ! grep -qvE '^(unit|tidy)\.' <<<"$(printf '%s\n' "${chosen[@]}")"; then
        # Such tests need no servers and no second look, so they may run beside others.
        ctest --test-dir "$ROOT/build/$preset" --output-on-failure -j "$jobs" "${options[@]}" </dev/null
        return
    fi
    ctest_lock "$ROOT/build/$preset"
    tests_stop_servers "$ROOT/build/$preset/servers"
    ctest_run "$ROOT/build/$preset" -j "$jobs" "${options[@]}"
}

# tests_check: what to run before a commit.
tests_check() {
    packages_install run test
    build_preset "${HB_BUILD:-dev}"
    tests_run unit integration tidy
}

# tests_stop_servers PARENT: stops the servers at exit, in case ctest was killed before its own clean-up.
tests_stop_servers() {
    # shellcheck disable=SC2064
    trap "$(printf '%q ' "$ROOT/tests/support/servers" stop-all "$1") >&2" EXIT
    trap 'exit 130' INT TERM HUP
}

# tests_list PRESET [OPTION...]: prints every test, LABEL.NAME, one a line; each name is also the target that builds what
# it needs. Options of ctest choose some.
tests_list() {
    ctest --test-dir "$ROOT/build/$1" -N -L . -FA . "${@:2}" | sed -n 's/^ *Test *#[0-9]*: \(.*\..*\)/\1/p' # without fixtures
}

# tests_find WORD TESTS: prints the tests of a label (unit); or the test of that name (unit/base_str is
# unit.test_base_str), else those whose names contain it. Without a match: false, with a message that lists similar ones.
tests_find() {
    local label=${1%%/*} name=${1#*/} of_label
    if ! [[ $1 =~ ^[a-z0-9]+(/[A-Za-z0-9_-]+)?$ ]] || ! of_label=$(grep "^$label\\." <<<"$2"); then
        say "dev: no label '$label'; there are: $(cut -d. -f1 <<<"$2" | sort -u | tr '\n' ' ')"
        return 1
    fi
    if [ "$1" = "$label" ]; then
        echo "$of_label"
    elif ! grep -x "$label\\.\\(test_\\)\\?$name" <<<"$of_label" && ! grep -F -- "$name" <<<"$of_label"; then
        say "dev: no test '$1'; near it: $(tests_near "$name" "$2")"
        return 1
    fi
}

# tests_near NAME TESTS: prints the tests that contain the first letters of a word of NAME, best match first.
tests_near() {
    local word
    for word in ${1//[^a-z]/ }; do
        [ "$word" = test ] || grep -F -- "${word:0:3}" <<<"$2" || true
    done | sort | uniq -c | sort -k1,1nr -k2 | sed -n '1,16s,^ *[0-9]* \([a-z0-9]*\)\.\(test_\)\?,\1/,p' | tr '\n' ' '
}

# tests_npm [TEST...]: installs the npm packages that the tests need; without an argument those of all tests.
tests_npm() {
    local names=" $*"
    if [ $# -eq 0 ] || [[ $names == *' e2e.'* || $names == *' pages.'* || $names == *' package.'* || $names == *' fuzz.site'* ]]; then
        checks_npm tests/e2e
    fi
    if [ $# -eq 0 ] || [[ $names == *' pages.'* ]]; then
        checks_npm tests/pages
    fi
}

# tests_mutants [FILTER...]: plants the bugs of tests/mutants in a copy, one at a time; the tests must catch each.
tests_mutants() {
    packages_install run test
    command -v git >/dev/null || die "mutants needs git: it copies the files that git lists"
    mkdir -p -- "$ROOT/build"
    exec 8>"$ROOT/build/mutants.lock"
    flock -n 8 || die "another ./dev mutants is running"
    tests_stop_servers "$ROOT/build/mutants/build/servers"
    checks_npm tests/e2e
    local status=0
    node "$ROOT/tests/mutants/mutants.js" "$ROOT/build/mutants" "$@" </dev/null 8>&- || status=$?
    return "$status"
}
