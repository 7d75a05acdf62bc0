// Many packets that expire at once: the worker closes them in Redis, settles them and refunds the rest.
import { poll } from '../../chaos/deployment.js';
import { openWorld, workerCost } from './settlement.js';

const SHARES = 10;
const SECONDS_MAX = 900;

// The packets expire while the worker is stopped; then it continues and closes them.
export async function expireAll(bench, packets) {
  const site = await openWorld(bench, packets, SHARES, { worker: true, lifeMs: 0 });
  const isOver = async () => (await site.sql("SELECT 1 FROM packet WHERE state IN ('funding', 'open', 'finished', 'expired') LIMIT 1")).length === 0;
  const { seconds, cpu } = await workerCost(site, packets, async () => {
    if (!await poll(SECONDS_MAX, isOver)) throw new Error(`after ${SECONDS_MAX} s not every packet is closed`);
  });
  const [[refunds, fen]] = await site.sql("SELECT COUNT(*), SUM(amount_fen) FROM transfer WHERE kind = 'refund'");
  if (Number(refunds) !== packets || Number(fen) !== packets * SHARES * 100) throw new Error(`${refunds} refunds of ${fen} fen`);
  await site.down();
  return { packets, seconds, 'packets/s': packets / seconds, ...cpu };
}

export default {
  name: 'expiry',
  title: 'packets that fall due together, until the rest of each is back with its sender',
  async run(bench) {
    const packets = bench.quick ? 2000 : 100_000;
    const found = [];
    for (let round = 0; round < (bench.quick ? 1 : Math.min(bench.rounds, 3)); round++) found.push(await expireAll(bench, packets));
    return { rows: [bench.medians(found)], ratios: [] };
  },
};
