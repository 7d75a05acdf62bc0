# shellcheck shell=bash
# The folder of an instance:
#   VAR/hongbao.conf   written at every start; the secret and the user's own settings in it are kept
#   VAR/rights/ROLE.conf   written once; the users of each role, with their passwords
#   VAR/nginx.conf VAR/redis.conf VAR/redis-users.acl VAR/mariadb.cnf VAR/mariadb-init.sql   written at every start
#   VAR/static/   copies of static/ by deploy/static-copy.sh: with hashes in their names, texts compressed beside them
#   VAR/run/NAME.pid, VAR/run/NAME.sock, VAR/run/{port,environment,lock}
#   VAR/log/NAME.log   VAR/data/{mariadb,redis}   VAR/tmp/
#   VAR/node   only when the instance is a machine of a cluster (cluster.sh): `services = NAME …`, the servers that this
#              machine has, `address = IPv4`, `balancer = IPv4` (before nginx); VAR/node-SERVER.conf has further lines for
#              that server's configuration
#   VAR/nginx-seconds   only in a site of tests: how long nginx waits; the auth pool's session is not niced then

SOCKET_PATH_MAX=107  # bytes in sockaddr_un.sun_path, without the NUL

# instance_open: creates the folder when it is missing and turns VAR into its absolute path.
instance_open() {
    instance_create
    instance_find_sockets
}

# instance_exists: like instance_open, but false when the folder is missing.
instance_exists() {
    [ -d "$VAR/run" ] || return 1
    instance_open
}

# instance_create: instance_open without the sockets, whose place is for the user of the servers to find.
instance_create() {
    # These characters have a meaning in the configuration files of the servers, or to env, Redis or CMake.
    case $ROOT$VAR in
    *[]\"\\\$\#\;=*?[$'\n']*) die "a path with one of \" \\ \$ # ; = * ? [ ] in it is not supported: $ROOT, $VAR" ;;
    esac
    mkdir -p -- "$VAR"/run "$VAR"/log "$VAR"/data "$VAR"/tmp 2>/dev/null || die "can't write to $VAR; choose a folder with --var"
    VAR=$(cd -- "$VAR" && pwd -P)
    # Root may not use the folder of another user either: it would leave files that the owner can't change.
    user_owns "$VAR/run" || die "$VAR belongs to another user, $(stat -c %U -- "$VAR/run"); choose another folder with --var"
    chmod 700 "$VAR" # everything in it, the sockets too, is for this user alone
    ! instance_is_node || read -r -a SERVICES <<<"$(instance_node services)"
    instance_has_issuer || read -r -a SERVICES <<<"${SERVICES[*]/#sso/}"
}

# Whether the pool sso belongs to the instance: an issuer is set, or the pool runs.
instance_has_issuer() {
    [ -n "${HB_OIDC_ISSUER:-}" ] || process_running sso ||
        grep -Eqs '^[[:blank:]]*oidc_issuer[[:blank:]]*=[[:blank:]]*[^[:blank:]]' -- "$VAR/hongbao.conf"
}

instance_is_node() {
    [ -f "$VAR/node" ]
}

# instance_node NAME: prints the value in VAR/node; nothing when the instance is no machine of a cluster.
instance_node() {
    ! instance_is_node || sed -n "s/^$1 = //p" "$VAR/node"
}

# instance_has SERVICE...: whether one of these servers belongs to the instance.
instance_has() {
    local name
    for name; do
        [[ " ${SERVICES[*]} " != *" $name "* ]] || return 0
    done
    return 1
}

# Lets one ./dev at a time change an instance.
instance_lock() {
    exec 9>"$VAR/run/lock"
    if ! flock -n 9; then
        say "dev: waiting for another ./dev on $VAR"
        flock 9
    fi
}

instance_unlock() {
    exec 9>&-
}

