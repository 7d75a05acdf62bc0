// FastCGI requests as lists of records, and broken variants of them. The standard: a record has a version, a type, the id
// of its request, the length of its content and of the padding behind it; names and values in PARAMS have their own
// lengths.
const [BEGIN, ABORT, PARAMS, STDIN, DATA, GET_VALUES] = [1, 2, 4, 5, 8, 9];
const EMPTY = Buffer.alloc(0);
const CONTENT_MAX = 65_535;
const LENGTHS = [0, 1, 7, 8, 127, 128, 8191, 16_384, 65_534, 65_535];
const HUGE = [128, 65_536, 0x7fffffff, 0x7ffffff0, 0x3fffffff, 0x00ffffff];

const record = (type, content = EMPTY) => ({ version: 1, type, id: 1, content, length: null, padding: 0 });

function encode({ version, type, id, content, length, padding }) {
  const head = Buffer.alloc(8);
  head.writeUInt8(version, 0);
  head.writeUInt8(type, 1);
  head.writeUInt16BE(id, 2);
  head.writeUInt16BE(length ?? content.length, 4);
  head.writeUInt8(padding, 6);
  return Buffer.concat([head, content, Buffer.alloc(padding)]);
}

const lengthOf = (length, long) => {
  if (!long && length < 128) return Buffer.from([length]);
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE((length | 0x80000000) >>> 0);
  return bytes;
};

const pair = (name, value, { long = false, nameLength, valueLength } = {}) => {
  const [n, v] = [Buffer.from(name, 'latin1'), Buffer.from(value, 'latin1')];
  return Buffer.concat([lengthOf(nameLength ?? n.length, long), lengthOf(valueLength ?? v.length, long), n, v]);
};

const begin = (role, flags) => record(BEGIN, Buffer.from([role >> 8, role & 255, flags, 0, 0, 0, 0, 0]));

export const noise = (rng, length) => Buffer.from(Array.from({ length }, () => rng.int(0, 255)));

// The records of a whole request.
export function request({ params, body }, keep) {
  const content = Buffer.concat(Object.entries(params).map(([name, value]) => pair(name, value)));
  return [begin(1, keep ? 1 : 0), record(PARAMS, content), record(PARAMS), ...(body ? [record(STDIN, Buffer.from(body))] : []), record(STDIN)];
}

const spread = (rng, records) => records[rng.int(0, records.length - 1)];

