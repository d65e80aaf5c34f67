import { type Client, dataUri, type JobView, taskOf } from './client.ts';
import { photograph } from './images.ts';

interface Usage {
  conversionSeconds: number;
  tasks: number;
  days: { operations: Record<string, number>; formats: object[]; keys: Record<string, number> }[];
  month: { month: string; allowanceMinutes: number | null; remainingMinutes: number | null };
}

export const inMilliseconds = (seconds: number) => Math.round(seconds * 1000);

/** Returns the milliseconds of conversions, by their results. */
export const usedBy = (jobs: JobView[]) =>
  jobs.reduce((sum, job) => sum + inMilliseconds(taskOf(job, 'convert').result.conversionSeconds ?? 0), 0);

/** Returns the caller's usage as reported by the service. */
export const usageOf = async (client: Client) => (await client.call<Usage>('GET', '/v1/account/usage')).body;

/** Returns the tasks of a job whose conversion takes some hundredths of a second. */
export async function conversionTasks() {
  const file = dataUri(await photograph(400, 300), 'image/png');
  return {
    import: { operation: 'import/base64', file, filename: 'photo.png' },
    convert: { operation: 'convert', input: 'import', output_format: 'webp' },
  };
}

/** Creates that many of those jobs concurrently, and waits for their ends. */
export async function convertAtOnce(client: Client, count: number): Promise<JobView[]> {
  const tasks = await conversionTasks();
  const jobs = await Promise.all(Array.from({ length: count }, () => client.createJob(tasks)));
  return Promise.all(jobs.map(({ id }) => client.waitForJob(id)));
}
