#include "commands/help.h"

#include <string.h>

#include "base/array.h"
#include "commands/man_text.h"

/* The words of each usage. A word of small letters is an action of the command. */
static const struct command_word {
    const char *command, *word, *meaning;
} WORDS[] = {
    { "serve", "--pool NAME",
      "which requests: hot (opens packets), page, auth (hashes passwords), sso (logins by an issuer), card (draws) or "
      "money (of programs)" },
    { "serve", "--check", "only tell whether it would start: exit 0 or 1" },
    { "settle", "--check", "only tell whether it would start: exit 0, 1 or 2" },
    { "settle", "--until-idle", "end once nothing is left to settle, expire or recover" },
    { "audit", "--json", "print one JSON object" },
    { "audit", "--packet ID", "look at this packet alone; ID as in its address, or its number" },
    { "replay", "LETTER", "the number of a dead letter, as the list without arguments shows it" },
    { "replay", "--as CONTENT", "settle this event in place of the letter's" },
    { "replay", "--drop", "give the letter up: it is never settled" },
    { "replay", "--packet ID", "settle all letters of a packet, in their order" },
    { "migrate", "--check", "change nothing, only tell whether migrations are missing: exit 0 or 1" },
    { "migrate", "--restoring", "do not compare the tables with Redis: a restore makes them belong together" },
    { "setup", "--host NAME", "the name of the site: https://NAME" },
    { "setup", "--self-signed", "make a certificate that browsers warn of, to try the site" },
    { "setup", "--certificate FILE", "the certificate with its chain, in PEM" },
    { "setup", "--key FILE", "the key of the certificate, in PEM" },
    { "setup", "--demo", "play money: users may deposit what they like" },
    { "setup", "--unit CODE", "the unit of money, fixed for the life of the data: CNY (the default), POINT" },
    { "setup", "--unit-decimals N", "0 to 2: how many decimals it has" },
    { "setup", "--unit-symbol TEXT", "in front of amounts; '': the name stands behind them" },
    { "setup", "--unit-name-zh TEXT", "its name on Chinese pages" },
    { "setup", "--unit-name-en TEXT", "its name on English pages" },
    { "setup", "--no-backups", "no backup every night, which a new site has otherwise" },
    { "setup", "--redis-socket PATH", "a Redis that exists already, of which the site becomes the only user" },
    { "setup", "--mysql-socket PATH", "a MariaDB that exists already; setup changes no settings of it" },
    { "setup", "--own-stores", "the stores of the package, in place of those of --redis-socket and --mysql-socket" },
    { "setup", "--restore DIR", "bring this backup into the stores, which must be empty, before the site starts" },
    { "setup", "--replace", "with --restore: overwrite stores that are not empty" },
    { "setup", "--non-interactive", "ask nothing; what is missing is an error" },
    { "setup", "--remove", "take the site out of service; money, secrets and settings stay" },
    { "setup", "--upgrade", "what the package runs after an upgrade" },
    { "check", "--offline", "leave out what only the machine of the service has" },
    { "doctor", "--json", "print one JSON object" },
    { "doctor", "--nginx FILE", "the main file of nginx; of the installed service /etc/nginx/nginx.conf" },
    { "doctor", "--free MIB", "what should be free on each disk: 512" },
    { "doctor", "--skip NAME", "leave out a finding of this name, or an area; may be repeated" },
    { "doctor", "--names", "print the names that --skip takes" },
    { "backup", "--verify", "restore the copy, or a backup that exists, into stores of its own and audit them" },
    { "backup", "--keep N", "make the copy below DIR, named after the time, and keep the newest N there" },
    { "backup", "DIR", "the new folder; with --keep the folder of the backups" },
    { "restore", "--replace", "overwrite stores that are not empty" },
    { "restore", "--site ID", "with --replace: delete the site ID, although the backup is of another one" },
    { "restore", "--without-redis", "restore the tables alone, and rebuild Redis from them" },
    { "restore", "--violated", "take a backup whose audit is violated, as evidence" },
    { "restore", "DIR", "the folder of the backup" },
    { "trace", "REQUEST_ID", "32 hex digits, as the page of an error shows them" },
    { "trace", "FOLDER", "where log files are: /var/log/nginx" },
    { "setting", "NAME", "as in docs/reference/config.md; passwords and the secret are not shown" },
    { "setting", "--setup", "print NAME = VALUE of each setting of which a change needs hongbao setup" },
    { "setting", "--names", "print the names that have a value to show" },
    { "picture", "SHAPE", "square, of a face, or cover, of an envelope" },
    { "picture", "PART", "of what is too high: auto, top, middle or bottom" },
    { "settings", "--markdown", "as the table of docs/reference/config.md" },
    { "settings", "--man", "as the manual page hongbao.conf(5)" },
    { "keys", "ROLE", "hot, page, auth, sso, card, money or settle" },
    { "demo", "--users N", "how many users" },
    { "demo", "--amount AMOUNT", "the money of each: 1000" },
    { "demo", "--out FILE", "the file for their ids, names and sessions" },
    { "user", "find WORD", "who has this id, username, nickname or packet; WORD may be a link" },
    { "user", "show NAME",
      "sessions, and numbers of tokens, passkeys and recovery codes; NAME: a username, or ~ and the id" },
    { "user", "disable NAME", "no login; all sessions and tokens end" },
    { "user", "enable NAME", "the user can log in again with the password of before" },
    { "user", "end-sessions NAME", "log the user out everywhere" },
    { "user", "reset NAME", "print a new password; sessions, tokens, passkeys, recovery codes and login links end" },
    { "user", "login-link NAME", "print a link that lets this user log in once; an earlier one ends" },
    { "user", "import FILE", "make the users of a CSV file with the columns username, nickname and link (yes, no)" },
    { "user", "export", "list all users: state, and whether they have a password and passkeys" },
    { "user", "--days N", "how long login links last: 1 to 7; 7 when left out" },
    { "user", "--links OUT", "of the import: a new file for login links of those who have no other way in" },
    { "user", "--check", "of the import: only check the file, and print what would be done" },
    { "user", "--csv", "of the export: a table for spreadsheets" },
    { "money", "channels", "list the channels, with their balances" },
    { "money", "channel NAME", "make a channel, or change its --note and what it allows" },
    { "money", "credit USERNAME", "pay AMOUNT into a wallet; needs --channel and --reference" },
    { "money", "debit USERNAME", "take AMOUNT out of a wallet; needs --channel and --reference" },
    { "money", "import FILE", "credit all rows of a CSV file, or --debit them; needs --channel" },
    { "money", "reverse TRANSFER", "move the amount of a credit, debit or post back; needs --reference" },
    { "money", "withdrawals", "list the pending withdrawals, oldest first" },
    { "money", "post ID", "the withdrawal was paid; needs --reference, or --import in place of ID" },
    { "money", "void ID", "the withdrawal was not paid: the money goes back; needs --reason" },
    { "money", "balances", "what every user has, except those with 0" },
    { "money", "topups", "list the orders of top-ups that wait for a payment, oldest first" },
    { "money", "paid ID", "an order was paid: credit the amount of the order, or --amount; needs --reference" },
    { "money", "transfers", "list the transfers of a channel; needs --channel" },
    { "money", "report", "what came in and went out by each channel, and that all accounts sum up to 0" },
    { "money", "--since TIME", "of the report: from this time on, such as 2026-11-30T03:30" },
    { "money", "--against FILE",
      "of the report: name each difference between --channel and its own list, a CSV; exit 1: some differ" },
    { "money", "--missing NAME", "with --against: write the missing rows into NAME-credits.csv and so on" },
    { "money", "AMOUNT", "in the unit of the site, such as 88 or 88.50" },
    { "money", "--channel NAME", "by which channel" },
    { "money", "--reference R", "of the payment outside: 1 to 64 characters of ASCII, unique in its channel" },
    { "money", "--memo TEXT", "what the user reads beside the amount" },
    { "money", "--note TEXT", "what users read as the name of the channel" },
    { "money", "--withdrawals WORD", "of a channel: on or off: whether users may ask to be paid by it" },
    { "money", "--withdraw-min AMOUNT", "of a channel: the smallest withdrawal" },
    { "money", "--withdraw-hint TEXT", "of a channel: what users type as their account, such as IBAN" },
    { "money", "--amount AMOUNT", "what was paid for an order, when it differs from it" },
    { "money", "--topup-url URL", "of a channel: the page on which users pay for top-ups; empty: none" },
    { "money", "--topup-key", "of a channel: print the key that signs the links to this page" },
    { "money", "--reason TEXT", "why a withdrawal was not paid, for the user" },
    { "money", "--import FILE", "post all withdrawals of a CSV file with the columns id and reference" },
    { "money", "--from DAY", "the first day, in the time zone of the site, such as 2026-11-01" },
    { "money", "--to DAY", "the last day" },
    { "money", "--after TRANSFER", "of the transfers: only those that were made later than this one" },
    { "money", "--daily", "of the report: also each day on which something moved; needs --from" },
    { "money", "--debit", "the rows of the file are debits" },
    { "money", "--min AMOUNT", "of the balances: only who has so much" },
    { "money", "--all", "of the balances: also those with 0" },
    { "money", "--reference-prefix P", "of the balances as --csv: each reference is P-ID, with the id of the user" },
    { "money", "--check", "only check the file, and print what would be done" },
    { "money", "--json", "print one JSON object" },
    { "money", "--csv", "print a table for spreadsheets" },
    { "invitation", "create", "make invitations, and print their links, or write them into files" },
    { "invitation", "list", "list all invitations, the newest first: state, maker, expiry, who has registered" },
    { "invitation", "revoke NUMBER", "end one that nobody has used, by its number in the list" },
    { "invitation", "--count N", "how many: 1; at most 5000" },
    { "invitation", "--days D", "until they expire: invitation_days; at most 365" },
    { "invitation", "--note TEXT", "for whom, as the list shows it; revoke ends all open ones with this note" },
    { "invitation", "--csv FILE", "write a new table with codes and links; of list: print the list as a table" },
    { "invitation", "--html FILE", "write a new page to print, with a QR code for each" },
    { "invitation", "--language TAG", "of that page: zh-CN or en" },
    { "invitation", "--open", "list only those that let somebody in" },
    { "invitation", "--json", "print one JSON object" },
    { "invitation", "--codes", "a table that also has the codes and links of those that are open" },
    { "service", "add NAME", "add a service, and print its token, once; needs --scopes and --channel" },
    { "service", "list", "list the services, also revoked ones" },
    { "service", "revoke NAME", "end the token of a service, at once" },
    { "service", "--scopes SCOPES", "what it may do: credit debit read withdraw topup, as one argument or several" },
    { "service", "--channel NAME", "the channel by which it moves money, the only one" },
    { "service", "--day-max AMOUNT", "how much it may move in 24 hours, in and out together; without it no limit" },
    { "service", "--addresses CIDR", "from where it may call: networks or addresses; without it from anywhere" },
    { "service", "--json", "print one JSON object" },
    { "verify", "SEED", "64 hex digits, as the verify page shows it" },
    { "verify", "KIND", "lucky, even, exclusive, or a split: double-average, uniform, gaussian" },
    { "verify", "TOTAL", "the whole packet, like 10.00" },
    { "verify", "COUNT", "number of shares" },
    { "verify", "SPLIT", "of a lucky packet; double-average when left out" },
    { "verify", "SHARE_MAX", "limit of one share when the packet was sent; 200.00 when left out" },
    { "verify", "SHARE_MIN", "smallest share of a lucky packet; 0.01 when left out" },
    { "verify", "--decimals N", "decimals of the unit of the amounts: 0, 1 or 2; 2 when left out" },
    { "verify", "--returned NUMBERS", "shares that were given back, in this order, counted from 0, like 3,7" },
    { "verify-receipt", "FILE", "a receipt, the JSON of /p/ID/receipt.json" },
    { "verify-receipt", "--keys FILE",
      "the JSON of /.well-known/hongbao-receipt-keys, in place of the configuration's keys" },
    { "help", "COMMAND", "the same as COMMAND --help" },
    { "help", "--man", "as the manual page hongbao(1)" },
    { "help", "--markdown", "as docs/reference/commands.md has it" },
};

