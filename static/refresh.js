/* The page of a packet refreshes itself, and counts down to the scheduled opening. Progressive enhancement only: without
 * this file, the page shows the time of the opening and a link that reloads it. */
(function () {
  'use strict';
  var all = function (selector, each) { Array.prototype.forEach.call(document.querySelectorAll(selector), each); };

  /* A page that changed under a press would lose the click (app.js, which the big screen has not). */
  var after_press = window.hongbao ? window.hongbao.after_press : function (then) { then(); };

  /* Times are of performance.now(), because a device's clock may be corrected, by hours, while it counts. data-ahead is
   * what performance.now() is ahead of the site's clock, from app.js, or from the page. While a device sleeps,
   * performance.now() may stand still: the next answer then corrects it. */
  var root = document.documentElement, KNOWN_MS = 2000; /* how inexactly the site's clock is known */
  var clock_hear = function (date, asked) {
    var now = performance.now(), ahead = now - Date.parse(date) - 500, known = root.getAttribute('data-ahead');
    if (known !== null && Math.abs(ahead - known) > KNOWN_MS + now - asked) root.setAttribute('data-ahead', ahead);
  };

  /* Counts down by the time that the server says is left; then the coin appears. */
  all('[data-countdown]', function (line) {
    var opens = performance.now() + +line.getAttribute('data-countdown'), clock = line.querySelector('.clock'), timer;
    /* The big screen has no app.js: the time in its zone instead of the site's, whose name is left out. */
    var zone = line.querySelector('[data-zone]'), at = line.querySelector('time');
    if (zone) {
      var word = at.parentNode; /* the word is above the digits */
      word.textContent = '';
      word.appendChild(at);
      at.textContent = new Intl.DateTimeFormat(root.lang, { dateStyle: 'medium', timeStyle: 'short' })
        .format(Date.parse(at.dateTime));
    }
    /* A page that the browser has kept says what was left when it came. So the site's clock counts where it is known. */
    var due = Date.parse(at.dateTime);
    if (!root.hasAttribute('data-ahead')) root.setAttribute('data-ahead', opens - due);
    var opens_set = function () {
      var by_clock = due + +root.getAttribute('data-ahead');
      if (Math.abs(by_clock - opens) > KNOWN_MS) opens = by_clock;
    };
    var DAYS_S = 172800; /* from more than two days on they are counted */
    var two = function (n) { return (n < 10 ? '0' : '') + n; };
    var show = function () {
      opens_set();
      var left = Math.ceil((opens - performance.now()) / 1000);
      clearTimeout(timer);
      if (left <= 0) {
        line.hidden = true;
        all('[data-waiting]', function (form) { form.hidden = false; });
        all('[data-soon]', function (part) { part.hidden = true; });
        return;
      }
      /* Large on a big screen: without hours where there are none, and the last ten seconds alone. Days do not tick. */
      var hours = left >= 3600 || !clock.hasAttribute('data-short'), days = left > DAYS_S, beat = days ? 60000 : 1000;
      var text = (hours ? Math.floor(left / 3600) + ':' : '') + two(Math.floor(left / 60) % 60) + ':' + two(left % 60);
      if (days) text = clock.getAttribute('data-days').replace('~', Math.floor(left / 86400)).replace('~', Math.floor(left / 3600) % 24);
      if (!hours && left <= 10) text = String(left);
      clock.classList.toggle('long', hours);
      clock.classList.toggle('days', days);
      clock.classList.toggle('last', left <= 10);
      if (clock.textContent !== text) clock.textContent = text;
      timer = setTimeout(show, (opens - performance.now()) % beat + 10);
    };
    document.addEventListener('visibilitychange', show);
    show();
    Array.prototype.forEach.call(line.querySelectorAll('[hidden]'), function (part) { part.hidden = false; });
  });

  /* Takes the sentence above the list, the rows and the visitor's result from the current page. data-refresh of the
   * reload link is the page's entity tag; there is no such link when the page can't change any more. */
  all('a[data-refresh]', function (link) {
    var INTERVAL_MS = 1500, INTERVAL_MAX_MS = 30000, UNCHANGED_MAX = 120; /* unchanged answers until the interval grows */
    /* Twice as long after each 429, then slowly shorter: a hall of phones with one address finds the pace that it may have,
     * and leaves room for who comes now. */
    var pace = INTERVAL_MS, PACE_MAX_MS = 15000;
    var tag = link.getAttribute('data-refresh'), wait = INTERVAL_MS, unchanged = 0, not_before = 0, asked, in_flight, over, timer;
    var notice = document.createElement('p');
    notice.className = 'offline';
    notice.setAttribute('role', 'status');
    document.querySelector('main').appendChild(notice);
    var offline = function (text) { if (!notice.hasAttribute('data-app') && notice.textContent !== text) notice.textContent = text; };

    /* Equal rows keep their elements, so focus and scroll position stay. */
    var merge = function (old, fresh) {
      var at = old.firstElementChild, obsolete;
      Array.from(fresh.children).forEach(function (row) {
        var same = at;
        while (same && !same.isEqualNode(row)) same = same.nextElementSibling;
        if (!same) { old.insertBefore(row, at); return; }
        while (at !== same) { obsolete = at; at = at.nextElementSibling; obsolete.remove(); }
        at = same.nextElementSibling;
      });
      while (at) { obsolete = at; at = at.nextElementSibling; obsolete.remove(); }
    };
    var fill = function (old, fresh) {
      while (old.firstChild) old.firstChild.remove();
      while (fresh.firstChild) old.appendChild(fresh.firstChild);
    };
    var replace = function (old, fresh) {
      var focused = old.contains(document.activeElement);
      if (fresh) old.hidden = fresh.hidden;
      if (!fresh) old.remove();
      else if (/^[OU]L$/.test(old.nodeName)) merge(old, fresh);
      else if (old.innerHTML !== fresh.innerHTML) fill(old, document.importNode(fresh, true));
      if (focused && !old.contains(document.activeElement)) {
        (old.querySelector('a') || document.getElementById('grabs')).focus({ preventScroll: true });
      }
    };
    var show = function (page) {
      dispatchEvent(new CustomEvent('refreshed', { detail: page }));
      ['live', 'while'].forEach(function (name) {
        all('[data-' + name + ']', function (old) {
          var fresh = page.querySelector('[data-' + name + '=' + old.getAttribute('data-' + name) + ']');
          if (name === 'while' ? !fresh : fresh) replace(old, fresh);
        });
      });
      over = !page.querySelector('a[data-refresh]');
      if (over) link.remove();
    };

    var slower = function () { wait = Math.min(wait * 1.5, INTERVAL_MAX_MS); };
    var next = function () {
      link.hidden = !over;
      clearTimeout(timer);
      if (over || in_flight || document.hidden) return;
      /* Random up to 20 %, so that pages which got the same Retry-After do not come back at the same time. */
      timer = setTimeout(ask, Math.max(wait, not_before - performance.now()) * (1 + Math.random() / 5));
    };
    var heard = function (answer) {
      offline('');
      clock_hear(answer.getResponseHeader('Date'), asked);
      if (answer.status === 304 || (answer.status === 200 && answer.response)) {
        if (answer.status === 200) {
          show(answer.response);
          tag = answer.getResponseHeader('ETag') || '';
        }
        unchanged = answer.status === 304 ? unchanged + 1 : 0;
        pace = Math.max(pace * 0.9, INTERVAL_MS);
        if (unchanged < UNCHANGED_MAX || link.hasAttribute('data-steady')) wait = pace; else slower();
      } else {
        over = answer.status < 500 && answer.status !== 429;
        not_before = performance.now() + 1000 * (+answer.getResponseHeader('Retry-After') || 0);
        if (answer.status === 429) {
          pace = Math.min(pace * 2, PACE_MAX_MS);
          not_before = Math.max(not_before, performance.now() + pace);
        } else slower();
      }
    };
    /* The browser itself makes a document of the answer: no text becomes HTML in a script (Trusted Types). */
    var ask = function () {
      var request = new XMLHttpRequest();
      in_flight = true;
      asked = performance.now();
      request.open('GET', location.href);
      request.responseType = 'document';
      request.timeout = 10000;
      request.setRequestHeader('If-None-Match', tag);
      request.onload = function () { after_press(function () { heard(request); }); };
      request.onerror = request.ontimeout = function () {
        offline(link.getAttribute('data-offline'));
        slower();
      };
      request.onloadend = function () { after_press(function () { in_flight = false; next(); }); };
      request.send();
    };
    /* Refresh at once when the page becomes visible, and when the network is back. */
    var at_once = function () {
      unchanged = wait = 0;
      next();
      wait = pace;
    };
    document.addEventListener('visibilitychange', at_once);
    addEventListener('online', at_once);
    addEventListener('hurry', at_once);
    next();
  });

  /* It is not known yet what a press did. Looks until the page that shows it answers, and goes there. */
  all('a[data-look]', function (link) {
    var LOOK_MAX_MS = 30000, wait = 3000, busy = false, timer;
    var next = function () {
      clearTimeout(timer);
      if (!busy && !document.hidden) timer = setTimeout(look, wait * (1 + Math.random() / 5));
    };
    var look = function () {
      var request = new XMLHttpRequest();
      busy = true;
      request.open('GET', link.href);
      request.timeout = 10000;
      request.onload = function () { if (request.status === 200) location.replace(link.href); };
      request.onloadend = function () {
        busy = request.status === 200;
        wait = Math.min(wait * 1.5, LOOK_MAX_MS);
        next();
      };
      request.send();
    };
    all('[data-looks]', function (line) { line.hidden = false; });
    document.addEventListener('visibilitychange', next);
    addEventListener('online', next);
    next();
  });
}());
