#!/usr/bin/env bash
# apt-install.sh PACKAGE...: run as root. Installs the packages without letting Debian start their services: the site's
# servers are private, and another program may use port 80 or 6379.
set -euo pipefail
export DEBIAN_FRONTEND=noninteractive

policy=/usr/sbin/policy-rc.d
if [ ! -e "$policy" ]; then
    trap 'rm -f -- "$policy"' EXIT
    trap 'exit 130' INT TERM HUP
    printf '#!/bin/sh\n# Written by hongbao/dev while packages are installed.\nexit 101\n' >"$policy"
    chmod 755 "$policy"
fi

options=(-qq -o Acquire::Retries=3 -o DPkg::Lock::Timeout=300)
apt-get "${options[@]}" update || echo "apt-get update failed; continuing with the present package lists" >&2
apt-get "${options[@]}" install -y --no-install-recommends "$@"
