# shellcheck shell=bash disable=SC2154
# ctest: a second look at the tests that failed, and the closing lines, which name them with the evidence.
#   DIR/ctest.log            the whole output of ctest, of all looks; tests/support/glance.js prints what it shows
#   DIR/passed               when each test last passed, and with which sources: TEST TREE SECONDS-SINCE-1970
#   DIR/machine.log          how busy the machine was
#   DIR/unsteady/TEST.log    the output of a test that failed in the first look
#   DIR/servers/failed/TEST  the logs of its servers (tests/support/servers)

SECOND_LOOK_MAX=20  # tests that are run again, and
SECOND_LOOK_TIMES=2 # how often
# Unit tests and tidy need no luck, fuzz and chaos draw other inputs the next time, and the end of a set of servers
# reports what sanitizers found.
NO_SECOND_LOOK='^(unit|tidy|fuzz|chaos)\.|\.stop$'
# In the output of a test these words are a fault of the program, however the test ends the next time.
FAULTS=$ROOT/tests/support/faults.txt
EVIDENCE_PAUSE_S=5
SLOWEST_OF_MIN=50 # a run of fewer tests names no slowest ones

# ctest_run DIR TREE OPTION...: runs the tests of the build in DIR, whose sources TREE names. Tests that failed run again,
# one at a time: a test that then passes is unsteady, not red. The caller has the lock. Fails with 8 when a test is red. The
# last line is ctest's own.
ctest_run() {
    local dir=$1 tree=$2 red rest again each watcher
    local -a unsteady=() looked=()
    shift 2
    rm -rf -- "$dir"/{look.table,unsteady,servers/failed,servers/made-anew.log,ctest.log,machine.log,cpu}
    ctest_passed_begin "$dir"
    evidence_watch >"$dir/machine.log" 2>&1 </dev/null 8>&- &
    watcher=$!
    ctest_look "$dir" "$@"
    mv -- "$dir/look.table" "$dir/table" 2>/dev/null || : >"$dir/table"
    ctest_keep_outputs "$dir"
    red=$(ctest_without_second_look "$dir")
    rest=$(cut -d' ' -f1 -- "$dir/failed" | grep -vxFf <(echo "$red") || true)
    # Tests that a failed fixture kept from running do not count.
    mapfile -t looked < <(grep -xFf <(grep -v ' Not Run$' "$dir/failed" | cut -d' ' -f1) <<<"$rest")
    if [ ${#looked[@]} -gt "$SECOND_LOOK_MAX" ]; then
        say "dev: more than $SECOND_LOOK_MAX tests have failed: no second look"
        red+=$'\n'$rest rest=''
    fi
    for ((again = 1; again <= SECOND_LOOK_TIMES; again++)); do
        [ -n "$rest" ] || break
        mapfile -t looked <<<"$rest"
        tail -n 1 -- "$dir/ctest.log"
        say "dev: run again, one at a time: ${looked[*]}"
        ctest_look "$dir" -j 1 -R "^($(IFS='|' && echo "${looked[*]}"))\$"
        red+=$'\n'$(cut -d' ' -f1 -- "$dir/failed" | grep '\.stop$' || true)
        rest=
        for each in "${looked[@]}"; do
            if grep -qF -- "$each " "$dir/failed"; then
                rest+=${rest:+$'\n'}$each
            else
                unsteady+=("$each: failed $again of $((again + 1)) times")
            fi
        done
    done
    kill "$watcher" 2>/dev/null || true
    mapfile -t looked < <(sed '/^$/d' <<<"$red"$'\n'"$rest")
    [ ${#looked[@]} -eq 0 ] || evidence_print "$dir" "${looked[@]}"
    [ ! -s "$dir/servers/made-anew.log" ] || sed 's/^/dev: /' -- "$dir/servers/made-anew.log"
    # What sanitizers reported may be of any of these tests.
    ! grep -q '\.stop$' <<<"$red" || mv -- "$dir/passed.before" "$dir/passed"
    rm -f -- "$dir/passed.before"
    # On a terminal the table is still there, unless evidence follows it.
    if [ ! -t 1 ] || [ ${#looked[@]} -gt 0 ]; then cat -- "$dir/table"; fi
    ctest_print_slowest "$dir"
    ctest_print_cpu "$dir"
    echo "dev: the whole log: $dir/ctest.log"
    for each in "${unsteady[@]}"; do echo "dev: unsteady: $each ($dir/unsteady/${each%%:*}.log)"; done
    for each in "${looked[@]}"; do echo "dev: red: $each"; done
    tail -n 1 -- "$dir/ctest.log"
    [ ${#looked[@]} -eq 0 ] || return 8
}

# ctest_beside DIR OPTION...: runs tests without servers, beside other runs of the build in DIR, so it writes no file there.
ctest_beside() {
    local dir=$1
    shift
    ctest --test-dir "$dir" --output-on-failure --no-tests=error "$@" </dev/null 2>&1 |
        node "$ROOT/tests/support/glance.js" <(ctest --test-dir "$dir" -N "$@")
}

# ctest_passed_begin DIR: of each test, DIR/passed keeps the last line. DIR/passed.before exists while tests run.
ctest_passed_begin() {
    touch -- "$1/passed"
    awk '{ last[$1] = $0 } END { for (test in last) print last[test] }' "$1/passed" | sort >"$1/passed.before"
    cp -- "$1/passed.before" "$1/passed"
}

# ctest_end DIR: stops the servers that an interrupted run left. If they reported faults, none of its tests has passed.
ctest_end() {
    local run faults=no
    local -a logs=()
    for run in "$1"/servers/*/run; do
        [ ! -d "$run" ] || logs+=("${run%/run}/log" "${run%/run}.reports")
    done
    "$ROOT/tests/support/servers" stop-all "$1/servers"
    ! grep -qs ' Test *#[0-9]*: [^ ]*\.stop .*\*\*\*' "$1/ctest.log" "$1/look.log" || faults=yes
    [ ${#logs[@]} -eq 0 ] || ! grep -rqsEf "$FAULTS" "${logs[@]}" || faults=yes
    [ ! -f "$1/passed.before" ] || [ "$faults" = no ] || mv -- "$1/passed.before" "$1/passed"
}

# ctest_print_cpu DIR: prints the seconds of CPU of all looks, servers included (tests/support/cpu_seconds.c).
ctest_print_cpu() {
    [ ! -s "$1/cpu" ] || awk '{ in_user += $1; in_system += $2 }
        END { printf "dev: %.0f s of CPU: %.0f user, %.0f system\n", in_user + in_system, in_user, in_system }' "$1/cpu"
}

# ctest_lock DIR: one run at a time has the servers and the files of DIR, until ./dev ends.
ctest_lock() {
    exec 8>"$1/ctest.lock"
    if ! flock -n 8; then
        say "dev: waiting for another ./dev test"
        flock 8
    fi
}

# ctest_look DIR OPTION...: runs ctest, and writes a line `TEST REASON` for each test that did not pass into DIR/failed.
# Shows how it goes. Ends ./dev when ctest itself fails.
ctest_look() {
    local dir=$1 status=0
    local -a counter=("$dir/tests/support/cpu_seconds" "$dir/cpu")
    shift
    [ -x "${counter[0]}" ] || counter=()
    ctest --test-dir "$dir" -N "$@" >"$dir/look.list" 8>&-
    "${counter[@]}" ctest --test-dir "$dir" --output-on-failure --no-tests=error "$@" </dev/null 2>&1 8>&- |
        tee -- "$dir/look.log" | node "$ROOT/tests/support/glance.js" "$dir"/{look.list,look.table,passed} "$tree" 8>&- || status=$?
    cat -- "$dir/look.log" >>"$dir/ctest.log"
    sed -nE '/^The following tests FAILED:/,$s/^[[:space:]]+[0-9]+ - ([^ ]+) \(([^)]*)\).*/\1 \2/p' "$dir/look.log" >"$dir/failed"
    [ "$status" -eq 0 ] || [ -s "$dir/failed" ] || die "ctest ended with status $status and named no test; $dir/ctest.log"
}

# ctest_keep_outputs DIR: keeps the outputs of the tests that did not pass in DIR/unsteady. ctest's own log of them is
# written anew by any other ctest of this build, also by one that a test runs.
ctest_keep_outputs() {
    local test
    mkdir -p -- "$1/unsteady"
    while read -r test _; do
        awk -v test="$test" '/^ *[0-9]+\/[0-9]+ Test +#[0-9]+: / { sub(/.*Test +#[0-9]+: /, ""); on = $1 == test && /\*\*\*/ }
            /^ +Start +[0-9]+: / { on = 0 } on' "$1/look.log" >"$1/unsteady/$test.log"
    done <"$1/failed"
}

# ctest_without_second_look DIR: prints the tests that failed and are red at once.
ctest_without_second_look() {
    local test
    while read -r test _; do
        if [[ $test =~ $NO_SECOND_LOOK ]] || ctest_has_fault "$1/unsteady/$test.log"; then echo "$test"; fi
    done <"$1/failed"
}

# ctest_has_fault FILE: whether a sanitizer or an assertion of the program reported something. A C test whose own assertion
# failed leaks what it had: leaks do not count then.
ctest_has_fault() {
    local passing='^$'
    ! grep -q '^\[  FAILED  \]' "$1" || passing=LeakSanitizer
    grep -Ef "$FAULTS" "$1" | grep -vE "$passing" >/dev/null
}

# evidence_watch: prints a line every EVIDENCE_PAUSE_S, as long as this ./dev runs: how busy the machine is, how long
# tasks waited for CPU, disk and memory (% of the last 10 s), and what other machines took of the CPU (steal).
evidence_watch() {
    local load user nice system idle iowait irq softirq steal all steal_before=0 all_before=0 what
    while kill -0 "$$" 2>/dev/null; do
        read -r load _ </proc/loadavg
        read -r _ user nice system idle iowait irq softirq steal _ </proc/stat
        all=$((user + nice + system + idle + iowait + irq + softirq + steal))
        printf '%(%T)T load %s' -1 "$load"
        for what in cpu io memory; do
            printf ' %s %s' "$what" "$(sed -n 's/^some avg10=\([0-9.]*\) .*/\1/p' "/proc/pressure/$what" 2>/dev/null || true)"
        done
        printf ' steal %s%%\n' "$(((steal - steal_before) * 100 / (all > all_before ? all - all_before : 1)))"
        steal_before=$steal all_before=$all
        sleep "$EVIDENCE_PAUSE_S"
    done
}

# evidence_print DIR RED...: prints what may explain why tests are red.
evidence_print() {
    local dir=$1 each log
    shift
    for each; do
        for log in "$dir/servers/failed/$each"/*.log; do
            case $log in *-install.log | */migrate.log) continue ;; esac # of their start
            [ ! -s "$log" ] || { echo "--- $each: the end of $log" && tail -n 60 -- "$log"; }
        done
    done
    echo "--- the machine in the last minute ($dir/machine.log has all)"
    tail -n 12 -- "$dir/machine.log"
    sed -n '/^Label Time Summary:/,/^$/p; /^Total Test time/q' -- "$dir/ctest.log"
}

# ctest_print_slowest DIR: when many tests ran, names the ten slowest, with what each protects.
ctest_print_slowest() {
    [ "$(grep -c ' Test *#[0-9]*: ' "$1/ctest.log")" -ge "$SLOWEST_OF_MIN" ] || return 0
    echo "--- the slowest tests"
    node "$ROOT/tests/support/slowest.js" "$1/ctest.log" 10
}
