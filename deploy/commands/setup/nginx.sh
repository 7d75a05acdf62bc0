# shellcheck shell=bash disable=SC2034,SC2154
# The site's part of nginx.

NAMES_HASH_BYTES=512 # for the longest name of a host: nginx's own 64 are enough for 46 letters
NGINX_RELOAD_S=10    # in which it has started new processes

# Dies when nginx can't take the site, before anything is made. A site that is in it already, whatever it lacks, may need
# this setup.
nginx_check() {
    local conf lacks='' there
    [ ! -L "$NGINX/sites-enabled/hongbao" ] || return 0
    nginx -t -q || die "nginx refuses its configuration as it is without the site; the lines above tell why"
    conf=$(nginx -T 2>/dev/null)
    grep -Eq '^[[:blank:]]*user[[:blank:]]+www-data[[:blank:];]' <<<"$conf" || lacks+="
    user www-data; at its top, because the units let www-data connect"
    grep -Eq '^[[:blank:]]*include[[:blank:]].*/conf\.d/\*\.conf;' <<<"$conf" || lacks+="
    include $NGINX/conf.d/*.conf; in http { }"
    { grep -Eq '^[[:blank:]]*include[[:blank:]].*/sites-enabled/\*;' <<<"$conf" && [ -d "$NGINX/sites-enabled" ] &&
        [ -d "$NGINX/sites-available" ]; } || lacks+="
    include $NGINX/sites-enabled/*; in http { }, and the folders $NGINX/sites-enabled and $NGINX/sites-available"
    [ -z "$lacks" ] || die "nginx is not laid out as Debian's package does it. Install that one (apt-cache policy nginx),
or give $NGINX/nginx.conf:$lacks"
    there=$(names_hash_there)
    [ ${#HOST} -le 46 ] || [ -z "$there" ] || [ "$there" -ge "$NAMES_HASH_BYTES" ] ||
        die "the name $HOST is longer than nginx takes with server_names_hash_bucket_size $there: make it $NAMES_HASH_BYTES"
}

# Prints the size that nginx has for names of hosts outside the site's own file; nothing when it is nginx's own.
names_hash_there() {
    nginx -T 2>/dev/null | awk '
        /^# configuration file / { is_own = /sites-enabled\/hongbao:$/ }
        !is_own && $1 == "server_names_hash_bucket_size" { size = $2 + 0 }
        END { if (size) print size }'
}

# Prints the port on which nginx has the site's TLS.
nginx_port() {
    local port=
    [ ! -f "$NGINX/sites-available/hongbao" ] ||
        port=$(sed -En 's/^ *listen +([^ ]*:)?([0-9]+) .*ssl.*/\2/; T; p; q' "$NGINX/sites-available/hongbao")
    printf '%s\n' "${port:-443}"
}

