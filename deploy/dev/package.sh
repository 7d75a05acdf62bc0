# shellcheck shell=bash
# The Debian package, built from deploy/debian in a folder of its own: dpkg wants a folder debian/ beside the sources.

MACHINE_SECONDS_MAX=60 # one second as a rule

# ./dev package [ARCHITECTURE]: leaves build/package/hongbao_VERSION_ARCHITECTURE.deb, and prints its path. The same
# sources give the same bytes. Another architecture than this machine's needs Debian's cross-compiler, libraries and
# qemu-user, as tests/release/arm64.sh installs them: dpkg can't check these by the names of the usual ones (-d).
package_build() {
    [ $# -le 1 ] || die "package takes one architecture, as arm64"
    local -a other=(${1+--host-arch "$1" --no-check-builddeps})
    packages_install run package
    mkdir -p -- "$ROOT/build/package"
    exec 8>"$ROOT/build/package/lock"
    flock -n 8 || die "another ./dev package is running"
    local work architecture log=$ROOT/build/package.log
    say "dev: building the package"
    rm -rf -- "$ROOT"/build/package/work.*
    # A new path each time: it must leave no trace in the package.
    work=$(mktemp -d "$ROOT/build/package/work.XXXXXX")
    mkdir -- "$work/hongbao"
    (cd -- "$ROOT" && package_sources | tar -cf - --null -T -) | tar -C "$work/hongbao" -xf - 8>&-
    cp -r -- "$work/hongbao/deploy/debian" "$work/hongbao/debian"
    package_changelog >"$work/hongbao/debian/changelog"
    # Files of the package have the modes of the sources, which must not depend on the umask of a checkout.
    chmod -R u=rwX,go=rX -- "$work/hongbao"
    if ! (cd -- "$work/hongbao" && DEB_BUILD_OPTIONS="noautodbgsym nocheck parallel=$(cpu_count)" LC_ALL=C.UTF-8 \
        dpkg-buildpackage --build=binary --no-sign "${other[@]}") >"$log" 2>&1 8>&-; then
        tail -n 40 -- "$log" >&2
        die "the package could not be built; the log is $log"
    fi
    architecture=${1:-$(dpkg --print-architecture)}
    rm -f -- "$ROOT"/build/package/hongbao_*_"$architecture.deb"
    mv -- "$work"/hongbao_*_"$architecture.deb" "$ROOT/build/package/"
    rm -rf -- "$work"
    printf '%s\n' "$ROOT"/build/package/hongbao_*_"$architecture.deb"
}

# Prints debian/changelog: the version of the sources, which debian/rules gives to the program, too, and the earlier
# releases of CHANGELOG.md.
package_changelog() {
    local version released day
    version=$("$ROOT/deploy/version.sh")
    package_changelog_entry "$version" "@$("$ROOT/deploy/version.sh" --time)"
    while read -r released day; do
        ! dpkg --compare-versions "$released" lt "$version" || package_changelog_entry "$released" "$day"
    done < <(sed -n 's/^## \([0-9.]*\) (\([0-9-]*\))$/\1 \2/p' "$ROOT/CHANGELOG.md")
}

# package_changelog_entry VERSION TIME
package_changelog_entry() {
    printf 'hongbao (%s) bookworm; urgency=medium\n\n  * CHANGELOG.md says what changes for operators.\n\n' "$1"
    printf ' -- %s  %s\n\n' "$(sed -n 's/^Maintainer: //p' "$ROOT/deploy/debian/control")" \
        "$(LC_ALL=C date -u -R -d "$2")"
}

# Prints the sources, NUL-separated: what git lists, or in an unpacked archive everything except build and data folders.
package_sources() {
    if git rev-parse --git-dir >/dev/null 2>&1; then
        git ls-files -z --cached --others --exclude-standard | while IFS= read -r -d '' file; do
            [ ! -e "$file" ] || printf '%s\0' "$file"
        done
    else
        find . -mindepth 1 -maxdepth 1 ! -name build ! -name var ! -name '.git*' -print0
    fi
}

# ./dev machine: boots a machine of its own for a second, as the tests of label package do for longer. Prints nothing
# when that works, else one line that says why it does not, and fails.
package_machine() {
    local log status=0
    [ $# -eq 0 ] || die "machine takes no arguments"
    if [ "$(id -u)" -ne 0 ]; then
        say "no machine can boot here: this user is not root"
        return 1
    fi
    packages_install package
    log=$(timeout "$MACHINE_SECONDS_MAX" systemd-nspawn --quiet --directory=/ --machine="hongbao-try-$$" --volatile=yes \
        --register=no --keep-unit --private-network --console=read-only --boot systemd.unit=poweroff.target \
        </dev/null 2>&1) || status=$?
    [ "$status" -ne 0 ] || return 0
    say "no machine can boot here: systemd-nspawn ends with status $status:" \
        "$(tr -d '\r' <<<"$log" | sed '/^[[:space:]]*$/d' | tail -n 1)"
    return 1
}
