import { mapAtOnce } from '../../shared/concurrency.ts';
import { type Client, dataUri, postForm, taskOf } from '../support/client.ts';
import { photograph } from '../support/images.ts';
import { startService } from '../support/running-stack.ts';
import { joinService } from '../support/shared-service.ts';
import { formatTable, median, milliseconds, timed } from './table.ts';

const floodJobs = 400;
const slowDocuments = 10;
/** Jobs that the other account runs one after the other, quiet and during each flood. */
const measured = 12;
/** A job that takes longer is not waited for, and ends the measurement. */
const maxSeconds = 60;
/** Requests that the flooding account sends at a time. */
const creating = 50;

/** LibreOffice lays out some 5,000 pages of it, which takes about a minute of one core. */
const longText = Buffer.from('One line of many.\n'.repeat(300_000));
const shortText = dataUri(Buffer.from('One line.\n'), 'text/plain');

/**
 * Measures how long the jobs of one account take while nobody else works, while another account has 400 small jobs, and while
 * it has ten documents that take minutes.
 */
export async function benchFairness(report: (text: string) => void): Promise<void> {
  await using service = await startService();
  const [{ client: flooding }, { client: other }] = [await joinService(service), await joinService(service)];
  const picture = dataUri(await photograph(600, 600), 'image/png');
  const photo = () => other.runJob(photoTasks(picture), { seconds: maxSeconds, everyMs: 50 });
  const document = () => other.runJob(documentTasks, { seconds: maxSeconds, everyMs: 50 });
  await photo();
  await document();
  const quiet = { photo: await times(photo), document: await times(document) };
  const flood = mapAtOnce(Array.from({ length: floodJobs }), creating, () => flooding.createJob(photoTasks(picture)));
  const duringFlood = await times(photo);
  await mapAtOnce(await flood, 4, ({ id }) => flooding.waitForJob(id, { seconds: 300 }));
  const slow = await mapAtOnce(Array.from({ length: slowDocuments }), 4, () => startSlowDocument(flooding));
  const duringSlow = await times(document);
  for (const id of slow) await flooding.call('DELETE', `/v1/process/jobs/${id}`);
  report(
    formatTable(
      ['', 'median', 'worst', 'median, times quiet', 'worst, times quiet'],
      [
        row('a photograph, quiet', quiet.photo, quiet.photo),
        row(`a photograph during ${floodJobs} small jobs of another account`, duringFlood, quiet.photo),
        row('a document, quiet', quiet.document, quiet.document),
        row(`a document during ${slowDocuments} slow documents of another account`, duringSlow, quiet.document),
      ],
    ),
  );
}

function photoTasks(file: string) {
  return {
    import: { operation: 'import/base64', file, filename: 'picture.png' },
    convert: { operation: 'convert', input: 'import', output_format: 'webp' },
  };
}

const documentTasks = {
  import: { operation: 'import/base64', file: shortText, filename: 'short.txt' },
  convert: { operation: 'convert', input: 'import', output_format: 'pdf' },
};

async function startSlowDocument(client: Client): Promise<string> {
  const job = await client.createJob({
    upload: { operation: 'import/upload' },
    convert: { operation: 'convert', input: 'upload', output_format: 'pdf' },
  });
  const { form } = taskOf(job, 'upload').result;
  if (!form) throw new Error('The task has no form.');
  await postForm(form, 'long.txt', longText);
  return job.id;
}

async function times(run: () => Promise<unknown>): Promise<number[]> {
  const taken: number[] = [];
  for (let count = 0; count < measured; count++) {
    taken.push(await timed(() => run().catch(() => undefined)));
    if ((taken.at(-1) ?? 0) >= maxSeconds * 1_000) break;
  }
  return taken;
}

function row(name: string, taken: number[], quiet: number[]): string[] {
  const worst = Math.max(...taken);
  const ratio = (ms: number) => `${(ms / median(quiet)).toFixed(1)}×`;
  return [name, milliseconds(median(taken)), milliseconds(worst), ratio(median(taken)), ratio(worst)];
}
