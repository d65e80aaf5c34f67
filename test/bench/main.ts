import { availableParallelism } from 'node:os';
import { countCalls, type JobCalls } from './calls.ts';
import { benchColdStarts, coldConnectMs } from './cold-starts.ts';
import { benchDocument } from './document.ts';
import { benchEncoders } from './encoders.ts';
import { benchEvents } from './events.ts';
import { benchFairness } from './fairness.ts';
import { benchImage } from './image.ts';
import { benchInstant, countInstantCalls } from './instant.ts';
import { benchInstantFairness } from './instant-fairness.ts';
import { benchJobs } from './jobs.ts';
import { benchKeys } from './keys.ts';
import { benchLargeFile } from './large-file.ts';
import { benchLists } from './lists.ts';
import { benchMedia } from './media.ts';
import { benchMemory } from './memory.ts';
import { benchRate } from './rate.ts';
import { benchSoak } from './soak.ts';
import { benchSplit } from './split.ts';
import { formatRatios, formatTable, kilobytes, milliseconds } from './table.ts';
import { benchTransfer, formatTransfers } from './transfer.ts';
import { benchTypicalJobs } from './typical-jobs.ts';
import { benchVideo } from './video.ts';
import { formatWaterfall } from './waterfall.ts';

/** The default timeout of python-socketio. */
const maxConnectMs = 1_000;

function printCalls(what: string, { calls, callsInRow, writeUnits, readUnits, timeline }: JobCalls): void {
  const listed = (counts: [string, number][]) => counts.map(([name, count]) => `${count} ${name}`).join(', ');
  const sum = (counts: [string, number][]) => counts.reduce((total, [, count]) => total + count, 0);
  console.log(`\n${what}: ${sum(calls)} calls (${listed(calls)})`);
  console.log(`${sum(writeUnits)} write units (${listed(writeUnits)}), ${readUnits} read units`);
  console.log(`If such follow each other four times a second: ${callsInRow.toFixed(1)} calls each`);
  console.log('\nThe same, millisecond by millisecond\n');
  console.log(formatWaterfall(timeline));
}

