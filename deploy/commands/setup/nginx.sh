# shellcheck shell=bash disable=SC2034,SC2154
# The site's part of nginx.

nginx_make() {
    local ipv6='# ' http2='# ' listen_http2=' http2' site fresh=
    ! grep -q '^0\{31\}1 ' /proc/net/if_inet6 2>/dev/null || ipv6=
    ! nginx_is_since 1.25.1 || http2='' listen_http2='' # where the word behind "listen" is deprecated
    static_copy
    install -d -m 755 "$STATE/acme"
    # Addresses of visitors are for administrators, as in nginx's own logs.
    [ -e "$NGINX_LOG" ] || install -m 640 -o www-data -g adm /dev/null "$NGINX_LOG"
    link_put "$SHARE/nginx" "$NGINX/hongbao"
    link_put "$SHARE/nginx/debian/http.conf" "$NGINX/conf.d/hongbao.conf"
    if [ -n "$CERTIFICATE" ]; then
        site=$(template_print "$SHARE/nginx/debian/site.in" "HOST=$HOST" "CERTIFICATE=$CERTIFICATE" "KEY=$KEY" \
            "IPV6=$ipv6" "HTTP2=$http2" "LISTEN_HTTP2=$listen_http2")
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
        systemctl reload-or-restart nginx || unit_die nginx
        printf '%s\n' "$sums" >"$STATE/nginx-loaded"
    fi
}

nginx_unlink() {
    rm -f -- "$STATE/nginx-loaded"
    link_remove ../sites-available/hongbao "$NGINX/sites-enabled/hongbao"
    link_remove "$SHARE/nginx/debian/http.conf" "$NGINX/conf.d/hongbao.conf"
    link_remove "$SHARE/nginx" "$NGINX/hongbao"
}
