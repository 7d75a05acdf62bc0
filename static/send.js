/* The form of the send page: the live total, the people to choose from, the opening in the visitor's zone, and the
 * envelope as friends will see it. Progressive enhancement only: the page works without this file. */
(function () {
  'use strict';
  var typed = window.typed, form = document.querySelector('form[data-send]');
  if (!form || !typed) return; /* a browser that cannot read typed.js */
  var one = function (selector) { return document.querySelector(selector); };
  var all = function (selector) { return Array.from(document.querySelectorAll(selector)); };
  var word = function (element, name, value) { return (element.getAttribute('data-' + name) || '').replace('~', value); };
  var fields = form.elements, to = fields.to, opens = fields.opens_at;
  var exclusive = function () { return fields.kind.value === 'exclusive'; };

  /* A face beside the field of the receivers stands for a username: the only one of an exclusive packet, else one more. A
   * nickname that is typed becomes the username when exactly one of these people has it. */
  var faces = all('[data-to]').map(function (face) {
    face.setAttribute('role', 'button');
    return { link: face, name: face.getAttribute('data-to'), nickname: face.querySelector('bdi').textContent };
  });
  var known_as = function (name) {
    var found = faces.filter(function (face) { return typed.fold(face.nickname).toLowerCase() === name; });
    return faces.some(function (face) { return face.name === name; }) || found.length !== 1 ? name : found[0].name;
  };
  var changed = function () { form.dispatchEvent(new Event('change')); };
  faces.forEach(function (face) {
    face.link.addEventListener('click', function (event) {
      var names = typed.names(to.value), rest = names.filter(function (name) { return name !== face.name; });
      event.preventDefault();
      if (rest.length === names.length) rest = (exclusive() ? [] : names).concat(face.name);
      to.value = rest.join(' ');
      changed();
    });
    face.link.addEventListener('keydown', function (event) {
      if (event.key !== ' ') return;
      event.preventDefault();
      face.link.click();
    });
  });
  to.addEventListener('change', function () {
    var names = typed.names(to.value), known = names.map(known_as);
    if (String(known) !== String(names)) to.value = Array.from(new Set(known)).join(' ');
  });

  /* The field has the visitor's zone; what is sent and kept is of the service's zone, as without this script. A value
   * that differs from the page's was put back by the browser, so it is the visitor's already. */
  var hint = one('#opens_hint'), zone = hint.getAttribute('data-zone'), LOCAL = /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d$/;
  var wall = function (ms, timeZone) {
    return new Date(ms).toLocaleString('sv', { timeZone: timeZone, dateStyle: 'short', timeStyle: 'short' }).replace(' ', 'T');
  };
  var behind = function (ms) { return Date.parse(wall(ms, zone) + 'Z') - Math.floor(ms / 60000) * 60000; };
  var of_service = function (text) {
    var ms = Date.parse(text.replace(' ', 'T') + 'Z');
    return ms - behind(ms - behind(ms));
  };
  var opens_ms = function () { return LOCAL.test(opens.value) ? Date.parse(opens.value.replace(' ', 'T')) : NaN; };
  var yours = window.FormDataEvent && zone && Intl.DateTimeFormat().resolvedOptions().timeZone;
  if (yours) {
    if (opens.value === opens.defaultValue && LOCAL.test(opens.value)) opens.value = wall(of_service(opens.value), yours);
    if (opens.type === 'text' && LOCAL.test(opens.value)) opens.type = 'datetime-local';
    form.addEventListener('formdata', function (event) {
      if (opens_ms()) event.formData.set('opens_at', wall(opens_ms(), zone));
    });
  }
  var opening = function () {
    var lang = document.documentElement.lang, at = new Date(opens_ms());
    var options = { weekday: 'short', month: 'short', day: 'numeric', hour: 'numeric', minute: '2-digit' };
    if (lang !== 'en') options.hourCycle = 'h23';
    if (at.getFullYear() !== new Date().getFullYear()) options.year = 'numeric';
    return opens_ms() ? at.toLocaleString(lang, options) : '';
  };

  /* The live total, in whole fen. Texts that are not an amount count as 0.00; the server judges them. Without a count
   * each named receiver gets a share. */
  var total = one('[data-total]'), out = total.querySelector('output');
  var money = function (fen) {
    var yuan = String(Math.floor(fen / 100)).replace(/\B(?=(?:\d{3})+$)/g, total.getAttribute('data-total'));
    return yuan + '.' + ('0' + fen % 100).slice(-2);
  };
  /* Says that the server would refuse an amount or a share beyond the limits, or an amount above the balance. A link leads to the
   * missing money and back to the form, with what the server keeps of it (app/web/kept_form.h). */
  var KEPT_MAX = 990; /* the path and `lacks` need the rest of NEXT_BYTES_MAX (web/origin.h) */
  var over = one('[data-over]'), deposit = document.createElement('a'), said = '';
  deposit.textContent = over.getAttribute('data-deposit');
  var back = function () {
    var kept = new URLSearchParams(new FormData(form)), lacks = kept.get('phrase') ? ['phrase'] : [];
    ['confirmed', 'request_key', 'phrase'].forEach(function (name) { kept.delete(name); });
    ['to', 'greeting'].forEach(function (name) {
      if (String(kept).length <= KEPT_MAX) return;
      if (name === 'to' && kept.get(name)) lacks.push(name);
      kept.delete(name);
    });
    if (lacks.length) kept.set('lacks', lacks);
    return '/send?' + kept;
  };
  var told = function (fen, shares) {
    var short = fen - word(over, 'balance-fen'), text = '', lacking = false;
    if (typed.fold(fields.amount.value) && isNaN(typed.yuan(fields.amount.value))) text = word(over, 'malformed');
    else if (fen > word(over, 'total-fen')) text = word(over, 'total-most');
    else if (shares && fen > word(over, 'share-fen') * shares) text = word(over, 'share');
    else if (fen && fen < shares) text = word(over, 'least');
    else if (short > 0) {
      text = word(over, 'balance', money(short));
      lacking = Boolean(word(over, 'deposit'));
      deposit.href = '/wallet?' + new URLSearchParams({ amount: (short / 100).toFixed(2), next: back() });
    }
    if (said === text) return;
    said = over.textContent = text;
    if (lacking) over.append(' ', deposit);
  };

  /* The envelope beside the form. Only what it shows is read; the amount is nobody's business. */
  var live = one('[data-envelope]'), flap = live.querySelector('.flap'), photo = live.querySelector('.photo'), kind = live.querySelector('.kind');
  var NAMED_MAX = 3;
  var preview = function (names) {
    var cover = fields.cover.value, named = names.slice(0, NAMED_MAX).map(function (name) {
      var face = faces.find(function (known) { return known.name === name; });
      return face ? face.nickname : name;
    }).join(word(kind, 'between')) + (names.length > NAMED_MAX ? '…' : '');
    var chosen = one('[name=cover]:checked'), own = chosen && chosen.getAttribute('data-own'), art = own ? 'own' : cover;
    live.className = 'envelope cover-' + art;
    flap.src = flap.src.replace(/#.*/, '#' + art);
    if (own && !photo) {
      photo = new Image();
      photo.className = 'flap photo';
      photo.alt = '';
      flap.after(photo);
    }
    if (photo) photo.hidden = !own;
    if (own && photo.getAttribute('src') !== own) photo.src = own;
    live.querySelector('.greeting').textContent = fields.greeting.value.trim() || fields.greeting.placeholder;
    live.querySelector('.coin').classList.toggle('later', Boolean(opening()));
    kind.textContent = named ? word(kind, 'for', named) : word(kind, fields.kind.value);
    if (opening()) kind.append(document.createElement('br'), word(kind, 'opens', opening()));
    who.textContent = named ? word(who, 'receivers', named) : word(who, 'anyone');
  };

  /* A refusal goes once its reason is gone: with the values that it was about, if the server alone knows better. */
  var errors = one('.errors'), pay = one('[data-pay]'), pay_words = pay.textContent;
  var SUM = ['amount', 'count', 'to', 'kind', 'amount_of'], OF = { amount: SUM, count: SUM, to: ['to', 'kind'], share_min: SUM.concat('share_min') };
  var typed_for = function (name) { return JSON.stringify((OF[name] || [name]).map(function (part) { return fields[part].value; })); };
  var refusals = all('form[data-send] .wrong[id$=_error]').map(function (message) {
    var name = message.id.slice(0, -6);
    return { name: name, message: message, typed: typed_for(name) };
  });
  var refusals_clear = function (holds) {
    refusals = refusals.filter(function (refusal) {
      var name = refusal.name, field = document.getElementById(name), line = errors && errors.querySelector('a[href="#' + name + '"]');
      if (holds[name] || typed_for(name) === refusal.typed) return true;
      var described = (field.getAttribute('aria-describedby') || '').replace(refusal.message.id, '').trim();
      if (described) field.setAttribute('aria-describedby', described); else field.removeAttribute('aria-describedby');
      field.removeAttribute('aria-invalid');
      refusal.message.remove();
      if (line) line.parentNode.remove();
      if (errors && !errors.querySelector('li')) errors.remove();
      return false;
    });
  };

  var most = one('[data-most]'), ask = fields.count.placeholder, who = one('[data-receivers]'), more = one('[data-options]');
  var show = function () {
    var names = typed.names(to.value);
    fields.count.placeholder = names.length ? word(fields.count, 'each', names.length) : ask;
    var text = fields.count.value, count = typed.fold(text) ? typed.count(text) : names.length;
    var fen = typed.yuan(fields.amount.value);
    if (fields.kind.value === 'even' && fields.amount_of.value !== 'total') fen *= count;
    fen = isFinite(fen) ? fen : 0;
    out.textContent = money(fen);
    told(fen, exclusive() ? 1 : count || 0);

    faces.forEach(function (face) { face.link.setAttribute('aria-pressed', String(names.indexOf(face.name) >= 0)); });
    if (exclusive()) one('.receivers').open = true;
    var past = yours && opens_ms() <= Date.now(), many = count > most.getAttribute('data-most');
    if (yours) hint.textContent = past ? word(hint, 'past') : opening() ? word(hint, 'preview', opening()) : word(hint, 'yours');
    if (yours) hint.className = past ? 'wrong' : 'hint';
    pay.textContent = fen && !said ? word(pay, 'pay', money(fen)) : pay_words;
    most.className = many ? 'wrong' : 'hint';
    var lacks = !(count > 0) || many || names.length && count > names.length;
    refusals_clear({ amount: !(typed.yuan(fields.amount.value) > 0) || said, count: !exclusive() && lacks, opens_at: past });
    more.textContent = [fields.phrase.value && one('label[for=phrase]').textContent, opening() || word(more, 'now'),
      word(more, 'options', fields.lifetime.selectedOptions[0].text)].filter(Boolean).join(' · ');
    /* The cover's own greeting is used when the sender writes none. */
    var cover = one('[name=cover]:checked');
    if (cover) fields.greeting.placeholder = cover.getAttribute('data-greeting');
    preview(names);
  };

  /* Characters as a reader counts them, as soon as there are some. */
  var counter = one('[data-count]');
  var count_show = function () {
    var most = +counter.getAttribute('data-count');
    if (!window.Intl || !Intl.Segmenter) return;
    var length = Array.from(new Intl.Segmenter().segment(fields.greeting.value.trim())).length;
    counter.textContent = length ? length + '/' + most : '';
    counter.className = length > most ? 'wrong' : '';
  };
  fields.greeting.addEventListener('input', count_show);
  count_show();

  /* The chosen cover is in sight. */
  var radio = one('[name=cover]:checked'), tile = radio && radio.parentNode, row = tile && tile.parentNode;
  if (row) row.scrollLeft = tile.offsetLeft - row.offsetLeft - (row.clientWidth - tile.offsetWidth) / 2;

  total.hidden = false;
  form.addEventListener('input', show);
  form.addEventListener('change', show);
  show();
}());
