/* The moment of opening (docs/PAGES.md), after app.js, on the pages of a packet. Without this file its form is one like
 * others. */
(function () {
  'use strict';
  var app = window.hongbao, all = app.all;
  var store = function (key, value) {
    try {
      if (value === undefined) { var old = sessionStorage.getItem(key); sessionStorage.removeItem(key); return old; }
      sessionStorage.setItem(key, value);
    } catch (e) { /* no storage in private mode: the animation is left out */ }
    return null;
  };
  /* Somebody who came from the home page may have more packets waiting: the result leads on to the next one. Others, such
   * as the crowd of an event, cost no request. */
  if (document.referrer === location.origin + '/') try { sessionStorage.setItem('home', '1'); } catch (e) { /* no link */ }
  all('[data-waits]', function (line) {
    var key = store('home'), request;
    var here = document.querySelector('article[data-packet]').getAttribute('data-packet');
    if (!key) return;
    request = app.ask_site('GET', '/', function () {
      var now = Date.now(), rest = request.status === 200 ? JSON.parse(request.response).inbox || [] : [];
      rest = rest.filter(function (one) {
        return one.kind === 'waiting' && one.packet !== here && !(Date.parse(one.opens_at) > now);
      });
      if (!rest.length) return;
      store('home', key);
      /* The page's one action leads on; the line below has what it was before. */
      var first = document.querySelector('.lip a');
      first.href = '/p/' + rest[0].packet;
      first.textContent = line.getAttribute('data-waits').replace('#', rest.length);
      line.hidden = false;
    }, function () { /* without the link */ });
  });
  var motion = matchMedia('(prefers-reduced-motion: no-preference)').matches;
  var buzz = function (pattern) {
    var active = navigator.userActivation && navigator.userActivation.hasBeenActive;
    if (motion && active && navigator.vibrate) navigator.vibrate(pattern);
  };

  /* The page that answers shows the pressed envelope again, so that its coin can finish a turn however fast the answer
   * came. The copy keeps all attributes that make its look, so nothing changes its size. */
  var NOT_COPIED = /^(id|name|for|role|style|aria-.*|data-.*)$/;
  var copy = function (node) {
    if (node.nodeType !== Node.ELEMENT_NODE) return node.data;
    if (node.hidden) return '';
    var kept = Array.from(node.attributes, function (one) { return [one.name, one.value]; })
      .filter(function (one) { return !NOT_COPIED.test(one[0]); });
    return [node.namespaceURI, node.localName, kept, Array.from(node.childNodes, copy)];
  };
  var paste = function (saved) {
    if (typeof saved === 'string') return document.createTextNode(saved);
    var node = document.createElementNS(saved[0], saved[1]);
    saved[2].forEach(function (one) { node.setAttribute(one[0], one[1]); });
    saved[3].forEach(function (child) { node.appendChild(paste(child)); });
    return node;
  };
  var envelope = document.querySelector('article[data-packet]'), opened = envelope && envelope.getAttribute('data-opened');
  /* The style sheet of the opened envelope comes while the answer does, so that the opening does not wait for it. */
  var look_ahead = function () {
    if (opened) fetch(opened, { priority: 'low' }).catch(function () { /* later */ });
    opened = '';
  };
  /* The press itself only measures, before anything has changed: the coin has to turn at once. */
  var press_keep = function () { /* nothing is pressed */ };
  var press_see = function () {
    var face = motion && envelope && envelope.querySelector('.face'), at = Date.now();
    if (!face) return;
    var box = face.getBoundingClientRect();
    press_keep = function () {
      store('press', JSON.stringify({
        packet: envelope.getAttribute('data-packet'), at: at, look: envelope.className, face: copy(face),
        left: box.left, top: box.top, width: box.width, height: box.height
      }));
    };
  };

  /* This script asks for the share; then the browser loads its page. Without a network the coin waits. A share is taken
   * once, however often it is asked for; what needs another page (a login, a fault) the browser asks for again. Tries of a
   * phrase are counted, so only the browser sends it, once the site answers. Pauses differ by up to 20 %. */
  var RETRY_MS = 3000, BUSY_MAX_S = 5;
  all('form[data-open]', function (form) {
    /* A sender presses a coin of its own, below the envelope. */
    var coins = [form, envelope].map(function (part) { return part && part.querySelector('.coin'); }).filter(Boolean);
    var turning = function (on) {
      coins.forEach(function (coin) {
        coin.classList.toggle('turning', on === true);
        coin.classList.toggle('hold', on === false);
      });
    };
    var phrase = form.elements.phrase, request, timer;
    /* The words of the server's answer, which is not needed. Shown before they are written: a screen reader hears them. */
    var phrase_ask = function () {
      var wrong = document.getElementById('phrase_error'), asked = phrase.dataset.asked;
      wrong.className = asked ? 'wrong' : 'hint'; /* who pressed the coin first did nothing wrong */
      wrong.hidden = false;
      wrong.querySelector('span').textContent = wrong.getAttribute('data-missing');
      if (asked) phrase.setAttribute('aria-invalid', 'true');
      phrase.dataset.asked = 'true';
      phrase.focus();
      phrase.addEventListener('input', function () {
        wrong.hidden = true;
        phrase.removeAttribute('aria-invalid');
      }, { once: true });
    };
    /* Before app.js marks the form as sent. */
    document.addEventListener('submit', function (event) {
      if (event.target !== form || !phrase || phrase.value.trim()) return;
      event.preventDefault();
      event.stopPropagation();
      phrase_ask();
    }, true);
    var later = function (ms, then) { timer = setTimeout(then, ms * (1 + Math.random() / 5)); };
    var stop = function () {
      clearTimeout(timer);
      removeEventListener('online', ask);
      if (request) request.abort();
    };
    var ask = function () {
      stop();
      press_see();
      request = app.ask_site(phrase ? 'HEAD' : 'POST', phrase ? '/healthz' : form.action, function () {
        var busy_s = +request.getResponseHeader('Retry-After');
        var answered = !phrase && (request.status === 200 || request.status === 410);
        press_keep();
        if (answered) location.assign(form.action.replace(/\/open$/, ''));
        else later(busy_s <= BUSY_MAX_S ? busy_s * 1000 : 0, function () { form.submit(); });
      }, function () {
        turning(false);
        app.offline_say(form.getAttribute('data-offline'));
        later(RETRY_MS, ask);
        addEventListener('online', ask);
      });
      turning(true);
      setTimeout(look_ahead);
    };
    addEventListener('pagehide', stop);
    addEventListener('pageshow', function (event) {
      if (event.persisted) turning();
    });
    form.addEventListener('open', function (event) {
      event.preventDefault();
      ask();
      buzz(15);
    });
  });

  /* Thanks that came before the share was settled are sent again, with what was typed. */
  var AGAIN_MS = 1500;
  all('form[data-again]', function (form) {
    setTimeout(function () { if (form.elements.text.value && form.requestSubmit) form.requestSubmit(); }, AGAIN_MS * (1 + Math.random() / 5));
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

  /* The packet was just opened: the coin ends its turn, the flap lifts, the front leaves, the slip rises, the digits roll
   * in, and only then the rest of the page comes. Any key or touch ends it. Moving parts are described in open.css, by
   * these times. Nothing has another size or place at the end; on a desktop the envelope then makes room for the list. */
  var TURN_MS = 700, DIGITS_MS = 450, DIGIT_MS = 40, ROLL_MS = 500, ASIDE_MS = 650, REST_MS = 1000;
  var PRESS_MAX_MS = 30000, NEAR_PX = 2;
  var element = function (name, parent, look, style) {
    var node = document.createElement(name);
    if (look) node.className = look;
    Object.keys(style || {}).forEach(function (key) { node.style.setProperty(key, style[key]); });
    parent.appendChild(node);
    return node;
  };
  all('.result', function (result) {
    var amount = result.querySelector('.money'), text = amount.firstChild, main = result.closest('main');
    var best = result.classList.contains('best'), press = JSON.parse(store('press')) || {}, past = Date.now() - press.at;
    var wanted = press.packet === result.getAttribute('data-packet') && past < PRESS_MAX_MS && !document.hidden;
    while (text && text.nodeType !== Node.TEXT_NODE) text = text.nextSibling;
    if (!text || !wanted || !motion) return;
    var turn = TURN_MS - past % TURN_MS, land = turn + DIGITS_MS + DIGIT_MS * (text.data.length - 1) + ROLL_MS;
    var seen = press.top + press.height / 2 > 0; /* it was not above the window */
    var box = result.getBoundingClientRect(), x = seen ? press.left - box.left : 0, y = seen ? press.top - box.top : 0;
    var aside = Math.abs(x) + Math.abs(y) > NEAR_PX ? ASIDE_MS : 0, timers;

    var digits = element('span', amount, 'digits');
    amount.replaceChild(digits, text);
    digits.appendChild(text);
    var reels = element('span', digits, 'reels');
    reels.setAttribute('aria-hidden', 'true');
    text.data.split('').forEach(function (c, i) {
      var line = /\d/.test(c) ? [0, 3, 7, 4].map(function (step) { return (+c + (step && i + step)) % 10; }) : [c];
      element('b', reels, '', { '--i': i }).setAttribute('data-reel', line.join('\n'));
    });
    for (var i = 0; i < (best ? 3 : 1); i++) element('span', digits, 'burst');
    all('.rows > li', function (row, at) { row.style.setProperty('--i', Math.min(at, 8)); });
    var seal = element('div', result, press.look + ' seal', { width: press.width + 'px', height: press.height + 'px' });
    seal.setAttribute('aria-hidden', 'true');
    seal.inert = true;
    var face = seal.appendChild(paste(press.face)), coin = face.querySelector('.coin');
    if (coin && coin.parentNode === face) face.insertBefore(element('div', face, 'opener'), coin).appendChild(coin);
    var times = { past: -past, turn: turn, land: land, rest: land + aside };
    Object.keys(times).forEach(function (name) { main.style.setProperty('--' + name, times[name] + 'ms'); });
    if (aside) {
      result.classList.add('moved');
      result.style.setProperty('--x', x + 'px');
      result.style.setProperty('--y', y + 'px');
    }
    main.classList.add('fresh');

    var end = function () {
      timers.forEach(clearTimeout);
      ['keydown', 'pointerdown'].forEach(function (name) { removeEventListener(name, end); });
      main.classList.remove('fresh');
      result.classList.remove('moved');
      seal.remove();
      amount.replaceChild(text, digits);
    };
    var landed = function () { buzz(best ? [30, 60, 60] : 30); chime(best); };
    timers = [setTimeout(landed, land), setTimeout(end, land + aside + REST_MS)];
    ['keydown', 'pointerdown'].forEach(function (name) { addEventListener(name, end); });
  });
}());
