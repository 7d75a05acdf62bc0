#!/bin/bash
# ask.sh POOL [SOCKET [PATH]]: requests /readyz, or PATH, from a pool over its socket, by default the socket of this
# container. Prints the answer; fails unless it is 200.
set -euo pipefail
socket=${2:-/run/hongbao/$1/$(cat /proc/sys/kernel/hostname).sock}
answer=$(REQUEST_METHOD=GET REQUEST_URI=${3:-/readyz/$1} REQUEST_ID=00000000000000000000000000000000 HTTP_HOST=localhost \
    timeout 60 cgi-fcgi -bind -connect "$socket")
printf '%s\n' "$answer"
grep -q '^Status: 200' <<<"$answer"
