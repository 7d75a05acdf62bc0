#!/usr/bin/env bash
# man.sh PROGRAM: prints hongbao(1), made from what the program says of itself. (hongbao.conf(5): hongbao settings --man.)
set -euo pipefail

# Text for troff: a dot or quote at the start of a line, backslashes and hyphens are no requests.
escape() {
    sed -e 's/\\/\\e/g' -e 's/-/\\-/g' -e "s/^\\([.']\\)/\\\\\\&\\1/"
}

page() {
    cat <<'TEXT'
.TH HONGBAO 1 "" hongbao "User commands"
.SH NAME
hongbao \- a red packet service: its servers and what an operator needs
.SH SYNOPSIS
.B hongbao
[\fB\-\-config\fR \fIFILE\fR] \fICOMMAND\fR ...
.SH DESCRIPTION
One program. systemd starts its servers: \fBserve\fR, once for each process of a pool, and \fBsettle\fR.
An operator uses the other commands, as root. \fBhongbao setup\fR makes the installed package a running site.
.SH COMMANDS
TEXT
    "$1" help | escape | sed -n 's/^  \([a-z].*\)/.TP\n.B \1/p; s/^      *\(.*\)/\1/p'
    cat <<'TEXT'
.SH FILES
.TP
.I /etc/hongbao/hongbao.conf
the settings; see
.BR hongbao.conf (5)
.TP
.I /etc/hongbao/secret
the key of the links to packets; without it no link works
.TP
.I /etc/hongbao/rights
the users of each role in Redis and MariaDB, with their passwords
.TP
.I /etc/nginx/sites-available/hongbao
the site
.TP
.I /run/hongbao
the sockets of the pools and the counters of all processes
.TP
.I /usr/share/doc/hongbao/docs
the manual
.SH EXIT STATUS
0: done. 1: it failed, or found a mistake. 2: wrong usage or settings.
.SH SEE ALSO
.BR hongbao.conf (5),
.BR systemctl (1),
.BR journalctl (1)
TEXT
}

[ $# -eq 1 ] || { sed -n '2s/^# //p' "${BASH_SOURCE[0]}" >&2 && exit 2; }
page "$1"