// Each changes the list in place.
const CHANGES = {
  version: (rng, list) => { spread(rng, list).version = rng.int(0, 255); },
  type: (rng, list) => { spread(rng, list).type = rng.pick([0, 3, 6, 7, 10, 11, 12, 255]); },
  id: (rng, list) => { spread(rng, list).id = rng.pick([0, 2, 255, 256, 65_535]); },
  length: (rng, list) => { spread(rng, list).length = rng.pick(LENGTHS); },
  padding: (rng, list) => { for (const one of list) one.padding = rng.int(0, 255); },
  paddingMissing: (rng, list) => {
    const one = spread(rng, list);
    one.length = Math.max(0, one.content.length - rng.int(1, 255));
  },
  drop: (rng, list) => { list.splice(rng.int(0, list.length - 1), 1); },
  repeat: (rng, list) => { list.splice(rng.int(0, list.length), 0, spread(rng, list)); },
  swap: (rng, list) => { list.push(...list.splice(rng.int(0, list.length - 1), 1)); },
  cutContent: (rng, list) => {
    const one = spread(rng, list);
    one.content = one.content.subarray(0, rng.int(0, one.content.length));
  },
  split: (rng, list) => {
    const at = list.findIndex(({ content }) => content.length > 1);
    if (at < 0) return;
    const cut = rng.int(1, list[at].content.length - 1);
    list.splice(at, 1, { ...list[at], content: list[at].content.subarray(0, cut) }, { ...list[at], content: list[at].content.subarray(cut) });
  },
  bytes: (rng, list) => {
    const one = spread(rng, list);
    one.content = Buffer.from(one.content);
    for (let i = rng.int(1, 8); i > 0 && one.content.length > 0; i--) one.content[rng.int(0, one.content.length - 1)] = rng.int(0, 255);
  },
  role: (rng, list) => { list[0] = begin(rng.pick([0, 2, 3, 255, 65_535]), rng.int(0, 255)); },
  beginShort: (rng, list) => { list[0] = record(BEGIN, noise(rng, rng.int(0, 7))); },
  abort: (rng, list) => { list.splice(rng.int(1, list.length), 0, record(ABORT, noise(rng, rng.pick([0, 8])))); },
  values: (rng, list) => {
    const asked = record(GET_VALUES, Buffer.concat(['FCGI_MAX_CONNS', 'FCGI_MAX_REQS', 'FCGI_MPXS_CONNS', rng.word(40)].map((name) => pair(name, ''))));
    list.splice(rng.int(0, list.length), 0, { ...asked, id: rng.pick([0, 0, 1]) });
  },
  data: (rng, list) => { list.splice(rng.int(0, list.length), 0, record(DATA, noise(rng, rng.pick(LENGTHS)))); },
  other: (rng, list) => {
    // A second request on the same connection, between the records of the first.
    const second = list.map((one) => ({ ...one, id: 2 }));
    for (const one of second) list.splice(rng.int(0, list.length), 0, one);
  },
  again: (rng, list) => { list.push(...list.map((one) => ({ ...one }))); },
  hugePair: (rng, list) => {
    const options = { long: true, [rng.pick(['nameLength', 'valueLength'])]: rng.pick(HUGE), ...(rng.oneIn(20) && { nameLength: rng.pick(HUGE) }) };
    list.splice(1, 0, record(PARAMS, pair(rng.word(5), rng.word(9), options)));
  },
  manyPairs: (rng, list) => {
    const pairs = Buffer.concat(Array.from({ length: rng.int(100, 4000) }, (_, i) => pair(`N${i}`, '')));
    list.splice(1, 0, record(PARAMS, pairs.subarray(0, CONTENT_MAX)));
  },
  length_header: (rng, list) => {
    const value = rng.pick(['-1', '', '0', '1', '99999', '18446744073709551616', '1e3', ' 5', '5, 5']);
    list.splice(1, 0, record(PARAMS, pair('CONTENT_LENGTH', value)));
  },
  parameter: (rng, list) => {
    const name = rng.pick(['REQUEST_METHOD', 'REQUEST_URI', 'HTTP_COOKIE', 'HTTP_AUTHORIZATION', 'CONTENT_TYPE', 'HTTP_ACCEPT', 'REMOTE_ADDR',
      'HTTP_HOST', 'HTTP_ORIGIN', 'REQUEST_ID', 'TOKEN_LOAD', 'HTTP_IF_NONE_MATCH', 'HTTP_SEC_FETCH_SITE', 'HTTP_USER_AGENT', '', '=', rng.word(9)]);
    list.splice(1, 0, record(PARAMS, pair(name, noise(rng, rng.pick([0, 1, 40, 4000])).toString('latin1'))));
  },
  body: (rng, list) => { list.splice(list.length - 1, 0, record(STDIN, noise(rng, rng.pick(LENGTHS)))); },
};

// The bytes of a variant of the request, and the names of its changes.
export function variant(rng, base) {
  const list = request(base, rng.oneIn(2));
  const changes = Array.from({ length: rng.int(1, 3) }, () => rng.pick(Object.keys(CHANGES)));
  for (const name of changes) if (list.length > 0) CHANGES[name](rng, list);
  let bytes = Buffer.concat(list.map(encode));
  if (rng.oneIn(4)) {
    bytes = bytes.subarray(0, rng.int(0, bytes.length));
    changes.push('cut');
  }
  return { bytes, changes };
}
