import { type Client, type JobView, taskOf } from '../support/client.ts';
import { until } from '../support/until.ts';

/** Creates a job that imports a picture, converts it to webp and exports the result, and returns its id. */
export async function createThreeTasks(client: Client, file: string): Promise<string> {
  const { id } = await client.createJob({
    import: { operation: 'import/base64', file, filename: 'picture.png' },
    convert: { operation: 'convert', input: 'import', output_format: 'webp' },
    export: { operation: 'export/url', input: 'convert' },
  });
  return id;
}

/** Waits by requests that the service holds until a job has completed, and returns the URL of its export. */
export async function waitForExport(client: Client, id: string): Promise<string> {
  const job = await until(
    `job ${id} has ended`,
    async () => {
      const { status, body } = await client.call<JobView>('GET', `/v1/process/jobs/${id}/wait`);
      // Waits have a concurrency of their own; beyond it Lambda refuses them, as a client must expect.
      if (status === 503) return undefined;
      if (status !== 200) throw new Error(`A wait was answered with ${status}: ${JSON.stringify(body)}`);
      return body.endedAt === null ? undefined : body;
    },
    { seconds: 600 },
  );
  const { url } = taskOf(job, 'export').result;
  if (job.status !== 'completed' || !url) throw new Error(`A job ${job.status}: ${JSON.stringify(job)}`);
  return url;
}

/** Runs such a job as a client does that waits for it, and returns the URL of its export. */
export async function runThreeTasks(client: Client, file: string): Promise<string> {
  return waitForExport(client, await createThreeTasks(client, file));
}
