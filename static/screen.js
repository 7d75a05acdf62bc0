/* The big screen: all of the projector, which stays on. Progressive enhancement only: F11 does the same. */
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
}());
