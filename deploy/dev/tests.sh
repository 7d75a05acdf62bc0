# shellcheck shell=bash disable=SC2154
# The tests, by label or by name, and the mutants that they must catch.

# tests_left_out [all|ci]: the labels that are left out: those of machines of their own, which take long. ci: what a
# build machine runs has the package, too, where a machine can boot.
tests_left_out() {
    case $1 in
        all) ;;
        ci) if package_machine >&2; then echo machines; else echo 'package|machines'; fi ;;
        *) echo 'package|machines' ;;
    esac
}

# tests_run [all|ci|LABEL|LABEL/NAME...]: builds the targets that these tests need and runs the tests; without an
# argument all but those of tests_left_out.
tests_run() {
    local preset=${HB_BUILD:-dev} all word found left_out status=0
    local -a chosen=() options=()
    packages_install run test
    left_out=$(tests_left_out "$*")
    if [[ $* == @(all|ci) ]]; then
        packages_install package
        shift
    fi
    [ -z "$left_out" ] || options=(-LE "^($left_out)\$")
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
    [[ " ${chosen[*]}" != *' package.'* ]] || packages_install package
    # Others than root skip these.
    if [ "$(id -u)" -eq 0 ] && { [ $# -eq 0 ] || [[ " ${chosen[*]}" == *@(' cluster.'|' machines.'|.test_galera)* ]]; }; then
        packages_install cluster
    fi
    tests_npm "${chosen[@]}"
    # Tests without servers must not stop the servers of a concurrent run.
    if [ $# -eq 0 ] || printf '%s\n' "${chosen[@]}" | grep -qvE '^(unit|tidy|package)\.'; then
        tests_stop_servers "$ROOT/build/$preset/servers"
    fi
    unset HB_BUILD
    # Most tests of a site, and of a machine, wait for it most of the time.
    ctest --test-dir "$ROOT/build/$preset" --output-on-failure --no-tests=error -j "$(($(cpu_count) + 2))" \
        "${options[@]}" </dev/null || status=$?
    return "$status"
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

# tests_list PRESET: prints every test, LABEL.NAME, one a line; each name is also the target that builds what it needs.
tests_list() {
    ctest --test-dir "$ROOT/build/$1" -N -L . -FA . | sed -n 's/^ *Test *#[0-9]*: \(.*\..*\)/\1/p' # without fixtures
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
