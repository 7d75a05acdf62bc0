/* The form of a picture: what is chosen is seen at once, as it will be, and dragged until the right part is seen; this part
 * alone is sent, at a size that is enough. A file that is no picture is refused at its field. Progressive enhancement only:
 * the server judges what it gets. */
(function () {
  'use strict';
  var WIDTH_MAX = 1440, QUALITY = .9, BYTES_MAX = 4 << 20; /* PICTURE_FILE_BYTES_MAX in app/io/picture_child.h */
  var HEADS = 17, MIDDLE = 50; /* as PARTS in app/io/picture.c, in percent */
  var form = document.querySelector('form[data-picture]'), input = form && form.elements.picture;
  if (!input || !window.Promise || !window.PointerEvent || !HTMLCanvasElement.prototype.toBlob) return;
  try { new DataTransfer(); } catch (e) { return; }
  var one = function (selector) { return form.querySelector(selector); };
  var label = one('label[for=picture]'), wrong = one('#picture_error'), button = one('[type=submit]');
  var picked = one('.picked'), preview = one('canvas'), pad = picked.firstElementChild;
  var slide = one('[data-slide]'), range = one('#slide');
  var is_quiet = button.classList.contains('quiet');
  var chosen = null, part; /* a canvas of the chosen picture; what is kept: { width, height, left, top } are what is left out */
  var choices = 0, cuts = 0, file;

  var say = function (name) {
    var text = name ? form.getAttribute('data-' + name) : '';
    if (wrong.textContent !== text) wrong.textContent = text;
    if (text) input.setAttribute('aria-invalid', 'true'); else input.removeAttribute('aria-invalid');
  };
  var is_cut = function () { return part.left + part.top >= 2; };
  var draw = function (canvas) {
    var at = range.value / 100;
    canvas.getContext('2d').drawImage(chosen, part.left * at, part.top * at, part.width, part.height, 0, 0, canvas.width, canvas.height);
  };
  var show = function () {
    picked.hidden = button.hidden = !chosen;
    slide.hidden = !chosen || !is_cut();
    pad.classList.toggle('drag', !slide.hidden);
    label.className = 'button wide' + (chosen || is_quiet ? ' quiet' : '');
    if (chosen) draw(preview);
  };

  /* The browser reads more than the server, such as a phone's HEIC. A picture that has an orientation is turned. */
  var by_element = function (file) {
    return new Promise(function (resolve, reject) {
      var reader = new FileReader(), image = new Image();
      image.onload = function () { resolve(image); };
      image.onerror = reader.onerror = reject;
      reader.onload = function () { image.src = reader.result; };
      reader.readAsDataURL(file);
    });
  };
  var decoded = function (file) {
    return new Promise(function (resolve) { resolve(createImageBitmap(file, { imageOrientation: 'from-image' })); })
      .catch(function () { return by_element(file); });
  };
  var part_of = function (width, height) {
    var ratio = preview.width / preview.height, kept = { width: Math.min(width, height * ratio), height: Math.min(height, width / ratio) };
    kept.left = width - kept.width;
    kept.top = height - kept.height;
    return kept;
  };
  var canvas_of = function (picture, width, height) {
    var canvas = document.createElement('canvas'), context = canvas.getContext('2d');
    canvas.width = Math.max(1, Math.round(width));
    canvas.height = Math.max(1, Math.round(height));
    context.fillStyle = '#fff';
    context.fillRect(0, 0, canvas.width, canvas.height);
    context.imageSmoothingQuality = 'high';
    if (picture) context.drawImage(picture, 0, 0, canvas.width, canvas.height);
    return canvas;
  };

  /* What is seen becomes the file that is sent; until it is there, nothing is. */
  var cut = function () {
    var run = ++cuts, canvas = canvas_of(null, part.width, part.height);
    button.disabled = true;
    draw(canvas);
    return new Promise(function (resolve) { canvas.toBlob(resolve, 'image/jpeg', QUALITY); }).then(function (blob) {
      if (run !== cuts) return;
      if (!blob) throw new Error('no memory');
      var files = new DataTransfer();
      files.items.add(new File([blob], 'picture.jpg', { type: 'image/jpeg' }));
      input.files = files.files;
      button.disabled = false;
    });
  };
  /* A picture that is all kept, and that the server would take, is sent as it is. */
  var take = function (picture) {
    var scale = Math.min(1, WIDTH_MAX / part_of(picture.width, picture.height).width);
    chosen = canvas_of(picture, picture.width * scale, picture.height * scale);
    part = part_of(chosen.width, chosen.height);
    range.value = chosen.height > chosen.width ? HEADS : MIDDLE;
    show();
    if (is_cut() || scale < 1 || file.size > BYTES_MAX || input.accept.split(',').indexOf(file.type) < 0) return cut();
    button.disabled = false;
  };
  var choose = function () {
    var run = ++choices;
    cuts++;
    file = input.files[0];
    chosen = null;
    say('');
    show();
    button.disabled = Boolean(file);
    if (!file) return;
    label.textContent = label.getAttribute('data-other');
    decoded(file).then(function (picture) { if (run === choices) return take(picture); }).catch(function () {
      if (run !== choices) return;
      chosen = null;
      input.value = '';
      say('unreadable');
      show();
      button.disabled = false;
    });
  };

  /* The picture follows the finger. */
  var from = null;
  pad.addEventListener('pointerdown', function (event) {
    if (slide.hidden || event.button) return;
    event.preventDefault();
    pad.setPointerCapture(event.pointerId);
    from = { x: event.clientX, y: event.clientY, at: Number(range.value) };
  });
  pad.addEventListener('pointermove', function (event) {
    if (!from) return;
    var moved = part.left > part.top ? (event.clientX - from.x) / part.left : (event.clientY - from.y) / part.top;
    range.value = from.at - 100 * moved * part.width / preview.clientWidth;
    draw(preview);
  });
  var drop = function () {
    if (from) cut();
    from = null;
  };
  pad.addEventListener('pointerup', drop);
  pad.addEventListener('pointercancel', drop);
  range.addEventListener('input', function () { draw(preview); });
  range.addEventListener('change', cut);

  one('[data-part]').hidden = true;
  input.className = 'vh';
  input.addEventListener('change', choose);
  show();
  if (input.files.length) choose();
}());
