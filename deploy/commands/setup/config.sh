# shellcheck shell=bash disable=SC2034,SC2154
# The secret, the passwords and keys of the roles, and the program's configuration.

# setting NAME: prints the value that the units use; nothing before there is a configuration.
setting() {
    [ ! -f "$ETC/hongbao.conf" ] || hongbao --config "$ETC/hongbao.conf" setting "$1"
}

# url_host URL: prints its host, without a port.
url_host() {
    sed 's|^https\?://||; s|:[0-9]*$||' <<<"$1"
}

# Dies when the configuration has a mistake, before anything is changed.
settings_check() {
    setting --names >/dev/null || die "nothing was changed: correct $ETC/hongbao.conf, then run: $(setup_again)"
}

# socket_setting redis|mysql: prints the path of its Unix socket in the configuration; nothing before there is one.
socket_setting() {
    local address
    ! store_is_elsewhere "$1" ||
        die "$1 in $ETC/hongbao.conf is not one Unix socket; such a site is set up by hand (docs/how-to/cluster.md)"
    address=$(setting "$1") && printf '%s\n' "${address#unix:}"
}

# store_is_elsewhere redis|mysql: whether the configuration names servers on other machines, or several.
store_is_elsewhere() {
    local address
    address=$(setting "$1")
    [[ $address == *,* || ($address != '' && $address != unix:*) ]]
}

# Whether the site has users or packets, whose links need the secret that they were made with. Dies when the stores of a
# site that was set up before do not answer.
site_has_data() {
    site_has "SELECT EXISTS (SELECT 1 FROM $DATABASE.packet) OR EXISTS (SELECT 1 FROM $DATABASE.user)"
}

# site_has QUESTION: whether the answer of the tables is 1. False: 0, or there are no tables. Dies as site_has_data.
site_has() {
    local answer question=$1
    local -a asker=(mariadb_admin)
    mariadb_answers || asker=(mariadb_as hongbao_audit "$(rights_password "$ETC/rights" audit 2>/dev/null)")
    answer=$("${asker[@]}" -N -e "$question" 2>&1) || true
    case $answer in
    1) return 0 ;;
    0 | *'ERROR 1049 '* | *'ERROR 1054 '* | *'ERROR 1146 '*) return 1 ;; # there is no such database, column, table
    esac
    if [ -e "$STATE/rights" ] || [ -d "$STATE/static" ]; then
        die "can't find out whether this site has users or packets: $(store_text MariaDB "unix:$MYSQL_SOCKET" "$answer")"
    fi
    return 1
}

# Whether the tables have play money. Only demo = on makes deposits.
site_has_demo() {
    site_has "SELECT EXISTS (SELECT 1 FROM $DATABASE.transfer WHERE debit_id = 1 AND kind = 'deposit')"
}

# Dies when the site would have play money while demo is off: the audit refuses it, and no backup would be right. An
# upgrade only reports it: the site has served with this before.
demo_fits() {
    local text
    if [ "$(demo_wanted)" = on ] || ! demo_is_there; then return 0; fi
    text="the tables have play money, which the audit refuses while demo = off. A site for real money begins with empty
stores; this one stays a demo: $(demo_mend)"
    [ "$ACTION" = upgrade ] || die "$text"
    say "$text"
}

# Dies when the tables have months of another time zone than the setting, or amounts of another unit: no process would work
# with them. Tables of a version before have no column for the unit. `hongbao migrate` looks for amounts more closely.
data_fits() {
    local zone unit
    [ -z "$RESTORE" ] || return 0
    zone=$(data_value timezone)
    unit="$(data_value unit) with $(data_value unit_decimals) decimals"
    ! site_has "SELECT EXISTS (SELECT 1 FROM $DATABASE.site WHERE timezone NOT IN ('', '$zone')) AND
        EXISTS (SELECT 1 FROM $DATABASE.user_month)" ||
        die "timezone is $zone, but the tables have months of another one, which stay as they are: hongbao doctor tells it"
    ! site_has "SELECT COALESCE((SELECT CONCAT(unit, ' with ', unit_decimals, ' decimals') FROM $DATABASE.site) <> '$unit', 0)
        AND EXISTS (SELECT 1 FROM $DATABASE.transfer) FROM (SELECT 'CNY' AS unit, 2 AS unit_decimals) AS without" ||
        die "the unit is $unit, but the tables have amounts of another one, which stay as they are: hongbao doctor tells it"
}

# In the tables, or in the backup that will be there.
demo_is_there() {
    { [ -n "$RESTORE" ] && grep -qx 'demo = on' -- "$RESTORE/manifest"; } || site_has_demo
}

# The value of demo after this setup. An upgrade has no option and changes no setting.
demo_wanted() {
    printf '%s\n' "${DEMO:-$(setting demo)}"
}

demo_mend() {
    if [ -f "$ETC/hongbao.conf" ] && ! file_is_made "$ETC/hongbao.conf"; then
        echo "set demo = on in $ETC/hongbao.conf"
    else
        echo 'hongbao setup --demo'
    fi
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

# Keeps the values of the settings of which a change needs a setup, for `hongbao check` (app/doctor/check.c).
settings_record() {
    setting --setup >"$STATE/settings.new"
    mv -- "$STATE/settings.new" "$STATE/settings"
}

# data_value NAME: prints the value of a setting that belongs to the data: of the backup that is to be restored, else of
# the option, else as before, else the default. A backup of a version before has the default unit.
data_value() {
    if [ -n "$RESTORE" ] && grep -q "^$1 = ." -- "$RESTORE/manifest"; then
        sed -n "s/^$1 = //p" "$RESTORE/manifest"
    elif [ -n "$RESTORE" ] && [[ $1 == unit* ]]; then
        if grep -q '^unit = .' -- "$RESTORE/manifest"; then echo; else hongbao --config /dev/null setting "$1"; fi
    elif [ -n "${UNIT_OPTIONS[$1]+given}" ]; then
        printf '%s\n' "${UNIT_OPTIONS[$1]}"
    elif [ -f "$ETC/hongbao.conf" ]; then
        setting "$1"
    else
        hongbao --config /dev/null setting "$1"
    fi
}

# data_setting NAME: prints its line in the configuration.
data_setting() {
    printf '%s = %s\n' "$1" "$(data_value "$1")"
}

# Prints the settings of the data. No earlier version knows a unit, so there is a line only for what is not the default.
data_settings() {
    local name
    data_setting partitions
    data_setting timezone
    for name in "${UNIT_SETTINGS[@]}"; do
        [ "$(data_value "$name")" = "$(hongbao --config /dev/null setting "$name")" ] || data_setting "$name"
    done
}

config_make() {
    local line=''
    [ "$(older_keys)" = on ] || line=$'\nolder_keys = off'
    file_put "$ETC/hongbao.conf" 644 root:root <<TEXT
# The settings of the site: man hongbao.conf. After a change: hongbao check && systemctl reload 'hongbao-*.service'
# Some need hongbao setup after a change, as demo, which grants rights: hongbao check says so.
base_url = https://$HOST
secret_file = $ETC/secret
rights_dir = $ETC/rights$line
redis = unix:$REDIS_SOCKET
mysql = unix:$MYSQL_SOCKET
mysql_database = $DATABASE
$(data_settings)
demo = ${DEMO:-off}
TEXT
}

# The keys of each role that serves, from the secret.
keys_make() {
    rights_keys "$ETC/rights" hongbao || die "the keys of the roles can't be made from $ETC/secret"
}
