// An authenticator and a browser in software, for passkeys without a browser and for answers that no browser gives.
import { createHash, generateKeyPairSync, randomBytes, sign } from 'node:crypto';
import { PASSWORD } from './site.js';

const sha256 = (bytes) => createHash('sha256').update(bytes).digest();
const base64 = (bytes) => Buffer.from(bytes).toString('base64url');
const FLAGS = { present: 1, verified: 4, key: 0x40 };

// The public key in COSE's form: {1: kty, 3: alg, -1: …} in CBOR.
const KINDS = {
  es256: {
    make: () => generateKeyPairSync('ec', { namedCurve: 'P-256' }),
    cose: ({ x, y }) => [Buffer.from('a50102032620012158' + '20', 'hex'), Buffer.from(x, 'base64url'), Buffer.from('225820', 'hex'), Buffer.from(y, 'base64url')],
    hash: 'sha256',
  },
  eddsa: {
    make: () => generateKeyPairSync('ed25519'),
    cose: ({ x }) => [Buffer.from('a4010103272006215820', 'hex'), Buffer.from(x, 'base64url')],
    hash: null,
  },
  rs256: {
    make: () => generateKeyPairSync('rsa', { modulusLength: 2048 }),
    cose: ({ n, e }) => [Buffer.from('a401030339010020590100', 'hex'), Buffer.from(n, 'base64url'), Buffer.from('2143', 'hex'), Buffer.from(e, 'base64url')],
    hash: 'sha256',
  },
};

// A passkey of one user at the site of url, which is at a loopback address, so its domain is localhost. create and get
// return the fields that a browser would send. changes make answers that no browser gives: members of the client data
// (type, challenge, origin, …) in client; domain, flags and count of the authenticator data; cose, the key of a
// registration.
export class Passkey {
  constructor(url, kind = 'es256') {
    const { protocol, port } = new URL(url);
    this.origin = `${protocol}//localhost${port && `:${port}`}`;
    this.domain = 'localhost';
    this.kind = KINDS[kind];
    this.keys = this.kind.make();
    this.id = randomBytes(32);
    this.count = 0;
  }

  #client(type, challenge, changes) {
    return Buffer.from(JSON.stringify({ type, challenge, origin: this.origin, crossOrigin: false, ...changes }));
  }

  #data({ domain = this.domain, flags = FLAGS.present | FLAGS.verified, count = this.count }, rest = []) {
    const head = Buffer.alloc(5);
    head[0] = flags;
    head.writeUInt32BE(count, 1);
    return Buffer.concat([sha256(domain), head, ...rest]);
  }

  // The form of POST /account/passkeys, for the answer of /account/passkeys/challenge.
  create({ challenge, user }, { client = {}, cose, ...changes } = {}) {
    this.user = user;
    const length = Buffer.alloc(2);
    length.writeUInt16BE(this.id.length);
    const key = cose ?? Buffer.concat(this.kind.cose(this.keys.publicKey.export({ format: 'jwk' })));
    const flags = FLAGS.present | FLAGS.verified | FLAGS.key;
    const data = this.#data({ flags, ...changes }, [Buffer.alloc(16), length, this.id, key]);
    return { client_data: base64(this.#client('webauthn.create', challenge, client)), authenticator_data: base64(data) };
  }

  // The form of POST /login/passkey, for the answer of /login/passkey/challenge.
  get({ challenge }, { client = {}, ...changes } = {}) {
    const clientData = this.#client('webauthn.get', challenge, client);
    const data = this.#data(changes);
    const signature = sign(this.kind.hash, Buffer.concat([data, sha256(clientData)]), this.keys.privateKey);
    return {
      id: base64(this.id), client_data: base64(clientData), authenticator_data: base64(data), signature: base64(signature),
      user_handle: this.user?.id ?? '',
    };
  }

  // Begins to add a passkey: the answer has the challenge.
  static begin(client) {
    return client.post('/account/passkeys/challenge', { password: PASSWORD });
  }

  // Both ceremonies of a visitor (Client), each with its challenge. Return the answer.
  async add(client, { name = '', ...changes } = {}) {
    const begun = await Passkey.begin(client);
    return client.post('/account/passkeys', { name, ...this.create(begun.json, changes) });
  }

  async login(client, changes) {
    const begun = await client.post('/login/passkey/challenge');
    return client.post('/login/passkey', this.get(begun.json, changes));
  }
}
