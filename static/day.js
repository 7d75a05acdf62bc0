/* What is left of the day beside the amount of the send form: more is refused there, before the form is sent. The server
 * decides all the same. Without this file the server alone says it. send.js, which runs before, shows the total. */
(function () {
  'use strict';
  var typed = window.typed, rest = document.querySelector('[data-rest]'), form = document.querySelector('form[data-send]');
  if (!rest || !typed) return;
  var out = form.querySelector('[data-total] output'), amount = form.elements.amount;
  var unit = form.querySelector('[data-unit]').getAttribute('data-unit'), left = Number(rest.getAttribute('data-rest'));
  /* The day ends after so many milliseconds, whatever the clock of this device says. */
  var ends = Date.now() + Number(rest.getAttribute('data-ms')), few = rest.textContent, told = false;
  var excess = function () {
    var fen = typed.amount(out.textContent, unit);
    return Date.now() < ends && (!left || fen > left) ? fen : 0;
  };
  var show = function () {
    var fen = excess(), answered = document.getElementById('amount_error');
    if (left) {
      rest.hidden = Boolean(answered); /* the server's message says the same */
      rest.className = fen ? 'wrong' : 'hint';
      var text = fen ? rest.getAttribute('data-excess').replace('~', out.textContent) : few;
      if (rest.textContent !== text) rest.textContent = text;
    }
    if (fen && !answered) amount.setAttribute('aria-invalid', 'true');
    else if (told && !answered) amount.removeAttribute('aria-invalid');
    told = Boolean(fen);
  };
  document.addEventListener('submit', function (event) {
    var button = event.submitter;
    if (event.target !== form || (button && !button.hasAttribute('data-pay'))) return;
    show();
    if (left ? !told : Date.now() >= ends) return;
    event.preventDefault();
    event.stopPropagation();
    amount.focus();
  }, true);
  form.addEventListener('input', show);
  form.addEventListener('change', show);
  window.addEventListener('pageshow', show);
  show();
}());
