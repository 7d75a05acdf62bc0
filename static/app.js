/* Progressive enhancement only: every flow works without this file. */
(function () {
  'use strict';
  var all = function (selector, each) { Array.prototype.forEach.call(document.querySelectorAll(selector), each); };

  /* The answer of the site to a request of a script. */
  var ANSWER_MAX_MS = 20000;
  var ask_site = function (method, path, then, failed) {
    var request = new XMLHttpRequest();
    request.open(method, path);
    request.timeout = ANSWER_MAX_MS;
    request.setRequestHeader('Accept', 'application/json');
    request.onload = then;
    request.onerror = request.ontimeout = failed;
    request.send(method === 'POST' ? new URLSearchParams() : null);
    return request;
  };
  var offline_say = function (text) {
    var main = document.querySelector('main'), notice = main.querySelector('.offline') || main.appendChild(document.createElement('p'));
    notice.className = 'offline';
    notice.setAttribute('role', 'status');
    notice.setAttribute('data-app', ''); /* not refresh.js's */
    if (notice.textContent !== text) notice.textContent = text;
  };
  var offline_clear = function () {
    all('.offline[data-app]', function (notice) { notice.textContent = ''; notice.removeAttribute('data-app'); });
  };
  /* The browser may be wrong, as on the site's own machine. */
  var if_reached = function (then) {
    ask_site('HEAD', '/healthz', then, function () {
      offline_say(document.body.getAttribute('data-offline'));
      addEventListener('online', offline_clear, { once: true });
    });
  };

  /* A press is a click only if what is pressed is still under the pointer at its release. So what may move the page waits
   * for that: what a field does when a press takes its focus away, and a refreshed page (refresh.js). What fields do comes
   * before the click, which has its target by then: a form that is sent has it. A refreshed page comes after the click: a
   * button that is replaced before it would send nothing. */
  var RELEASE_MS = 50; /* from the release to the click; a finger's mouse events come after its release */
  var pressed = false, held = [], release_timer;
  var press_begin = function (event) {
    clearTimeout(release_timer);
    pressed = event.button === 0 && Boolean(event.target.closest('a, button, label, summary'));
  };
  var press_end = function () {
    pressed = false;
    held.splice(0).forEach(function (then) { then(); });
  };
  var release = function () {
    clearTimeout(release_timer);
    release_timer = setTimeout(press_end, RELEASE_MS);
  };
  var after_press = function (then) { if (pressed) held.push(function () { setTimeout(then); }); else then(); };
  ['pointerdown', 'mousedown'].forEach(function (type) { addEventListener(type, press_begin, true); });
  ['pointerup', 'mouseup', 'pointercancel', 'contextmenu'].forEach(function (type) { addEventListener(type, release, true); });
  ['click', 'keydown'].forEach(function (type) { addEventListener(type, press_end, true); });
  ['input', 'compositionend', 'change'].forEach(function (type) {
    addEventListener(type, function (event) {
      if (!pressed || !event.isTrusted) return;
      event.stopImmediatePropagation();
      held.push(function () { event.target.dispatchEvent(new Event(type, { bubbles: true })); });
    }, true);
  });

  window.hongbao = { all: all, ask_site: ask_site, offline_say: offline_say, after_press: after_press }; /* for other scripts */

  /* The passphrase and the note of a new packet are in no address. On the ways that lead back to the form they wait in
   * this tab. */
  var each_kept = function (use) { ['phrase', 'note'].forEach(use); };
  var session = function (use) { try { use(sessionStorage); } catch (e) { /* full, or not allowed: it is typed again */ } };
  if (!/^\/(send|wallet|covers|login|register)/.test(location.pathname)) session(function (kept) { each_kept(function (name) { delete kept[name]; }); });
  all('form[data-send]', function (form) {
    var keep = function (event) {
      if (event.type === 'submit' || event.target.closest('a')) session(function (kept) { each_kept(function (name) { kept[name] = form.elements[name].value; }); });
    };
    var back = function () {
      each_kept(function (name) {
        var field = form.elements[name], lacks = document.querySelector('.retype [href="#' + name + '"]');
        session(function (kept) {
          if (lacks && !field.value) field.value = kept[name] || '';
          delete kept[name];
        });
        if (lacks && field.value) lacks.remove();
      });
    };
    form.addEventListener('submit', keep);
    form.addEventListener('click', keep);
    addEventListener('pageshow', back);
    back();
  });

  /* Each form is sent once. The form of a coin is sent by opening.js, if it has loaded. */
  all('form[data-open], form[data-once]', function (form) {
    var button = form.querySelector('button[type=submit]'), words = button.textContent, sent = false, reached = false;
    var open = form.hasAttribute('data-open');
    form.addEventListener('submit', function (event) {
      if (sent) { event.preventDefault(); return; }
      /* The browser's error page would lose what was typed. Money needs a press, so nothing is sent later. */
      if (!open && !reached && navigator.onLine === false && form.requestSubmit && !form.hasAttribute('data-passkey')) {
        event.preventDefault();
        if_reached(function () { reached = true; form.requestSubmit(event.submitter); reached = false; });
        return;
      }
      sent = true;
      /* Back then asks for the form's page. Of an answer to a POST, which no browser keeps, it would show an error page. */
      if (!open) history.replaceState(history.state, '', location.href);
      if (!open && event.submitter && event.submitter !== button) return; /* the language of a kept form */
      button.setAttribute('aria-disabled', 'true');
      if (open) {
        if (!form.dispatchEvent(new Event('open', { cancelable: true }))) event.preventDefault();
      } else if (form.getAttribute('data-once')) {
        button.textContent = form.getAttribute('data-once');
      }
    });
    /* The visitor came back and the browser restored the page: the form can be used again. */
    addEventListener('pageshow', function (event) {
      if (!event.persisted) return;
      sent = false;
      button.removeAttribute('aria-disabled');
      offline_clear();
      if (form.getAttribute('data-once')) button.textContent = words;
    });
  });

  /* A password can be read while it is typed. It is hidden again when it is sent, so that the browser knows it as one. */
  all('[data-reveal]', function (button) {
    var field = button.previousElementSibling;
    var reveal = function (shown) {
      field.type = shown ? 'text' : 'password';
      button.setAttribute('aria-pressed', String(shown));
    };
    button.hidden = false;
    button.addEventListener('click', function () { reveal(field.type === 'password'); });
    field.form.addEventListener('submit', function () { reveal(false); });
  });

  /* The opening in what is copied or shared: in the sender's zone, and as people say it. */
  var text_of = function (button) {
    var text = button.getAttribute('data-text'), part = button.closest('[data-at]'), lang = document.documentElement.lang;
    if (!part || !window.Intl) return text;
    var at = Date.parse(part.getAttribute('data-at')), clock = { hour: 'numeric', minute: '2-digit', timeZoneName: 'short' };
    if (lang !== 'en') clock.hourCycle = 'h23';
    var format = new Intl.DateTimeFormat(lang, clock), zone, time = format.formatToParts(at).map(function (piece) {
      if (piece.type !== 'timeZoneName') return piece.value;
      zone = piece.value;
      return '';
    }).join('').trim();
    if (format.resolvedOptions().timeZone === part.getAttribute('data-site-zone')) zone = part.getAttribute('data-site-name');
    var day = new Intl.DateTimeFormat(lang, { month: 'short', day: 'numeric', weekday: 'short' }).format(at);
    var said = day + ' ' + time + (lang === 'en' ? ' (' + zone + ')' : '\uff08' + zone + '\uff09');
    return text.replace(part.getAttribute('data-when'), function () { return said; });
  };
  all('[data-copy]', function (button) {
    var field = document.getElementById(button.getAttribute('data-copy')), message = document.querySelector('[data-copied]');
    var copied = function () { message.textContent = message.getAttribute('data-copied'); };
    var by_hand = function () { field.select(); if (document.execCommand('copy')) copied(); };
    button.hidden = false;
    button.addEventListener('click', function () {
      var text = text_of(button);
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
      navigator.share({ title: button.getAttribute('data-title'), text: text_of(button), url: button.getAttribute('data-share') })
        .catch(function () { /* the visitor closed the share sheet */ });
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

  /* The length of a sentence, beside its field, as utf8_width counts it: two narrow characters are one. Of letters alone
   * the most is twice as many. */
  var count_show = function (event) {
    var field = event.target, counter = field.nextElementSibling, most = counter && counter.getAttribute('data-count');
    if (!most || !window.Intl || !Intl.Segmenter) return;
    var parts = Array.from(new Intl.Segmenter().segment(field.value.trim()));
    var wide = parts.filter(function (part) { return /^[\u1100-\u115f\u2600-\u{10ffff}]/u.test(part.segment); }).length;
    var length = wide ? Math.ceil((parts.length + wide) / 2) : parts.length;
    if (!wide) most *= 2;
    counter.textContent = length ? length + '/' + most : '';
    counter.className = length > most ? 'wrong' : '';
  };
  document.addEventListener('input', count_show);
  all('[data-count]', function (counter) { count_show({ target: counter.previousElementSibling }); });

  /* Times in words and in the visitor's zone; the full time is the title. Until then the page shows its own zone, in the
   * element whose attributes are the words. */
  all('[data-times]', function (words) {
    var MINUTE_MS = 60000, DAY_MS = 86400000, CLOCK_MS = 2000; /* how inexactly the site's clock is known */
    var word = function (name, value) { return words.getAttribute('data-' + name).replace('~', value); };
    var format = function (options) { return new Intl.DateTimeFormat(document.documentElement.lang, options); };
    var clock = format(document.documentElement.lang === 'en' ? { timeStyle: 'short' } : { timeStyle: 'short', hourCycle: 'h23' });
    var day = format({ month: 'short', day: 'numeric' });
    var old = format({ year: 'numeric', month: 'short', day: 'numeric' });
    var full = format({ dateStyle: 'long', timeStyle: 'long' });
    var midnight = function (ms) { return new Date(ms).setHours(0, 0, 0, 0); };
    /* A heading "today" is of the site's zone: it goes where that day is another one, and the rows below name the day. */
    var headings_show = function (now) {
      all('h3[data-today]', function (line) { line.hidden = Date.parse(line.getAttribute('data-today')) !== midnight(now); });
      all('h3[data-yesterday]', function (line) {
        line.hidden = Date.parse(line.getAttribute('data-yesterday')) !== midnight(midnight(now) - 1);
      });
    };
    var has_heading = function (time) {
      var list = time.closest('ul'), line = list && list.previousElementSibling;
      return line && line.matches('h3:is([data-today], [data-yesterday]):not([hidden])');
    };
    var name_of = function (at, now, time) {
      if (at > now && at - now < CLOCK_MS) now = at;
      var minutes = Math.floor((now - at) / MINUTE_MS), days = Math.round((midnight(at) - midnight(now)) / DAY_MS);
      var near = { '-1': 'yesterday', 0: 'today', 1: 'tomorrow' }[days];
      if (minutes >= 0 && minutes < 60) return minutes ? word('minutes', minutes) : word('now');
      if (near) return has_heading(time) ? clock.format(at) : word(near, clock.format(at));
      if (new Date(at).getFullYear() !== new Date(now).getFullYear()) return old.format(at);
      return day.format(at) + ' ' + clock.format(at);
    };
    var left = function (at, now) {
      var minutes = Math.max(1, Math.ceil((at - now) / MINUTE_MS)), hours = Math.floor(minutes / 60);
      if (hours >= 48) return word('left-days', Math.floor(hours / 24));
      return hours ? word('left-hours', hours) : word('left-minutes', minutes);
    };
    var show = function (pages) {
      var known = document.documentElement.getAttribute('data-ahead'), now = known === null ? Date.now() : performance.now() - known;
      headings_show(now);
      pages.forEach(function (page) {
        page.querySelectorAll('time').forEach(function (time) {
          var at = Date.parse(time.dateTime), exact = time.hasAttribute('data-exact');
          var text = exact ? full.format(at) : (time.hasAttribute('data-left') ? left : name_of)(at, now, time);
          if (!time.previousSibling) text = text.charAt(0).toUpperCase() + text.slice(1);
          if (!time.title) time.title = full.format(at);
          if (time.textContent !== text) time.textContent = text;
        });
      });
    };
    /* The site's clock, because a device's may be days off, or corrected while a page is open: what performance.now() is
     * ahead of it. It comes with the page itself, or from another answer when the browser kept the page or hides that
     * header. A device that slept or got another time asks again. refresh.js reads the attribute, too. */
    var steady, ahead_of_steady = function () { return Date.now() - performance.now(); };
    var clock_set = function (at) {
      document.documentElement.setAttribute('data-ahead', performance.now() - at);
    };
    var clock_ask = function () {
      steady = ahead_of_steady();
      var request = ask_site('HEAD', '/healthz', function () {
        var at = Date.parse(request.getResponseHeader('Date'));
        if (at) clock_set(at + 500); /* its second began half a second ago, on average */
        show([document]);
      });
    };
    var clock_check = function () {
      if (Math.abs(ahead_of_steady() - steady) > CLOCK_MS) clock_ask();
    };
    var answer = performance.getEntriesByType('navigation')[0];
    var timing = answer && answer.transferSize && Array.from(answer.serverTiming || []).find(function (t) { return t.name === 'at'; });
    document.addEventListener('visibilitychange', clock_check);
    addEventListener('pageshow', clock_check);
    steady = ahead_of_steady();
    if (timing) clock_set(timing.duration * 1000 + performance.now() - answer.responseStart);
    words.textContent = words.getAttribute('data-times');
    all('[data-zone]', function (zone) { zone.remove(); });
    show([document]);
    if (!timing) clock_ask();
    setInterval(function () { show([document]); }, MINUTE_MS / 2);
    /* A page that refreshes itself compares the new page with this one (refresh.js): both have times in the same words. */
    addEventListener('refreshed', function (event) { show([document, event.detail]); });
    addEventListener('beforeprint', function () {
      document.querySelectorAll('time').forEach(function (time) { time.textContent = time.title; });
    });
    addEventListener('afterprint', function () { show([document]); });
  });

  /* The worker shows a page of its own when the network is away (sw.js). The policy makes its address and no other. */
  if (navigator.serviceWorker) addEventListener('load', function () {
    var types = window.trustedTypes, rule = { createScriptURL: function () { return '/sw.js'; } };
    navigator.serviceWorker.register(types ? types.createPolicy('worker', rule).createScriptURL('') : '/sw.js')
      .catch(function () { /* every page works without it */ });
  });
}());
