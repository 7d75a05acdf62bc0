/* The page without a network: it asks again when the network is back. */
(function () {
  'use strict';
  addEventListener('online', function () { location.reload(); });
}());
