/* The verify page: recomputes the draw from the seed in the visitor's browser. The algorithm is described in
 * app/packet/split.h and app/packet/draw.h; SHA-256 is the browser's. Without this file, the page and the commands it
 * shows remain. */
(function () {
  'use strict';
  const output = document.querySelector('[data-seed]');
  if (!output) return;
  const draw = output.dataset;
  const bytes = (hex) => Uint8Array.from(hex.match(/../g), (pair) => parseInt(pair, 16));
  const sha256 = (message) => crypto.subtle.digest('SHA-256', message);
  const seed = bytes(draw.seed);

  /* The stream of 32-bit words: SHA-256 blocks, BLOCKS at a time. */
  const BLOCKS = 128, WORDS = 4294967296;
  let words = [], at = 0, block = 0;
  const fill = async () => {
    const jobs = [];
    for (let i = 0; i < BLOCKS; i++) {
      const message = new Uint8Array(55);
      message.set(new TextEncoder().encode('hongbao-draw-v1'));
      message.set(seed, 15);
      new DataView(message.buffer).setUint32(51, block++);
      jobs.push(sha256(message));
    }
    words = (await Promise.all(jobs)).flatMap((digest) => {
      const view = new DataView(digest);
      return [0, 4, 8, 12, 16, 20, 24, 28].map((place) => view.getUint32(place));
    });
    at = 0;
  };
  const word = async () => {
    if (at === words.length) await fill();
    return words[at++];
  };
  const below = async (n) => {
    let w;
    do w = await word(); while (w >= WORDS - WORDS % n);
    return w % n;
  };

  const fold = (shares, max) => {
    const excess = shares.reduce((sum, share) => sum + Math.max(0, share - max), 0);
    if (!excess) return;
    shares.forEach((share, i) => { shares[i] = Math.min(share, max); });
    const room = shares.map((share) => max - share), all = room.reduce((sum, r) => sum + r, 0);
    let rest = excess;
    room.forEach((r, i) => {
      const more = Number(BigInt(excess) * BigInt(r) / BigInt(all));
      shares[i] += more;
      rest -= more;
    });
    shares.forEach((share, i) => { if (rest > 0 && share < max) { shares[i]++; rest--; } });
  };

  const methods = {
    'double-average': async (total, count, max) => {
      const shares = [];
      let rest = total;
      for (let left = count; left > 1; left--) {
        const twice = Math.floor(2 * rest / left), low = Math.max(1, twice - max);
        shares.push(low + await below(Math.min(max, twice - 1) - low + 1));
        rest -= shares[shares.length - 1];
      }
      return shares.concat(rest);
    },
    uniform: async (total, count, max) => {
      const line = total - count, cuts = [];
      while (cuts.length < count - 1) cuts.push(await below(line + 1));
      cuts.sort((a, b) => a - b);
      const shares = cuts.concat(line).map((cut, i) => cut - (i ? cuts[i - 1] : 0) + 1);
      fold(shares, max);
      return shares;
    },
    gaussian: async (total, count, max) => {
      let weights = [];
      while (weights.length < count) {
        let sum = 0;
        for (let i = 0; i < 6; i++) { const w = await word(); sum += (w >>> 16) + (w & 65535); }
        weights.push(Math.max(0, sum - 196608));
      }
      let all = weights.reduce((sum, w) => sum + w, 0);
      if (!all) { weights = weights.map(() => 1); all = count; }
      const shares = weights.map((w) => 1 + Math.floor((total - count) * w / all));
      const rest = total - shares.reduce((sum, share) => sum + share, 0);
      for (let i = 0; i < rest; i++) shares[i]++;
      fold(shares, max);
      return shares;
    },
  };

  const shuffled = async (shares) => {
    for (let i = shares.length - 1; i > 0; i--) {
      const j = await below(i + 1);
      [shares[i], shares[j]] = [shares[j], shares[i]];
    }
    return shares;
  };
  /* floor: what every share has at least, less one fen. */
  const sharesOf = async (split, total, count, floor, max) => {
    if (split !== 'even') {
      const above = total - count * floor;
      return (await shuffled(await methods[split](above, count, Math.min(max - floor, above)))).map((share) => share + floor);
    }
    return Array.from({ length: count }, (_, i) => Math.floor(total / count) + (i < total % count ? 1 : 0));
  };

  const check = async () => {
    const digest = Array.from(new Uint8Array(await sha256(seed)), (b) => b.toString(16).padStart(2, '0')).join('');
    if (digest !== draw.commitment) return 'seedWrong';
    const shares = await sharesOf(draw.split, +draw.total, +draw.shares, draw.min - 1, +draw.max);
    const wrong = Array.from(document.querySelectorAll('[data-no]')).filter(({ dataset: row }) =>
      +row.fen !== shares[row.no] || (row.paid !== undefined && +row.paid !== shares[row.no]));
    wrong.forEach((row) => row.classList.add('wrong'));
    return wrong.length ? 'sharesWrong' : 'right';
  };
  /* crypto.subtle exists only on https and localhost. */
  const result = window.crypto && crypto.subtle ? check().catch(() => 'cannot') : Promise.resolve('cannot');
  result.then((name) => {
    output.className = { right: 'good', cannot: 'note' }[name] || 'bad';
    output.textContent = draw[name];
  });
}());
