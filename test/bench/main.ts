import { existsSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { countCalls } from './calls.ts';
import { benchColdStarts } from './cold-start.ts';
import { benchEvents } from './events.ts';
import { benchJobs } from './jobs.ts';
import { benchLists } from './lists.ts';
import { formatRatios, formatTable, kilobytes, milliseconds, type Row } from './table.ts';
import { benchTransfer, formatTransfers } from './transfer.ts';

/** What can be measured, by the word that picks it: `npm run bench -- jobs lists`. Without words, everything is. */
const parts: Record<string, () => Promise<void>> = {
  async jobs() {
    console.log(`\nJobs, warm, on ${availableParallelism()} cores, beside the same conversion by sharp itself\n`);
    console.log(formatRatios(await benchJobs()));
    const calls = await countCalls();
    console.log(`\nCalls of one job: ${calls.map(([name, count]) => `${count} ${name}`).join(', ')}`);
  },

  async lists() {
    console.log(`\nLists\n\n${formatRatios(await benchLists())}`);
  },

  async 'cold-start'() {
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
  },

  async engines() {
    const rows: Row[] = [];
    for (const [name, exported] of engineBenches) {
      const module = new URL(`${name}.ts`, import.meta.url);
      if (!existsSync(module)) continue;
      const { [exported]: bench }: Record<string, () => Promise<Row[]>> = await import(module.href);
      if (bench) rows.push(...(await bench()));
    }
    console.log(`\nEngines, beside their bare programs\n\n${formatRatios(rows)}`);
  },

  async transfer() {
    console.log('\nA file of 2 GiB between stores and the bucket of the service, beside the plain tool or library\n');
    console.log(formatTransfers(await benchTransfer()));
  },

  async events() {
    await benchEvents();
  },
};

/** What engines measure of themselves, each in a module of its own. */
const engineBenches = [
  ['image', 'benchImage'],
  ['media', 'benchMedia'],
  ['document', 'benchDocument'],
] as const;

const words = process.argv.slice(2);
const unknown = words.find((word) => !Object.hasOwn(parts, word));
if (unknown !== undefined) {
  console.error(`Expected words among ${Object.keys(parts).join(', ')} but received ${unknown}.`);
  process.exit(1);
}
for (const [word, measure] of Object.entries(parts)) if (words.length === 0 || words.includes(word)) await measure();
process.exit(0);
