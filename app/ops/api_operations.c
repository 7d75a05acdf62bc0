#include "base/array.h"
#include "ops/api.h"
#include "pages/card.h"
#include "pages/grab.h"
#include "pages/records_filter.h"
#include "pages/screen.h"
#include "pages/send_form.h"
#include "pages/send_prefill.h"
#include "pages/show.h"
#include "pages/story.h"
#include "pages/thanks.h"
#include "pages/verify.h"
#include "user/account.h"
#include "user/cover_page.h"
#include "user/deletion_page.h"
#include "user/language.h"
#include "user/login.h"
#include "user/nickname_page.h"
#include "user/passkey_login.h"
#include "user/passkey_page.h"
#include "user/password_confirm.h"
#include "user/password_page.h"
#include "user/recovery_login.h"
#include "user/session_page.h"
#include "user/token_page.h"
#include "wallet/deposit.h"
#include "wallet/statement.h"
#include "web/field_types.h"

#define FIELDS(...)                                                                                                    \
    (const struct api_field[])                                                                                         \
    {                                                                                                                  \
        __VA_ARGS__,                                                                                                   \
        {                                                                                                              \
            NULL, NULL, NULL                                                                                           \
        }                                                                                                              \
    }
#define ANSWERS(...)                                                                                                   \
    (const struct api_answer[])                                                                                        \
    {                                                                                                                  \
        __VA_ARGS__,                                                                                                   \
        {                                                                                                              \
            0, NULL, NULL                                                                                              \
        }                                                                                                              \
    }
#define REFUSALS(...)                                                                                                  \
    (const struct api_refusal[])                                                                                       \
    {                                                                                                                  \
        __VA_ARGS__,                                                                                                   \
        {                                                                                                              \
            0, NULL, NULL                                                                                              \
        }                                                                                                              \
    }

#define NEXT                                                                                                           \
    {                                                                                                                  \
        "next", "where a browser is sent then: a path of this site, of 1 KB at most", NULL                             \
    }
#define BEFORE                                                                                                         \
    {                                                                                                                  \
        "before", "the `next` of the page before: older ones", NULL                                                    \
    }
#define KEY                                                                                                            \
    {                                                                                                                  \
        "request_key", "your own key: a repeat with it changes nothing more and gets the same answer", "order-1"       \
    }

/* The records: their query, which with a filter is for all years unless one is named, and its refusal. */
#define RECORDS_QUERY(year_says)                                                                                       \
    .query = { records_link_fields, records_filter_fields },                                                           \
    .fields = FIELDS({ "year", year_says, NULL }, BEFORE, { "kind", "packets of this kind", NULL },                    \
                     { "state", "packets in this state", NULL },                                                       \
                     { "person", "a username: its packets, or packets that it opened", NULL },                         \
                     { "q", "part of the greeting", NULL }, { "from", "the first day", NULL },                         \
                     { "to", "the last day", NULL }, { "min", "the least amount in yuan", NULL },                      \
                     { "max", "the largest amount in yuan", NULL }),                                                   \
    .refusals = REFUSALS({ 422, "invalid-form", "a filter is refused; `errors` names it" })
/* The same as a file. */
#define FILE_SAYS "UTF-8 with a byte order mark; names of the columns, in the visitor’s language; then "
#define RECORDS_FILE(columns)                                                                                          \
    RECORDS_QUERY("in the service's time zone; all years when left out"),                                              \
        .media = "text/csv", .answers = ANSWERS({ 200, NULL, FILE_SAYS columns })
#define READY_OF(pool, name)                                                                                           \
    {                                                                                                                  \
        .method = "GET", .path = "/readyz/" pool, .id = "ready" name, .group = "service",                              \
        .says = "The " pool " pool can serve, for a balancer", .media = "text/plain",                                  \
        .answers = ANSWERS({ 200, NULL, "ok" }, { 503, NULL, "a line for each problem" })                              \
    }
#define NO_RECEIPT                                                                                                     \
    {                                                                                                                  \
        404, "no-receipt", "no share, or its money is not in the wallet yet, or it was given back"                     \
    }

#define PAGE_ONLY "a page for browsers"

#define BASE64    ", in base64url"
#define NO_PASSKEYS                                                                                                    \
    {                                                                                                                  \
        404, "no-passkeys", "the site has no HTTPS or no domain name"                                                  \
    }
#define PASSKEY_LATE                                                                                                   \
    {                                                                                                                  \
        422, "passkey-expired", "the challenge is older than five minutes, used, or of another browser"                \
    }