/* ---- --help ---- */

static int width_of(const char *command)
{
    size_t width = 0;
    for (size_t i = 0; i < ARRAY_LEN(WORDS); i++)
        if (strcmp(WORDS[i].command, command) == 0 && strlen(WORDS[i].word) > width)
            width = strlen(WORDS[i].word);
    return (int)width;
}

bool command_help_print(const struct command_help *help, FILE *out)
{
    const int width = width_of(help->name);
    bool written = fprintf(out, "usage: hongbao [--config FILE] %s%s%s\n\n%s\n%s", help->name,
                           help->usage[0] == '\0' ? "" : " ", help->usage, help->summary, width > 0 ? "\n" : "") > 0;
    for (size_t i = 0; written && i < ARRAY_LEN(WORDS); i++)
        if (strcmp(WORDS[i].command, help->name) == 0)
            written = fprintf(out, "  %-*s   %s\n", width, WORDS[i].word, WORDS[i].meaning) > 0;
    return written;
}

/* ---- the manual page ---- */

static const char MAN_HEAD[] =
    ".TH HONGBAO 1 \"\" hongbao \"User commands\"\n"
    ".SH NAME\nhongbao \\- a red packet service: its servers and what an operator needs\n"
    ".SH SYNOPSIS\n.B hongbao\n[\\fB\\-\\-config\\fR \\fIFILE\\fR] \\fICOMMAND\\fR ...\n"
    ".SH DESCRIPTION\n"
    "One program. systemd starts its servers: \\fBserve\\fR, once for each process of a pool, and \\fBsettle\\fR.\n"
    "An operator uses the other commands, as root; \\fBtrace\\fR needs only the right to read logs.\n"
    "\\fBhongbao setup\\fR makes the installed package a running site.\n"
    ".SH OPTIONS\n"
    ".TP\n.BI \\-\\-config \" FILE\"\n"
    "the configuration, in place of $HB_CONFIG and /etc/hongbao/hongbao.conf; stands before the command\n"
    ".TP\n.B \\-\\-help\nof the program or, behind a command, of the command\n"
    ".TP\n.B \\-\\-version\nthe version\n"
    ".SH COMMANDS\n";

