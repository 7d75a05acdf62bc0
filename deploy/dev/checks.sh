# shellcheck shell=bash
# npm packages of the tests, lint, formatting.

# checks_npm FOLDER: installs the npm packages of the folder's lock file, unless this very lock file is installed.
checks_npm() {
    local folder=$ROOT/$1
    [ -f "$folder/package-lock.json" ] || return 0
    ! cmp -s "$folder/package-lock.json" "$folder/node_modules/.installed-lock.json" || return 0
    say "dev: npm ci in $1"
    local -a options=(--no-audit --no-fund --ignore-scripts --fetch-retries=5 --loglevel=error)
    (cd -- "$folder" && npm ci "${options[@]}" </dev/null >&2) || die "npm ci failed in $folder"
    cp -- "$folder/package-lock.json" "$folder/node_modules/.installed-lock.json"
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
    shellcheck -x "$ROOT/dev" "$ROOT/.ci/run" "$ROOT"/deploy/*.sh "$ROOT"/deploy/{commands,commands/setup,container,dev,rights,systemd}/*.sh \
        "$ROOT/tests/support/servers" "$ROOT/tests/fuzz/run" "$ROOT"/tests/container/*.sh || failed+=' shellcheck'
    say "dev: cppcheck"
    # Suppressed: errors of cppcheck 2.10 with C11, and checks that compiler and sanitizers do better.
    cppcheck --quiet --std=c11 --language=c --enable=warning,portability,performance --inline-suppr --error-exitcode=1 \
        --suppress=missingIncludeSystem --suppress=internalAstError --suppress=uninitvar --suppress=ctuuninitvar \
        --suppress=uninitStructMember -j "$(cpu_count)" -I "$ROOT/app" "$ROOT/app" || failed+=' cppcheck'
    [ -z "$failed" ] || die "lint found problems:$failed"
}

checks_format() {
    local -a sources
    packages_install lint
    mapfile -d '' sources < <(checks_c_sources)
    clang-format -i -style=file -- "${sources[@]}"
    node "$ROOT/tests/support/json_form.js"
}
