/* The page of a packet refreshes itself. Enhancement only: without this file there is the link that reloads it. */
(function () {
  'use strict';
  var all = function (selector, each) { Array.prototype.forEach.call(document.querySelectorAll(selector), each); };

  /* The sentence over the list, its rows and the visitor's result become what the page would show
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
}());
