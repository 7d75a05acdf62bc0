# shellcheck shell=bash disable=SC2154
# ctest: a second look at the tests that failed, and the closing lines, which name them with the evidence.

SECOND_LOOK_MAX=20  # tests that are run again, and
SECOND_LOOK_TIMES=2 # how often
# Unit tests and tidy need no luck, and the end of a set of servers reports what sanitizers found.
NO_SECOND_LOOK='^(unit|tidy)\.|\.stop$'
EVIDENCE_PAUSE_S=5

# ctest_run DIR OPTION...: runs the tests of the build in DIR. Tests that failed run again, one at a time: a test that
# then passes is unsteady, not red. Fails with 8 when a test is red. The last line is ctest's own.
ctest_run() {
    local dir=$1 red again rest each watcher
    local -a unsteady=() looked=()
    shift
    rm -rf -- "$dir"/{unsteady,servers/failed,servers/made-anew.log,ctest.log,machine.log}
    evidence_watch >"$dir/machine.log" 2>&1 </dev/null &
    watcher=$!
    ctest_look "$dir" "$@"
    red=$(grep -E "$NO_SECOND_LOOK" "$dir/failed" || true)
    rest=$(grep -vE "$NO_SECOND_LOOK" "$dir/failed" || true)
    [ -z "$rest" ] || ctest_keep_outputs "$dir" <<<"$rest"
    if [ "$(wc -l <<<"$rest")" -gt "$SECOND_LOOK_MAX" ]; then
        say "dev: more than $SECOND_LOOK_MAX tests have failed: no second look"
        red+=$'\n'$rest rest=''
    fi
    for ((again = 1; again <= SECOND_LOOK_TIMES; again++)); do
        [ -n "$rest" ] || break
        mapfile -t looked <<<"$rest"
        tail -n 1 -- "$dir/ctest.log"
        say "dev: run again, one at a time: ${looked[*]}"
        ctest_look "$dir" -j 1 -R "^($(IFS='|' && echo "${looked[*]}"))\$"
        red+=$'\n'$(grep '\.stop$' "$dir/failed" || true)
        rest=
        for each in "${looked[@]}"; do
            if grep -qxF -- "$each" "$dir/failed"; then
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
    for each in "${unsteady[@]}"; do echo "dev: unsteady: $each ($dir/unsteady/${each%%:*}.log)"; done
    for each in "${looked[@]}"; do echo "dev: red: $each"; done
    tail -n 1 -- "$dir/ctest.log"
    [ ${#looked[@]} -eq 0 ] || return 8
}

# ctest_look DIR OPTION...: runs ctest, and writes the names of the tests that failed into DIR/failed. Prints all but
# ctest's last line, which is the last one of DIR/ctest.log. Ends ./dev when ctest itself fails.
ctest_look() {
    local dir=$1 status=0
    shift
    rm -f -- "$dir/Testing/Temporary/LastTestsFailed.log"
    ctest --test-dir "$dir" --output-on-failure --no-tests=error "$@" </dev/null 2>&1 | tee -a -- "$dir/ctest.log" |
        sed -u '$d' || status=$?
    sed 's/^[0-9]*://' -- "$dir/Testing/Temporary/LastTestsFailed.log" >"$dir/failed" 2>/dev/null || true
    [ "$status" -eq 0 ] || [ -s "$dir/failed" ] || die "ctest ended with status $status and named no test; $dir/ctest.log"
}

# ctest_keep_outputs DIR: keeps the outputs of the tests, whose names it reads, in DIR/unsteady.
ctest_keep_outputs() {
    local test
    mkdir -p -- "$1/unsteady"
    while read -r test; do
        awk -v test="$test" '/^[0-9]+\/[0-9]+ Testing: /{ on = $NF == test } on' "$1/Testing/Temporary/LastTest.log" \
            >"$1/unsteady/$test.log"
    done
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
            [ ! -s "$log" ] || { echo "--- $each: the end of $log" && tail -n 60 -- "$log"; }
        done
    done
    echo "--- the machine in the last minute ($dir/machine.log has all)"
    tail -n 12 -- "$dir/machine.log"
    sed -n '/^Label Time Summary:/,/^$/p; /^Total Test time/q' -- "$dir/ctest.log"
    echo "--- the slowest tests"
    sed -n 's/^ *[0-9]*\/[0-9]* Test *#[0-9]*: \([^ ]*\) .* \([0-9.]*\) sec$/\2 s \1/p' -- "$dir/ctest.log" | sort -rn | sed 15q
}
