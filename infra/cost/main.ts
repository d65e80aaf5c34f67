import { engineCatalogues } from '../../functions/catalogue/catalogues.ts';
import { readFlattened } from '../../packages/local-aws/src/template/flatten.ts';
import { currentTemplate } from '../build/template-cache.ts';
import { hostedPlans, otherHosted } from './hosted-prices.ts';
import { inventoryOf } from './inventory.ts';
import { measurements } from './measurements.ts';
import {
  type Costs,
  connectionCosts,
  engineSeconds,
  environmentCost,
  idleCosts,
  jobCosts,
  metricCosts,
  pageCosts,
  total,
  waitsFor,
} from './model.ts';
import { prices } from './prices.ts';

const inventory = inventoryOf(readFlattened(await currentTemplate()));

print(`Prices of ${prices.region} of ${prices.date}, durations of ${measurements.date}; nothing of free trials.\n`);
print('1,000 jobs, in dollars, and what dominates');
for (const job of measurements.jobs) {
  const costs = jobCosts(inventory, job);
  const engine = inventory.engines.get(job.engine);
  const seconds = engine ? engineSeconds(engine, job) : Number.NaN;
  const apart = engine ? environmentCost(engine) * 1000 : Number.NaN;
  const download = job.outputBytes * 1000 * (prices.internet.gigabyte / 1e9);
  print(
    `  ${job.name.padEnd(28)}${dollars(total(costs))}  ${largest(costs)}; ${seconds.toFixed(1)} s each, waits: ${waitsFor(seconds).requests}; ${apart.toFixed(2)} for a new environment of each; downloads over the internet: ${download.toFixed(2)}`,
  );
}

const counted = measurements.jobs.map((job) => jobCosts(inventory, job));
print(`\nThe same by what they are for, in the order above, at ${measurements.jobsPerHour} jobs an hour`);
for (const name of Object.keys(counted[0] ?? {}))
  print(`  ${name.padEnd(28)}${counted.map((costs) => (costs[name] ?? 0).toFixed(4).padStart(10)).join('')}`);

const { free } = prices.cloudfront;
print(
  `\n1,000 first loads of the page, in dollars: ${total(pageCosts(inventory)).toFixed(3)}. Of each month, CloudFront serves ${(free.requests / 1e6).toFixed()} million requests and ${free.gigabytes / 1000} TB for nothing, those of the API among them.`,
);

const connections = connectionCosts(inventory);
print(
  `\n1,000 hours of idle Socket.IO connections, in dollars: ${total(connections).toFixed(3)}. ${largest(connections)}.`,
);

const idle = idleCosts(inventory);
print('\nA month without a job, in dollars');
for (const [name, cost] of Object.entries(idle).sort(([, left], [, right]) => right - left))
  if (cost >= 0.005) print(`  ${name.padEnd(28)}${dollars(cost)}`);
print(`  ${'total'.padEnd(28)}${dollars(total(idle))}`);
print(
  `  ${inventory.polled.standard} standard and ${inventory.polled.fifo} FIFO queues are polled. Billed by the hour: ${inventory.hourly.join(', ') || 'nothing'}.`,
);
const month = metricCosts(engineCatalogues.length);
print(
  `  INIT of the sweep costs ${(idle['sweep: INIT'] ?? 0).toFixed(4)}; waits, custom metrics and access logs nothing without jobs. Jobs of all ${engineCatalogues.length} engines in every hour of a month have ${month.metrics} metrics, ${month.dollars.toFixed(2)} dollars beyond the ${prices.cloudwatch.freeMetrics} that are free; each kind of failure adds one, ${prices.cloudwatch.metricMonth.toFixed(2)} at most.`,
);

print(
  `\nHosted services, public prices of ${hostedPlans.date}: 1,000 jobs of import, conversion and export, in dollars`,
);
for (const [plan, perMonth, jobs, rule] of hostedPlans.plans)
  print(`  ${plan.padEnd(28)}${dollars((perMonth / jobs) * 1000)}  ${rule}`);
for (const line of otherHosted) print(`  ${line}`);

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

function dollars(value: number): string {
  return value.toFixed(2).padStart(8);
}

function largest(costs: Costs): string {
  const sum = total(costs);
  return Object.entries(costs)
    .sort(([, left], [, right]) => right - left)
    .slice(0, 2)
    .map(([name, cost]) => `${name} ${Math.round((cost / sum) * 100)} %`)
    .join(', ');
}
