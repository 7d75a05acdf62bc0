# shellcheck shell=bash disable=SC2034,SC2154
# The secret, the passwords and keys of the roles, and the program's configuration.

# setting NAME: prints the value in the configuration; nothing without one.
setting() {
    [ ! -f "$ETC/hongbao.conf" ] || sed -n "s/^$1 *= *//p" "$ETC/hongbao.conf" | tail -n 1
}

# socket_setting redis|mysql: prints the path of its Unix socket in the configuration, by either name of the setting;
# nothing without one.
socket_setting() {
    local address
    ! store_is_elsewhere "$1" ||
        die "$1 in $ETC/hongbao.conf is not one Unix socket; such a site is set up by hand (docs/how-to/cluster.md)"
    address=$(setting "$1")
    if [ -n "$address" ]; then printf '%s\n' "${address#unix:}"; else setting "$1_socket"; fi
}

# store_is_elsewhere redis|mysql: whether the configuration names servers on other machines, or several.
store_is_elsewhere() {
    local address
    address=$(setting "$1")
    [[ $address == *,* || ($address != '' && $address != unix:*) ]]
}

# Whether the site has users or packets, whose links need the secret that they were made with. Dies when a site that was
# set up before can't be asked.
site_has_data() {
    local answer question="SELECT EXISTS (SELECT 1 FROM $DATABASE.packet) OR EXISTS (SELECT 1 FROM $DATABASE.user)"
    local -a asker=(mariadb_admin)
    mariadb_answers || asker=(mariadb_as hongbao_audit "$(rights_password "$ETC/rights" audit 2>/dev/null)")
    answer=$("${asker[@]}" -N -e "$question" 2>&1) || true
    case $answer in
    1) return 0 ;;
    0 | 'ERROR 1049 '* | 'ERROR 1146 '*) return 1 ;; # there is no such database, no such table
    esac
    if [ -e "$STATE/rights" ] || [ -d "$STATE/static" ]; then
        die "can't find out whether this site has users or packets; does MariaDB run? $answer"
    fi
    return 1
}

secret_make() {
    install -d -m 755 "$ETC"
    if [ ! -s "$ETC/secret" ] && site_has_data; then
        die "$ETC/secret is missing, and the links of this site's packets need it: put it back from your copy"
    fi
    [ -s "$ETC/secret" ] ||
        (umask 077 && printf '%s\n' "$(random_hex 32)" >"$ETC/secret.new" && mv "$ETC/secret.new" "$ETC/secret")
    rights_make "$ETC/rights"
}

# Whether the site may have phrases, links and codes of an earlier version, which need its keys (docs/reference/rights.md,
# Keys). A new site has none.
older_keys() {
    local value
    if [ -f "$ETC/hongbao.conf" ]; then
        value=$(setting older_keys)
    elif [ -n "$RESTORE" ]; then
        value=$(sed -n 's/^older_keys = //p' "$RESTORE/manifest")
    else
        site_has_data || value=off
    fi
    printf '%s\n' "${value:-on}"
}

config_make() {
    local line=''
    [ "$(older_keys)" = on ] || line=$'\nolder_keys = off'
    file_put "$ETC/hongbao.conf" 644 root:root <<TEXT
# The settings of the site: man hongbao.conf. After a change: hongbao check && systemctl reload 'hongbao-*.service'
base_url = https://$HOST
secret_file = $ETC/secret
rights_dir = $ETC/rights$line
redis = unix:$REDIS_SOCKET
mysql = unix:$MYSQL_SOCKET
mysql_database = $DATABASE
demo = ${DEMO:-off}
TEXT
}

# The keys of each role that serves, from the secret.
keys_make() {
    rights_keys "$ETC/rights" hongbao || die "the keys of the roles can't be made from $ETC/secret"
}
