# shellcheck shell=bash disable=SC2034,SC2153,SC2154
# Stores that existed before the site, and have administrators of their own (--redis-socket, --mysql-socket).
# STATE/stores names them. Setup changes nothing there but the users of the roles, the database and its tables. What it
# may not do itself it writes to HANDED, for the administrators.

HANDED=$ETC/for-administrators
# redis_user, redis_password, mysql_user and mysql_password of an administrator, where setup may have them.
ADMIN=$ETC/admin.conf
# The commands and files for the administrators: without NEEDED no site can be made; EXCESS takes rights away that the
# roles do not need; USERS are lines for the configuration file of Redis.
HANDED_NEEDED='' HANDED_EXCESS='' HANDED_USERS=''

# Sets REDIS_SOCKET and MYSQL_SOCKET: from the options, else from the earlier setup, else the site's own.
stores_choose() {
    local redis=$REDIS_SOCKET mysql=$MYSQL_SOCKET
    REDIS_SOCKET=$(socket_setting redis)
    MYSQL_SOCKET=$(socket_setting mysql)
    [ "${redis:-$REDIS_SOCKET} ${mysql:-$MYSQL_SOCKET}" = "$REDIS_SOCKET $MYSQL_SOCKET" ] || stores_change
    [ -z "$redis" ] || [ "$redis" = "$REDIS_SOCKET_OWN" ] || store_reachable Redis "$redis"
    [ -z "$mysql" ] || [ -n "$OWN_STORES" ] || store_reachable MariaDB "$mysql"
    REDIS_SOCKET=${redis:-${REDIS_SOCKET:-$REDIS_SOCKET_OWN}}
    MYSQL_SOCKET=${mysql:-${MYSQL_SOCKET:-$MYSQL_SOCKET_OWN}}
    if [ "$REDIS_SOCKET" = "$REDIS_SOCKET_OWN" ]; then store_forget redis; else store_record redis; fi
    # Debian's MariaDB has the same path whether it existed before the site or not, so only the options tell.
    if [ -n "$OWN_STORES" ]; then store_forget mariadb; elif [ -n "$mysql" ]; then store_record mariadb; fi
}

# Dies when Redis has keys of others, or MariaDB does not let setup in: before a secret or a password is made. Questions
# that need the passwords of the roles come later.
stores_fit() {
    ! store_exists redis || ! redis_is_admin || redis_is_alone redis_admin
    store_exists mariadb || ! systemctl -q is-active mariadb || mariadb_answers ||
        die "MariaDB does not let root in by $MYSQL_SOCKET. Setup comes in as another administrator:
    install -D -m 600 /dev/null $ADMIN
then write the lines mysql_user = NAME and mysql_password = PASSWORD into this file"
}

# Whether the site may get other stores: dies when it would leave users or packets behind.
stores_change() {
    local stopped_us
    site_has_data || return 0
    [ -n "$RESTORE" ] || die "this site has users or packets in the stores that it would leave. To take them along:
    systemctl stop hongbao.target
    hongbao backup --verify /var/backups/hongbao-stores
    hongbao setup $(stores_options) --restore /var/backups/hongbao-stores
See /usr/share/doc/hongbao/docs/how-to/move.md"
    [ -z "$(units_running)" ] ||
        die "the site runs, and would change after the backup: systemctl stop hongbao.target, then make a new backup"
    stopped_us=$(units_stopped_us)
    [ "$(date -d "$(sed -n 's/^redis_at = //p' "$RESTORE/manifest")" +%s%6N)" -ge "$stopped_us" ] ||
        die "the site still ran when the backup $RESTORE was begun: make a new one"
}

# Prints the options that name the stores.
stores_options() {
    if [ -n "$OWN_STORES" ]; then
        echo --own-stores
    else
        echo "${redis:+--redis-socket $redis }${mysql:+--mysql-socket $mysql}"
    fi
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

# admin_value NAME: prints the value of the administrator; nothing without one. The program does not read this file: its
# settings have defaults. A # belongs to the value.
admin_value() {
    [ ! -f "$ADMIN" ] || sed -En "s/^[[:space:]]*$1[[:space:]]*=[[:space:]]*//; T; s/[[:space:]]+\$//; p" "$ADMIN" | tail -n 1
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
    [ -S "$2" ] || die "$1 has no socket $2: start $1, or name its socket (hongbao setup --help)"
    setpriv --reuid=hongbao-page --regid=hongbao --init-groups test -w "$2" ||
        die "the users hongbao-* may not connect to $2: every role has a password, so everybody may (mode 777)"
}

# store_has FINDING…: whether hongbao doctor finds one of these. Before units_start the site is out of service.
store_has() {
    local name found
    found=$(hongbao doctor --json --skip out-of-service --skip nginx --skip pools 2>/dev/null) || true
    [[ $found == "{"* ]] || die "hongbao doctor does not tell what the stores lack; run it"
    for name; do
        [[ $found != *"\"name\":\"$name\""* ]] || return 0
    done
    return 1
}

# store_hand_over NEEDED|EXCESS|USERS FILE COMMAND TEXT: the text is for the administrator, who runs COMMAND <FILE.
store_hand_over() {
    local -n handed=HANDED_$1
    install -d -m 700 "$HANDED"
    (umask 077 && printf '%s\n' "$4" >"$HANDED/$2")
    handed+="
    ${3:+$3 <}$HANDED/$2"
}

# Prints the command that goes on with this setup. The configuration has its other answers.
setup_again() {
    local -a words=(hongbao setup)
    if [ "$ACTION" = upgrade ]; then
        echo 'hongbao setup --upgrade'
        return
    fi
    [ -z "$SELF_SIGNED" ] || words+=(--self-signed)
    [ -n "$SELF_SIGNED" ] || [ -z "$CERTIFICATE" ] || words+=(--certificate "$CERTIFICATE" --key "$KEY")
    [ -z "$RESTORE" ] || words+=(--restore "$RESTORE")
    printf '%s\n' "${words[*]@Q}" | sed "s/'\([A-Za-z0-9_.\/-]*\)'/\1/g"
}

# Ends setup when it needs something of the administrators.
stores_handed() {
    if [ -n "$HANDED_NEEDED" ]; then
        say "The administrators of the stores have to run this, which has passwords:
$HANDED_NEEDED$HANDED_EXCESS

Then run: $(setup_again)

Setup does it itself once $ADMIN (mode 600) has an administrator's redis_user, redis_password, mysql_user and
mysql_password."
        exit 1
    fi
    [ -n "$HANDED_EXCESS$HANDED_USERS" ] || rm -rf -- "$HANDED"
}

# Prints what the administrators should do, though the site serves without.
stores_advise() {
    [ -z "$HANDED_EXCESS" ] ||
        say "The site serves. But its roles have more rights in the stores than they need, and setup may not take them
away. The administrators of the stores have to run this:
$HANDED_EXCESS
"
    [ -z "$HANDED_USERS" ] ||
        say "The site serves. But Redis would forget the users of the roles at its next restart: it has no aclfile. Its
administrator has to put the lines of this file into the configuration file of Redis:
$HANDED_USERS
"
}
