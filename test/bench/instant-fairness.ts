import { loadavg } from 'node:os';
import { setTimeout } from 'node:timers/promises';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { numberSettings } from '../../shared/settings.ts';
import { Client } from '../support/client.ts';
import { photograph, twoHalves } from '../support/images.ts';
import { type RunningService, startService } from '../support/running-stack.ts';
import { joinService } from '../support/shared-service.ts';
import { residentMegabytes } from './soak.ts';
import { formatTable, median, milliseconds, timed } from './table.ts';

/** Paced conversions of all accounts together, without and during the flood. */
const conversions = Number(process.env.FAIRNESS_CONVERSIONS ?? 2_000);
const accounts = 50;
/** Share of the capacity that the paced conversions take. */
const load = 0.4;
/** Concurrent requests of the flooding account. Each one is repeated as soon as it ends. */
const flooding = 100;
const maxRatio = 2;
const maxRiseMegabytes = 100;

interface Flooder {
  url: string;
  apiKey: string;
  file: Uint8Array<ArrayBuffer>;
}

type Counts = Record<string, number>;

/**
 * Measures instant conversions of 50 accounts at a steady pace, without and while another account sends as many as it
 * can. Returns whether the others' 99th percentile at most doubles, without an error of the server.
 */
export async function benchInstantFairness(report: (text: string) => void): Promise<boolean> {
  const { ratePerMinute, creationsPerMinute } = numberSettings;
  await using service = await startService({
    // The engines are shared: two cores cannot keep an environment of each account.
    LATHE_SINGLE_TENANT: 'true',
    // The limits of a deployment.
    LATHE_RATE_PER_MINUTE: String(ratePerMinute.defaultValue),
    LATHE_CREATIONS_PER_MINUTE: String(creationsPerMinute.defaultValue),
  });
  const clients = await Promise.all(Array.from({ length: accounts }, async () => (await joinService(service)).client));
  const file = new Uint8Array(await twoHalves(300, 200));
  const perSecond = load * (await capacityOf(clients, file));
  const before = await residentMegabytes(service);
  const alone = await paced(clients, file, perSecond);
  const stop = await startFlood({ ...(await joinService(service)), file: new Uint8Array(await photograph(600, 600)) });
  const during = await paced(clients, file, perSecond);
  const flood = await stop();
  const after = await settledMemory(service);

  const ratio = percentile(during.times, 0.99) / percentile(alone.times, 0.99);
  const row = (name: string, { times, counts }: Paced) => [
    name,
    milliseconds(median(times)),
    milliseconds(percentile(times, 0.99)),
    JSON.stringify(counts),
  ];
  const rows = [row('the others, alone', alone), row('the others, during the flood', during)];
  report(formatTable(['', 'median', '99th percentile', 'statuses'], rows));
  report(`\n${conversions} each at ${perSecond.toFixed(1)} a second; the flood: ${JSON.stringify(flood)}`);
  report(
    `99th percentile: ${ratio.toFixed(2)}× (limit ${maxRatio}×). Load of the machine: ${loadavg()[0]?.toFixed(1)}`,
  );
  report(
    `Memory of the main process: ${before.main} MB before, ${after.main} MB after; of all: ${before.all}, ${after.all} MB`,
  );
  const failures = [alone.counts, during.counts, flood].flatMap((counts) => Object.keys(counts)).filter(isFailure);
  return ratio <= maxRatio && failures.length === 0 && after.main - before.main <= maxRiseMegabytes;
}

const isFailure = (status: string) => !/^[234]/.test(status);

interface Paced {
  times: number[];
  counts: Counts;
}

/** Has each account in turn convert a file, at a steady pace whatever the responses take. */
async function paced(clients: Client[], file: Uint8Array<ArrayBuffer>, perSecond: number): Promise<Paced> {
  const times: number[] = [];
  const counts: Counts = {};
  const start = performance.now();
  const pending: Promise<void>[] = [];
  for (let index = 0; index < conversions; index++) {
    await setTimeout(Math.max(0, start + (index * 1000) / perSecond - performance.now()));
    const client = clients[index % clients.length];
    if (!client) continue;
    pending.push(
      timed(() => convert(client, file, counts)).then((ms) => {
        times.push(ms);
      }),
    );
  }
  await Promise.all(pending);
  return { times, counts };
}

/** Returns how many conversions of different accounts end in a second, with warm functions. */
async function capacityOf(clients: Client[], file: Uint8Array<ArrayBuffer>): Promise<number> {
  const round = () => Promise.all(clients.slice(0, 16).map((client) => convert(client, file)));
  for (let warming = 0; warming < 3; warming++) await round();
  const ms = await timed(round);
  return 16_000 / ms;
}

async function convert(client: Client, file: Uint8Array<ArrayBuffer>, counts: Counts = {}): Promise<void> {
  const response = await client
    .instant('convert?output_format=webp', file, { 'content-type': 'image/png' })
    .catch(() => undefined);
  await response?.arrayBuffer().catch(() => undefined);
  const status = response ? String(response.status) : 'none';
  counts[status] = (counts[status] ?? 0) + 1;
}

/** Starts the flood in a thread of its own. Returns how to stop it, and then the statuses of its responses. */
async function startFlood(flooder: Flooder): Promise<() => Promise<Counts>> {
  const { url, apiKey, file } = flooder;
  const worker = new Worker(import.meta.filename, { workerData: { url, apiKey, file } });
  const counts = new Promise<Counts>((resolve, reject) => worker.once('message', resolve).once('error', reject));
  return () => {
    worker.postMessage('stop');
    return counts;
  };
}

async function flood({ url, apiKey, file }: Flooder): Promise<Counts> {
  const client = new Client({ url, apiKey });
  const counts: Counts = {};
  let isOver = false;
  parentPort?.once('message', () => {
    isOver = true;
  });
  const lane = async () => {
    while (!isOver) await convert(client, file, counts);
  };
  await Promise.all(Array.from({ length: flooding }, lane));
  return counts;
}

/** Returns the memory once the environments of the burst have ended. */
async function settledMemory(service: RunningService) {
  await setTimeout(15_000);
  return residentMegabytes(service);
}

function percentile(values: number[], part: number): number {
  const sorted = values.toSorted((one, other) => one - other);
  return sorted[Math.min(sorted.length - 1, Math.floor(part * sorted.length))] ?? Number.NaN;
}

if (!isMainThread && workerData?.apiKey) parentPort?.postMessage(await flood(workerData));
