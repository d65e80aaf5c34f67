import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { dataUri, download } from '../support/client.ts';
import { twoHalves } from '../support/images.ts';
import { type RunningService, startService } from '../support/running-stack.ts';
import { until } from '../support/until.ts';
import type { Heap } from './heap-probe.ts';
import { formatTable } from './table.ts';
import { runThreeTasks } from './waited-job.ts';

const run = promisify(execFile);
const jobs = Number(process.env.SOAK_JOBS ?? 5_000);
const together = 8;
const sampledEvery = 25;
const shownEvery = 250;
/** Memory limit of the process that `npm start` leaves running. */
const maxMegabytes = 600;
/** Number of last jobs over which memory must be level, and the maximum slope of a fitted line. */
const levelJobs = Math.min(2_000, Math.floor(0.4 * jobs));
const maxRiseMegabytes = 30;
/** Maximum duration of a small job. A longer one waited for a sweep. */
const maxJobSeconds = 30;

interface Sample {
  jobs: number;
  /** Resident memory in MB, of the process itself and of all its descendants. */
  main: number;
  all: number;
}

/** Runs many small jobs through one service and reports whether its memory stays bounded and level. */
export async function benchSoak(): Promise<{ report: string; passed: boolean }> {
  const probe = new URL('./heap-probe.ts', import.meta.url).href;
  await using service = await startService({ NODE_OPTIONS: `--import ${probe}` });
  const file = dataUri(await twoHalves(64, 64), 'image/png');
  const samples = [await sample(service, 0)];
  console.log(`${progressHead}\n${await progressLine(service, samples)}`);
  const start = performance.now();
  let begun = 0;
  let ended = 0;
  let noted = start;
  let slowest = 0;
  const lane = async () => {
    while (begun < jobs) {
      begun += 1;
      const created = performance.now();
      await download(await runThreeTasks(service.client, file));
      slowest = Math.max(slowest, (performance.now() - created) / 1000);
      ended += 1;
      const count = ended;
      if (count % sampledEvery === 0) samples.push(await sample(service, count));
      if (count % shownEvery !== 0) continue;
      const seconds = (performance.now() - noted) / 1000;
      noted = performance.now();
      console.log(await progressLine(service, samples, shownEvery / seconds));
    }
  };
  await Promise.all(Array.from({ length: together }, lane));
  const perSecond = jobs / ((performance.now() - start) / 1000);
  const heaps = await readHeaps(service);
  return judge(samples, heaps, { perSecond, slowest });
}

function judge(samples: Sample[], heaps: Heap[], { perSecond, slowest }: { perSecond: number; slowest: number }) {
  const max = Math.max(...samples.map(({ main }) => main));
  const rise = slope(samples.filter((one) => one.jobs >= jobs - levelJobs)) * levelJobs;
  const isLevel = max < maxMegabytes && rise < maxRiseMegabytes;
  const isPrompt = slowest < maxJobSeconds;
  const verdict = (isRight: boolean) => (isRight ? 'passed' : 'failed');
  const rows = heaps.map(({ thread, used, resident, external }) => [
    thread,
    ...[used, resident, external].map(megabytes),
  ]);
  const report = [
    formatTable(['MB at the end', 'used', 'heap', 'external'], rows),
    '',
    `${perSecond.toFixed(2)} jobs a second. The slowest took ${slowest.toFixed(1)} s (limit ${maxJobSeconds}): ${verdict(isPrompt)}.`,
    `Resident memory of the main process: at most ${max} MB (limit ${maxMegabytes}), and by a fitted line ${rise.toFixed(1)} MB more over the last ${levelJobs} jobs (limit ${maxRiseMegabytes}): ${verdict(isLevel)}.`,
  ].join('\n');
  return { report, passed: isLevel && isPrompt };
}

/** Fits a line to the memory of the main process by least squares, and returns its MB per job. */
function slope(samples: Sample[]): number {
  const mean = (values: number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
  const middle = mean(samples.map((one) => one.jobs));
  const level = mean(samples.map(({ main }) => main));
  const covariance = mean(samples.map((one) => (one.jobs - middle) * (one.main - level)));
  return covariance / mean(samples.map((one) => (one.jobs - middle) ** 2));
}

async function sample(service: RunningService, ended: number): Promise<Sample> {
  return { jobs: ended, ...(await residentMegabytes(service)) };
}

/** Reads the resident memory of a service's process, and of it with all descendants. */
export async function residentMegabytes({ pid }: RunningService): Promise<Omit<Sample, 'jobs'>> {
  const { stdout } = await run('ps', ['-A', '-o', 'pid=,ppid=,rss=']);
  const processes = stdout
    .trim()
    .split('\n')
    .map((line) => line.trim().split(/\s+/).map(Number))
    .map(([id = 0, parent = 0, kilobytes = 0]) => ({ id, parent, megabytes: Math.round(kilobytes / 1024) }));
  const family = new Set([pid]);
  for (let size = 0; size !== family.size; ) {
    size = family.size;
    for (const { id, parent } of processes) if (family.has(parent)) family.add(id);
  }
  const sum = (ids: ReadonlySet<number>) =>
    processes.reduce((total, { id, megabytes }) => total + (ids.has(id) ? megabytes : 0), 0);
  return { main: sum(new Set([pid])), all: sum(family) };
}

/** Requests the heaps of all threads from the probe in the service. */
async function readHeaps(service: RunningService): Promise<Heap[]> {
  const seen = service.reports.length;
  process.kill(service.pid, 'SIGUSR2');
  const line = await until('the service has reported its heaps', () =>
    service.reports
      .slice(seen)
      .join('')
      .split('\n')
      .slice(0, -1)
      .find((text) => text.startsWith('{"heaps":')),
  );
  return JSON.parse(line).heaps;
}

const progressHead = ' jobs  main MB  with children  threads  heaps used  heaps  external  jobs/s';

async function progressLine(service: RunningService, samples: Sample[], perSecond?: number): Promise<string> {
  const latest = samples.at(-1);
  const heaps = await readHeaps(service);
  const sum = (part: 'used' | 'resident' | 'external') =>
    megabytes(heaps.reduce((total, heap) => total + heap[part], 0));
  return [
    String(latest?.jobs).padStart(5),
    String(latest?.main).padStart(7),
    String(latest?.all).padStart(13),
    String(heaps.length).padStart(7),
    sum('used').padStart(10),
    sum('resident').padStart(5),
    sum('external').padStart(8),
    (perSecond?.toFixed(2) ?? '').padStart(6),
  ].join('  ');
}

function megabytes(bytes: number): string {
  return String(Math.round(bytes / 1024 ** 2));
}
