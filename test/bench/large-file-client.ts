import { createHash } from 'node:crypto';
import { type Job, Lathe } from '../../packages/client/src/index.ts';
import { peakMemory } from './peak-memory.ts';
import { timed } from './table.ts';

/** The work of a client's process: a file and the store that it is exported to and imported from. */
export interface ClientWork {
  url: string;
  key: string;
  path: string;
  store: {
    bucket: string;
    region: string;
    endpoint: string;
    access_key_id: string;
    secret_access_key: string;
    session_token: string;
    key: string;
  };
}

export interface ClientReport {
  /** Milliseconds of each step. */
  steps: [name: string, milliseconds: number][];
  size: number;
  sha256: string;
  peakBytes: number;
}

const { url, key, path, store }: ClientWork = JSON.parse(process.argv[2] ?? '{}');
const lathe = new Lathe({ url, key });
const steps: ClientReport['steps'] = [];

/** Times a step. */
async function step(name: string, work: () => Promise<unknown>): Promise<void> {
  steps.push([name, await timed(work)]);
}

/** Returns the import of a job. */
function importOf(job: Job) {
  const task = job.tasks?.find(({ name }) => name === 'import');
  if (!task) throw new Error('The job has no import.');
  return task;
}

async function end(job: Job): Promise<Job> {
  const ended = await lathe.wait(job);
  if (ended.status !== 'completed') throw new Error(`A job ${ended.status}: ${JSON.stringify(ended.tasks)}`);
  return ended;
}

const uploading = await lathe.createJob({
  tasks: {
    import: { operation: 'import/upload' },
    export: { operation: 'export/objstore_a', input: 'import', ...store },
  },
});
await step('upload', () => lathe.upload(importOf(uploading), path));
await step('export', () => end(uploading));
// The store has the file now. It is not kept a third time.
await lathe.deleteJob(uploading);

let imported = await lathe.createJob({ tasks: { import: { operation: 'import/objstore_a', ...store } } });
await step('import', async () => {
  imported = await end(imported);
});
const [file] = importOf(imported).result.files ?? [];
if (!file) throw new Error(`The import has no file: ${JSON.stringify(imported)}`);
const hash = createHash('sha256');
let size = 0;
await step('download', async () => {
  for await (const chunk of lathe.read(file)) {
    hash.update(chunk);
    size += chunk.length;
  }
});
await lathe.deleteJob(imported);

const report: ClientReport = { steps, size, sha256: hash.digest('hex'), peakBytes: peakMemory() };
process.stdout.write(`${JSON.stringify(report)}\n`);
process.exit(0);
