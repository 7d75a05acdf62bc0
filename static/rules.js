/* Shows the rules of a username and of a new password beside the field while it is typed: app/user/account.h and
 * common_password.h. The server decides: it knows all common passwords and the names that are taken. Also sends with a
 * registration whether this browser could keep a passkey. */
(function () {
  'use strict';
  var form = document.querySelector('form[data-short]');
  if (!form) return;
  var name = form.querySelector('[name=username]'), password = form.querySelector('[autocomplete=new-password]');
  /* Some of the commonest with eight characters and more. */
  var common = ('password password1 password123 qwertyui qwertyuiop qwerty123 asdfghjk 1q2w3e4r 1qaz2wsx abc12345 abcd1234 ' +
    'a1234567 iloveyou sunshine princess football baseball').split(' ');
  var told = {}, watched = [];
  var fold = function (text) { return text.normalize('NFKC').replace(/\p{Cf}/gu, '').trim().toLowerCase().replace(/^@ ?/, ''); };
  /* Digits and letters that are all the same, or count up or down. */
  var runs = function (text) {
    if (!/^[a-z0-9]*$/.test(text)) return false;
    var step = function (i) {
      var d = text.charCodeAt(i) - text.charCodeAt(i - 1);
      return Math.abs(d) === 9 ? d / -9 : d;
    };
    for (var i = 1; i < text.length; i += 1) if (Math.abs(step(i)) > 1 || step(i) !== step(1)) return false;
    return true;
  };
  /* Is there little more in the text than the word, forwards or backwards? */
  var is_like = function (text, word) {
    var back = Array.from(word).reverse().join('');
    if (word.length < 2 || !(text.includes(word) || text.includes(back))) return false;
    return text.split(word).join('').split(back).join('').length < 5;
  };
  /* done: the field is left. Only then does it name mistakes that more letters could mend. */
  var name_wrong = function (done) {
    var text = fold(name.value), words = form.dataset;
    if (!text || (/^[a-z0-9][a-z0-9_.-]{0,31}$/.test(text) && !(done && text.length < 2))) return '';
    return text.includes('@') ? words.address : /[^\0-\x7f]/.test(text) ? words.letters : text.includes(' ') ? words.blank : words.username;
  };
  var password_wrong = function (done) {
    var like = function (word) { return is_like(lower, word); };
    var text = password.value, lower = text.toLowerCase(), count = Array.from(text).length;
    if (!text) return '';
    if (count < 8) return done ? form.dataset.short : '';
    if (count > 128) return form.dataset.long;
    if (runs(lower) || common.includes(lower) || ['hongbao', 'redpacket', 'redenvelope', '\u7ea2\u5305'].some(like)) return form.dataset.common;
    return is_like(lower, fold(name.value)) ? form.dataset.like : '';
  };
  var tell = function (field, words) {
    var hint = document.getElementById(field.id + '_hint'), place = document.getElementById(field.id + '_error');
    if (!place) {
      place = document.createElement('p');
      place.className = 'wrong';
      place.id = field.id + '_error';
      place.setAttribute('role', 'status');
      field.after(place);
    }
    if (place.textContent !== words) place.textContent = words;
    told[field.id] = words;
    if (hint) hint.hidden = words !== '';
    if (words) field.setAttribute('aria-invalid', 'true'); else field.removeAttribute('aria-invalid');
    var about = words ? place.id : hint ? hint.id : '';
    if (about) field.setAttribute('aria-describedby', about); else field.removeAttribute('aria-describedby');
  };
  var watch = function (field, wrong) {
    watched.push(function () {
      tell(field, wrong(true));
      return told[field.id] ? field : null;
    });
    field.addEventListener('input', function () { tell(field, wrong(Boolean(told[field.id]))); });
    field.addEventListener('change', function () { tell(field, wrong(true)); });
  };
  /* What a username can have of a text; of an address the part before the '@'. */
  var made_of = function (text) {
    return fold(text.normalize('NFD').replace(/\p{M}/gu, '')).split('@')[0].replace(/[^a-z0-9_.-]/g, '').replace(/^[_.-]+/, '').slice(0, 28);
  };
  /* The site has filled in a username that it made up. One made of the nickname takes its place until it is changed, and
   * one that is wrong can be replaced by a tap. */
  var propose = function () {
    var nickname = form.querySelector('[name=nickname]'), proposed = name.value, digits = (/[0-9]{4}$/.exec(proposed) || [''])[0];
    nickname.addEventListener('change', function () {
      var stem = made_of(nickname.value);
      if (name.value === proposed && stem.length > 1) name.value = proposed = stem + digits;
    });
    var button = document.createElement('button'), offered;
    button.type = 'button';
    button.className = 'chip';
    button.addEventListener('click', function () {
      name.value = offered;
      name.dispatchEvent(new Event('input'));
      name.focus();
    });
    var offer = function () {
      var stem = made_of(name.value);
      if (!told.username) return button.remove();
      offered = stem.length > 1 ? stem + digits : proposed;
      button.textContent = form.dataset.use.replace('~', offered);
      if (!button.isConnected) name.parentElement.append(button); /* a button that moves is not clicked */
    };
    ['input', 'change'].forEach(function (type) { name.addEventListener(type, offer); });
  };
  if (password && name) watch(password, password_wrong);
  if (name && !name.hidden) {
    watch(name, name_wrong);
    if ('proposed' in name.dataset) propose();
    name.addEventListener('change', function () { if (password && password.value) tell(password, password_wrong(true)); });
  }
  /* What is known to be wrong is not sent: the page that answers has no password. Before app.js marks it as sent. */
  document.addEventListener('submit', function (event) {
    if (event.target !== form || (event.submitter && event.submitter.name)) return; /* another language */
    var wrong = watched.map(function (check) { return check(); }).filter(Boolean);
    if (!wrong.length) return;
    event.preventDefault();
    event.stopPropagation();
    wrong[wrong.length - 1].focus();
  }, true);
  if (form.dataset.site === location.hostname && window.PublicKeyCredential) {
    var able = document.createElement('input');
    able.type = 'hidden';
    able.name = 'passkey';
    able.value = '1';
    form.append(able);
  }
}());