nginx_make() {
    local ipv6='# ' names_hash='# ' site fresh=
    local -a http2
    [ ${#HOST} -le 46 ] || [ -n "$(names_hash_there)" ] || names_hash=
    ! grep -q '^0\{31\}1 ' /proc/net/if_inet6 2>/dev/null || ipv6=
    mapfile -t http2 < <(nginx_http2)
    static_copy
    install -d -m 755 "$STATE/acme"
    # Addresses of visitors are for administrators, as in nginx's own logs.
    [ -e "$NGINX_LOG" ] || install -m 640 -o www-data -g adm /dev/null "$NGINX_LOG"
    link_put "$SHARE/nginx" "$NGINX/hongbao"
    link_put "$SHARE/nginx/debian/http.conf" "$NGINX/conf.d/hongbao.conf"
    if [ -n "$CERTIFICATE" ]; then
        site=$(template_print "$SHARE/nginx/debian/site.in" "HOST=$HOST" "CERTIFICATE=$CERTIFICATE" "KEY=$KEY" \
            "IPV6=$ipv6" "${http2[@]}" "NAMES_HASH=$names_hash" "NAMES_HASH_BYTES=$NAMES_HASH_BYTES")
        file_put "$NGINX/sites-available/hongbao" 644 root:root <<<"$site"
    fi
    [ -e "$NGINX/sites-enabled/hongbao" ] || fresh=yes
    link_put ../sites-available/hongbao "$NGINX/sites-enabled/hongbao"
    if ! nginx -t -q; then
        [ -z "$fresh" ] || nginx_unlink
        die "nginx refuses its configuration; the lines above tell why"
    fi
}

# What nginx serves: the files that pages link (docs/how-to/branding.md).
static_copy() {
    local from
    from=$(setting static_dir)
    [ -d "$from" ] || die "static_dir in $ETC/hongbao.conf: there is no folder $from"
    "$SHARE/static-copy.sh" "$from" "$STATE/static"
}

# Prints what the site has for HTTP/2: its own line where nginx deprecates the word behind "listen".
nginx_http2() {
    if nginx_is_since 1.25.1; then
        printf '%s\n' HTTP2= LISTEN_HTTP2=
    else
        printf '%s\n' 'HTTP2=# ' 'LISTEN_HTTP2= http2'
    fi
}

# nginx_is_since VERSION: whether nginx is of this version or a later one.
nginx_is_since() {
    printf '%s\n' "$1" "$(nginx -v 2>&1 | sed 's|.*/\([0-9.]*\).*|\1|')" | sort -VC
}

# A reload closes connections that visitors keep, which may lose a request of theirs: so only when a file has changed.
nginx_reload() {
    local site=$NGINX/sites-available/hongbao sums
    local -a certificate
    mapfile -t certificate < <(sed -n 's/^ *ssl_certificate\(_key\)\? *\(.*\);.*/\2/p' "$site")
    sums=$(find -L "$NGINX/hongbao" "$site" "${certificate[@]}" -type f -exec sha256sum -- {} + | sort)
    if ! systemctl -q is-active nginx || [ "$sums" != "$(cat -- "$STATE/nginx-loaded" 2>/dev/null)" ]; then
        nginx_load
        printf '%s\n' "$sums" >"$STATE/nginx-loaded"
    fi
}

# Has nginx read its files. A running nginx may refuse what `nginx -t` takes, as a limit by another key in a zone that it
# has; it then goes on with the configuration of before, and starts no new process. Only a restart helps.
nginx_load() {
    local pid before
    if ! systemctl -q is-active nginx; then
        systemctl start nginx || unit_die nginx
        return
    fi
    pid=$(systemctl show -P MainPID nginx)
    before=$(nginx_processes "$pid")
    systemctl reload nginx || unit_die nginx
    [ -n "$before" ] || return 0 # one process alone: nothing to see
    wait_until "$NGINX_RELOAD_S" nginx_is_reloaded "$pid" "$before" && return
    say "nginx has not taken its new configuration by a reload, so setup restarts it. It said:
    $(nginx_refusal "$pid")"
    systemctl restart nginx || unit_die nginx
}

# nginx_processes PID: prints the processes that nginx's master has started.
nginx_processes() {
    cat "/proc/$1/task/$1/children" 2>/dev/null || true
}

# nginx_is_reloaded PID BEFORE: whether the master has started another process than those BEFORE.
nginx_is_reloaded() {
    local process
    for process in $(nginx_processes "$1"); do
        [[ " $2 " == *" $process "* ]] || return 0
    done
    return 1
}

# nginx_refusal PID: prints the last error of the master in its log.
nginx_refusal() {
    local log said=
    log=$(nginx -T 2>/dev/null | awk '$1 == "error_log" { sub(/;.*/, "", $2); print $2; exit }')
    [ ! -f "$log" ] || said=$(tail -c 65536 -- "$log" | grep -aF "[emerg] $1#" | tail -n 1) || true
    printf '%s\n' "${said:-nothing in ${log:-a log}}"
}

nginx_unlink() {
    rm -f -- "$STATE/nginx-loaded"
    link_remove ../sites-available/hongbao "$NGINX/sites-enabled/hongbao"
    link_remove "$SHARE/nginx/debian/http.conf" "$NGINX/conf.d/hongbao.conf"
    link_remove "$SHARE/nginx" "$NGINX/hongbao"
}
