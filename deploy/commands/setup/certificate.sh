# shellcheck shell=bash disable=SC2034,SC2154
# The certificate of the site and its key.

# Sets CERTIFICATE and KEY; to nothing when the site keeps the certificate that it has.
certificate_make() {
    if [ -n "$CERTIFICATE" ]; then
        [ -r "$CERTIFICATE" ] || die "can't read the certificate $CERTIFICATE"
        [ -r "$KEY" ] || die "can't read the key $KEY"
        # Not what a symbolic link points to: certbot renews by changing the link.
        CERTIFICATE=$(realpath -s -- "$CERTIFICATE")
        KEY=$(realpath -s -- "$KEY")
    elif [ -n "$SELF_SIGNED" ]; then
        CERTIFICATE=$ETC/tls/fullchain.pem KEY=$ETC/tls/privkey.pem
        certificate_fits || certificate_sign
    fi
}

# Whether the self-signed certificate is there, for this host, and for another month.
certificate_fits() {
    openssl x509 -in "$CERTIFICATE" -noout "-check$(host_is_ip && echo ip || echo host)" "$HOST" 2>/dev/null |
        grep -q 'does match' &&
        openssl x509 -in "$CERTIFICATE" -noout -checkend 2592000 >/dev/null
}

host_is_ip() {
    [[ $HOST =~ ^[0-9.]+$ ]]
}

certificate_sign() {
    install -d -m 700 "$ETC/tls"
    openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 365 -subj "/CN=$HOST" \
        -addext "subjectAltName=$(host_is_ip && echo IP || echo DNS):$HOST" -keyout "$KEY" -out "$CERTIFICATE" 2>/dev/null
}
