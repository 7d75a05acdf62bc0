# shellcheck shell=bash disable=SC2034,SC2153,SC2154
# Stores that existed before the site, and have administrators of their own (--redis-socket, --mysql-socket).
# STATE/stores names them. Setup changes nothing there but the users of the roles, the database and its tables. What it
# may not do itself it writes to HANDED, for the administrators.

HANDED=$ETC/for-administrators
# redis_user, redis_password, mysql_user and mysql_password of an administrator, where setup may have them.
ADMIN=$ETC/admin.conf
HANDED_TEXT=

# Sets REDIS_SOCKET and MYSQL_SOCKET: those of the options, then of the earlier setup, then the site's own.
stores_choose() {
    local redis=$REDIS_SOCKET mysql=$MYSQL_SOCKET
    REDIS_SOCKET=$(setting redis_socket)
    MYSQL_SOCKET=$(setting mysql_socket)
    [ "${redis:-$REDIS_SOCKET} ${mysql:-$MYSQL_SOCKET}" = "$REDIS_SOCKET $MYSQL_SOCKET" ] || ! site_has_data ||
        die "this site has users or packets in other stores: see /usr/share/doc/hongbao/docs/how-to/move.md"
    [ -z "$redis" ] || [ "$redis" = "$REDIS_SOCKET_OWN" ] || store_reachable Redis "$redis"
    [ -z "$mysql" ] || store_reachable MariaDB "$mysql"
    REDIS_SOCKET=${redis:-${REDIS_SOCKET:-$REDIS_SOCKET_OWN}}
    MYSQL_SOCKET=${mysql:-${MYSQL_SOCKET:-$MYSQL_SOCKET_OWN}}
    if [ "$REDIS_SOCKET" = "$REDIS_SOCKET_OWN" ]; then store_forget redis; else store_record redis; fi
    # Debian's MariaDB has the same path whether it existed before the site or not, so only the option tells.
    [ -z "$mysql" ] || store_record mariadb
}

# store_exists redis|mariadb: whether it existed before the site.
store_exists() {
    grep -qsx "$1" "$STATE/stores"
}

store_record() {
    store_exists "$1" || printf '%s\n' "$1" >>"$STATE/stores"
}

store_forget() {
    ! store_exists "$1" || sed -i "/^$1\$/d" "$STATE/stores"
}

# admin_value NAME: prints the setting of the administrator; nothing without one.
admin_value() {
    [ ! -f "$ADMIN" ] || sed -n "s/^$1 *= *//p" "$ADMIN" | tail -n 1
}

# admin_check: the file has passwords.
admin_check() {
    [ ! -f "$ADMIN" ] || [ "$(stat -c '%U %a' -- "$ADMIN")" = 'root 600' ] ||
        die "others may read $ADMIN: chown root $ADMIN; chmod 600 $ADMIN"
}

# store_reachable NAME SOCKET: whether the processes of the site can connect.
store_reachable() {
    case $2 in
    /tmp/* | /var/tmp/* | /home/* | /root/* | /run/user/*) die "$2: the units of the site can't see this folder" ;;
    esac
    [ -S "$2" ] || die "$1 has no socket $2; does it run?"
    setpriv --reuid=hongbao-page --regid=hongbao --init-groups test -w "$2" ||
        die "the users hongbao-* may not connect to $2: every role has a password, so everybody may (mode 777)"
}

# store_lacks FINDING…: whether hongbao doctor finds one of these.
store_lacks() {
    local name found
    found=$(hongbao doctor --json --skip nginx --skip pools 2>/dev/null) || true
    [[ $found == "{"* ]] || die "hongbao doctor does not tell what the stores lack; run it"
    for name; do
        [[ $found != *"\"name\":\"$name\""* ]] || return 0
    done
    return 1
}

# store_hand_over FILE COMMAND TEXT: the text is for the administrator, who runs COMMAND <FILE.
store_hand_over() {
    install -d -m 700 "$HANDED"
    (umask 077 && printf '%s\n' "$3" >"$HANDED/$1")
    HANDED_TEXT+="
    $2 <$HANDED/$1"
}

# Prints the command that goes on with this setup. The configuration has its other answers.
setup_again() {
    case $ACTION$SELF_SIGNED$CERTIFICATE in
    upgrade*) echo 'dpkg --configure -a' ;;
    installyes*) echo 'hongbao setup --self-signed' ;;
    install) echo 'hongbao setup' ;;
    *) printf 'hongbao setup --certificate %q --key %q\n' "$CERTIFICATE" "$KEY" ;;
    esac
}

# Ends setup when the administrators have something to do.
stores_handed() {
    if [ -n "$HANDED_TEXT" ]; then
        say "The administrators of the stores have to run this, which has passwords:
$HANDED_TEXT

Then run: $(setup_again)

Setup does it itself once $ADMIN (mode 600) has an administrator's redis_user, redis_password, mysql_user and
mysql_password."
        exit 1
    fi
    rm -rf -- "$HANDED"
}
