// Certificates for tests.
import { execFileSync } from 'node:child_process';
import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

// The day that is so many days from now, as YYYYMMDD.
export const day = (days) => new Date(Date.now() + days * 86400000).toISOString().slice(0, 10).replaceAll('-', '');

// The moment that is so many seconds from now, as YYYYMMDDHHMMSS.
export const moment = (seconds) => new Date(Date.now() + seconds * 1000).toISOString().slice(0, 19).replace(/\D/g, '');

// Makes a certificate for the name (DNS:… or IP:…), valid between two days or moments: its files, FILE.pem and FILE.key.
// authority: the files of the certificate that signs it; without one it signs itself.
export function certificate(folder, file, name, from, to, authority) {
  const path = (end) => join(folder, file + end);
  const openssl = (...args) => execFileSync('openssl', args, { cwd: folder, stdio: 'pipe' });
  writeFileSync(path('.cnf'), `[ca]\ndefault_ca = own\n[own]\nnew_certs_dir = ${folder}\ndatabase = ${path('.index')}\nrand_serial = yes\n`
    + `default_md = sha256\npolicy = any\nx509_extensions = names\n[any]\ncommonName = supplied\n[names]\nsubjectAltName = ${name}\n`);
  writeFileSync(path('.index'), '');
  openssl('req', '-new', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-keyout', path('.key'), '-out', path('.csr'), '-subj', `/CN=${file}`);
  const signer = authority ? ['-cert', authority.pem, '-keyfile', authority.key] : ['-selfsign', '-keyfile', path('.key')];
  openssl('ca', '-batch', '-config', path('.cnf'), ...signer, '-in', path('.csr'), '-out', path('.pem'),
    '-notext', '-startdate', `${from.padEnd(14, '0')}Z`, '-enddate', `${to.padEnd(14, '0')}Z`);
  chmodSync(path('.key'), 0o600);
  return { pem: path('.pem'), key: path('.key') };
}
