import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import sharp from 'sharp';
import { mapAtOnce } from '../../shared/concurrency.ts';
import { numberSettings } from '../../shared/settings.ts';
import { type Client, dataUri } from '../support/client.ts';
import { photograph } from '../support/images.ts';
import { type RunningService, startService } from '../support/running-stack.ts';
import { until } from '../support/until.ts';
import { median, type Row } from './table.ts';
import { createThreeTasks, waitForExport } from './waited-job.ts';

const alone = 10;
const together = 50;
const rounds = 3;
const waited = 600;
/** Concurrent requests of a client that creates jobs. */
const creating = 50;

/**
 * Measures a png to webp conversion of a megabyte from create-job to completed, alone and with many jobs, against
 * sharp.
 */
export async function benchJobs(): Promise<Row[]> {
  const folder = await mkdtemp(join(tmpdir(), 'bench-'));
  // The cost of waits depends on how many are held, so they are limited as in a deployment.
  const service = await startService({ LATHE_WAITS_PER_MINUTE: String(numberSettings.waitsPerMinute.defaultValue) });
  try {
    const picture = await photograph(600, 600);
    await writeFile(join(folder, 'picture.png'), picture);
    const file = dataUri(picture, 'image/png');
    await runMany(service, file, 2 * availableParallelism());
    await convertMany(folder, 2 * availableParallelism());

    const single = { ours: [] as number[], bare: [] as number[] };
    for (let round = 0; round < alone; round++) {
      single.bare.push(await convertMany(folder, 1));
      single.ours.push(await runMany(service, file, 1));
    }
    const many = { ours: [] as number[], bare: [] as number[] };
    for (let round = 0; round < rounds; round++) {
      many.bare.push((await convertMany(folder, together)) / together);
      many.ours.push((await runMany(service, file, together)) / together);
    }
    const bareMs = (await convertMany(folder, waited)) / waited;
    const waitedMs = (await waitForMany(service, file, waited)) / waited;
    return [
      { name: '1 MB png to webp, alone', ours: median(single.ours), bare: median(single.bare) },
      { name: `the same, each of ${together} at once`, ours: median(many.ours), bare: median(many.bare) },
      { name: `three tasks, each of ${waited} at once and waited for`, ours: waitedMs, bare: bareMs },
    ];
  } finally {
    await service.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

/** Runs jobs concurrently and returns the milliseconds until the last has completed, by the service's records. */
async function runMany({ client }: RunningService, file: string, count: number): Promise<number> {
  const start = Date.now();
  const ids = await Promise.all(Array.from({ length: count }, () => createJob(client, file)));
  const ends = [];
  for (const id of ids) ends.push(await endOf(client, id));
  return Math.max(...ends) - start;
}

/** Runs jobs with an export concurrently, waits for each by a separate request, and returns the total milliseconds. */
async function waitForMany({ client }: RunningService, file: string, count: number): Promise<number> {
  const start = performance.now();
  const waits: Promise<string>[] = [];
  await mapAtOnce(Array.from({ length: count }), creating, async () => {
    waits.push(waitForExport(client, await createThreeTasks(client, file)));
  });
  await Promise.all(waits);
  return performance.now() - start;
}

async function createJob(client: Client, file: string): Promise<string> {
  const { id } = await client.createJob({
    import: { operation: 'import/base64', file, filename: 'picture.png' },
    convert: { operation: 'convert', input: 'import', output_format: 'webp' },
  });
  return id;
}

// Polled rarely: on the machine that does the work, every request takes time from it.
async function endOf(client: Client, id: string): Promise<number> {
  return until(
    `job ${id} has ended`,
    async () => {
      const { status, endedAt, result } = await client.showJob(id);
      if (status === 'failed') throw new Error(`A job failed: ${result.msg}`);
      return endedAt === null ? undefined : Date.parse(endedAt);
    },
    { seconds: 300, everyMs: 200 },
  );
}

/** Converts the picture repeatedly with sharp, with one conversion per core, and returns the milliseconds. */
export async function convertMany(folder: string, count: number): Promise<number> {
  const start = performance.now();
  const left = Array.from({ length: count }, (_, index) => index).values();
  const lane = async () => {
    for (const index of left) {
      await sharp(join(folder, 'picture.png'))
        .autoOrient()
        .webp({ quality: 80 })
        .toFile(join(folder, `${index}.webp`));
    }
  };
  await Promise.all(Array.from({ length: Math.min(count, availableParallelism()) }, lane));
  return performance.now() - start;
}
