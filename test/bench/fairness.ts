import { mapAtOnce } from '../../shared/concurrency.ts';
import { numberSettings } from '../../shared/settings.ts';
import { type Client, dataUri, postForm, taskOf } from '../support/client.ts';
import { photograph } from '../support/images.ts';
import { startService } from '../support/running-stack.ts';
import { joinService } from '../support/shared-service.ts';
import { formatTable, median, milliseconds, timed } from './table.ts';

const floodJobs = 400;
const slowDocuments = 10;
/** Jobs that the other account runs one after the other, quiet and during each flood. */
const measured = 12;
/** A job that takes longer ends the measurement. */
const maxSeconds = 60;
/** Requests that the flooding account sends at a time. */
const creating = 50;

/** LibreOffice lays out some 5,000 pages of it, which takes about a minute of one core. */
const longText = Buffer.from('One line of many.\n'.repeat(300_000));
const shortText = dataUri(Buffer.from('One line.\n'), 'text/plain');
const shortPage = dataUri(Buffer.from('<h1>Title</h1><p>One line.</p>'), 'text/html');

/** Requests that the flooding account has held at a time. */
const heldWaits = 100;
const webPages = 60;

/**
 * Measures how long the jobs of one account take while nobody else works, and while another account has 400 small jobs, 400
 * uploads, 100 waits, 60 web pages, or ten documents that take minutes.
 */
export async function benchFairness(report: (text: string) => void): Promise<void> {
  // Of waits, an account has as many as in a deployment.
  await using service = await startService({
    LATHE_WAITS_PER_MINUTE: String(numberSettings.waitsPerMinute.defaultValue),
  });
  const [{ client: flooding }, { client: other }] = [await joinService(service), await joinService(service)];
  const content = await photograph(600, 600);
  const picture = dataUri(content, 'image/png');
  const by = (tasks: Tasks) => () => other.runJob(tasks, { seconds: maxSeconds, everyMs: 50 });
  const photo = by(converted(picture, 'picture.png', 'webp'));
  const document = by(converted(shortText, 'short.txt', 'pdf'));
  const page = by(converted(shortPage, 'short.html', 'pdf'));
  const upload = () => uploaded(other, 'picture.png', content, 'webp').then((id) => ended(other, id));
  const waited = async () => {
    const { id } = await other.createJob(converted(picture, 'picture.png', 'webp'));
    await waitFor(other, id);
  };
  const flood = (jobs: number, create: () => Promise<string>) => () =>
    mapAtOnce(Array.from({ length: jobs }), creating, create);
  const create = (tasks: Tasks) => async () => (await flooding.createJob(tasks)).id;

  const rows: string[][] = [];
  /** Measures a job alone and during a flood, and deletes what is left of that. */
  async function compare(job: string, run: () => Promise<unknown>, rest: string, begin: () => Promise<string[]>) {
    await run();
    const alone = await times(run);
    const begun = begin();
    const during = await times(run);
    await mapAtOnce(await begun, 8, (id) => flooding.call('DELETE', `/v1/process/jobs/${id}`));
    rows.push(row(`${job}, alone`, alone, alone), row(`${job} during ${rest} of another account`, during, alone));
  }

  const small = create(converted(picture, 'picture.png', 'webp'));
  await compare('a photograph', photo, `${floodJobs} small jobs`, flood(floodJobs, small));
  const post = () => uploaded(flooding, 'picture.png', content, 'webp');
  await compare('an uploaded photograph', upload, `${floodJobs} uploads`, flood(floodJobs, post));
  await compare('a photograph that is waited for', waited, `${heldWaits} waits`, async () => {
    const { id } = await flooding.createJob({ upload: { operation: 'import/upload' } });
    for (let wait = 0; wait < heldWaits; wait++)
      void flooding.call('GET', `/v1/process/jobs/${id}/wait`).catch(() => {});
    return [id];
  });
  const another = create(converted(shortPage, 'short.html', 'pdf'));
  await compare('a web page', page, `${webPages} web pages`, flood(webPages, another));
  const slow = () => uploaded(flooding, 'long.txt', longText, 'pdf');
  await compare('a document', document, `${slowDocuments} slow documents`, flood(slowDocuments, slow));
  report(formatTable(['', 'median', 'worst', 'median, times alone', 'worst, times alone'], rows));
}

type Tasks = Parameters<Client['createJob']>[0];

function converted(file: string, filename: string, outputFormat: string): Tasks {
  return {
    import: { operation: 'import/base64', file, filename },
    convert: { operation: 'convert', input: 'import', output_format: outputFormat },
  };
}

/** Creates a job whose file is posted, and returns its id. */
async function uploaded(client: Client, name: string, content: Buffer, outputFormat: string): Promise<string> {
  const job = await client.createJob({
    upload: { operation: 'import/upload' },
    convert: { operation: 'convert', input: 'upload', output_format: outputFormat },
  });
  const { form } = taskOf(job, 'upload').result;
  if (!form) throw new Error('The task has no form.');
  await postForm(form, name, content);
  return job.id;
}

function ended(client: Client, id: string): Promise<unknown> {
  return client.waitForJob(id, { seconds: maxSeconds, everyMs: 50 });
}

async function waitFor(client: Client, id: string): Promise<void> {
  for (let isOpen = true; isOpen; ) {
    const { status, body } = await client.call<{ endedAt: string | null }>('GET', `/v1/process/jobs/${id}/wait`);
    if (status !== 200) throw new Error(`The wait was answered with ${status}: ${JSON.stringify(body)}`);
    isOpen = body.endedAt === null;
  }
}

async function times(run: () => Promise<unknown>): Promise<number[]> {
  const taken: number[] = [];
  for (let count = 0; count < measured; count++) {
    taken.push(await timed(run));
  }
  return taken;
}

function row(name: string, taken: number[], alone: number[]): string[] {
  const worst = Math.max(...taken);
  const ratio = (ms: number) => `${(ms / median(alone)).toFixed(1)}×`;
  return [name, milliseconds(median(taken)), milliseconds(worst), ratio(median(taken)), ratio(worst)];
}
