# shellcheck shell=bash disable=SC2154
# The tests, by label or by name, and the small bugs that they must catch.

# tests_run [long [--again]|all|--changed [COMMIT]|LABEL|LABEL/NAME...]: builds the targets that these tests need and runs
# the tests; without an argument those without the label long (tests/CMakeLists.txt).
tests_run() {
    local preset=${HB_BUILD:-dev} tier=chosen jobs tree
    local -a chosen=() options=()
    packages_install run test
    case ${1-} in
    '') tier=quick options=(-LE '^long$') && build_preset "$preset" ;;
    long | all) tier=$1 && tests_choose_tier "$@" ;;
    --changed) tests_choose_changed "${@:2}" ;;
    check) tests_choose_check ;;
    *) tests_choose "$@" ;;
    esac
    if [ "$tier" = long ] && [ ${#chosen[@]} -eq 0 ]; then
        tests_print_labels "$preset"
        return
    fi
    [ ${#chosen[@]} -eq 0 ] || options=(-R "^($(IFS='|' && echo "${chosen[*]}"))\$")
    tests_packages
    tests_npm "${chosen[@]}"
    unset HB_BUILD
    # Most tests of a site, and of a machine, wait for it most of the time. The quick ones have eleven sets of servers.
    jobs=$(($(cpu_count) + 2))
    [ "$tier" != quick ] || jobs=$((jobs + 1))
    if [ "$tier" = chosen ] && ! grep -qvE '^(unit|tidy)\.' <<<"$(printf '%s\n' "${chosen[@]}")"; then
        # Such tests need no servers and no second look, so they may run beside others.
        ctest_beside "$ROOT/build/$preset" -j "$jobs" "${options[@]}"
        return
    fi
    ctest_lock "$ROOT/build/$preset"
    if [ "$tier" = long ]; then
        tests_stop_servers "$ROOT/build/$preset" tests_print_labels "$preset"
    else
        tests_stop_servers "$ROOT/build/$preset"
    fi
    tree=$(tests_tree)
    # A test that ran in part has not passed.
    [ -z "${HB_TEST_STATE-}${HB_TEST_VISITS-}${HB_TEST_UPDATE-}${CRASH_TIMES-}${CRASH_PAIRS-}" ] || tree=part
    ctest_run "$ROOT/build/$preset" "$tree" -j "$jobs" "${options[@]}"
}

# tests_choose_tier long [--again]|all: sets options or, of the long tests, chosen, and builds everything. Without
# --again the long tests that have passed with these very sources are left out.
tests_choose_tier() {
    local passed='' all
    [ $# -eq 1 ] || [ "$*" = 'long --again' ] || die "test $1 takes no test beside it"
    # The tests of the package and of releases boot machines of their own, and an engine of containers needs what these
    # need. all: they are red where that is not possible.
    [ "$1" = all ] || options=(-L '^long$')
    [ "$1" = all ] || package_machine >&2 || options+=(-LE '^(package|release|container)$')
    packages_install long package container
    build_preset "$preset"
    [ "$1" = long ] || return 0
    [ $# -eq 2 ] || passed=$(tests_passed "$preset" "$(tests_tree)")
    all=$(tests_list "$preset" "${options[@]}")
    [ -n "$all" ] || die "ctest lists no long test"
    mapfile -t chosen < <(grep -vxFf <(echo "$passed") <<<"$all")
    [ -z "$passed" ] || say "dev: ${#chosen[@]} long tests to run; the others passed with these sources (--again: all)"
}

# tests_choose LABEL|LABEL/NAME...: sets chosen, and builds what these tests need.
tests_choose() {
    local all word found
    build_targets "$preset" build.ninja # ctest knows the tests once CMake has run
    all=$(tests_list "$preset")
    for word; do
        found=$(tests_find "$word" "$all") || exit 2
        mapfile -t -O "${#chosen[@]}" chosen <<<"$found"
    done
    build_preset "$preset" "${chosen[@]}"
}

# tests_choose_check: the quick tests of unit, integration and tidy.
tests_choose_check() {
    tests_choose unit integration tidy
    mapfile -t chosen < <(printf '%s\n' "${chosen[@]}" | grep -vxFf <(tests_list "$preset" -L '^long$'))
}

# tests_choose_changed [COMMIT]: sets chosen to what the files concern that differ from COMMIT (default: HEAD), and says why.
tests_choose_changed() {
    local commit=${1:-HEAD} dir=$ROOT/build/$preset name
    [ $# -le 1 ] || die "test --changed takes one commit"
    git -C "$ROOT" rev-parse -q --verify "$commit^{commit}" >/dev/null || die "there is no commit '$commit'"
    build_targets "$preset" build.ninja
    ctest --test-dir "$dir" --show-only=json-v1 >"$dir/tests.json"
    { git -C "$ROOT" diff --name-only "$commit" && git -C "$ROOT" ls-files -o --exclude-standard; } | sort -u |
        node "$ROOT/tests/support/changed.js" "$ROOT" "$dir" "$dir/tests.json" >"$dir/changed" || die "changed.js failed"
    sed -n 's/^why /dev: /p' "$dir/changed" >&2
    mapfile -t chosen < <(sed -n 's/^test //p' "$dir/changed")
    name=$(sed -n 's/^states //p' "$dir/changed")
    [ -z "$name" ] || export HB_TEST_STATE=$name
    build_preset "$preset" "${chosen[@]}"
}

# tests_packages: installs what the tests of the array chosen, or of the tier, need beside the groups run and test.
tests_packages() {
    local names=" ${chosen[*]} "
    if [ "$tier" = chosen ]; then
        ! grep -qxFf <(printf '%s\n' "${chosen[@]}") <<<"$(tests_list "$preset" -L '^long$')" || packages_install long
        [[ $names != *@(' package.'|' release.')* ]] || packages_install package
        [[ $names != *' container.'* ]] || packages_install container
    fi
    # Others than root skip these.
    if [ "$(id -u)" -eq 0 ] && { [[ $tier == @(long|all) ]] || [[ $names == *@(' cluster.'|' machines.'|.test_galera)* ]]; }; then
        packages_install cluster
    fi
}

# tests_tree: prints a number that stands for the present sources, or `none` without git.
tests_tree() {
    if ! git -C "$ROOT" rev-parse -q --verify HEAD >/dev/null 2>&1; then
        echo none
        return
    fi
    (
        cd -- "$ROOT" || exit
        git ls-files -coz --exclude-standard | sort -zu | { xargs -0 sha256sum -- 2>&1 || true; } | sha256sum | cut -c1-16
    )
}

# tests_passed PRESET TREE: prints the tests that have passed with these sources.
tests_passed() {
    [ "$2" = none ] || ! [ -f "$ROOT/build/$1/passed" ] || awk -v tree="$2" '$2 == tree { print $1 }' "$ROOT/build/$1/passed"
}

# tests_print_labels PRESET: prints of each label what it protects (docs/TESTING.md), how many of its long tests have
# passed with these sources, and since when all of them have passed, with whichever sources.
tests_print_labels() {
    local passed=$ROOT/build/$1/passed
    [ -f "$passed" ] || passed=/dev/null
    echo "dev: the long tests: passed with these sources, and when all of a label last passed here"
    tests_list "$1" -L '^long$' | awk -v tree="$(tests_tree)" -v passed="$passed" -v docs="$ROOT/docs/TESTING.md" '
        BEGIN {
            while ((getline line <passed) > 0) { split(line, f, " "); when[f[1]] = f[3]; if (f[2] == tree) now[f[1]] = 1 }
            while ((getline line <docs) > 0) {
                if (line ~ /^## /) inside = line ~ /^## What each label protects/
                if (inside && split(line, f, / *\| */) > 3) { gsub(/`/, "", f[2]); protects[f[2]] = f[3] }
            }
        }
        {
            label = $1; sub(/\..*/, "", label)
            if (!(label in all)) order[++labels] = label
            all[label]++; done[label] += $1 in now
            if (!($1 in when)) never[label] = 1
            else if (!(label in oldest) || when[$1] < oldest[label]) oldest[label] = when[$1]
        }
        END {
            for (i = 1; i <= labels; i++) {
                label = order[i]
                date = label in never ? "never" : strftime("%Y-%m-%d %H:%M", oldest[label])
                printf "%-12s%7s  %-16s  %s\n", label, done[label] "/" all[label], date, protects[label]
            }
        }'
}

# tests_check: what to run before a commit.
tests_check() {
    packages_install run test
    build_preset "${HB_BUILD:-dev}"
    tests_run check
}

# tests_reached [--against FILE] [LABEL|LABEL/NAME...]: runs these tests (default: unit and integration) in the build
# coverage, and writes the lines of app/ that they reached. --against: prints the lines of FILE that they did not reach,
# and fails when there are any.
tests_reached() {
    local dir=$ROOT/build/coverage against='' status=0
    if [ "${1-}" = --against ]; then
        [ -f "${2-}" ] || die "--against needs a file, as ./dev reached writes it"
        against=$(readlink -f -- "$2")
        shift 2
    fi
    [ $# -gt 0 ] || set -- unit integration
    mkdir -p -- "$dir"
    find "$dir" -name '*.gcda' -delete
    HB_BUILD=coverage tests_run "$@" # ends ./dev when a test is red
    node "$ROOT/tests/support/reached.js" "$ROOT" "$dir" "$dir/reached.txt" ${against:+"$against"} || status=$?
    say "dev: the lines: $dir/reached.txt"
    return "$status"
}

# tests_stop_servers DIR [COMMAND...]: stops the servers of the build in DIR at exit, in case ctest was killed before its
# own clean-up; then executes the command.
tests_stop_servers() {
    # shellcheck disable=SC2064
    trap "ctest_end $(printf '%q' "$1") >&2${2:+; $(printf '%q ' "${@:2}")}" EXIT
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

# tests_npm [TEST...]: installs the npm packages that the tests need; without an argument the packages of all tests.
tests_npm() {
    local names=" $*"
    if [ $# -eq 0 ] || [[ $names == *' e2e.'* || $names == *' pages.'* || $names == *' package.'* || $names == *' fuzz.site'* ]]; then
        checks_npm tests/e2e
    fi
    if [ $# -eq 0 ] || [[ $names == *' pages.'* ]]; then
        checks_npm tests/pages
    fi
}

# tests_mutants [OPTION...]: makes small bugs in a copy, one at a time; the tests must catch each (tests/mutants/mutants.js).
tests_mutants() {
    packages_install run test
    command -v git >/dev/null || die "mutants needs git: it copies the files that git lists"
    mkdir -p -- "$ROOT/build"
    exec 8>"$ROOT/build/mutants.lock"
    flock -n 8 || die "another ./dev mutants is running"
    tests_stop_servers "$ROOT/build/mutants/build"
    checks_npm tests/e2e
    local status=0
    node "$ROOT/tests/mutants/mutants.js" "$ROOT/build/mutants" "$@" </dev/null 8>&- || status=$?
    return "$status"
}
