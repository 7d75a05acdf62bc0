/* The service worker: shows a page of its own when the network is away. It keeps the files of that page and nothing else:
 * no page of the site is ever stored. A form goes from the browser to the site without it. */
'use strict';
var CACHE = 'offline', PAGE = '/static/offline.html';
var FILES = [PAGE, '/static/offline.js', '/static/app.css', '/static/calm.svg', '/static/favicon.svg'];

/* One missing file, or a browser that keeps none, is no reason to have no worker: the page is shown without it. */
addEventListener('install', function (event) {
  event.waitUntil(caches.open(CACHE).then(function (cache) {
    return Promise.all(FILES.map(function (file) {
      return cache.add(new Request(file, { cache: 'no-cache' })).catch(function () { /* it stays missing */ });
    }));
  }).catch(function () { /* no room */ }).then(function () { return skipWaiting(); }));
});

/* The request of a page starts at once, while the worker itself starts. */
addEventListener('activate', function (event) {
  var preload = registration.navigationPreload;
  if (preload) event.waitUntil(preload.enable());
});

var kept = function (file) {
  return caches.match(file).then(function (found) { return found || Response.error(); });
};

addEventListener('fetch', function (event) {
  var request = event.request, path = new URL(request.url).pathname;
  if (request.method !== 'GET') return;
  if (request.mode === 'navigate') {
    event.respondWith(Promise.resolve(event.preloadResponse).then(function (answer) { return answer || fetch(request); })
      .catch(function () { return kept(PAGE); }));
  } else if (FILES.indexOf(path) > 0) {
    event.respondWith(fetch(request).catch(function () { return kept(path); }));
  }
});