static const char MAN_TAIL[] =
    ".SH FILES\n"
    ".TP\n.I /etc/hongbao/hongbao.conf\nthe settings; see\n.BR hongbao.conf (5)\n"
    ".TP\n.I /etc/hongbao/secret\nthe key of the links to packets; without it no link works\n"
    ".TP\n.I /etc/hongbao/rights\nthe users of each role in Redis and MariaDB, with their passwords\n"
    ".TP\n.I /etc/nginx/sites\\-available/hongbao\nthe site\n"
    ".TP\n.I /run/hongbao\nthe sockets of the pools and the counters of all processes\n"
    ".TP\n.I /usr/share/doc/hongbao/docs\nthe manual\n"
    ".SH EXIT STATUS\n0: done. 1: it failed, or found a mistake. 2: wrong usage or settings.\n"
    ".SH SEE ALSO\n.BR hongbao.conf (5),\n.BR systemctl (1),\n.BR journalctl (1)\n";

static bool man_command(FILE *out, const struct command_help *help)
{
    bool written = fprintf(out, ".TP\n.B %s", help->name) > 0 && (help->usage[0] == '\0' || fputc(' ', out) != EOF) &&
                   man_text(out, help->usage) && fputc('\n', out) != EOF && man_text(out, help->summary) &&
                   fputs("\n.RS\n", out) >= 0;
    for (size_t i = 0; written && i < ARRAY_LEN(WORDS); i++)
        if (strcmp(WORDS[i].command, help->name) == 0)
            written = fputs(".TP\n.B ", out) >= 0 && man_text(out, WORDS[i].word) && fputc('\n', out) != EOF &&
                      man_text(out, WORDS[i].meaning) && fputc('\n', out) != EOF;
    return written && fputs(".RE\n", out) >= 0;
}

