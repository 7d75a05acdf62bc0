# shellcheck shell=bash
# ./dev bench: measures the site and the usual alternatives: tests/bench, docs/BENCHMARKS.md.

# bench_build ROOT PRESET: builds what is measured, in this checkout.
bench_build() {
    local ROOT=$1 # for the function below
    build_preset "$2" hongbao bench
}

# bench_checkout COMMIT: prints the folder of its files, in which the commit can be built.
bench_checkout() {
    local commit folder
    commit=$(git -C "$ROOT" rev-parse --verify --quiet "$1^{commit}") || die "bench: there is no commit $1"
    folder=$ROOT/build/against/${commit:0:12}
    if ! [ -e "$folder/dev" ]; then
        mkdir -p -- "$folder"
        git -C "$ROOT" archive "$commit" | tar -x -C "$folder" || die "bench: can't unpack $1"
    fi
    printf '%s\n' "$folder"
}

bench_run() {
    local preset=${HB_BUILD:-release} other=
    packages_install run bench
    checks_npm tests/e2e
    bench_build "$ROOT" "$preset"
    unset HB_BUILD
    [ "${1:-}" = --against ] || exec node "$ROOT/tests/bench/bench.js" --build "$ROOT/build/$preset" "$@"
    [ $# -ge 2 ] || die "bench: --against needs a commit"
    other=$(bench_checkout "$2")
    bench_build "$other" release
    exec node "$ROOT/tests/bench/against.js" --build "$ROOT/build/$preset" --other "$other" "${@:3}"
}
