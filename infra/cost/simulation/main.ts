import { readFlattened } from '../../local/template/flatten.ts';
import { currentTemplate } from '../../local/template-cache.ts';
import { inventoryOf } from '../inventory.ts';
import { measurements, type TypicalJob } from '../measurements.ts';
import { engineSeconds, jobCosts, total } from '../model.ts';
import { type JobKind, type Quantiles, type Scenario, simulate } from './simulate.ts';

/** How often the typical jobs occur, in shares of all. */
const mix: Record<string, number> = {
  'photo, 1 MB png to webp': 0.75,
  '10 pages, docx to pdf': 0.15,
  'web page to pdf': 0.095,
  '5 minutes of 1080p to mp4': 0.005,
};

const jobsPerSecond = 1_000;
/** A job writes this often to the index of its account, whose key takes 1,000 units a second, and to a shard of what is due. */
const ownerUnits = 2;
const dueUnits = 2;
const dueShards = 16;

const inventory = inventoryOf(readFlattened(await currentTemplate()));
const jobs = measurements.jobs.filter(({ name }) => mix[name] !== undefined);
const kinds = jobs.map((job): JobKind => {
  const seconds = secondsOf(job);
  // Twice what the mean takes: what an operator would ask AWS for.
  return {
    name: job.name,
    share: mix[job.name] ?? 0,
    engineSeconds: seconds,
    maxConcurrency: Math.ceil(2 * seconds * jobsPerSecond * (mix[job.name] ?? 0)),
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
    `  ${(share * 100).toFixed(1)} % ${name}: ${seconds.toFixed(1)} s of an engine, of which ${maxConcurrency} run at once at most`,
  );
const { dynamodbReads, dynamodbWrites } = measurements.calls;
print(
  `  table and indexes: ${dynamodbWrites * jobsPerSecond} write units and ${dynamodbReads * jobsPerSecond} read units a second`,
);
print(
  `  hottest keys: an account's index ${(ownerUnits * jobsPerSecond) / day.accounts} units a second, a shard of what is due ${(dueUnits * jobsPerSecond) / dueShards}, of 1,000`,
);
const dollars = jobs.reduce((sum, job) => sum + (mix[job.name] ?? 0) * total(jobCosts(inventory, job)), 0);
print(
  `  ${Math.round((dollars / 1000) * jobsPerSecond * 86_400).toLocaleString('en')} dollars a day, ${dollars.toFixed(2)} for 1,000 jobs\n`,
);

for (const scenario of [
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
] satisfies Scenario[])
  report(scenario);

function report(scenario: Scenario): void {
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
