# shellcheck shell=bash disable=SC2154
# ./dev fuzz: runs the targets of tests/fuzz, as many at once as there are CPUs, and prints what they reached.

# fuzz_run [SECONDS] [TARGET...]: the default is 30 s for each target.
fuzz_run() {
    local seconds=30 name failed=
    local -a all
    if [[ ${1-} =~ ^[0-9]+$ ]]; then
        seconds=$1
        shift
    fi
    [ "$seconds" -gt 0 ] || die "fuzz takes a number of seconds, at least 1"
    mapfile -t all < <(sed -n 's/^\([a-z][a-z]*\) .*/\1/p' "$ROOT/tests/fuzz/targets.txt")
    for name; do
        [[ " ${all[*]} " == *" $name "* ]] || die "there is no fuzz target '$name', but: ${all[*]}"
    done
    [ $# -gt 0 ] || set -- "${all[@]}"
    packages_install run fuzz coverage
    build_preset fuzz
    rm -rf -- "$ROOT/build/fuzz/coverage"
    say "dev: fuzzing for $seconds s each: $*"
    printf '%s\n' "$@" | xargs -P "$(cpu_count)" -I '{}' "$ROOT/tests/fuzz/run" '{}' "$seconds" || failed=yes
    fuzz_coverage "$@"
    [ -z "$failed" ] || die "fuzzing found something; see above"
}

# fuzz_coverage TARGET...: prints how many lines of its files each target has reached.
fuzz_coverage() {
    local dir=$ROOT/build/fuzz name files llvm
    llvm=$(dirname -- "$(readlink -f -- "$(command -v clang)")") # the tools of this version of clang
    printf '\n%-10s %-28s %8s %8s\n' target file lines reached
    while read -r name _ files; do
        if [[ " $* " != *" $name "* ]] || ! [ -s "$dir/coverage/$name.profraw" ]; then continue; fi
        "$llvm/llvm-profdata" merge -sparse "$dir/coverage/$name.profraw" -o "$dir/coverage/$name.profdata"
        # shellcheck disable=SC2046,SC2086
        "$llvm/llvm-cov" export -summary-only -instr-profile="$dir/coverage/$name.profdata" "$dir/fuzz/fuzz_$name" \
            $(printf "$ROOT/app/%s " $files) |
            node -e '
                const read = JSON.parse(require("fs").readFileSync(0, "utf8"));
                for (const { filename, summary: { lines } } of read.data[0].files) {
                    const cells = [process.argv[1].padEnd(10), filename.replace(/.*\/app\//, "").padEnd(28),
                        String(lines.count).padStart(8), (lines.percent.toFixed(0) + " %").padStart(8)];
                    console.log(cells.join(" "));
                }' "$name"
    done < <(grep '^[a-z]' "$ROOT/tests/fuzz/targets.txt")
}

# fuzz_site [SECONDS]: malformed requests to a site of its own (tests/fuzz/site.test.js).
fuzz_site() {
    local seconds=${1:-15} log=$ROOT/build/${HB_BUILD:-dev}/Testing/Temporary/LastTest.log
    if [ $# -gt 1 ] || ! [[ $seconds =~ ^[1-9][0-9]{0,3}$ ]] || [ "$seconds" -gt 3600 ]; then
        die "fuzz-site takes a number of seconds, at most 3600"
    fi
    HB_TEST_FUZZ_SECONDS=$seconds tests_run fuzz/site
    grep '^fuzz site: ' "$log"
}
