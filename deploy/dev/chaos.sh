# shellcheck shell=bash disable=SC2154
# ./dev chaos: fault injection on an instance of its own: tests/chaos, docs/RELIABILITY.md.

chaos_run() {
    local preset=${HB_BUILD:-release}
    packages_install run test
    [[ " $* " != *' --cluster '* ]] || packages_install cluster
    build_preset "$preset" hongbao clock_shift
    unset HB_BUILD
    exec node "$ROOT/tests/chaos/chaos.js" --binary "$ROOT/build/$preset/hongbao" \
        --clock-shift "$ROOT/build/$preset/chaos/libclock_shift.so" "$@"
}
