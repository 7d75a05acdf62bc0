# shellcheck shell=bash disable=SC2154
# Started by root, ./dev installs and builds as root. Then it continues as a system user of its own, who owns the folder
# of the instance and runs all of its servers: an intruder in one of them has the rights of this user only.

SERVICE_USER=hongbao-dev

# user_leave_root COMMAND ARGS...: executes ./dev again as SERVICE_USER. Returns when this process is not root, or has to
# stay root.
user_leave_root() {
    [ "$(id -u)" -eq 0 ] || return 0
    case $1 in
    up | run | start) instance_create ;;
    *) [ -d "$VAR/run" ] && instance_create || return 0 ;;
    esac
    case $1 in
    down | stop | status) [ ! -O "$VAR/run" ] || return 0 ;;
    *) user_prepare "$1" || return 0 ;;
    esac
    set -- --var "$VAR" "$@"
    [ -z "$PORT_GIVEN" ] || set -- --port "$PORT" "$@"
    user_does env HOME=/nonexistent HONGBAO_BUILT=yes "$ROOT/dev" "$@"
}

# user_prepare COMMAND: does what only root can do before servers start. False when they have to run as root.
user_prepare() {
    if [ -O "$VAR/run" ] && site_any_running; then
        say "dev: the servers in $VAR run as root, until they are stopped"
        return 1
    fi
    packages_install run
    if [ "$1" != start ] || [ ! -x "$(build_binary_path)" ]; then
        build_binary
    fi
    user_is_usable || return 1
    chown -hR --from=root "$SERVICE_USER:$SERVICE_USER" -- "$VAR"
}

# user_does COMMAND...: executes it in place of this shell, with nothing left of root.
user_does() {
    exec setpriv --reuid="$SERVICE_USER" --regid="$SERVICE_USER" --init-groups --inh-caps=-all --no-new-privs "$@"
}

# user_is_usable: makes the user when it is missing. False, with a line that says why, when there is no such user or it
# can't reach what it needs.
user_is_usable() {
    local path
    # The counters of the coverage build are written beside its objects.
    [[ $(build_binary_path) != "$ROOT/build/coverage/"* ]] || return 1
    if ! user_exists && ! user_make; then
        say "dev: the servers run as root: there is no user $SERVICE_USER, and useradd could not make it"
        return 1
    fi
    for path in "$ROOT/templates" "$ROOT/nginx" "${VAR%/*}/" "$(build_binary_path)"; do
        if ! (user_does test -x "$path"); then
            say "dev: the servers run as root: the user $SERVICE_USER can't reach $path"
            return 1
        fi
    done
}

user_exists() {
    id -u "$SERVICE_USER" >/dev/null 2>&1
}

# user_make: one ./dev at a time. Of two useradd at once both can succeed, and the number that the first one gave to the
# user, and to its files, is then nobody's. The lock is on the folder of the file of users.
user_make() (
    exec 8</etc
    flock 8
    user_exists || useradd --system --user-group --no-create-home \
        --home-dir /nonexistent --shell /usr/sbin/nologin "$SERVICE_USER" >&2
)

# user_owns PATH: whether it belongs to this user or, when this user is root, to SERVICE_USER.
user_owns() {
    [ -O "$1" ] || { [ "$(id -u)" -eq 0 ] && [ "$(stat -c %U -- "$1")" = "$SERVICE_USER" ]; }
}
