/* The big screen: all of the projector, which stays on, and numbers that run. Progressive enhancement only: F11 fills the
 * picture as well, and refresh.js shows each number. */
(function () {
  'use strict';
  var button = document.querySelector('[data-full]');
  if (document.fullscreenEnabled) {
    button.hidden = false;
    button.addEventListener('click', function () { document.documentElement.requestFullscreen(); });
    document.addEventListener('fullscreenchange', function () { button.hidden = !!document.fullscreenElement; });
  }
  /* The browser takes the lock back when the page is not seen. A device may refuse it, as with an empty battery. */
  var stay_awake = function () {
    if (navigator.wakeLock && !document.hidden) navigator.wakeLock.request('screen').catch(function () {});
  };
  document.addEventListener('visibilitychange', stay_awake);
  stay_awake();

  /* A hall of grabs is over in seconds: after the opening this one page asks more often (refresh.js) than the phones. */
  var HURRY_MS = 500, HURRY_COUNT = 20;
  var waiting = document.querySelector('[data-countdown]');
  var hurry = function () {
    var count = 0, timer;
    if (!waiting) return;
    waiting = null;
    timer = setInterval(function () {
      dispatchEvent(new Event('hurry'));
      if (++count === HURRY_COUNT) clearInterval(timer);
    }, HURRY_MS);
  };
  if (waiting) {
    new MutationObserver(function () {
      if (waiting && waiting.hidden) hurry();
    }).observe(waiting, { attributes: true, attributeFilter: ['hidden'] });
  }

  /* What is left, and the bar, run from what is shown to what is true. */
  var STEPS = 12, STEP_MS = 40, running;
  var number = function () { return document.querySelector('.left b'); };
  var bar = function () { return document.querySelector('.bar'); };
  addEventListener('refreshed', function (event) {
    if (!event.detail.querySelector('[data-countdown]')) hurry(); /* the site's clock may be ahead */
    var left = number(), from = left && +left.textContent, filled = bar() && bar().value;
    clearInterval(running);
    if (!left || matchMedia('(prefers-reduced-motion: reduce)').matches) return;
    Promise.resolve().then(function () { /* the page has its new parts */
      var now = number(), to = now && +now.textContent, full = bar() && bar().value, step = 0;
      var run = function () {
        var rest = 1 - ++step / STEPS;
        if (number() !== now || step >= STEPS) clearInterval(running);
        now.textContent = Math.round(to + (from - to) * rest);
        if (bar()) bar().value = full + (filled - full) * rest;
      };
      if (!now || from === to) return;
      running = setInterval(run, STEP_MS);
      run();
    });
  });
}());
