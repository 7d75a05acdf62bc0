/* The form of the send page: the live total, people, the opening in the visitor's zone, and the envelope. The page works
 * without it. */
(function () {
  'use strict';
  var typed = window.typed, form = document.querySelector('form[data-send]');
  if (!form || !typed) return; /* a browser that cannot read typed.js */
  var one = function (selector) { return document.querySelector(selector); };
  var all = function (selector) { return Array.from(document.querySelectorAll(selector)); };
  var word = function (element, name, value) { return (element.getAttribute('data-' + name) || '').replace('~', value); };
  var fields = form.elements, to = fields.to, opens = fields.opens_at;
  var exclusive = function () { return fields.kind.value === 'exclusive'; };

  /* A face stands for a username, and so does a nickname that exactly one of these people has. */
  var faces = all('[data-to]').map(function (face) {
    face.setAttribute('role', 'button');
    var nickname = face.querySelector('bdi').textContent;
    var name = face.getAttribute('data-to');
    return { link: face, name: name, nickname: nickname, both: '\0' + typed.fold(nickname).toLowerCase() + '\0' + name + '\0', twin: face.querySelector('small') };
  });
  var has = function (face, part) { return face.both.indexOf(part) >= 0; };
  var joined = function (names, first) { return names.slice(first).join(' ').toLowerCase(); };
  var face_of = function (name) { return faces.find(function (face) { return face.name === name; }); };
  var known_as = function (name) {
    var found = faces.filter(function (face) { return has(face, '\0' + name.toLowerCase() + '\0'); });
    return face_of(name) || found.length !== 1 ? name : found[0].name;
  };
  /* The posted field has all usernames. The page shows those with a face as chips, and a field for others. */
  var ENDED = /[\s,;，；、､/|]$/;
  var chips = document.createElement('div'), typing = to.cloneNode(), proposed = document.createElement('div'), held = [], written;
  var shown = function (name) { return face_of(name).link.querySelector('.avatar').cloneNode(true); };
  var receivers = function () { return Array.from(new Set(held.concat(typed.names(typing.value).map(known_as)))); };
  var write = function () { to.value = written = receivers().join(' '); };
  /* Names with a face become chips, but those at the end that may still become one. */
  var take = function (whole) {
    var names = typed.names(typing.value), ended = (ENDED.exec(typing.value) || [''])[0], first = whole ? names.length : 0;
    var begins = function (face) { return has(face, '\0' + joined(names, first) + ended); };
    while (first < names.length - !ended && !faces.some(begins)) first++;
    var found = names.filter(function (name, i) { return i < first && face_of(known_as(name)); });
    if (found.length) {
      held = Array.from(new Set(held.concat(found.map(known_as))));
      typing.value = names.filter(function (name) { return found.indexOf(name) < 0; }).join(' ');
    }
    write();
  };
  var adopt = function () {
    if (to.value === written) return;
    held = [];
    typing.value = to.value;
    take(true);
  };
  var changed = function () {
    write();
    propose();
    form.dispatchEvent(new Event('change'));
  };
  var toggle = function (face, add) {
    var names = receivers();
    take(true);
    held = held.filter(function (name) { return name !== face.name; });
    if (add || names.indexOf(face.name) < 0) {
      if (exclusive()) held = [], typing.value = '';
      held.push(face.name);
    }
    if (exclusive()) fields.confirmed.value = held.join(' '); /* who picks one of one's people has seen the face */
    changed();
  };
  var chip_of = function (face, sign, pressed) {
    var chip = document.createElement('button'), nickname = document.createElement('bdi');
    nickname.textContent = face.nickname;
    chip.type = 'button';
    chip.className = 'chip';
    chip.append(shown(face.name), nickname, sign);
    chip.addEventListener('click', pressed);
    return chip;
  };
  /* Whose nickname or username has what is typed: chips below it. */
  var propose = function () {
    var names = typed.names(typing.value), first = ENDED.test(typing.value) ? names.length : 0, found = [], text;
    var fits = function (face) { return held.indexOf(face.name) < 0 && has(face, text); };
    /* The whole name comes first, then what begins so. */
    var rank = function (face) { return has(face, '\0' + text) + has(face, '\0' + text + '\0'); };
    /* A nickname may have blanks: as many words as fit. */
    for (; first < names.length && !found.length; first++) {
      text = joined(names, first);
      found = faces.filter(fits);
    }
    if (found.length) first--;
    found.sort(function (a, b) { return rank(b) - rank(a); });
    proposed.replaceChildren.apply(proposed, found.map(function (face) {
      return chip_of(face, face.twin ? ' ' + face.name : '', function () {
        typing.value = names.slice(0, first).join(' ');
        toggle(face, true);
        typing.focus();
      });
    }));
  };
  var chips_show = function () {
    var now = held.join();
    if (chips.getAttribute('data-held') === now) return;
    chips.setAttribute('data-held', now);
    chips.replaceChildren.apply(chips, held.map(function (name) {
      var face = face_of(name), chip = chip_of(face, '', function () {
        toggle(face);
        face.link.focus();
      });
      var does = document.createElement('span');
      does.className = 'vh';
      does.textContent = word(to, 'drop', face.nickname);
      chip.querySelector('bdi').setAttribute('aria-hidden', 'true');
      chip.append(does);
      return chip;
    }));
  };
  typing.removeAttribute('name');
  typing.setAttribute('form', ''); /* nothing of it is sent */
  to.removeAttribute('id');
  to.removeAttribute('aria-invalid');
  to.hidden = true;
  chips.className = proposed.className = 'chips';
  proposed.setAttribute('aria-live', 'polite');
  to.after(chips, typing, proposed);
  typing.addEventListener('input', function (event) {
    if (event.isComposing) write(); else take(false);
    propose();
  });
  typing.addEventListener('compositionend', changed);
  typing.addEventListener('change', function () {
    take(true);
    if (!typing.value && !proposed.contains(document.activeElement)) propose();
  });
  proposed.addEventListener('mousedown', function (event) { event.preventDefault(); }); /* the field keeps the focus */
  typing.addEventListener('keydown', function (event) {
    if (event.isComposing) return;
    if (event.key === 'Enter' && proposed.firstChild) {
      event.preventDefault();
      proposed.firstChild.click();
    }
    if (event.key !== 'Backspace' || typing.value) return;
    held.pop();
    changed();
  });
  faces.forEach(function (face) {
    face.link.addEventListener('click', function (event) {
      event.preventDefault();
      toggle(face);
    });
    face.link.addEventListener('keydown', function (event) {
      if (event.key !== ' ') return;
      event.preventDefault();
      face.link.click();
    });
  });

  /* The field has the visitor's zone, what is sent the service's. A value that differs from the page's was put back by the
   * browser: it is the visitor's already. */
  var hint = one('#opens_hint'), zone = hint.getAttribute('data-area'), LOCAL = /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d$/;
  var wall = function (ms, timeZone) {
    return new Date(ms).toLocaleString('sv', { timeZone: timeZone, dateStyle: 'short', timeStyle: 'short' }).replace(' ', 'T');
  };
  var behind = function (ms) { return Date.parse(wall(ms, zone) + 'Z') - Math.floor(ms / 60000) * 60000; };
  var of_service = function (text) {
    var ms = Date.parse(text.replace(' ', 'T') + 'Z');
    return ms - behind(ms - behind(ms));
  };
  var last = of_service(hint.getAttribute('data-max'));
  var opens_ms = function () { return LOCAL.test(opens.value) ? Date.parse(opens.value.replace(' ', 'T')) : NaN; };
  var yours = window.FormDataEvent && zone && Intl.DateTimeFormat().resolvedOptions().timeZone;
  if (yours) {
    if (opens.value === opens.defaultValue && LOCAL.test(opens.value)) opens.value = wall(of_service(opens.value), yours);
    if (opens.type === 'text' && LOCAL.test(opens.value)) opens.type = 'datetime-local';
    opens.max = wall(last, yours);
    form.addEventListener('formdata', function (event) {
      if (opens_ms()) event.formData.set('opens_at', wall(opens_ms(), zone));
    });
  }
  var opening = function () {
    var lang = document.documentElement.lang, at = new Date(opens_ms());
    var options = { weekday: 'short', month: 'short', day: 'numeric', hour: 'numeric', minute: '2-digit' };
    if (lang !== 'en') options.hourCycle = 'h23';
    if (at.getFullYear() !== new Date().getFullYear()) options.year = 'numeric';
    return opens_ms() ? at.toLocaleString(lang, options).replace(/\s(?=[AP]M)/, '\u00a0') : '';
  };

  /* The live total, in smallest units. What is not an amount counts as 0. Without a count each named receiver gets a
   * share. */
  var total = one('[data-total]'), out = total.querySelector('output');
  var over = one('[data-over]'), unit = over.getAttribute('data-unit');
  var amount = function () { return typed.amount(fields.amount.value, unit); };
  var money = function (fen) { return typed.shown(fen, unit, total.getAttribute('data-total')); };
  /* Says what the server would refuse. A link leads to the missing money and back, with what is kept of the form
   * (app/web/kept_form.h). */
  var KEPT_MAX = 990; /* the path and `lacks` need the rest of NEXT_BYTES_MAX (web/origin.h) */
  var deposit = document.createElement('a'), said = '';
  deposit.textContent = over.getAttribute('data-deposit');
  var back = function () {
    var kept = new URLSearchParams(new FormData(form)), lacks = ['phrase', 'note'].filter(function (name) { return kept.get(name); });
    ['confirmed', 'request_key', 'phrase', 'note'].forEach(function (name) { kept.delete(name); });
    ['to', 'greeting'].forEach(function (name) {
      if (String(kept).length <= KEPT_MAX) return;
      if (name === 'to' && kept.get(name)) lacks.push(name);
      kept.delete(name);
    });
    if (lacks.length) kept.set('lacks', lacks);
    return '/send?' + kept;
  };
  var told = function (fen, shares, answered) {
    var short = fen - word(over, 'balance-fen'), text = '', lacking = false, again = false;
    if (typed.fold(fields.amount.value) && isNaN(amount())) text = word(over, 'malformed');
    else if (fen > word(over, 'total-fen')) text = word(over, 'total-most');
    else if (shares && fen > word(over, 'share-fen') * shares) text = word(over, 'share');
    else if (fen && fen < shares) text = word(over, 'least');
    else if (short > 0) {
      text = word(over, 'balance', money(short));
      lacking = Boolean(word(over, 'deposit'));
      again = answered;
      deposit.href = '/wallet?' + new URLSearchParams({ amount: typed.shown(short, unit, ''), next: back() });
    }
    over.hidden = again; /* the page says it at the field */
    if (said === text) return;
    said = over.textContent = text;
    if (lacking) over.append(' ', deposit);
  };

  /* The envelope beside the form. Only what it shows is read; the amount is nobody's business. */
  var live = one('[data-envelope]'), flap = live.querySelector('.flap'), photo = live.querySelector('.photo'), kind = live.querySelector('.kind');
  var NAMED_MAX = 3, card = one('.receivers'), whom = card.querySelector('b'), top = one('.kinds'), place = fields.greeting.closest('.card');
  var preview = function (names) {
    var some = names.slice(0, NAMED_MAX), cover = fields.cover.value, known = names.length > 0 && (!exclusive() || names.every(face_of));
    var named = some.map(function (name) {
      var face = face_of(name);
      return face ? face.nickname : name;
    }).join(word(kind, 'between'));
    if (names.length > NAMED_MAX) named = word(kind, 'all', named).replace(/#(?!.*#)/, names.length);
    /* An exclusive packet is about its receiver. */
    var before = exclusive() ? top : place;
    if (before.nextElementSibling !== card) before.after(card);
    card.classList.toggle('known', known);
    if (exclusive() && !known) card.open = true;
    one('[data-faces]').replaceChildren.apply(one('[data-faces]'), known ? some.filter(face_of).map(shown) : []);
    var give = to.value === to.defaultValue && whom.hasAttribute('data-back') ? 'back' : 'give';
    whom.textContent = known ? word(whom, exclusive() ? give : 'only', named) : '';
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
    var wish = live.querySelector('.greeting'), text = fields.greeting.value.trim() || fields.greeting.placeholder;
    wish.textContent = text;
    /* As show_model.c names them. */
    var long = /[\d\u4000-\u9fff]{9}/.test(text) && ' long', run = /[\d\u4000-\u9fff]{13}/.test(text) && ' run';
    wish.className = 'greeting' + (run || (/[\u3000-\ud7ff]/.test(text) ? long || '' : ' latin'));
    live.querySelector('.coin').classList.toggle('later', Boolean(opening()));
    kind.textContent = named ? word(kind, exclusive() ? 'for' : 'some', named) : word(kind, fields.kind.value);
    if (opening()) kind.append(document.createElement('br'), word(kind, 'opens', opening()));
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

  var most = one('[data-most]'), ask = fields.count.placeholder, people = most.textContent, more = one('[data-options]');
  var show = function () {
    adopt();
    chips_show();
    var names = receivers();
    fields.count.placeholder = names.length ? word(fields.count, 'each', names.length) : ask;
    var text = fields.count.value, count = typed.fold(text) ? typed.count(text) : names.length;
    var fen = amount();
    if (fields.kind.value === 'even' && fields.amount_of.value !== 'total') fen *= count;
    fen = isFinite(fen) ? fen : 0;
    out.textContent = money(fen);
    told(fen, exclusive() ? 1 : count || 0, refusals.some(function (refusal) {
      return refusal.name === 'amount' && refusal.typed === typed_for('amount');
    }));

    one('[data-strange]').hidden = !faces.length || proposed.firstChild || names.every(face_of);
    faces.forEach(function (face) { face.link.setAttribute('aria-pressed', String(names.indexOf(face.name) >= 0)); });
    var past = yours && opens_ms() <= Date.now(), late = yours && opens_ms() > last, many = count > most.getAttribute('data-most');
    if (yours) hint.textContent = past || late ? word(hint, past ? 'past' : 'late') : opening() ? word(hint, 'preview', opening()) : word(hint, 'yours');
    if (yours) hint.className = past || late ? 'wrong' : 'hint';
    pay.textContent = fen && !said ? word(pay, 'pay', money(fen)) : pay_words;
    var over_people = names.length && count > names.length && !one('#count_error'), lacks = !(count > 0) || many || names.length && count > names.length;
    most.className = many || over_people ? 'wrong' : 'hint';
    most.textContent = many || !names.length ? people : word(most, over_people ? 'beyond' : 'people', names.length).replace('#', count || 0);
    refusals_clear({ amount: !(amount() > 0) || said, count: !exclusive() && lacks, opens_at: past || late });
    more.textContent = [fields.phrase.value && one('label[for=phrase]').textContent, opening() || word(more, 'now'),
      word(more, 'options', fields.lifetime.selectedOptions[0].text)].filter(Boolean).join('\u00a0· ');
    /* The cover's own greeting is used when the sender writes none. */
    var cover = one('[name=cover]:checked');
    if (cover) fields.greeting.placeholder = cover.getAttribute('data-greeting');
    preview(names);
  };

  /* The greeting is one line, which may be shown as several. */
  fields.greeting.addEventListener('keydown', function (event) {
    if (event.key === 'Enter' && !event.isComposing) event.preventDefault();
  });
  fields.greeting.addEventListener('input', function () {
    if (/[\r\n]/.test(fields.greeting.value)) fields.greeting.value = fields.greeting.value.replace(/\s*[\r\n]\s*/g, ' ');
  });

  /* The form itself goes to a picture of one's own, so it is kept. */
  one('.tile.add').addEventListener('click', function (event) {
    var button = document.createElement('button');
    event.preventDefault();
    button.name = 'covers';
    button.value = '1';
    button.hidden = true;
    form.append(button);
    button.click();
    button.remove();
  });

  /* The chosen cover is in sight. */
  var radio = one('[name=cover]:checked'), tile = radio && radio.parentNode, row = tile && tile.parentNode;
  if (row) row.scrollLeft = tile.offsetLeft - row.offsetLeft - (row.clientWidth - tile.offsetWidth) / 2;

  total.hidden = false;
  form.addEventListener('input', show);
  form.addEventListener('change', show);
  window.addEventListener('pageshow', show);
  show();
}());
