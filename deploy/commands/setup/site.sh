# shellcheck shell=bash disable=SC2034,SC2154
# The whole site: what the operator asked for.

site_answers() {
    [ "$(curl -sk --max-time 3 -o /dev/null -w '%{http_code}' --resolve "$HOST:443:127.0.0.1" "https://$HOST$1")" = 200 ]
}

# What a process checks when it starts: before any that runs is touched.
program_check() {
    hongbao check
    hongbao settle --check || die "the program does not fit the tables; what runs goes on"
}

site_check() {
    local path
    for path in /readyz /login; do
        wait_until 30 site_answers "$path" || die "https://$HOST$path does not answer: journalctl -u 'hongbao-*' -n 50"
    done
}

# Makes or renews everything. A process that runs takes the new program and the new settings; then nginx the new routes.
site_make() {
    local -a running
    mapfile -t running < <(units_running)
    redis_make
    mariadb_make
    nginx_make
    program_check
    units_start
    units_reload "${running[@]}"
    nginx_reload
    site_check
}

setup_install() {
    options_complete
    [ "$(setting base_url)" = "https://$HOST" ] || say "the site is https://$HOST"
    secret_make
    certificate_make
    config_make
    site_make
    say ''
    printf 'https://%s/\n' "$HOST"
}

# Nothing to do while the site is out of service.
setup_upgrade() {
    local url
    [ -f "$ETC/hongbao.conf" ] && systemctl -q is-enabled hongbao.target 2>/dev/null || return 0
    url=$(setting base_url)
    HOST=${url#https://}
    secret_make
    site_make
}

setup_remove() {
    nginx_unlink
    ! systemctl -q is-active nginx || systemctl reload nginx
    systemctl disable -q --now hongbao.target hongbao-backup.timer 2>/dev/null || true
    local -a names
    mapfile -t names < <(systemctl list-units --all --plain --no-legend 'hongbao-*' | cut -d ' ' -f 1)
    [ ${#names[@]} -eq 0 ] || systemctl stop "${names[@]}"
    rm -rf -- /etc/systemd/system/hongbao.target.wants /etc/systemd/system/multi-user.target.wants/hongbao.target
    systemctl disable -q --now redis-server@hongbao 2>/dev/null || true
    file_remove "$NGINX/sites-available/hongbao" "$REDIS_CONF" "$REDIS_ACL" "$MARIADB_CNF"
    systemctl daemon-reload
    say "The site is out of service. Money, secrets and settings are kept: $ETC, /var/lib/redis/hongbao, and the database"
    say "$DATABASE. \`hongbao setup\` brings it back."
}
