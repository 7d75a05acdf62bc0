# shellcheck shell=bash disable=SC2034,SC2154
# The whole site: what the operator asked for.

SPACE_MIN_MB=32 # free on each disk

# site_get PATH [OPTION...]: asks the site on this machine, without a proxy or a ~/.curlrc; options of curl.
site_get() {
    local port
    port=$(nginx_port)
    curl -q -sk --noproxy '*' --max-time 3 --resolve "$HOST:$port:127.0.0.1" "${@:2}" "https://$HOST:$port$1"
}

site_answers() {
    [ "$(site_get "$1" -o /dev/null -w '%{http_code}')" = 200 ]
}

# What a process checks when it starts: before any that runs is touched.
program_check() {
    hongbao check
    hongbao settle --check || die "the program does not fit the stores; what runs goes on"
}

site_check() {
    local path
    for path in /readyz /login; do
        wait_until 30 site_answers "$path" || site_die "$path"
    done
}

# site_die PATH: dies with the parts that fail, if the site names them.
site_die() {
    local failed
    failed=$(site_get /readyz | sed -n 's/^[a-z]*: failed: \|^[a-z]*: failed$/    &/p')
    [ -z "$failed" ] || die "the site is not ready:
$failed
hongbao doctor tells what mends it"
    die "https://$HOST$1 does not answer as it should: hongbao doctor; journalctl -u 'hongbao-*' -n 50"
}

# Dies when a disk is full: MariaDB would wait for room without a word.
space_check() {
    local folder free_mb
    local -a folders=("$ETC" "$STATE" /var/log)
    store_exists redis || folders+=("/var/lib/$REDIS_NAME")
    store_exists mariadb || folders+=(/var/lib/mysql)
    for folder in "${folders[@]}"; do
        [ -d "$folder" ] || continue
        free_mb=$(df -Pm -- "$folder" | awk 'NR == 2 { print $4 }')
        [ "$free_mb" -ge "$SPACE_MIN_MB" ] ||
            die "only $free_mb MB are free in $folder, of $SPACE_MIN_MB that setup needs: make room"
    done
}

# Makes or renews everything. A process that runs takes the new program and the new settings; then nginx the new routes.
site_make() {
    local -a running
    mapfile -t running < <(units_running)
    redis_make
    mariadb_make
    stores_handed
    demo_fits
    nginx_make
    keys_make
    [ -z "$RESTORE" ] || hongbao restore ${REPLACE:+--replace} "$RESTORE"
    settings_record
    program_check
    backups_note
    units_start
    units_reload "${running[@]}"
    redis_rights_end
    nginx_reload
    site_check
}

setup_install() {
    settings_check
    admin_check
    options_complete
    [ -z "$CERTIFICATE" ] || certificate_check
    [ "$(url_host "$(setting base_url)")" = "$HOST" ] || say "the site is https://$HOST"
    nginx_check
    stores_choose
    stores_fit
    ! mariadb_answers || { demo_fits; data_fits; } # otherwise behind mariadb_make
    space_check
    secret_make
    certificate_make
    config_make
    site_make
    if store_exists redis || store_exists mariadb; then
        hongbao doctor >&2 || say "The site serves; hongbao doctor has found what the lines above name."
    fi
    summary >&2
    stores_advise
    printf 'https://%s/\n' "$HOST"
}

# What the operator has to know now.
summary() {
    cat <<TEXT

money      the database $DATABASE; sessions and open packets: Redis, $REDIS_SOCKET
settings   $ETC/hongbao.conf: man hongbao.conf
logs       journalctl -u 'hongbao-*', $NGINX_LOG
manual     man hongbao, /usr/share/doc/hongbao/docs/how-to

Next:
- Copy $ETC/secret to a safe place: without it no link to a packet works.
- $(backups_advice)
- Let the TCP ports 80 and 443 through the firewall.
- $(certificate_advice)
- Browsers ask $HOST, and every name below it, with TLS alone from now on, for two years: docs/how-to/tls.md.
- hongbao doctor: tells what is wrong, and what mends it. hongbao user show NAME: helps a user.
- Before people come: the list in /usr/share/doc/hongbao/docs/how-to/open.md.

TEXT
}

backups_advice() {
    if systemctl -q is-active hongbao-backup.timer; then
        echo 'A backup is made every night, into /var/backups/hongbao: copy it to another machine (docs/how-to/backup.md).'
    else
        echo 'systemctl enable --now hongbao-backup.timer: a backup every night, into /var/backups/hongbao.'
    fi
}

certificate_advice() {
    local file
    file=$(sed -n 's/^ *ssl_certificate *\(.*\);.*/\1/p' "$NGINX/sites-available/hongbao" | head -n 1)
    case $file in
    "$ETC/tls/"*)
        printf 'Browsers warn of the certificate. One of Let'\''s Encrypt: certbot certonly --webroot -w %s -d %s
  --deploy-hook "systemctl reload nginx", then hongbao setup --certificate FILE --key FILE.\n' "$STATE/acme" "$HOST"
        ;;
    *) printf 'After each renewal of the certificate %s: systemctl reload nginx.\n' "$file" ;;
    esac
}

# Nothing to do while the site is out of service.
setup_upgrade() {
    [ -f "$ETC/hongbao.conf" ] || return 0
    settings_check
    # Units of this version need them, also on a machine whose processes are started by hand.
    if [ -s "$ETC/secret" ] && [ -d "$ETC/rights" ]; then keys_make; fi
    if ! systemctl -q is-enabled hongbao.target 2>/dev/null; then
        say "The site is out of service. \`hongbao setup\` brings it back."
        return
    fi
    if store_is_elsewhere redis || store_is_elsewhere mysql; then
        say "The stores of this site are on other machines; the site goes on with the old program until you bring the
tables and rights up to date and restart it: /usr/share/doc/hongbao/docs/how-to/cluster.md"
        return
    fi
    HOST=$(url_host "$(setting base_url)")
    admin_check
    stores_choose
    ! mariadb_answers || data_fits # otherwise in mariadb_make
    space_check
    secret_make
    site_make
    stores_advise
}

setup_remove() {
    certificate_remember
    timer_remember
    nginx_unlink
    ! systemctl -q is-active nginx || systemctl reload nginx
    systemctl disable -q --now hongbao.target hongbao-backup.timer 2>/dev/null || true
    local -a names
    mapfile -t names < <(systemctl list-units --all --plain --no-legend 'hongbao-*' | cut -d ' ' -f 1)
    [ ${#names[@]} -eq 0 ] || systemctl stop "${names[@]}"
    rm -rf -- /etc/systemd/system/hongbao.target.wants /etc/systemd/system/multi-user.target.wants/hongbao.target
    store_exists redis || systemctl disable -q --now "$REDIS_UNIT" 2>/dev/null || true
    rm -f -- "$STATE/redis-alone"
    file_remove "$NGINX/sites-available/hongbao" "$REDIS_CONF" "$REDIS_ACL" "$MARIADB_CNF"
    systemctl daemon-reload
    if ! [ -e "$ETC/hongbao.conf" ] && ! [ -e "$SUMS" ]; then
        say 'There is no site on this machine.'
        return
    fi
    say "The site is out of service. Money, secrets and settings are kept: $ETC, the data of Redis, and the database
$DATABASE. \`hongbao setup\` brings it back."
}
