# shellcheck shell=bash
# Debian packages: deploy/packages.txt is the only list.

# packages_install [GROUP...]: installs the missing packages of the groups (default: all). Prints nothing when none is
# missing, or with HB_PACKAGES=installed, which says so.
packages_install() {
    [ "${HB_PACKAGES:-}" != installed ] || return 0
    local -a wanted=() missing=() groups=("$@")
    local package group instead installed
    while read -r package group instead; do
        case $package in '' | '#'*) continue ;; esac
        [ ${#groups[@]} -eq 0 ] || [[ " ${groups[*]} " == *" $group "* ]] || continue
        ! packages_have "$instead" || continue
        wanted+=("$package")
    done <"$ROOT/deploy/packages.txt"
    [ ${#wanted[@]} -gt 0 ] || return 0

    if ! command -v dpkg-query >/dev/null; then
        die "this is $(packages_system), and ./dev can install packages on Debian only. Please install what Debian calls" \
            "${wanted[*]}. HB_PACKAGES=installed ./dev ... then asks no more."
    fi
    installed=$(dpkg-query -W -f='${db:Status-Status} ${Package}\n' "${wanted[@]}" 2>/dev/null || true)
    for package in "${wanted[@]}"; do
        [[ $'\n'$installed$'\n' == *$'\n'"installed $package"$'\n'* ]] || missing+=("$package")
    done
    [ ${#missing[@]} -gt 0 ] || return 0

    say "dev: installing ${missing[*]}"
    packages_tried || say "dev: this is $(packages_system); tried are Debian 12 and 13, whose names of packages it may share"
    local -a as_root=()
    if [ "$(id -u)" -ne 0 ]; then
        command -v sudo >/dev/null || die "sudo is needed to install: ${missing[*]}"
        as_root=(sudo)
    fi
    # The output goes to stderr: a caller may read our stdout.
    "${as_root[@]}" bash "$ROOT/deploy/dev/apt-install.sh" "${missing[@]}" </dev/null >&2 ||
        die "apt-get could not install: ${missing[*]}"
    hash -r
}

# packages_system: prints the name of this system: "Ubuntu 24.04.1 LTS".
packages_system() {
    # shellcheck source=/dev/null
    (. "${PACKAGES_OS_RELEASE:-/etc/os-release}" 2>/dev/null && echo "$PRETTY_NAME") || uname -s
}

# packages_tried: whether this is a release of Debian that is tested.
packages_tried() {
    # shellcheck source=/dev/null
    (. "${PACKAGES_OS_RELEASE:-/etc/os-release}" 2>/dev/null && [[ "$ID $VERSION_ID" == 'debian '@(12|13) ]])
}

# packages_have NAMES: whether one of the commands or files of the third column, with | between them, exists.
packages_have() {
    local name
    local -a names
    IFS='|' read -ra names <<<"$1"
    for name in "${names[@]}"; do
        case $name in
        /*) [ ! -e "$name" ] || return 0 ;;
        *) ! { command -v "$name" >/dev/null || [ -x "/usr/sbin/$name" ]; } || return 0 ;;
        esac
    done
    return 1
}

# Valkey takes the place of Redis where Redis is not installed, and where HB_TEST_STORE is valkey: ./dev and what it runs
# find its programs under the names of Redis. The first ./dev sees to that for those that it runs.
packages_choose_store() {
    local programs=$ROOT/deploy/dev/valkey
    case ${HB_TEST_STORE:-} in
    '') ! command -v redis-server >/dev/null && command -v valkey-server >/dev/null || return 0 ;;
    redis) return 0 ;;
    valkey) command -v valkey-server >/dev/null || die "there is no valkey-server, which HB_TEST_STORE chooses" ;;
    *) die "HB_TEST_STORE is redis or valkey, not $HB_TEST_STORE" ;;
    esac
    [[ :$PATH: == *":$programs:"* ]] || export PATH=$programs:$PATH
}
