/* The form of the send page: the live total, the people to choose from, the greeting of a cover. Progressive enhancement
 * only: the page works without this file. */
(function () {
  'use strict';
  var all = function (selector, each) { Array.prototype.forEach.call(document.querySelectorAll(selector), each); };

  /* A person beside the field of the receivers is filled in: the only one of an exclusive packet, else one more. */
  all('[data-to]', function (chip) {
    chip.addEventListener('click', function (event) {
      var form = chip.closest('form'), to = form.elements.to;
      event.preventDefault();
      var before = form.elements.kind.value === 'exclusive' ? '' : to.value.trim();
      to.value = (before && before + ' ') + chip.getAttribute('data-to');
      form.dispatchEvent(new Event('change'));
      to.focus();
    });
  });

  /* The live total, in whole fen. Texts that are not an amount count as 0.00; the server judges them. Without a count
   * each named receiver gets a share. */
  all('form[data-send]', function (form) {
    var total = form.querySelector('[data-total]'), out = total.querySelector('output');
    var money = function (fen) {
      var yuan = String(Math.floor(fen / 100)).replace(/\B(?=(?:\d{3})+$)/g, total.getAttribute('data-total'));
      return yuan + '.' + ('0' + fen % 100).slice(-2);
    };
    /* Says that the server would refuse a share above the limit, or an amount above the balance. A link leads to the
     * missing money and back to the form, with what the server keeps of it (app/web/kept_form.h). */
    var KEPT_MAX = 990; /* the path and `lacks` need the rest of NEXT_BYTES_MAX (web/origin.h) */
    var over = form.querySelector('[data-over]'), deposit = document.createElement('a'), said = '';
    deposit.textContent = over.getAttribute('data-deposit');
    var back = function () {
      var kept = new URLSearchParams(new FormData(form)), lacks = kept.get('phrase') ? ['phrase'] : [];
      ['confirmed', 'request_key', 'phrase'].forEach(function (name) { kept.delete(name); });
      ['to', 'greeting'].forEach(function (name) {
        if (String(kept).length <= KEPT_MAX) return;
        if (name === 'to' && kept.get(name)) lacks.push(name);
        kept.delete(name);
      });
      if (lacks.length) kept.set('lacks', lacks);
      return '/send?' + kept;
    };
    var told = function (fen, shares) {
      var word = function (name) { return over.getAttribute('data-' + name); };
      var short = fen - word('balance-fen'), text = '', lacking = false;
      if (shares && fen > word('share-fen') * shares) text = word('share');
      else if (short > 0) {
        text = word('balance').replace('~', money(short));
        lacking = Boolean(word('deposit'));
        deposit.href = '/wallet?' + new URLSearchParams({ amount: money(short), next: back() });
      }
      if (said === text) return;
      said = over.textContent = text;
      if (lacking) over.append(' ', deposit);
    };
    var ask = form.elements.count.placeholder;
    var show = function () {
      var typed = window.typed, names = typed.names(form.elements.to.value).length;
      form.elements.count.placeholder = names || ask;
      var text = form.elements.count.value, count = typed.fold(text) ? typed.count(text) : names;
      var fen = typed.yuan(form.elements.amount.value);
      if (form.elements.kind.value === 'even' && form.elements.amount_of.value !== 'total') fen *= count;
      fen = isFinite(fen) ? fen : 0;
      out.textContent = money(fen);
      told(fen, form.elements.kind.value === 'exclusive' ? 1 : count || 0);
    };
    /* Characters as a reader counts them, as soon as there are some. */
    var greeting = form.elements.greeting, counter = form.querySelector('[data-count]');
    var count = function () {
      var typed = greeting.value.trim(), most = +counter.getAttribute('data-count');
      if (!window.Intl || !Intl.Segmenter) return;
      var length = Array.from(new Intl.Segmenter().segment(typed)).length;
      counter.textContent = length ? length + '/' + most : '';
      counter.className = length > most ? 'wrong' : '';
    };
    greeting.addEventListener('input', count);
    count();
    /* The cover's own greeting is used when the sender writes none. */
    var cover = form.querySelector('[data-cover]');
    var wrap = function () {
      var chosen = form.querySelector('[name=cover]:checked');
      if (!chosen) return;
      form.elements.greeting.placeholder = chosen.getAttribute('data-greeting');
      cover.textContent = chosen.closest('label').querySelector('strong').textContent;
    };
    form.addEventListener('change', wrap);
    wrap();
    if (!window.typed) return; /* a browser that cannot read typed.js */
    total.hidden = false;
    form.addEventListener('input', show);
    form.addEventListener('change', show);
    show();
  });
}());
