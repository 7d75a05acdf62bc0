// A cluster in a temporary folder, for faults.
import { chmodSync, cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { Cluster } from '../support/cluster.js';

const LIFETIME_MS = 20_000; // lifetime of packets: most are over before the run ends

export class ClusterInstance extends Cluster {
  canExpire = true;

  // lifetimeMs: of packets. The other parameters: as for Cluster.
  constructor({ binary, profile, lifetimeMs = LIFETIME_MS }) {
    super(mkdtempSync(join(tmpdir(), 'hongbao-chaos-')), binary, { HB_PACKET_LIFETIME_MS: String(lifetimeMs) }, profile);
    chmodSync(this.dir, 0o755); // the servers have a user of their own
  }

  // keep: the logs stay, as dir/logs/MACHINE.
  async down(keep) {
    if (keep) for (const folder of this.logFolders) cpSync(folder, join(this.dir, 'logs', basename(dirname(folder))), { recursive: true });
    await this.try('down');
    if (!keep) rmSync(this.dir, { recursive: true, force: true });
  }

  passTime() {} // the lifetimes are short
}
