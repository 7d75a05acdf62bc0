# shellcheck shell=bash
# Building with the presets of CMakePresets.json.

# Prints the path of the program that an instance runs: HB_BINARY, or the one of the preset.
build_binary_path() {
    printf '%s\n' "${HB_BINARY:-$ROOT/build/${HB_BUILD:-release}/hongbao}"
}

# build_preset PRESET [TARGET...]: configures when needed and builds; shows the end of the log when it fails.
build_preset() {
    say "dev: building ($1)"
    build_targets "$@"
}

# build_targets PRESET [TARGET...]: the same; prints nothing on success. For the program alone no tests are configured.
build_targets() {
    local preset=$1 dir=$ROOT/build/$1 log=$ROOT/build/$1.log tests=ON
    shift
    [ "$*" != hongbao ] || tests=OFF
    if ! mkdir -p -- "$dir" 2>/dev/null || ! [ -w "$dir" ] || ! [ -w "$ROOT/build" ]; then
        die "can't write to $ROOT/build; does it belong to another user?"
    fi
    (
        # Two instances may be started at the same moment from one checkout.
        flock 8
        # The cache of a checkout that was moved or copied points to the old path.
        if [ -f "$dir/CMakeCache.txt" ] && ! grep -qxF "CMAKE_HOME_DIRECTORY:INTERNAL=$ROOT" "$dir/CMakeCache.txt"; then
            rm -rf -- "$dir"
        fi
        cd -- "$ROOT"
        if { build_is_configured "$dir" "$tests" || cmake --preset "$preset" -DHB_TESTS="$tests"; } >"$log" 2>&1 8>&- &&
            cmake --build "$dir" ${1+--target "$@"} >>"$log" 2>&1 8>&-; then
            exit 0
        fi
        tail -n 60 -- "$log" >&2
        exit 1
    ) 8>"$ROOT/build/$preset.lock" || die "the build failed; its log is $log"
}

# build_is_configured DIR TESTS: whether DIR can be built, with TESTS=ON also the tests.
build_is_configured() {
    [ -f "$1/build.ninja" ] && { [ "$2" = OFF ] || ! grep -qx 'HB_TESTS:BOOL=OFF' "$1/CMakeCache.txt"; }
}

# ./dev build [PRESET]
build_run() {
    local preset=${1:-${HB_BUILD:-dev}}
    [ $# -le 1 ] || die "build takes one preset"
    packages_install run
    (cd -- "$ROOT" && cmake --list-presets=build) | grep -q "^ *\"$preset\"" ||
        die "there is no preset '$preset' in CMakePresets.json"
    [ "$preset" != fuzz ] || packages_install fuzz
    build_preset "$preset"
}

# Builds the program of the instance; with HB_BINARY only checks that it exists. HONGBAO_BUILT: root has done it
# (user.sh).
build_binary() {
    [ -z "${HONGBAO_BUILT:-}" ] || return 0
    if [ -n "${HB_BINARY:-}" ]; then
        [ -x "$HB_BINARY" ] || die "HB_BINARY: no program $HB_BINARY"
        return
    fi
    build_preset "${HB_BUILD:-release}" hongbao
}
