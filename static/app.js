/* Progressive enhancement only: every flow works without this file. */
(function () {
  'use strict';
  var all = function (selector, each) { Array.prototype.forEach.call(document.querySelectorAll(selector), each); };
  var store = function (key, value) {
    try {
      if (value === undefined) { var old = sessionStorage.getItem(key); sessionStorage.removeItem(key); return old; }
      sessionStorage.setItem(key, value);
    } catch (e) { /* no storage in private mode: the animation is left out */ }
    return null;
  };

  /* Each form is sent once. The browser sends it by itself, so the coin turns until the answer arrives. */
  all('form[data-open], form[data-once]', function (form) {
    var button = form.querySelector('button[type=submit]'), words = button.textContent, sent = false;
    form.addEventListener('submit', function (event) {
      if (sent) { event.preventDefault(); return; }
      sent = true;
      if (event.submitter && event.submitter !== button) return; /* the language of a kept form */
      button.setAttribute('aria-disabled', 'true');
      if (form.hasAttribute('data-open')) {
        button.classList.add('turning');
        store('opened', form.closest('[data-packet]').getAttribute('data-packet'));
      } else if (form.getAttribute('data-once')) {
        button.textContent = form.getAttribute('data-once');
      }
    });
    /* The visitor came back and the browser restored the page: the form can be used again. */
    addEventListener('pageshow', function (event) {
      if (!event.persisted) return;
      sent = false;
      button.removeAttribute('aria-disabled');
      button.classList.remove('turning');
      if (form.getAttribute('data-once')) button.textContent = words;
    });
  });

  /* The packet was just opened: the sender moves out of view and the digits roll in. */
  all('.result', function (result) {
    var amount = result.querySelector('.money'), text = amount && amount.firstChild;
    while (text && text.nodeType !== Node.TEXT_NODE) text = text.nextSibling;
    if (!text || store('opened') !== result.getAttribute('data-packet')) return;
    var digits = document.createDocumentFragment();
    text.data.split('').forEach(function (c) {
      var i = document.createElement('i');
      i.textContent = c;
      digits.appendChild(i);
    });
    amount.replaceChild(digits, text);
    result.classList.add('fresh');
  });

  all('[data-copy]', function (button) {
    var field = document.getElementById(button.getAttribute('data-copy')), message = document.querySelector('[data-copied]');
    var copied = function () { message.textContent = message.getAttribute('data-copied'); };
    var by_hand = function () { field.select(); if (document.execCommand('copy')) copied(); };
    button.hidden = false;
    var text = button.getAttribute('data-text');
    button.addEventListener('click', function () {
      message.textContent = '';
      if (navigator.clipboard) navigator.clipboard.writeText(text || field.value).then(copied, by_hand); else by_hand();
    });
  });

  all('[data-print]', function (button) {
    button.hidden = false;
    button.addEventListener('click', function () { print(); });
  });

  all('[data-share]', function (button) {
    if (!navigator.share) return;
    button.hidden = false;
    button.addEventListener('click', function () {
      navigator.share({ title: button.getAttribute('data-title'), text: button.getAttribute('data-text'), url: button.getAttribute('data-share') })
        .catch(function () { /* the visitor closed the share sheet */ });
    });
  });

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

  /* A usual amount is put into the field. */
  all('[data-amount]', function (chip) {
    chip.addEventListener('click', function (event) {
      var amount = document.getElementById('amount');
      event.preventDefault();
      amount.value = chip.getAttribute('data-amount');
      amount.focus();
    });
  });

  /* The live total, in whole fen. Texts that are not an amount count as 0.00; the server judges them. Without a count
   * each named receiver gets a share. */
  all('form[data-send]', function (form) {
    var total = form.querySelector('[data-total]'), out = total.querySelector('output');
    var ascii = function (text) {
      return text.trim().replace(/[０-９]/g, function (c) { return String.fromCharCode(c.charCodeAt(0) - 0xfee0); })
        .replace(/[。．]/g, '.').replace(/^[¥￥]\s*|\s*\u5143$/g, '').replace(/，/g, ',')
        .replace(/^\d{1,3}(?:,\d{3})+(?=\.|$)/, function (n) { return n.replace(/,/g, ''); });
    };
    var ask = form.elements.count.placeholder;
    var show = function () {
      var names = new Set(form.elements.to.value.toLowerCase().split(/[\s,，、;；]+/).filter(Boolean)).size;
      form.elements.count.placeholder = names || ask;
      var amount = /^(\d{1,7})(?:\.(\d{1,2}))?$/.exec(ascii(form.elements.amount.value)), fen = 0;
      if (amount) fen = amount[1] * 100 + +((amount[2] || '') + '00').slice(0, 2);
      if (form.elements.kind.value === 'even' && form.elements.amount_of.value !== 'total') {
        var count = ascii(form.elements.count.value) || String(names);
        fen *= /^\d{1,6}$/.test(count) ? +count : 0;
      }
      out.textContent = Math.floor(fen / 100) + '.' + ('0' + fen % 100).slice(-2);
    };
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
    total.hidden = false;
    form.addEventListener('input', show);
    form.addEventListener('change', show);
    show();
  });
}());
