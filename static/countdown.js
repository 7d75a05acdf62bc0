/* Counts down to the scheduled opening of a packet, by the time that the server says is left; then the coin appears.
 * Progressive enhancement only: without this file, the page shows the time and a link that reloads it. */
(function () {
  'use strict';
  var all = function (selector, each) { Array.prototype.forEach.call(document.querySelectorAll(selector), each); };

  all('[data-countdown]', function (line) {
    var opens = Date.now() + +line.getAttribute('data-countdown'), clock = line.querySelector('.clock'), timer;
    var two = function (n) { return (n < 10 ? '0' : '') + n; };
    var show = function () {
      var left = Math.ceil((opens - Date.now()) / 1000);
      clearTimeout(timer);
      if (left <= 0) {
        line.hidden = true;
        all('[data-waiting]', function (form) { form.hidden = false; });
        return;
      }
      clock.textContent = Math.floor(left / 3600) + ':' + two(Math.floor(left / 60) % 60) + ':' + two(left % 60);
      clock.hidden = false;
      timer = setTimeout(show, (opens - Date.now()) % 1000 + 10);
    };
    document.addEventListener('visibilitychange', show);
    show();
  });
}());
