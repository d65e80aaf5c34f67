import { existsSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { countCalls } from './calls.ts';
import { benchColdStarts } from './cold-start.ts';
import { benchJobs } from './jobs.ts';
import { benchLists } from './lists.ts';
import { formatRatios, formatTable, kilobytes, milliseconds, type Row } from './table.ts';

/** What engines measure of themselves, each in a module of its own. */
const engineBenches = [
  ['media', 'benchMedia'],
  ['document', 'benchDocument'],
] as const;

console.log(`Jobs, warm, on ${availableParallelism()} cores, beside the same conversion by sharp itself\n`);
console.log(formatRatios(await benchJobs()));

const calls = await countCalls();
console.log(`\nCalls of one job: ${calls.map(([name, count]) => `${count} ${name}`).join(', ')}`);

console.log(`\nLists\n\n${formatRatios(await benchLists())}`);

console.log('\nAPI functions: process start to first answer, and bundle\n');
console.log(
  formatTable(
    ['', 'start', 'bundle', 'start with SDK inside', 'bundle', 'empty process'],
    (await benchColdStarts()).map((result) => [
      result.entry,
      milliseconds(result.deployedStart),
      kilobytes(result.deployed),
      milliseconds(result.withSdkStart),
      kilobytes(result.withSdk),
      milliseconds(result.emptyStart),
    ]),
  ),
);

const engines: Row[] = [];
for (const [name, exported] of engineBenches) {
  const module = new URL(`${name}.ts`, import.meta.url);
  if (!existsSync(module)) continue;
  const { [exported]: bench }: Record<string, () => Promise<Row[]>> = await import(module.href);
  if (bench) engines.push(...(await bench()));
}
if (engines.length > 0) console.log(`\nEngines, beside their bare programs\n\n${formatRatios(engines)}`);
process.exit(0);