const struct api_operation api_operations[] = {
    /* ---- accounts: no tokens ---- */
    { .method = "POST",
      .path = "/register",
      .id = "register",
      .leads = "`/` or `next`",
      .group = "account",
      .says = "Registers a user, who is then logged in",
      .form = register_fields,
      .fields = FIELDS({ "username", "2 to 32 of a-z, 0-9, dot, hyphen and underscore", "xiaoming" },
                       { "nickname", "what others see", "Ming" },
                       { "password", "not one of the 10,000 commonest, and not like the username", "correct-horse" },
                       NEXT, { "passkey", "any text: the browser could keep a passkey, so the page offers one", NULL }),
      .answers = ANSWERS({ 201, "User", "registered; the session cookie is set" }) },
    { .method = "GET",
      .path = "/register",
      .id = "registerPage",
      .group = "account",
      .says = "The form of registering",
      .answers = ANSWERS({ 200, "Nothing", PAGE_ONLY }, { 303, NULL, "logged in already" }) },
    { .method = "POST",
      .path = "/login",
      .id = "login",
      .leads = "`/` or `next`",
      .group = "account",
      .says = "Starts a session",
      .form = login_fields,
      .fields = FIELDS({ "username", "in any case", "xiaoming" }, { "password", "as typed", "correct-horse" }, NEXT),
      .answers = ANSWERS({ 200, "User", "logged in; the session cookie is set" }) },
    { .method = "GET",
      .path = "/login",
      .id = "loginPage",
      .group = "account",
      .says = "The form of logging in",
      .answers = ANSWERS({ 200, "Nothing", PAGE_ONLY }, { 303, NULL, "logged in already" }) },
    { .method = "POST",
      .path = "/login/passkey/challenge",
      .id = "passkeyLoginChallenge",
      .group = "account",
      .says = "Begins a login with a passkey",
      .answers = ANSWERS({ 200, "PasskeyLogin", "for navigator.credentials.get; a cookie has the challenge, too" }),
      .refusals = REFUSALS(NO_PASSKEYS) },
    { .method = "POST",
      .path = "/login/passkey",
      .id = "passkeyLogin",
      .group = "account",
      .says = "Starts a session with a passkey",
      .form = passkey_login_fields,
      .fields = FIELDS({ "id", "rawId of the credential" BASE64, "A0B1C2" },
                       { "user_handle", "userHandle of the response" BASE64, "A0B1C2" },
                       { "client_data", "clientDataJSON" BASE64, "A0B1C2" },
                       { "authenticator_data", "authenticatorData" BASE64, "A0B1C2" },
                       { "signature", "signature" BASE64, "A0B1C2" }),
      .answers = ANSWERS({ 200, "User", "logged in; the session cookie is set" }),
      .refusals =
          REFUSALS(NO_PASSKEYS, PASSKEY_LATE, { 422, "passkey-refused", "it is unknown, or its answer is wrong" }) },
    { .method = "POST",
      .path = "/login/recovery",
      .id = "recoveryLogin",
      .leads = "`/` or `next`",
      .group = "account",
      .says = "Starts a session with a recovery code in place of the password, and uses the code up",
      .form = recovery_login_fields,
      .fields = FIELDS({ "username", "in any case", "xiaoming" },
                       { "code", "in any case, hyphens may be left out", "0-7K3M-9QXT-2B8D-C4RZ" },
                       { "new_password", "ends all other sessions; a program may leave it out", NULL }, NEXT),
      .likes = { { "code", &FIELD_PASSWORD } },
      .answers = ANSWERS({ 200, "User", "logged in; the session cookie is set" }) },
    { .method = "GET",
      .path = "/login/recovery",
      .id = "recoveryLoginPage",
      .group = "account",
      .says = "The form of logging in with a recovery code",
      .answers = ANSWERS({ 200, "Nothing", PAGE_ONLY }, { 303, NULL, "logged in already" }) },
    { .method = "POST",
      .path = "/logout",
      .id = "logout",
      .leads = "`/`",
      .group = "account",
      .says = "Ends the session",
      .answers = ANSWERS({ 204, NULL, "logged out" }) },
    { .method = "POST",
      .path = "/language",
      .id = "chooseLanguage",
      .leads = "`/` or `next`",
      .group = "account",
      .says = "Chooses the language of pages and messages for a year",
      .form = language_fields,
      .fields = FIELDS({ "language", "else that of Accept-Language", "en" }, NEXT),
      .answers = ANSWERS({ 204, NULL, "the language cookie is set" }) },
    { .method = "GET",
      .path = "/account",
      .id = "account",
      .group = "account",
      .says = "The user's names, face, sessions, number of recovery codes left, passkeys and access tokens",
      .answers = ANSWERS({ 200, "Account", "all of these" }) },
    { .method = "POST",
      .path = "/account/nickname",
      .id = "changeNickname",
      .leads = "`/account?saved=1`",
      .group = "account",
      .says =
          "Changes the nickname and the avatar; packets and grabs keep the nickname of their time, and the username "
          "stays for life",
      .form = nickname_fields,
      .fields = FIELDS({ "nickname", "what others see", "Ming" },
                       { "face", "the avatar; initial: the first character of the nickname; absent: as it is", NULL }),
      .answers = ANSWERS({ 200, "User", "changed" }) },
    { .method = "GET",
      .path = "/account/nickname",
      .id = "nicknamePage",
      .group = "account",
      .says = "Leads to /account",
      .answers = ANSWERS({ 303, NULL, PAGE_ONLY }) },
    { .method = "POST",
      .path = "/account/picture",
      .id = "setPicture",
      .leads = "`/account?picture=set#own_picture`",
      .group = "account",
      .says =
          "Makes a picture the avatar. The body is multipart/form-data with a part `picture`: a JPEG, PNG or WebP file"
          " of at most 4 MB; the site keeps a small square of it, without metadata. Of what is too high the part `part`"
          " says which is kept: `auto` (the default), `top`, `middle` or `bottom`",
      .answers = ANSWERS({ 200, "User", "changed" }),
      .refusals = REFUSALS({ 422, "invalid-form", "there is no file, it is too large, or it is no picture" }) },
    { .method = "GET",
      .path = "/account/picture",
      .id = "picturePage",
      .group = "account",
      .says = "Leads to /account",
      .answers = ANSWERS({ 303, NULL, PAGE_ONLY }) },
    { .method = "POST",
      .path = "/account/picture/delete",
      .id = "deletePicture",
      .leads = "`/account?picture=removed#own_picture`",
      .group = "account",
      .says = "Deletes the picture; an avatar that shows it is that of the nickname again",
      .answers = ANSWERS({ 204, NULL, "deleted, or there was none" }) },
    { .method = "GET",
      .path = "/account/picture/delete",
      .id = "pictureDeletePage",
      .group = "account",
      .says = "Leads to /account",
      .answers = ANSWERS({ 303, NULL, PAGE_ONLY }) },
    { .method = "GET",
      .path = "/covers",
      .id = "covers",
      .group = "account",
      .says = "One's own covers: pictures for envelopes, at most six",
      .query = { covers_fields },
      .fields =
          FIELDS({ "saved", "a page for browsers: it says that a cover was added", NULL },
                 { "removed", "a page for browsers: it says that a cover was removed", NULL },
                 { "next", "a page for browsers: a cover that is added leads there: /send, with its query", NULL }),
      .answers = ANSWERS({ 200, "Covers", "the covers, the newest first" }) },
    { .method = "POST",
      .path = "/covers",
      .id = "addCover",
      .leads = "`/covers?saved=1`, or `/send` with the new cover",
      .group = "account",
      .says =
          "Adds a cover. The body is multipart/form-data with a part `picture`: a JPEG, PNG or WebP file of at most"
          " 4 MB; the site keeps a part of it, 5:3 and at most 720 pixels wide, without metadata. Of what is too high"
          " the part `part` says which is kept: `auto` (the default), `top`, `middle` or `bottom`",
      .answers = ANSWERS({ 201, "Cover", "added, or it was there already; its `name` is a `cover` of POST /send" }),
      .refusals = REFUSALS(
          { 422, "invalid-form", "there is no file, it is too large, it is no picture, or there are six covers" }) },
    { .method = "POST",
      .path = "/covers/:key/delete",
      .id = "deleteCover",
      .leads = "`/covers?removed=1`",
      .group = "account",
      .says = "Deletes a cover, HASH; envelopes that show it have the plain one again",
      .answers = ANSWERS({ 204, NULL, "deleted, or there was none" }) },
    { .method = "GET",
      .path = "/covers/:key/delete",
      .id = "coverDeletePage",
      .group = "account",
      .says = "Leads to /covers",
      .answers = ANSWERS({ 303, NULL, PAGE_ONLY }) },
    { .method = "GET",
      .path = "/picture/:key",
      .id = "picture",
      .group = "account",
      .says = "A picture that a user has as avatar, a square of at most 160 pixels, or as cover, at most 720 × 432: "
              "HASH.webp",
      .media = "image/webp",
      .answers = ANSWERS({ 200, NULL, "the picture" }) },
    { .method = "POST",
      .path = "/account/password",
      .id = "changePassword",
      .leads = "`/account?password=1`",
      .group = "account",
      .says = "Changes the password and ends all other sessions; access tokens stay",
      .form = password_fields,
      .fields =
          FIELDS({ "old_password", "as typed", "a good password" },
                 { "new_password", "not one of the 10,000 commonest, and not like the username", "battery-staple" }),
      .answers = ANSWERS({ 204, NULL, "changed" }) },
    { .method = "GET",
      .path = "/account/password",
      .id = "passwordPage",
      .group = "account",
      .says = "The form of changing the password",
      .answers = ANSWERS({ 200, "Nothing", PAGE_ONLY }) },
    { .method = "GET",
      .path = "/account/delete",
      .id = "deletionPage",
      .group = "account",
      .says = "What the deletion of the account gives up; the page has the form",
      .answers = ANSWERS({ 200, "Deletion", "the money" }) },
    { .method = "POST",
      .path = "/account/delete",
      .id = "deleteAccount",
      .leads = "`/account/deleted`",
      .group = "account",
      .says =
          "Begins the deletion of the account: sessions, tokens and passkeys end, open packets end, and the name goes",
      .form = deletion_fields,
      .fields =
          FIELDS({ "username", "one's own, to confirm", "xiaoming" }, { "password", "as typed", "a good password" },
                 { "give_up",
                   "any text: the money that is left, in the wallet or in open packets, goes to the site; needed while "
                   "there is some, else 422",
                   NULL }),
      .answers = ANSWERS({ 204, NULL, "begun" }) },
    { .method = "GET",
      .path = "/account/deleted",
      .id = "deletedPage",
      .group = "account",
      .says = "Says what happens after the deletion has begun",
      .answers = ANSWERS({ 200, "Nothing", PAGE_ONLY }) },
    { .method = "POST",
      .path = "/account/recovery",
      .id = "makeRecoveryCodes",
      .leads = "a page that shows them once",
      .group = "account",
      .says = "Makes ten recovery codes in place of those before; only this answer contains them",
      .form = password_confirm_fields,
      .fields = FIELDS({ "password", "as typed", "a good password" }),
      .answers = ANSWERS({ 201, "RecoveryCodes", "made" }) },
    { .method = "GET",
      .path = "/account/recovery",
      .id = "recoveryCodesPage",
      .group = "account",
      .says = "The form of making recovery codes, with the number of those left",
      .answers = ANSWERS({ 200, "RecoveryCodesLeft", PAGE_ONLY }) },
    { .method = "POST",
      .path = "/account/sessions/end",
      .id = "endSessions",
      .leads = "`/account/devices?ended=1`",
      .group = "account",
      .says = "Ends one session, or all but the own one",
      .form = session_end_fields,
      .fields = FIELDS({ "others", "any text: all other sessions", "1" },
                       { "session", "the id of one session; needed without `others`", NULL }),
      .answers = ANSWERS({ 204, NULL, "ended" }),
      .refusals = REFUSALS({ 404, "not-found", "the user has no such session" }) },
    { .method = "GET",
      .path = "/account/sessions/end",
      .id = "sessionsPage",
      .group = "account",
      .says = "Leads to /account/devices",
      .answers = ANSWERS({ 303, NULL, PAGE_ONLY }) },
    { .method = "GET",
      .path = "/account/devices",
      .id = "devicesPage",
      .group = "account",
      .says = "The sessions; the page has the forms of ending them",
      .answers = ANSWERS({ 200, "Sessions", PAGE_ONLY }) },
    { .method = "GET",
      .path = "/account/export",
      .id = "exportAccount",
      .group = "account",
      .says = "All data of the user as one file: names, sessions, passkeys and tokens without secrets, packets sent, "
              "shares received with one's own thanks, the statement of the wallet",
      .answers = ANSWERS({ 200, "AccountExport", "the file" }) },
    { .method = "POST",
      .path = "/account/tokens",
      .id = "makeToken",
      .leads = "a page that shows it once",
      .group = "account",
      .says = "Makes an access token; only this answer contains it",
      .form = token_fields,
      .fields = FIELDS({ "name", "the program that will use it", "party bot" },
                       { "scopes", "with blanks between: `read`, `send`, `open`; at least one, here or as scope_…",
                         "read send open" },
                       { "scope_read", "any text: adds `read`, as the box of the page does", NULL },
                       { "scope_send", "any text: adds `send`", NULL }, { "scope_open", "any text: adds `open`", NULL },
                       { "days", "until it expires", "30" }, { "password", "as typed", "a good password" }),
      .answers = ANSWERS({ 201, "NewToken", "made" }) },
    { .method = "POST",
      .path = "/account/tokens/:id/delete",
      .id = "revokeToken",
      .leads = "`/account/developers?revoked=1#tokens`",
      .group = "account",
      .says = "Revokes an access token at once",
      .answers = ANSWERS({ 204, NULL, "revoked" }) },
    { .method = "POST",
      .path = "/account/passkeys/challenge",
      .id = "passkeyChallenge",
      .group = "account",
      .says = "Begins to add a passkey",
      .form = password_confirm_fields,
      .fields = FIELDS({ "password", "as typed", "a good password" }),
      .answers = ANSWERS({ 200, "NewPasskey", "for navigator.credentials.create; a cookie has the challenge, too" }),
      .refusals = REFUSALS(NO_PASSKEYS) },
    { .method = "POST",
      .path = "/account/passkeys",
      .id = "addPasskey",
      .group = "account",
      .says = "Adds a passkey",
      .form = passkey_fields,
      .fields = FIELDS({ "name", "where the passkey is; left out, the browser and its device", "my phone" },
                       { "client_data", "clientDataJSON of the response" BASE64, "A0B1C2" },
                       { "authenticator_data", "what getAuthenticatorData() of the response gives" BASE64, "A0B1C2" }),
      .answers = ANSWERS({ 201, "AddedPasskey", "added" }),
      .refusals = REFUSALS(NO_PASSKEYS, { 409, "passkey-exists", "it has been added before" }, PASSKEY_LATE,
                           { 422, "passkey-refused", "the answer of the browser is wrong" }) },
    { .method = "POST",
      .path = "/account/passkeys/:id/delete",
      .id = "removePasskey",
      .leads = "`/account/passkeys?passkey=removed`",
      .group = "account",
      .says = "Removes a passkey",
      .answers = ANSWERS({ 204, NULL, "removed" }) },
    { .method = "GET",
      .path = "/account/passkeys",
      .id = "passkeysPage",
      .group = "account",
      .says = "The passkeys; the page has the form of adding one",
      .answers = ANSWERS({ 200, "Passkeys", PAGE_ONLY }) },
    { .method = "GET",
      .path = "/account/passkeys/:id",
      .id = "passkeyPage",
      .group = "account",
      .says = "Leads to /account/passkeys",
      .answers = ANSWERS({ 303, NULL, PAGE_ONLY }) },
    { .method = "GET",
      .path = "/account/developers",
      .id = "developersPage",
      .group = "account",
      .says = "The access tokens; the page has the form of making one",
      .answers = ANSWERS({ 200, "Tokens", PAGE_ONLY }) },
    { .method = "GET",
      .path = "/account/tokens",
      .id = "tokensPage",
      .group = "account",
      .says = "Leads to /account/developers",
      .answers = ANSWERS({ 303, NULL, PAGE_ONLY }) },
    { .method = "GET",
      .path = "/account/tokens/:id",
      .id = "tokenPage",
      .group = "account",
      .says = "Leads to /account/developers",
      .answers = ANSWERS({ 303, NULL, PAGE_ONLY }) },

    /* ---- the wallet ---- */
    { .method = "GET",
      .path = "/wallet",
      .id = "wallet",
      .group = "wallet",
      .says = "Balance and statement, newest first; `amount` and `next` fill in the page's form of a deposit",
      .query = { statement_fields },
      .fields = FIELDS(BEFORE),
      .answers = ANSWERS({ 200, "Wallet", "a page of the statement" }) },
    { .method = "POST",
      .path = "/wallet/deposit",
      .id = "deposit",
      .leads = "`/wallet?deposited=1` or `next`",
      .group = "wallet",
      .says = "Demo money, on a demo site only",
      .form = deposit_fields,
      .fields =
          FIELDS({ "amount", "yuan", "100" }, KEY, { "next", "a page of this site, where a browser goes then", NULL }),
      .answers = ANSWERS({ 201, "Deposit", "credited" }),
      .refusals = REFUSALS({ 404, "not-found", "this is no demo site" }) },

    /* ---- packets ---- */
    { .method = "POST",
      .path = "/send",
      .id = "send",
      .leads = "`/p/ID`",
      .group = "packets",
      .says = "Sends a red packet",
      .form = send_fields,
      .likes = { { "count", &FIELD_COUNT },
                 { "amount", &FIELD_YUAN },
                 { "share_min", &FIELD_YUAN },
                 { "to", &FIELD_USERNAMES } },
      .fields = FIELDS(
          { "kind", "lucky: random shares, by default; even: equal shares; exclusive: one share for one user",
            "lucky" },
          { "to", "who alone may open it: usernames with blanks, commas or line breaks between; exclusive: one", NULL },
          { "split", "lucky: how the total is drawn", NULL },
          { "count", "number of shares; not for exclusive; with receivers at most, and by default, as many", "3" },
          { "amount_of",
            "even: whether the amount is that of one share, by default, or the total: 10.00 in 3 is 3.34, 3.33, 3.33",
            NULL },
          { "amount", "yuan, required: the total of a lucky packet, else one share (see amount_of)", "10.00" },
          { "share_min", "lucky: yuan, the smallest share; 0.01 when left out", NULL },
          { "greeting",
            "a line of text; each cover has one of its own for packets without it; that of an exclusive packet only "
            "its sender and its receiver can read",
            "Happy New Year" },
          { "cover",
            "the picture of the envelope: `plain`, `spring-festival`, `mid-autumn`, `birthday`, `wedding`, `baby`,"
            " `new-job` or `thanks`, which have greetings of their own, or the `name` of one of GET /covers",
            NULL },
          { "lifetime",
            "how long it stays open, as `24h`, which is the default; GET /send lists the choices (the setting "
            "packet_lifetimes)",
            NULL },
          { "phrase",
            "a passphrase that must be typed to open it, compared without regard to width, case, blanks around it and "
            "the kind of punctuation that a keyboard writes (`。` for `.`); only its sender can read it again",
            NULL },
          { "opens_at",
            "from when it can be opened, at most 30 days ahead: RFC 3339, or a day and time as `2026-12-01 20:00` "
            "or `2026/12/1 20:00` in the service's zone, also with a zone behind it; the lifetime counts from there",
            NULL },
          { "request_key",
            "your own key: a repeat with it pays nothing more and gets the same answer; another order with it is 422, "
            "and `order` has the address of the first one",
            "order-1" }),
      .answers = ANSWERS({ 201, "Sent", "paid for; others can open it" }) },
    { .method = "GET",
      .path = "/send",
      .id = "sendPage",
      .group = "packets",
      .says = "What can be sent: limits, choices, the balance, a new request key, people one knows",
      .query = { send_prefill_fields },
      .fields = FIELDS({ "to", "a page for browsers: the form for this user", NULL },
                       { "again",
                         "a page for browsers: the form as for this packet of one's own, without its passphrase and an "
                         "opening that has passed",
                         NULL },
                       { "back", "a page for browsers: the form for the sender of this packet", NULL }),
      .answers = ANSWERS({ 200, "SendForm", "limits and choices" }),
      .refusals = REFUSALS({ 404, "not-found", "`again`: it is no packet of one's own" }) },
    { .method = "GET",
      .path = "/orders/:key",
      .id = "order",
      .group = "packets",
      .says = "What became of one's own request_key: the packet, its state, counts and money",
      .answers = ANSWERS({ 200, "Order", "the packet, as far as it is settled" }),
      .refusals = REFUSALS({ 404, "not-found", "no packet was sent with this key, or not yet" }) },
    { .method = "GET",
      .path = "/p/:id",
      .id = "packet",
      .group = "packets",
      .says = "A packet as the visitor may see it: envelope, result or list",
      .query = { show_fields },
      .fields = FIELDS({ "after", "the `next` of the page before: earlier grabs", NULL }),
      .answers =
          ANSWERS({ 200, "Packet", "the packet" }, { 304, NULL, "not changed since the ETag in If-None-Match" }) },
    { .method = "GET",
      .path = "/p/:id/screen",
      .id = "screen",
      .group = "packets",
      .says = "The big screen of an event",
      .query = { screen_fields },
      .fields = FIELDS(
          { "key", "of the packet's screen_url, which only the sender gets: names and amounts are shown", NULL }),
      .answers = ANSWERS({ 200, "Screen", "what is left; with the key, the newest grabs" },
                         { 304, NULL, "not changed since the ETag in If-None-Match" }),
      .refusals = REFUSALS({ 404, "not-found", "there is no such packet, or the key is wrong" }) },
    { .method = "GET",
      .path = "/p/:id/card.png",
      .id = "card",
      .group = "packets",
      .says = "A picture to share, without amounts",
      .query = { card_fields },
      .fields = FIELDS({ "shape", "wide: 1200 × 630, also for any other word; tall: 1080 × 1440", NULL },
                       { "lang", "the language of its words", NULL }),
      .answers = ANSWERS({ 200, NULL, "the picture" }),
      .refusals = REFUSALS({ 404, "not-found", "there is no such packet, or its id is written in another way" },
                           { 503, "busy", "no answer now; a repeat may work" }),
      .media = "image/png" },
    { .method = "GET",
      .path = "/p/:id/poster",
      .id = "poster",
      .group = "packets",
      .says = "A sheet to print for one's own packet, without amounts and passphrase",
      .answers = ANSWERS({ 200, "Poster", "what is on it" }),
      .refusals = REFUSALS({ 404, "not-found", "not one's own packet, or one for a single receiver" }) },
    { .method = "GET",
      .path = "/p/:id/calendar.ics",
      .id = "calendar",
      .group = "packets",
      .says = "The scheduled opening, for a calendar",
      .answers = ANSWERS({ 200, NULL, "an event with a reminder" }),
      .refusals = REFUSALS({ 404, "not-found", "it has no scheduled opening" },
                           { 410, "opened", "it can be opened already" }, { 410, "expired", "it is over" }),
      .media = "text/calendar" },
    { .method = "POST",
      .path = "/p/:id/open",
      .id = "open",
      .leads = "`/p/ID`",
      .group = "packets",
      .says = "Takes a share; a repeat gets the same share",
      .form = open_fields,
      .fields = FIELDS({ "phrase", "the passphrase, of a packet that needs one", NULL }),
      .answers = ANSWERS({ 200, "Opened", "the share of this user" }),
      .refusals =
          REFUSALS({ 403, "not-for-you", "it is for somebody else" }, { 403, "not-open-yet", "it opens at `opens_at`" },
                   { 422, "wrong-phrase",
                     "the passphrase is wrong or missing; `tries_left` is how many wrong ones the user may still send, "
                     "and a missing one does not count" },
                   { 429, "too-many-tries",
                     "ten wrong passphrases of this user, for good; with `Retry-After`: too many from this address or"
                     " network, or from everywhere" },
                   { 410, "empty", "all shares are taken" }, { 410, "expired", "its time is over" }) },
    { .method = "POST",
      .path = "/p/:id/return",
      .id = "return",
      .leads = "`/p/ID`",
      .group = "packets",
      .says =
          "Gives one's own share back, into the open packet when somebody else can take it, or to its sender; a repeat "
          "answers the same",
      .answers = ANSWERS({ 200, "Returned", "given back, into the packet or to its sender" }),
      .refusals = REFUSALS({ 404, "no-share", "the user has no share of it" },
                           { 409, "money-spent", "the wallet can't pay it" },
                           { 409, "own-packet", "the packet is over and the user is its sender" },
                           { 409, "sender-gone", "the packet is over and its sender has deleted the account" },
                           { 409, "too-many-returns", "it has taken back as many shares as it was sent with" },
                           { 503, "unsettled", "the money is not in the wallet yet; try again" }) },
    { .method = "POST",
      .path = "/p/:id/end",
      .id = "end",
      .leads = "`/p/ID`",
      .group = "packets",
      .says = "Ends one's own packet early; the rest goes back",
      .answers = ANSWERS({ 200, "Ended", "ended; finished when every share was taken before" }),
      .refusals = REFUSALS({ 403, "not-sender", "it is somebody else's" }) },
    { .method = "POST",
      .path = "/p/:id/thanks",
      .id = "thanks",
      .leads = "`/p/ID`",
      .group = "packets",
      .says = "Thanks the sender for one's share, once; a repeat with the same text is no error",
      .form = thanks_fields,
      .fields = FIELDS({ "text", "one line", "Thank you" }),
      .answers = ANSWERS({ 200, "Thanks", "said; shown as `thanks` of the share" }),
      .refusals = REFUSALS(
          { 403, "no-share", "no share of it, or it was given back" },
          { 409, "thanks-already", "thanked with another text before, also when the share was given back since" },
          { 503, "busy", "the share is not settled yet, as just after its opening; try again" }) },
    { .method = "GET",
      .path = "/p/:id/receipt",
      .id = "receipt",
      .group = "packets",
      .says = "A signed receipt of one's own share",
      .answers = ANSWERS({ 200, "Receipt", "the receipt" }),
      .refusals = REFUSALS(NO_RECEIPT) },
    { .method = "GET",
      .path = "/p/:id/receipt.json",
      .id = "receiptFile",
      .group = "packets",
      .says = "The receipt as a file",
      .answers = ANSWERS({ 200, "Receipt", "the receipt" }),
      .refusals = REFUSALS(NO_RECEIPT) },
    { .method = "GET",
      .path = "/.well-known/hongbao-receipt-keys",
      .id = "receiptKeys",
      .group = "packets",
      .says = "The public keys (Ed25519) that check receipts",
      .answers = ANSWERS({ 200, "ReceiptKeys", "past, present and future keys" }) },
    { .method = "GET",
      .path = "/p/:id/verify",
      .id = "verify",
      .group = "packets",
      .says = "The seed and every share, recomputed, once the packet is over",
      .query = { verify_fields },
      .fields = FIELDS({ "after", "the `next` of the page before: further shares", NULL }),
      .answers = ANSWERS({ 200, "Verification", "commitment; once it is over, seed and shares" }) },

    /* ---- lists ---- */
    { .method = "GET",
      .path = "/",
      .id = "home",
      .group = "records",
      .says = "Balance, inbox (packets for the user by name, refunds, shares given back, thanks) and latest records; a "
              "welcome page for a guest",
      .answers = ANSWERS({ 200, "Home", "of the user; for a guest, user is null" }) },
    { .method = "GET",
      .path = "/records/received",
      .id = "received",
      .group = "records",
      .says = "Shares received in a year, newest first, with totals",
      RECORDS_QUERY("in the service's time zone; this year, or all years with a filter, when left out"),
      .answers = ANSWERS({ 200, "Received", "a page of the list" }) },
    { .method = "GET",
      .path = "/records/sent",
      .id = "sent",
      .group = "records",
      .says = "Packets sent in a year, newest first, with totals",
      RECORDS_QUERY("in the service's time zone; this year, or all years with a filter, when left out"),
      .answers = ANSWERS({ 200, "SentList", "a page of the list" }) },

    { .method = "GET",
      .path = "/records/received.csv",
      .id = "receivedFile",
      .group = "records",
      .says =
          "All shares received, without a year and filters of all years, as CSV; also /records/received as text/csv",
      RECORDS_FILE("time, packet, kind, sender, greeting, number of the share, amount, given back, best, zone of the "
                   "time; amounts in yuan: amount less given back is what was kept") },
    { .method = "GET",
      .path = "/records/sent.csv",
      .id = "sentFile",
      .group = "records",
      .says = "All packets sent, without a year and filters of all years, as CSV; also /records/sent as text/csv",
      RECORDS_FILE("time, packet, kind, greeting, amount, count, taken, state, refunded, given back, zone of the time; "
                   "amounts in yuan: given back is what receivers returned to the sender, not into the packet; amount "
                   "less refunded and given back is what it cost") },
    { .method = "GET",
      .path = "/records/story",
      .id = "story",
      .group = "records",
      .says =
          "The story of a year: sums, whom one gave most, who gave one most, the largest and the fastest share, the "
          "liveliest day",
      .query = { story_fields },
      .fields = FIELDS({ "year", "in the service's time zone; this year when left out", NULL }),
      .answers = ANSWERS({ 200, "Story", "the year" }) },
    { .method = "GET",
      .path = "/story.png",
      .id = "storyPicture",
      .group = "records",
      .says = "A picture of the year to share, 1080 × 1440: without names of others, and without amounts",
      .query = { story_share_fields },
      .fields = FIELDS({ "year", "in the service's time zone; this year when left out", NULL },
                       { "amounts", "1: with the totals of the year", NULL }),
      .answers = ANSWERS({ 200, NULL, "the picture" }),
      .refusals = REFUSALS({ 503, "busy", "no answer now; a repeat may work" }),
      .media = "image/png" },

    /* ---- the service ---- */
    { .method = "GET",
      .path = "/openapi.json",
      .id = "openapi",
      .group = "service",
      .says = "This description",
      .answers = ANSWERS({ 200, "Anything", "OpenAPI 3.1" }) },
    { .method = "GET",
      .path = "/healthz",
      .id = "alive",
      .group = "service",
      .says = "A process answers",
      .answers = ANSWERS({ 200, NULL, "ok" }),
      .media = "text/plain" },
    { .method = "GET",
      .path = "/readyz",
      .id = "ready",
      .group = "service",
      .says = "The whole site is well: stores, schema, pools, settle worker; text unless Accept asks for JSON",
      .answers = ANSWERS({ 200, "Ready", "every part is well" }, { 503, "Ready", "a part fails" }),
      .media = "application/json" },
    READY_OF("hot", "Hot"),
    READY_OF("page", "Page"),
    READY_OF("auth", "Auth"),
    READY_OF("card", "Card"),
    { .method = "GET",
      .path = "/metrics",
      .id = "metrics",
      .group = "service",
      .says = "Counters for Prometheus, to private addresses only",
      .answers = ANSWERS({ 200, NULL, "the counters" }, { 403, NULL, "the address is not private" }),
      .media = "text/plain" },
};
const size_t api_operations_count = ARRAY_LEN(api_operations);