# Sets SOCKETS, the folder of the sockets: VAR/run, or, when the paths would be too long for a Unix socket or have
# characters that the servers' configuration files don't allow, a folder in /tmp to which VAR/run/sockets points.
instance_find_sockets() {
    local longest=$VAR/run/mariadb.sock
    if [ "$(printf %s "$longest" | wc -c)" -le "$SOCKET_PATH_MAX" ] && [[ $VAR != *[!A-Za-z0-9._/\ -]* ]]; then
        SOCKETS=$VAR/run
        return
    fi
    SOCKETS=$(readlink -- "$VAR/run/sockets" || true)
    # After a reboot a folder in /tmp may be missing, or belong to another user.
    if [ -z "$SOCKETS" ] || ! [ -d "$SOCKETS" ] || ! [ -O "$SOCKETS" ]; then
        SOCKETS=$(mktemp -d /tmp/hongbao.XXXXXX)
        ln -sfn -- "$SOCKETS" "$VAR/run/sockets"
    fi
}

# Removes the sockets, after all servers have ended.
instance_drop_sockets() {
    rm -f -- "$SOCKETS"/{hot,page,auth,sso,card,money,redis,mariadb}.sock
    if [ "$SOCKETS" != "$VAR/run" ]; then
        rmdir -- "$SOCKETS" 2>/dev/null || true
        rm -f -- "$VAR/run/sockets"
    fi
}

# Saves the caller's HB_… variables until the next `./dev up`, so that `./dev start settle` starts it with the same ones.
# Variables of the later call win.
instance_remember_environment() {
    local name
    # The settings may hold passwords and the secret.
    (umask 077 && : >"$VAR/run/environment.new")
    for name in "${!HB_@}"; do
        case $name in HB_CONFIG | HB_TEST_*) continue ;; esac
        [[ ${!name} == *$'\n'* ]] || printf '%s=%s\n' "$name" "${!name}"
    done >"$VAR/run/environment.new"
    mv -- "$VAR/run/environment.new" "$VAR/run/environment"
    printf '%s\n' "$PORT" >"$VAR/run/port"
}

instance_recall_environment() {
    local line name
    if [ -f "$VAR/run/environment" ]; then
        while IFS= read -r line; do
            name=${line%%=*}
            [ -n "${!name:-}" ] || export "${line?}"
        done <"$VAR/run/environment"
    fi
    instance_recall_port
}

# An instance keeps its port until another one is given.
instance_recall_port() {
    if [ -z "$PORT_GIVEN" ] && [ -f "$VAR/run/port" ]; then
        PORT=$(<"$VAR/run/port")
    fi
}

instance_url() {
    local address
    address=$(instance_node address)
    printf 'http://%s:%s\n' "${address:-127.0.0.1}" "$PORT"
}

# instance_setting NAME: prints the value that the processes use.
instance_setting() {
    "$(build_binary_path)" --config "$VAR/hongbao.conf" setting "$1"
}

# Writes the configuration of all servers.
instance_configure() {
    (umask 077 && instance_configure_hongbao)
    (umask 077 && instance_configure_rights)
    cp -- "$ROOT/deploy/dev/mariadb.cnf" "$VAR/mariadb.cnf"
    template_fill "$ROOT/deploy/dev/redis.conf.in" "$VAR/redis.conf" "ROOT=$ROOT" "VAR=$VAR" "SOCKETS=$SOCKETS"
    [ ! -f "$VAR/node-mariadb.conf" ] || cat -- "$VAR/node-mariadb.conf" >>"$VAR/mariadb.cnf"
    [ ! -f "$VAR/node-redis.conf" ] || cat -- "$VAR/node-redis.conf" >>"$VAR/redis.conf"
    ! instance_has nginx || instance_configure_nginx
}

# instance_sets TEXT LINE: whether the settings TEXT have the setting of LINE.
instance_sets() {
    [[ $'\n'$1 =~ $'\n'[[:blank:]]*"${2%% *}"[[:blank:]]*= ]]
}

