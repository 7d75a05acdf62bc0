/* On a page that must be readable soon on a slow line: the scripts named by data-scripts come after the style sheets, for
 * which a deferred script waits. They hold the load event back, as if they had been there from the beginning. */
(function () {
  'use strict';
  var rule = { createScriptURL: function (url) {
    if (!/^\/static\/[\w-]+\.[\w.]+\.js$/.test(url)) throw new TypeError(url);
    return url;
  } };
  var policy = window.trustedTypes ? trustedTypes.createPolicy('late', rule) : rule;
  document.currentScript.getAttribute('data-scripts').split(' ').forEach(function (url) {
    var script = document.createElement('script');
    script.async = false; /* in this order */
    script.src = policy.createScriptURL(url);
    document.head.appendChild(script);
  });
}());
