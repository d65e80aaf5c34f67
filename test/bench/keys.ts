import { CapacityMeter, type KeyUsage } from '../../packages/local-aws/src/dynamodb/capacity/meter.ts';
import { partitions } from '../../shared/aws/table-schema.ts';
import { mapAtOnce } from '../../shared/concurrency.ts';
import { Client, dataUri } from '../support/client.ts';
import { twoHalves } from '../support/images.ts';
import { addUser, startAlteredStack } from '../support/running-stack.ts';
import { formatTable } from './table.ts';
import { runThreeTasks } from './waited-job.ts';

/** Number of jobs. Fewer give a quick estimate: the units per job hardly depend on it. */
const jobs = Number(process.env.KEYS_JOBS ?? 2_000);
const together = 16;
/** DynamoDB's units per second of one partition key. */
const limits = { write: 1_000, read: 3_000 };
/** Jobs per second that no key may limit. */
const bars = [
  { accounts: 50, jobsPerSecond: 3_000 },
  { accounts: 1, jobsPerSecond: 500 },
];
const shown = 3;

/**
 * Counts the units that jobs take from each partition key, and reports the hottest keys and the rate of jobs at which
 * they throttle.
 */
export async function benchKeys(report: (text: string) => void): Promise<boolean> {
  const meter = new CapacityMeter();
  // Requests are counted as in production, with limits out of reach.
  const settings = {
    LATHE_RATE_PER_MINUTE: '1000000',
    LATHE_CREATIONS_PER_MINUTE: '1000000',
    LATHE_WAITS_PER_MINUTE: '1000000',
  };
  await using stack = await startAlteredStack(() => {}, settings, { capacityMeter: meter });
  const file = dataUri(await twoHalves(64, 64), 'image/png');
  let passed = true;
  for (const { accounts, jobsPerSecond } of bars) {
    const clients = await mapAtOnce(Array.from({ length: accounts }), 1, async () => {
      const apiKey = await addUser(stack);
      return new Client({ url: stack.url, apiKey });
    });
    // The start of a function's process is not part of a job.
    for (const client of clients.slice(0, 1)) await runThreeTasks(client, file);
    meter.reset();
    await mapAtOnce(Array.from({ length: jobs }), together, async (_, index) => {
      const client = clients[index % clients.length];
      if (client) await runThreeTasks(client, file);
    });
    const heat = heatOf(meter.keys());
    report(`\n${jobs} jobs of ${accounts === 1 ? 'one account' : `${accounts} accounts`}, units of a job\n`);
    report(formatHeat(heat));
    const ceiling = Math.floor(Math.min(...heat.flatMap(({ keys }) => keys.map((key) => key.ceiling))));
    report(`\nCeiling: ${ceiling} jobs a second; at least ${jobsPerSecond} are expected.`);
    report(`The busiest key of a job's own takes ${formatOwn(meter.keys())} in all.`);
    passed &&= ceiling >= jobsPerSecond;
  }
  return passed;
}

/** Units that jobs took from the table or an index. */
interface Heat {
  place: string;
  kind: KeyUsage['kind'];
  /** Units of a job over all keys. */
  perJob: number;
  /** The hottest keys that jobs share. */
  keys: { name: string; share: number; perJob: number; ceiling: number }[];
}

function heatOf(usages: KeyUsage[]): Heat[] {
  const places = Map.groupBy(usages, ({ index = 'table', kind }) => `${index} ${kind}`);
  return [...places.values()].flatMap((same) => {
    const [first] = same;
    if (!first) return [];
    const units = same.reduce((sum, usage) => sum + usage.units, 0);
    const byKey = Map.groupBy(same.filter(isShared), ({ key }) => key);
    const keys = [...byKey].map(([name, parts]) => {
      const own = parts.reduce((sum, usage) => sum + usage.units, 0);
      return { name, share: own / units, perJob: own / jobs, ceiling: limits[first.kind] / (own / jobs) };
    });
    const hottest = keys.sort((left, right) => right.perJob - left.perJob).slice(0, shown);
    return [{ place: first.index ?? 'table', kind: first.kind, perJob: units / jobs, keys: hottest }];
  });
}

/** Returns whether jobs share a key; each job also has keys of its own. */
function isShared({ key }: KeyUsage): boolean {
  return !key.startsWith(partitions.group);
}

function formatHeat(heat: Heat[]): string {
  const rows = heat.flatMap(({ place, kind, perJob, keys }) =>
    keys.map(({ name, share, perJob: own, ceiling }) => [
      `${place} ${kind}`,
      perJob.toFixed(2),
      shorten(name),
      `${(share * 100).toFixed(1)} %`,
      own.toFixed(3),
      String(Math.floor(ceiling)),
    ]),
  );
  return formatTable(['', 'a job', 'hottest keys', 'share', 'a job', 'jobs a second'], rows);
}

function formatOwn(usages: KeyUsage[]): string {
  const own = usages.filter((usage) => !isShared(usage));
  const most = (kind: KeyUsage['kind']) =>
    Math.max(0, ...own.filter((usage) => usage.kind === kind && usage.index === undefined).map(({ units }) => units));
  return `${most('write')} write units and ${most('read')} read units`;
}

/** Shortens ids and hashes. */
function shorten(key: string): string {
  return key.replace(/[0-9a-f]{24,}/g, (id) => `${id.slice(0, 4)}…${id.slice(-4)}`);
}
