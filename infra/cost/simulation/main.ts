import { engineCatalogues } from '../../../functions/catalogue/catalogues.ts';
import { readFlattened } from '../../../packages/local-aws/src/template/flatten.ts';
import { currentTemplate } from '../../build/template-cache.ts';
import { inventoryOf } from '../inventory.ts';
import { measurements, type TypicalJob } from '../measurements.ts';
import { engineSeconds, jobCosts, total } from '../model.ts';
import { needsOf } from './needs.ts';
import { type JobKind, type Quantiles, type Scenario, simulate } from './simulate.ts';
import { simulateSplit } from './split.ts';

/** Shares of the typical jobs. */
const mix: Record<string, number> = {
  'photo, 1 MB png to webp': 0.75,
  '10 pages, docx to pdf': 0.15,
  'web page to pdf': 0.095,
  '5 minutes of 1080p to mp4': 0.005,
};

const jobsPerSecond = 1_000;
/** Writes of a job to its account's index key, which takes 1,000 units a second, and to a shard of the due index. */
const ownerUnits = 2;
const dueUnits = 2;
const dueShards = 16;

const inventory = inventoryOf(readFlattened(await currentTemplate()));
const jobs = measurements.jobs.filter(({ name }) => mix[name] !== undefined);
const kinds = jobs.map((job): JobKind => {
  const seconds = secondsOf(job);
  // Twice the mean: what an operator would request from AWS.
  return {
    name: job.name,
    engine: job.engine,
    share: shareOf(job),
    engineSeconds: seconds,
    maxConcurrency: Math.ceil(2 * seconds * jobsPerSecond * shareOf(job)),
  };
});
const day: Scenario = {
  name: 'a day',
  hours: 24,
  jobsPerSecond,
  accounts: 50,
  kinds,
  regionConcurrency: kinds.reduce((sum, { maxConcurrency }) => sum + maxConcurrency, 0),
};
const [photo] = kinds;
const kind = photo?.name ?? '';

print(`${jobsPerSecond} jobs a second of ${day.accounts} accounts for ${day.hours} hours`);
for (const { name, share, engineSeconds: seconds, maxConcurrency } of kinds)
  print(
    `  ${(share * 100).toFixed(1)} % ${name}: ${seconds.toFixed(1)} s of an engine, at most ${maxConcurrency} concurrently`,
  );
print(
  `  hottest keys: an account's index ${(ownerUnits * jobsPerSecond) / day.accounts} units a second, a shard of what is due ${(dueUnits * jobsPerSecond) / dueShards}, of 1,000`,
);
const dollars = jobs.reduce(
  (sum, job) => sum + shareOf(job) * total(jobCosts(inventory, job, shareOf(job) * jobsPerSecond * 3_600)),
  0,
);
print(
  `  ${Math.round((dollars / 1000) * jobsPerSecond * 86_400).toLocaleString('en')} dollars a day, ${dollars.toFixed(2)} for 1,000 jobs\n`,
);

const scenarios: Scenario[] = [
  day,
  { ...day, name: 'images take ten times as long for an hour', slowed: { kind, factor: 10, fromHour: 6, toHour: 7 } },
  { ...day, name: 'one account creates 100,000 jobs in a minute', burst: { kind, jobs: 100_000, atHour: 6 } },
  {
    ...day,
    name: 'the same, if messages did not carry their account',
    isFair: false,
    burst: { kind, jobs: 100_000, atHour: 6 },
  },
  { ...day, name: 'no Lambda for ten minutes', withoutLambda: { atHour: 6, minutes: 10 } },
];
const peaks = scenarios.map(report);

print(`\n${'what this takes beyond the defaults'.padEnd(54)}   needed  default`);
for (const { name, needed, available, how } of needsOf({
  scenarios,
  peakRunning: Math.max(...peaks),
  inventory,
  catalogues: engineCatalogues,
})) {
  const numbers = [needed, available].map((each) => each.toLocaleString('en').padStart(9)).join('');
  print(`  ${name.padEnd(52)}${numbers}  ${needed > available ? how : 'enough'}`);
}

print('\n1080p to H.264 with its sound copied, in parts, by 100 engines that fetch ranges of the source');
for (const [hours, gigabytes] of [
  [1, 1],
  [1, 2],
  [1, 4],
  [3, 3],
  [3, 6],
] as const) {
  const run = simulateSplit(inventory, { minutes: hours * 60, bytes: gigabytes * 1e9, places: 100 });
  print(
    `  ${hours} h of ${gigabytes} GB, ${Math.round(run.wholeSeconds)} s for one engine: ${run.chunks} chunks of ${run.chunkSeconds.toFixed(0)} s; surveyed after ${run.surveyed.toFixed(0)} s, encoded after ${run.encoded.toFixed(0)} s, done after ${run.joined.toFixed(0)} s for ${run.dollars.toFixed(2)} dollars`,
  );
}

/** Runs a scenario, and returns its peak number of concurrent engines. */
function report(scenario: Scenario): number {
  const { created, completed, waiting, running, peakWaiting, peakRunning, waits, backlogSeconds } = simulate(scenario);
  const lost = created - completed - waiting - running;
  print(scenario.name);
  print(
    `  ${created.toLocaleString('en')} jobs, ${lost} lost; at most ${peakRunning.toLocaleString('en')} engines at once and ${peakWaiting.toLocaleString('en')} messages waiting; backlogs for ${backlogSeconds} s`,
  );
  print(
    `  seconds in the queue: ${shown(waits.others)}${scenario.burst ? `; of the account with the burst: ${shown(waits.burst)}` : ''}`,
  );
  if (lost !== 0) process.exitCode = 1;
  return peakRunning;
}

function shareOf({ name }: TypicalJob): number {
  return mix[name] ?? 0;
}

function secondsOf(job: TypicalJob): number {
  const engine = inventory.engines.get(job.engine);
  if (!engine) throw new Error(`The template has no engine ${job.engine}.`);
  return engineSeconds(engine, job);
}

function shown({ median, p99, max }: Quantiles): string {
  return `median ${median}, 99 % ${p99}, longest ${max}`;
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
