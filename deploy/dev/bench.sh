# shellcheck shell=bash
# ./dev bench: measures the site and the usual alternatives: tests/bench, docs/BENCHMARKS.md.

bench_run() {
    local preset=${HB_BUILD:-release}
    packages_install run bench
    checks_npm tests/bench
    checks_npm tests/e2e
    build_preset "$preset" hongbao bench
    unset HB_BUILD
    exec node "$ROOT/tests/bench/bench.js" --build "$ROOT/build/$preset" "$@"
}
