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

  /* The page that answers shows the pressed envelope again, so that its coin can finish a turn however fast the answer
   * came. The grab does not wait for any of this. */
  var motion = matchMedia('(prefers-reduced-motion: no-preference)').matches;
  var buzz = function (pattern) {
    var active = navigator.userActivation && navigator.userActivation.hasBeenActive;
    if (motion && active && navigator.vibrate) navigator.vibrate(pattern);
  };
  var copy = function (node) {
    if (node.nodeType !== Node.ELEMENT_NODE) return node.data;
    if (node.hidden) return '';
    return [node.localName, node.className, node.getAttribute('src'), Array.from(node.childNodes, copy)];
  };
  var paste = function (saved) {
    if (typeof saved === 'string') return document.createTextNode(saved);
    var node = document.createElement(saved[0]);
    node.className = saved[1];
    if (saved[2]) node.src = saved[2];
    saved[3].forEach(function (child) { node.appendChild(paste(child)); });
    return node;
  };
  var press_keep = function (article) {
    var box = article.getBoundingClientRect();
    if (!motion) return;
    store('press', JSON.stringify({
      packet: article.getAttribute('data-packet'), at: Date.now(), copy: copy(article),
      left: box.left, top: box.top, width: box.width, height: box.height
    }));
  };

  /* This script asks for the share; then the browser loads its page. Without a network the coin waits. A share is taken
   * once, however often it is asked for; what needs another page (a login, a fault) the browser asks for again. Tries of a
   * phrase are counted, so only the browser sends it, once the site answers. Pauses differ by up to 20 %. */
  var RETRY_MS = 3000, ANSWER_MAX_MS = 20000, BUSY_MAX_S = 5;
  var later = function (ms, then) { return setTimeout(then, ms * (1 + Math.random() / 5)); };
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
  var opener = function (form) {
    var coin = form.querySelector('.coin'), phrase = form.elements.phrase, request, timer;
    var stop = function () {
      clearTimeout(timer);
      removeEventListener('online', ask);
      if (request) request.abort();
    };
    var ask = function () {
      stop();
      request = ask_site(phrase ? 'HEAD' : 'POST', phrase ? '/healthz' : form.action, function () {
        var busy_s = +request.getResponseHeader('Retry-After');
        if (!phrase && (request.status === 200 || request.status === 410)) location.assign(form.action.replace(/\/open$/, ''));
        else timer = later(busy_s <= BUSY_MAX_S ? busy_s * 1000 : 0, function () { form.submit(); });
      }, function () {
        coin.classList.remove('turning');
        offline_say(form.getAttribute('data-offline'));
        timer = later(RETRY_MS, ask);
        addEventListener('online', ask);
      });
      coin.classList.add('turning');
      press_keep(form.closest('[data-packet]'));
    };
    addEventListener('pagehide', stop);
    return ask;
  };

  /* Each form is sent once. The coin turns until the answer arrives. */
  all('form[data-open], form[data-once]', function (form) {
    var button = form.querySelector('button[type=submit]'), words = button.textContent, sent = false, reached = false;
    var open = form.hasAttribute('data-open') && opener(form);
    form.addEventListener('submit', function (event) {
      if (sent) { event.preventDefault(); return; }
      /* The browser's error page would lose what was typed. Money needs a press, so nothing is sent later. */
      if (!open && !reached && navigator.onLine === false && form.requestSubmit && !form.hasAttribute('data-passkey')) {
        event.preventDefault();
        if_reached(function () { reached = true; form.requestSubmit(event.submitter); reached = false; });
        return;
      }
      sent = true;
      if (event.submitter && event.submitter !== button) return; /* the language of a kept form */
      button.setAttribute('aria-disabled', 'true');
      if (open) {
        event.preventDefault();
        open();
        buzz(15);
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
      offline_clear();
      if (form.getAttribute('data-once')) button.textContent = words;
    });
  });

  /* Two notes, four for the luckiest draw, when the visitor has switched the sound on. */
  var sound_on = function () { try { return localStorage.getItem('sound') === 'on'; } catch (e) { return false; } };
  var chime = function (best) {
    if (!sound_on() || !window.AudioContext) return;
    var audio = new AudioContext();
    (best ? [659, 784, 988, 1319] : [784, 1047]).forEach(function (hz, i) {
      var tone = audio.createOscillator(), gain = audio.createGain(), at = audio.currentTime + i * 0.09;
      tone.frequency.value = hz;
      gain.gain.setValueAtTime(0.15, at);
      gain.gain.exponentialRampToValueAtTime(0.001, at + 0.5);
      tone.connect(gain).connect(audio.destination);
      tone.start(at);
      tone.stop(at + 0.5);
    });
  };
  all('[data-sound]', function (button) {
    var show = function () { button.setAttribute('aria-pressed', String(sound_on())); };
    button.hidden = false;
    show();
    button.addEventListener('click', function () {
      try { localStorage.setItem('sound', sound_on() ? 'off' : 'on'); } catch (e) { /* it stays off */ }
      show();
      chime(false);
    });
  });

  var element = function (name, parent, style) {
    var node = document.createElement(name);
    Object.keys(style || {}).forEach(function (key) { node.style.setProperty(key, style[key]); });
    parent.appendChild(node);
    return node;
  };

  /* The packet was just opened: the coin ends its turn, the flap lifts, the digits land with a flourish, and only then
   * the rest of the page comes. Any key or touch ends it. Moving parts are described in app.css, by these times. */
  var TURN_MS = 700, DIGITS_MS = 350, DIGIT_MS = 40, ROLL_MS = 300, ROWS_MS = 1500, PRESS_MAX_MS = 30000;
  all('.result', function (result) {
    var amount = result.querySelector('.money'), text = amount && amount.firstChild, main = result.closest('main');
    var best = result.classList.contains('best'), press = JSON.parse(store('press')) || {}, past = Date.now() - press.at;
    var wanted = press.packet === result.getAttribute('data-packet') && past < PRESS_MAX_MS && !document.hidden;
    while (text && text.nodeType !== Node.TEXT_NODE) text = text.nextSibling;
    if (!text || !wanted || !motion) return;
    var turn = TURN_MS - past % TURN_MS, land = turn + DIGITS_MS + DIGIT_MS * (text.data.length - 1) + ROLL_MS;
    var digits = document.createElement('span'), sparks = element('span', amount), seal = paste(press.copy), timers;
    text.data.split('').forEach(function (c, i) { element('i', digits, { '--i': i }).textContent = c; });
    amount.replaceChild(digits, text);
    sparks.className = 'sparks';
    for (var i = 0, n = best ? 28 : 12; i < n; i++) {
      var far = best ? 90 + i % 3 * 40 : 70 + i % 2 * 20;
      element('b', sparks, { '--to': 360 * i / n + 'deg', '--far': far + 'px' });
    }
    seal.classList.add('seal');
    seal.setAttribute('aria-hidden', 'true');
    seal.inert = true;
    ['left', 'top', 'width', 'height'].forEach(function (side) { seal.style[side] = press[side] + 'px'; });
    main.appendChild(seal);
    [['--past', -past], ['--turn', turn], ['--land', land]].forEach(function (time) {
      main.style.setProperty(time[0], time[1] + 'ms');
    });
    main.classList.add('fresh');

    var end = function () {
      timers.forEach(clearTimeout);
      ['keydown', 'pointerdown'].forEach(function (name) { removeEventListener(name, end); });
      main.classList.remove('fresh');
      seal.remove();
      sparks.remove();
      amount.replaceChild(text, digits);
    };
    var landed = function () { buzz(best ? [30, 60, 60] : 30); chime(best); };
    timers = [setTimeout(landed, land), setTimeout(end, land + ROWS_MS)];
    ['keydown', 'pointerdown'].forEach(function (name) { addEventListener(name, end); });
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

  /* A usual amount is put into the field. */
  all('[data-amount]', function (chip) {
    chip.addEventListener('click', function (event) {
      var amount = document.getElementById('amount');
      event.preventDefault();
      amount.value = chip.getAttribute('data-amount');
      amount.focus();
    });
  });

  /* Times in words and in the visitor's zone; the full time is the title. Until then the page shows its own zone, in the
   * element whose attributes are the words. */
  all('[data-times]', function (words) {
    var MINUTE_MS = 60000, DAY_MS = 86400000, CLOCK_MS = 2000; /* how inexactly the site's clock is known */
    var word = function (name, value) { return words.getAttribute('data-' + name).replace('~', value); };
    var format = function (options) { return new Intl.DateTimeFormat(document.documentElement.lang, options); };
    var clock = format({ hour: '2-digit', minute: '2-digit', hourCycle: 'h23' });
    var day = format({ month: 'short', day: 'numeric' });
    var old = format({ year: 'numeric', month: 'short', day: 'numeric' });
    var full = format({ dateStyle: 'long', timeStyle: 'long' });
    var midnight = function (ms) { return new Date(ms).setHours(0, 0, 0, 0); };
    var name_of = function (at, now) {
      if (at > now && at - now < CLOCK_MS) now = at;
      var minutes = Math.floor((now - at) / MINUTE_MS), days = Math.round((midnight(at) - midnight(now)) / DAY_MS);
      var near = { '-1': 'yesterday', 0: 'today', 1: 'tomorrow' }[days];
      if (minutes >= 0 && minutes < 60) return minutes ? word('minutes', minutes) : word('now');
      if (near) return word(near, clock.format(at));
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
      pages.forEach(function (page) {
        page.querySelectorAll('time').forEach(function (time) {
          var at = Date.parse(time.dateTime), text = (time.hasAttribute('data-left') ? left : name_of)(at, now);
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