/** The benchmarks by name: `npm run bench -- jobs lists`. Without names, all except those that take an hour. */
const parts: Record<string, (given: string[]) => Promise<void>> = {
  async jobs() {
    console.log(`\nJobs, warm, on ${availableParallelism()} cores, and the same conversion by sharp alone\n`);
    console.log(formatRatios(await benchJobs()));
    printCalls('A job of an upload, a conversion and an export', await countCalls());
  },

  async instant() {
    console.log(
      `\nInstant conversions, warm, on ${availableParallelism()} cores, and the same by sharp and ffmpeg alone\n`,
    );
    console.log(formatRatios(await benchInstant()));
    printCalls('An instant conversion', await countInstantCalls());
  },

  async lists() {
    const { rows, firstMs } = await benchLists();
    console.log(`\nLists\n\n${formatRatios(rows)}`);
    const [first, firstWithStatus] = firstMs.map(milliseconds);
    console.log(`\nThe first list of 20,000 tasks, which counts them: ${first}, and with a status: ${firstWithStatus}`);
  },

  async keys() {
    console.log('\nCapacity units by partition key of the table and its indexes');
    if (!(await benchKeys(console.log))) process.exitCode = 1;
  },

  async rate() {
    console.log('\n10,000 requests of one key at once, at a limit of 100 a minute\n');
    if (!(await benchRate(console.log))) process.exitCode = 1;
  },

  async fairness() {
    console.log('\nHow long jobs of one account take while another has many, or slow ones\n');
    await benchFairness(console.log);
    console.log('\nInstant conversions of 50 accounts, and while another account sends as many as it can\n');
    if (!(await benchInstantFairness(console.log))) process.exitCode = 1;
  },

  async 'cold-starts'() {
    const { empty, functions } = await benchColdStarts();
    console.log(
      `\nZip functions: process start to first response, without a compile cache as on Lambda. Empty handler: ${milliseconds(empty.cpu)} of processor time, ${milliseconds(empty.wall)} in all\n`,
    );
    console.log(
      formatTable(
        ['', 'bundle', 'processor', 'in all', 'times empty', 'at most', 'with compile cache'],
        functions.map(({ entry, bytes, cpu, wall, ratio, maxRatio, cachedCpu }) => [
          entry,
          kilobytes(bytes),
          milliseconds(cpu),
          milliseconds(wall),
          `${ratio.toFixed(2)}×`,
          `${maxRatio}×`,
          milliseconds(cachedCpu),
        ]),
      ),
    );
    const connectMs = coldConnectMs(functions);
    console.log(
      `\nA cold connect of Socket.IO: ${milliseconds(connectMs)} to its response, at most ${maxConnectMs} ms`,
    );
    if (functions.some(({ ratio, maxRatio }) => ratio > maxRatio) || connectMs > maxConnectMs) process.exitCode = 1;
  },

  async 'typical-jobs'() {
    console.log('\nProcessor time of the typical jobs that npm run cost prices\n');
    const rows = await benchTypicalJobs();
    console.log(
      formatTable(
        ['', 'seconds'],
        rows.map(({ name, cpuSeconds }) => [name, cpuSeconds.toFixed(2)]),
      ),
    );
  },

  async engines() {
    const rows = [...(await benchImage()), ...(await benchMedia()), ...(await benchDocument())];
    console.log(`\nEngines and their bare programs\n\n${formatRatios(rows)}`);
  },

  async encoders() {
    console.log('\nEncoders: megapixels in a second of CPU time, and cores that they use of six\n');
    await benchEncoders(console.log);
  },

  async video() {
    console.log('\nFive minutes of 1080p, 30 frames a second, from H.264 at 8 Mbit/s\n');
    console.log(
      formatTable(
        ['', 'CPU seconds', 'of six cores', 'Mbit/s', 'SSIM', 'VMAF'],
        (await benchVideo()).map(({ name, pricedCpuSeconds, cores, megabitsPerSecond, ssim, vmaf }) => [
          name,
          pricedCpuSeconds.toFixed(0),
          cores.toFixed(1),
          megabitsPerSecond.toFixed(2),
          ssim.toFixed(4),
          vmaf?.toFixed(1) ?? '',
        ]),
      ),
    );
  },

  async memory() {
    console.log(`\nMemory of an engine's processes over many conversions\n\n${await benchMemory()}`);
  },

  async transfer() {
    console.log('\nA file of 2 GiB between stores and the bucket of the service, and by the plain tool or library\n');
    console.log(formatTransfers(await benchTransfer()));
  },

  async soak() {
    console.log('\nMemory of the service while small jobs pass through it\n');
    const { report, passed } = await benchSoak();
    console.log(`\n${report}`);
    if (!passed) process.exitCode = 1;
  },

  async events() {
    await benchEvents();
  },

  async split(given) {
    const seconds = amountOf(given, 600);
    const height = Number(given.find((word) => word.endsWith('p'))?.slice(0, -1) ?? 1_080);
    console.log(`\n${seconds} seconds of ${height}p, converted by one ffmpeg and in parts\n`);
    const { report, passed } = await benchSplit(seconds, { height, inProcess: given.includes('--engine') });
    console.log(report);
    if (!passed) process.exitCode = 1;
  },

  async 'large-file'(given) {
    const gigabytes = amountOf(given, 12);
    console.log(`\nA file of ${gigabytes} GB: uploaded in parts, exported to a store and imported from it\n`);
    const { report, passed } = await benchLargeFile(gigabytes * 1e9);
    console.log(report);
    if (!passed) process.exitCode = 1;
  },
};

const onlyByName = new Set(['soak', 'encoders', 'video', 'keys', 'rate', 'fairness', 'split', 'large-file']);
/** Arguments that may follow a name. */
const argumentsOf: Record<string, RegExp> = { split: /^(?:[1-9]\d*p?|--engine)$/, 'large-file': /^[1-9]\d*$/ };

function amountOf(given: string[], usual: number): number {
  return Number(given.find((word) => /^\d+$/.test(word)) ?? usual);
}

const chosen = new Map<string, string[]>();
let last = '';
for (const word of process.argv.slice(2)) {
  if (Object.hasOwn(parts, word)) {
    last = word;
    chosen.set(word, []);
  } else if (argumentsOf[last]?.test(word)) {
    chosen.get(last)?.push(word);
  } else {
    console.error(`Expected words among ${Object.keys(parts).join(', ')} but received ${word}.`);
    process.exit(1);
  }
}
for (const [word, measure] of Object.entries(parts)) {
  if (chosen.size === 0 ? !onlyByName.has(word) : chosen.has(word)) await measure(chosen.get(word) ?? []);
}
process.exit();
