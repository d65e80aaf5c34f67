import { setTimeout as pause } from 'node:timers/promises';
import { type Client, type JobView, taskOf } from '../support/client.ts';

const maxSeconds = 600;

/** Creates a job that imports a picture, converts it to webp and exports the result, and returns its id. */
export async function createThreeTasks(client: Client, file: string): Promise<string> {
  const { id } = await client.createJob({
    import: { operation: 'import/base64', file, filename: 'picture.png' },
    convert: { operation: 'convert', input: 'import', output_format: 'webp' },
    export: { operation: 'export/url', input: 'convert' },
  });
  return id;
}

/**
 * Waits for a job with requests that the service holds, repeating them until it has completed. Returns the URL of its
 * export.
 */
export async function waitForExport(client: Client, id: string): Promise<string> {
  const job = await waitForEnd(client, id);
  const { url } = taskOf(job, 'export').result;
  if (job.status !== 'completed' || !url) throw new Error(`A job ${job.status}: ${JSON.stringify(job)}`);
  return url;
}

async function waitForEnd(client: Client, id: string): Promise<JobView> {
  const deadline = Date.now() + maxSeconds * 1_000;
  while (Date.now() < deadline) {
    const { status, headers, body } = await client.call<JobView>('GET', `/v1/process/jobs/${id}/wait`);
    // Waits have reserved concurrency. Lambda refuses those beyond it, as clients must expect.
    if (status !== 200 && status !== 503) throw new Error(`A wait got ${status}: ${JSON.stringify(body)}`);
    if (status === 200 && body.endedAt !== null) return body;
    await pause(Number(headers.get('retry-after') ?? 1) * 1_000);
  }
  throw new Error(`Job ${id} has not ended after ${maxSeconds} seconds.`);
}

/** Runs such a job as a waiting client does, and returns the URL of its export. */
export async function runThreeTasks(client: Client, file: string): Promise<string> {
  return waitForExport(client, await createThreeTasks(client, file));
}
