/* What people type, as the server reads it: app/base/typed.h. tests/unit/typed.json has cases for both. */
(function (page) {
  'use strict';
  /* utf8_fold_pasted. Some format characters of Arabic, Syriac and Kaithi are visible. */
  var fold = function (text) {
    return text.replace(/(?![\u0600-\u0605\u06dd\u070f\u0890\u0891\u08e2\u{110bd}\u{110cd}])[\p{Cf}\p{DI}\p{NChar}\ufffc\u{13441}\u{13442}\u{16fe4}\u{1d159}]/gu, '')
      .replace(/[！-～]/g, function (c) { return String.fromCharCode(c.charCodeAt(0) - 0xfee0); })
      .replace(/[\ufe50\ufe52\ufe54-\ufe5c\ufe5f-\ufe66\ufe68-\ufe6b]/g, function (c) { return ',\0.\0;:?!-(){}\0\0#&*+-<>=\0\\$%@'[c.charCodeAt(0) - 0xfe50]; })
      .replace(/[。｡]/g, '.').replace(/\u2236/g, ':').replace(/[\u2010-\u2015\u2212]/g, '-')
      .replace(/[\p{Cc}\p{Z}\u2800]+/gu, ' ').replace(/^ | $/g, '');
  };
  var lower = function (text) {
    return text.replace(/[A-Z]+/g, function (letters) { return letters.toLowerCase(); });
  };
  /* A number with or without commas between thousands; Infinity: larger than the server's numbers. NaN: none. */
  var whole = function (text, max) {
    var n = /^(?:\d*|\d{1,3}(?:,\d{3})+)$/.test(text) ? +text.replace(/,/g, '') : NaN;
    return n > max ? Infinity : n;
  };
  page.typed = {
    fold: fold,
    /* With the signs ge and fen. */
    count: function (text) {
      var digits = fold(text).replace(/ ?[\u4e2a\u500b\u4efd]$/, '');
      return digits ? whole(digits, Number.MAX_SAFE_INTEGER) : NaN;
    },
    /* An amount in smallest units. unit: text/unit_typed of app/web/unit_texts.h. With the signs yuan and kuai, too. */
    amount: function (text, unit) {
      var of = lower(unit).split('~'), symbol = of[4], yuan = /\u5143$/.test(of[2]) ? '\u5143~\u5706~\u5713~\u5757~\u584a~\u5757\u94b1~\u584a\u9322' : '';
      var signs = function (names) { return '(?:' + names.join('~').replace(/[^~\p{L}\p{N}]/gu, '\\$&').replace(/~+/g, '|') + ')'; };
      var before = [of[1], symbol, symbol === '¥' ? '￥' : ''].sort(function (a, b) { return b.length - a.length; });
      var parts = lower(fold(text)).replace(RegExp('^' + signs(before) + ' ?'), '').replace(RegExp(' ?' + signs([of[1], of[2], of[3], yuan]) + '$'), '').split('.');
      var fraction = parts[1] || '', scale = Math.pow(10, of[0]);
      if (parts.length > 2 || !(parts[0] + fraction) || /\D/.test(fraction) || fraction.length > of[0]) return NaN;
      return whole(parts[0], Math.floor(999999999 / scale)) * scale + +fraction.padEnd(of[0], 0);
    },
    /* The other way: fen as text, with this sign between thousands. */
    shown: function (fen, unit, comma) {
      var decimals = parseInt(unit, 10), digits = String(fen).padStart(decimals + 1, 0), end = digits.length - decimals;
      return digits.slice(0, end).replace(/\B(?=(?:\d{3})+$)/g, comma) + (decimals ? '.' : '') + digits.slice(end);
    },
    /* Each name once. An address has an '@' within: it is one name. */
    names: function (text) {
      return Array.from(new Set(lower(fold(text)).split(/[ ,;/|、､]+/).flatMap(function (name) { return name[0] === '@' ? name.split('@') : name; }).filter(Boolean)));
    }
  };
}(this));