bool command_help_man(const struct command_help *commands, size_t count, FILE *out)
{
    bool written = fputs(MAN_HEAD, out) >= 0;
    for (size_t i = 0; written && i < count; i++)
        written = man_command(out, &commands[i]);
    return written && fputs(MAN_TAIL, out) >= 0;
}

/* ---- the reference ---- */

static bool markdown_command(FILE *out, const struct command_help *help)
{
    bool written = fprintf(out, "\n## %s\n\n```\nhongbao %s%s%s\n```\n\n%s\n", help->name, help->name,
                           help->usage[0] == '\0' ? "" : " ", help->usage, help->summary) > 0;
    if (width_of(help->name) > 0)
        written = written && fputs("\n| word | meaning |\n|---|---|\n", out) >= 0;
    for (size_t i = 0; written && i < ARRAY_LEN(WORDS); i++)
        if (strcmp(WORDS[i].command, help->name) == 0)
            written = fprintf(out, "| `%s` | %s |\n", WORDS[i].word, WORDS[i].meaning) > 0;
    return written;
}

bool command_help_markdown(const struct command_help *commands, size_t count, FILE *out)
{
    bool written = true;
    for (size_t i = 0; written && i < count; i++)
        written = markdown_command(out, &commands[i]);
    return written;
}
