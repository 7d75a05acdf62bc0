# shellcheck shell=bash
# npm packages of the tests, fuzzing, lint, formatting.

# checks_npm FOLDER: installs the npm packages of the folder's lock file, unless this very lock file is installed.
checks_npm() {
    local folder=$ROOT/$1
    [ -f "$folder/package-lock.json" ] || return 0
    ! cmp -s "$folder/package-lock.json" "$folder/node_modules/.installed-lock.json" || return 0
    say "dev: npm ci in $1"
    (cd -- "$folder" && npm ci --no-audit --no-fund --ignore-scripts --loglevel=error </dev/null >&2) ||
        die "npm ci failed in $folder"
    cp -- "$folder/package-lock.json" "$folder/node_modules/.installed-lock.json"
}

checks_fuzz() {
    local seconds=${1:-30} target name corpus seeds found=
    [[ $seconds =~ ^[1-9][0-9]*$ ]] || die "fuzz takes a number of seconds"
    packages_install run fuzz
    build_preset fuzz
    for target in "$ROOT"/build/fuzz/fuzz/fuzz_*; do
        if ! [ -f "$target" ] || ! [ -x "$target" ]; then continue; fi
        found=yes
        name=${target##*/}
        corpus=$ROOT/build/fuzz/corpus/$name
        seeds=$ROOT/tests/fuzz/corpus/${name#fuzz_}
        mkdir -p -- "$corpus"
        say "dev: $name for $seconds s"
        # New inputs go to the build's corpus; the project's seeds are only read.
        local -a folders=("$corpus")
        [ ! -d "$seeds" ] || folders+=("$seeds")
        local -a options=(-max_total_time="$seconds" -timeout=10 -rss_limit_mb=1024 -verbosity=0 -print_final_stats=1)
        [ ! -f "$ROOT/tests/fuzz/$name.dict" ] || options+=(-dict="$ROOT/tests/fuzz/$name.dict")
        (cd -- "$corpus/.." && "$target" "${options[@]}" "${folders[@]}" </dev/null) || die "$name failed; the input is in $ROOT/build/fuzz/corpus"
    done
    [ -n "$found" ] || die "no fuzz targets in tests/fuzz"
}

checks_c_sources() {
    find "$ROOT/app" "$ROOT/tests" -name node_modules -prune -o \( -name '*.c' -o -name '*.h' \) -print0 | sort -z
}

checks_lint() {
    local failed=
    local -a sources
    packages_install run lint
    mapfile -d '' sources < <(checks_c_sources)
    say "dev: clang-format"
    clang-format --dry-run -Werror -style=file -- "${sources[@]}" || failed+=' clang-format'
    say "dev: shellcheck"
    shellcheck -x "$ROOT/dev" "$ROOT/.ci/run" "$ROOT"/deploy/dev/*.sh "$ROOT/tests/support/servers" || failed+=' shellcheck'
    say "dev: cppcheck"
    # Suppressed: errors of cppcheck 2.10 with C11, and checks that compiler and sanitizers do better.
    cppcheck --quiet --std=c11 --language=c --enable=warning,portability,performance --inline-suppr --error-exitcode=1 \
        --suppress=missingIncludeSystem --suppress=internalAstError --suppress=uninitvar \
        --suppress=uninitStructMember -j "$(cpu_count)" -I "$ROOT/app" "$ROOT/app" || failed+=' cppcheck'
    [ -z "$failed" ] || die "lint found problems:$failed"
}

checks_format() {
    local -a sources
    packages_install lint
    mapfile -d '' sources < <(checks_c_sources)
    clang-format -i -style=file -- "${sources[@]}"
}