instance_configure_hongbao() {
    local file=$VAR/hongbao.conf mark='# From here on it is yours.' own='' kept line
    [ ! -f "$file" ] || own=$(cat -- "$file")
    if [[ $'\n'$own == *$'\n'"$mark"* ]]; then
        kept=$(sed -n "/^$mark/,\$p" "$file")
    else # the file is new, or was written by hand before the first start
        kept="$mark The secret keys the ids of all packets: when it changes, old links stop working."
        while read -r line; do
            instance_sets "$own" "$line" || kept+=$'\n'$line
        done <<TEXT
secret = $(random_hex 32)
mysql_database = hongbao
demo = on
TEXT
        kept+=${own:+$'\n'$own}
    fi
    {
        printf '%s\n' '# The settings of this instance; docs/reference/config.md explains all names, and HB_NAME in the environment wins.' \
            '# ./dev rewrites this part at every start; settings that you make further down are left out here.'
        while read -r line; do
            instance_sets "$kept" "$line" || printf '%s\n' "$line"
        done <<TEXT
redis = unix:$SOCKETS/redis.sock
mysql = unix:$SOCKETS/mariadb.sock
template_dir = $ROOT/templates
static_dir = $ROOT/static
lua_dir = $ROOT/lua
sql_dir = $ROOT/sql
command_dir = $ROOT/deploy/commands
metrics_file = $VAR/run/metrics
nginx_counts_dir = $VAR/run
backup_record = $VAR/backups
rights_dir = $VAR/rights
base_url = $(instance_url)
limits = off
TEXT
        printf '\n%s\n' "$kept"
    } >"$file.new"
    mv -- "$file.new" "$file"
}

# Writes the users of each role for hongbao and for both stores, as a deployment does.
instance_configure_rights() {
    local database
    database=$(instance_setting mysql_database) || die "the configuration $VAR/hongbao.conf is broken (above)"
    rights_make "$VAR/rights"
    rights_keys "$VAR/rights" "$(build_binary_path)" --config "$VAR/hongbao.conf" ||
        die "the keys of the roles can't be made: the configuration or a file of it is broken (above)"
    rights_sql "$VAR/rights" "$database" >"$VAR/mariadb-init.sql"
    # Databases that tests create and drop.
    printf "GRANT ALL PRIVILEGES ON \`%s\\_%%\`.* TO 'hongbao_migrate'@'localhost';\n" "$database" >>"$VAR/mariadb-init.sql"
    # A user who may open the socket of a private instance is its administrator: redis-cli needs no password.
    rights_acl "$VAR/rights" "on nopass ~* &* +@all" >"$VAR/redis-users.acl"
}

instance_configure_nginx() {
    local user='' listen="listen 127.0.0.1:$PORT;" limits=limits-off
    # Only root can set the workers' user; the workers must be able to open the pools' sockets.
    [ "$(id -u)" -ne 0 ] || user="user root $(id -gn);"
    if instance_is_node; then
        # The balancer sends the visitor's address.
        listen="listen $(instance_node address):$PORT; set_real_ip_from $(instance_node balancer); real_ip_header X-Forwarded-For;"
    elif grep -q '^0\{31\}1 ' /proc/net/if_inet6 2>/dev/null; then
        listen+=" listen [::1]:$PORT;"
    fi
    [ "$(instance_setting limits)" = off ] || limits=limits
    # The pages name a changed file by its new name only after the pools have restarted, so this is early enough.
    "$ROOT/deploy/static-copy.sh" "$ROOT/static" "$VAR/static"
    mkdir -p -- "$VAR/root"
    printf 'own "%s";\n' "$VAR/root" >"$VAR/hongbao-root.conf"
    instance_link_nginx
    template_fill "$ROOT/nginx/nginx.conf.in" "$VAR/nginx.conf" \
        "USER=$user" "LISTEN=$listen" "LIMITS=$limits" "VAR=$VAR" "SOCKETS=$SOCKETS"
}

# VAR/hongbao is nginx/ of the project; with VAR/nginx-seconds it is a copy in which nginx waits that long.
instance_link_nginx() {
    local seconds
    if ! { read -r seconds <"$VAR/nginx-seconds"; } 2>/dev/null; then
        ln -sfn -- "$ROOT/nginx" "$VAR/hongbao"
        return
    fi
    rm -rf -- "$VAR/hongbao"
    cp -r -- "$ROOT/nginx" "$VAR/hongbao"
    find "$VAR/hongbao" -type f -exec sed -Ei "s/^( *(fastcgi|client|send)[a-z_]*timeout) +[0-9]+s;/\\1 ${seconds}s;/" {} +
}
