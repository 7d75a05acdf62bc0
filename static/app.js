/* Enhancement only: every flow works without this file. */
(function () {
  'use strict';
  var all = function (selector, each) { Array.prototype.forEach.call(document.querySelectorAll(selector), each); };
  var memory = function (key, value) {
    try {
      if (value === undefined) { var old = sessionStorage.getItem(key); sessionStorage.removeItem(key); return old; }
      sessionStorage.setItem(key, value);
    } catch (e) { /* private mode: no animation, nothing else is lost */ }
    return null;
  };

  /* Every form goes out once. The browser sends it by itself, so the coin turns while the request is on its way. */
  all('form[data-open], form[data-once]', function (form) {
    var button = form.querySelector('button[type=submit]'), words = button.textContent, sent = false;
    form.addEventListener('submit', function (event) {
      if (sent) { event.preventDefault(); return; }
      sent = true;
      button.setAttribute('aria-disabled', 'true');
      if (form.hasAttribute('data-open')) {
        button.classList.add('turning');
        memory('opened', form.closest('[data-packet]').getAttribute('data-packet'));
      } else if (form.getAttribute('data-once')) {
        button.textContent = form.getAttribute('data-once');
      }
    });
    /* Back from another page, with the page as it was left: the form may be used again. */
    addEventListener('pageshow', function (event) {
      if (!event.persisted) return;
      sent = false;
      button.removeAttribute('aria-disabled');
      button.classList.remove('turning');
      if (form.getAttribute('data-once')) button.textContent = words;
    });
  });

  /* Just opened: the sender lifts away, the digits roll in. */
  all('.result', function (result) {
    var amount = result.querySelector('.money'), text = amount && amount.firstChild;
    while (text && text.nodeType !== Node.TEXT_NODE) text = text.nextSibling;
    if (!text || memory('opened') !== result.getAttribute('data-packet')) return;
    var digits = document.createDocumentFragment();
    text.data.split('').forEach(function (c) {
      var i = document.createElement('i');
      i.textContent = c;
      digits.appendChild(i);
    });
    amount.replaceChild(digits, text);
    result.classList.add('fresh');
  });

  /* A packet that goes on: the sentence over the list, its rows and the visitor's result become what the page would show
   * now. The link that reloads it by hand carries the page's tag, and is there without one when nothing is to come. */
  all('a[data-refresh]', function (link) {
    var FAST_MS = 1500, SLOW_MS = 30000, CALM = 120; /* answers without news until it asks more seldom */
    var tag = link.getAttribute('data-refresh'), wait = FAST_MS, calm = 0, not_before = 0, asking, over, timer;
    if (!window.fetch) return;

    /* What is equal stays the element it is, and so do the place in it, focus and scroll. New rows come in front. */
    var merge = function (old, fresh) {
      var at = old.firstElementChild, gone;
      Array.from(fresh.children).forEach(function (row) {
        var same = at;
        while (same && !same.isEqualNode(row)) same = same.nextElementSibling;
        if (!same) { old.insertBefore(row, at); return; }
        while (at !== same) { gone = at; at = at.nextElementSibling; gone.remove(); }
        at = same.nextElementSibling;
      });
      while (at) { gone = at; at = at.nextElementSibling; gone.remove(); }
    };
    var replace = function (old, fresh) {
      var focused = old.contains(document.activeElement);
      if (!fresh) old.remove();
      else if (old.nodeName === 'UL') merge(old, fresh);
      else if (old.innerHTML !== fresh.innerHTML) old.innerHTML = fresh.innerHTML;
      if (focused && !old.contains(document.activeElement)) {
        (old.querySelector('a') || document.getElementById('grabs')).focus({ preventScroll: true });
      }
    };
    var show = function (html) {
      var page = new DOMParser().parseFromString(html, 'text/html');
      ['live', 'while'].forEach(function (name) {
        all('[data-' + name + ']', function (old) {
          var fresh = page.querySelector('[data-' + name + '=' + old.getAttribute('data-' + name) + ']');
          if (name === 'while' ? !fresh : fresh) replace(old, fresh);
        });
      });
      over = !page.querySelector('a[data-refresh]');
    };

    var slower = function () { wait = Math.min(wait * 1.5, SLOW_MS); };
    var next = function () {
      link.hidden = !over;
      clearTimeout(timer);
      if (over || asking || document.hidden) return;
      /* Not all in step: they were told the same time to come back. */
      timer = setTimeout(ask, Math.max(wait, not_before - Date.now()) * (1 + Math.random() / 5));
    };
    var ask = function () {
      asking = true;
      fetch(location.href, {
        cache: 'no-store',
        headers: { 'If-None-Match': tag },
        signal: window.AbortSignal && AbortSignal.timeout && AbortSignal.timeout(10000)
      }).then(function (answer) {
        if (answer.status === 304) {
          if (++calm < CALM) wait = FAST_MS; else slower();
        } else if (answer.ok) {
          return answer.text().then(function (html) {
            show(html);
            tag = answer.headers.get('ETag') || '';
            calm = 0;
            wait = FAST_MS;
          });
        } else {
          over = answer.status < 500 && answer.status !== 429;
          slower();
          not_before = Date.now() + 1000 * (+answer.headers.get('Retry-After') || 0);
        }
      }).catch(slower).then(function () { asking = false; next(); });
    };
    document.addEventListener('visibilitychange', function () {
      calm = wait = 0; /* at once, when it is seen again */
      next();
      wait = FAST_MS;
    });
    next();
  });

  all('[data-copy]', function (button) {
    var field = document.getElementById(button.getAttribute('data-copy')), said = document.querySelector('[data-copied]');
    var copied = function () { said.textContent = said.getAttribute('data-copied'); };
    var by_hand = function () { field.select(); if (document.execCommand('copy')) copied(); };
    button.hidden = false;
    button.addEventListener('click', function () {
      said.textContent = '';
      if (navigator.clipboard) navigator.clipboard.writeText(field.value).then(copied, by_hand); else by_hand();
    });
  });

  all('[data-share]', function (button) {
    if (!navigator.share) return;
    button.hidden = false;
    button.addEventListener('click', function () {
      navigator.share({ title: button.getAttribute('data-title'), url: button.getAttribute('data-share') })
        .catch(function () { /* the sheet was closed */ });
    });
  });

  /* The live total. Fen as whole numbers; what can't be read as an amount shows 0.00 and is judged by the server. */
  all('form[data-send]', function (form) {
    var total = form.querySelector('[data-total]'), out = total.querySelector('output');
    var ascii = function (text) {
      return text.trim().replace(/[０-９]/g, function (c) { return String.fromCharCode(c.charCodeAt(0) - 0xfee0); })
        .replace(/[。．]/g, '.');
    };
    var show = function () {
      var amount = /^(\d{1,7})(?:\.(\d{1,2}))?$/.exec(ascii(form.elements.amount.value)), fen = 0;
      if (amount) fen = amount[1] * 100 + +((amount[2] || '') + '00').slice(0, 2);
      if (form.elements.kind.value === 'even') {
        var count = ascii(form.elements.count.value);
        fen *= /^\d{1,6}$/.test(count) ? +count : 0;
      }
      out.textContent = Math.floor(fen / 100) + '.' + ('0' + fen % 100).slice(-2);
    };
    total.hidden = false;
    form.addEventListener('input', show);
    form.addEventListener('change', show);
    show();
  });
}());
