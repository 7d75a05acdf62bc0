#!/usr/bin/env bash
# static-copy.sh FROM TO: copies the folder static/ to the folder that nginx serves, before the program that links to
# the files starts. Each file also gets the name with the hash of its content that pages link (app/web/assets.h): it
# never changes, so browsers keep it. Names of earlier contents stay for a month, for pages that were loaded before.
# Texts are compressed once, beside the files. A name always has a whole file behind it, because nginx may be serving.
set -euo pipefail

EARLIER_DAYS=30
declare -A hash_of linked

# hashes FOLDER: prints the hash and the name of each file in it.
hashes() {
    (cd -- "$1" && find . -type f -printf '%P\0' | xargs -0r sha256sum --)
}

# put NAME AS: gives the target folder this file by the name AS, and compressed when it is a text; unless it is there.
put() {
    [ "${hash_of[$2]:-}" != "$hash" ] || return 0
    [[ $2 != */* ]] || install -d -m 755 -- "$to/${2%/*}"
    install -p -m 644 -- "$from/$1" "$to/.new"
    if [[ $2 =~ \.(css|js|svg)$ ]]; then
        gzip -9nkf -- "$to/.new"
        mv -- "$to/.new.gz" "$to/$2.gz"
    fi
    mv -- "$to/.new" "$to/$2"
}

[ $# -eq 2 ] || { sed -n '2,5s/^# //p' "${BASH_SOURCE[0]}" >&2 && exit 2; }
from=$1 to=$2
mkdir -p -- "$to"
chmod 755 -- "$to"
while read -r hash name; do hash_of[$name]=$hash; done < <(hashes "$to")
while read -r hash name; do
    if [[ $name != */* && $name == ?*.* ]]; then
        link=${name%.*}.${hash:0:10}.${name##*.}
        linked[$link]=yes
        put "$name" "$link"
    fi
    put "$name" "$name"
done < <(hashes "$from")
wait $! # fails when a file could not be read
while read -r name; do
    [ -n "${linked[${name%.gz}]:-}" ] || rm -f -- "$to/$name"
done < <(cd -- "$to" && find . -maxdepth 1 -ctime "+$EARLIER_DAYS" -regextype posix-extended \
    -regex '.*\.[0-9a-f]{10}\.[a-z0-9]+(\.gz)?' -printf '%P\n')
