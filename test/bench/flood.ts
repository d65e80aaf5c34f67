import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { mapAtOnce } from '../../shared/concurrency.ts';
import { Client, dataUri, formOf, postForm, taskOf } from '../support/client.ts';
import { photograph } from '../support/images.ts';

export type Tasks = Parameters<Client['createJob']>[0];

/** Concurrent requests of the flooding account. */
const creating = 50;

/** LibreOffice lays out some 5,000 pages of it, which takes about a minute of one core. */
const longText = Buffer.from('One line of many.\n'.repeat(300_000));
export const picture = () => photograph(600, 600);
export const shortPage = dataUri(Buffer.from('<h1>Title</h1><p>One line.</p>'), 'text/html');

/** Loads that leave little to other accounts: each is prepared, then run, and returns the ids of its jobs. */
const floods = {
  '400 small jobs': async (client: Client) => {
    const tasks = converted(dataUri(await picture(), 'image/png'), 'picture.png', 'webp');
    return () => repeat(400, () => create(client, tasks));
  },
  '400 uploads': async (client: Client) => {
    const content = await picture();
    return () => repeat(400, () => uploaded(client, 'picture.png', content, 'webp'));
  },
  '100 waits': async (client: Client) => {
    const id = await create(client, { upload: { operation: 'import/upload' } });
    return async () => {
      // They end when the job is deleted.
      for (let wait = 0; wait < 100; wait++) void client.call('GET', `/v1/process/jobs/${id}/wait`).catch(() => {});
      return [id];
    };
  },
  '60 web pages': async (client: Client) => () =>
    repeat(60, () => create(client, converted(shortPage, 'short.html', 'pdf'))),
  '10 slow documents': async (client: Client) => () => repeat(10, () => uploaded(client, 'long.txt', longText, 'pdf')),
};

export type Flood = keyof typeof floods;

/** Starts a flood in a separate thread, so that other accounts' requests do not queue behind it in the client. */
export async function beginFlood(
  name: Flood,
  { url, apiKey }: { url: string; apiKey: string },
): Promise<{ ids: Promise<string[]> }> {
  const worker = new Worker(import.meta.filename, { workerData: { name, url, apiKey } });
  const ids = Promise.withResolvers<string[]>();
  const begun = Promise.withResolvers<void>();
  worker.on('message', (message: 'begins' | string[]) => {
    if (message === 'begins') begun.resolve();
    else ids.resolve(message);
  });
  worker.on('error', (error) => {
    begun.reject(error);
    ids.reject(error);
  });
  await begun.promise;
  return { ids: ids.promise };
}

export function converted(file: string, filename: string, outputFormat: string): Tasks {
  return {
    import: { operation: 'import/base64', file, filename },
    convert: { operation: 'convert', input: 'import', output_format: outputFormat },
  };
}

/** Creates a job with a posted file, and returns its id. */
export async function uploaded(client: Client, name: string, content: Buffer, outputFormat: string): Promise<string> {
  const job = await client.createJob({
    upload: { operation: 'import/upload' },
    convert: { operation: 'convert', input: 'upload', output_format: outputFormat },
  });
  await postForm(formOf(taskOf(job, 'upload')), name, content);
  return job.id;
}

async function create(client: Client, tasks: Tasks): Promise<string> {
  return (await client.createJob(tasks)).id;
}

function repeat(jobs: number, begin: () => Promise<string>): Promise<string[]> {
  return mapAtOnce(Array.from({ length: jobs }), creating, begin);
}

if (!isMainThread) {
  const { name, url, apiKey }: { name: Flood; url: string; apiKey: string } = workerData;
  const begin = await floods[name](new Client({ url, apiKey }));
  parentPort?.postMessage('begins');
  parentPort?.postMessage(await begin());
}
