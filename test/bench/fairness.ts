import { setTimeout } from 'node:timers/promises';
import { mapAtOnce } from '../../shared/concurrency.ts';
import { numberSettings } from '../../shared/settings.ts';
import { type Client, dataUri } from '../support/client.ts';
import { startService } from '../support/running-stack.ts';
import { joinService } from '../support/shared-service.ts';
import { beginFlood, converted, type Flood, picture, shortPage, type Tasks, uploaded } from './flood.ts';
import { formatTable, median, milliseconds, timed } from './table.ts';

/** Consecutive jobs of the other account, without load and during each flood. */
const measured = 12;
/** A job that takes longer aborts the measurement. */
const maxSeconds = 60;

const shortText = dataUri(Buffer.from('One line.\n'), 'text/plain');

/**
 * Measures the jobs of one account without load, and while another account has 400 small jobs, 400 uploads, 100 waits,
 * 60 web pages, or ten documents that take minutes.
 */
export async function benchFairness(report: (text: string) => void): Promise<void> {
  // The limit of waits per account is that of a deployment.
  await using service = await startService({
    LATHE_WAITS_PER_MINUTE: String(numberSettings.waitsPerMinute.defaultValue),
  });
  const [flooding, { client: other }] = [await joinService(service), await joinService(service)];
  const content = await picture();
  const photo = converted(dataUri(content, 'image/png'), 'picture.png', 'webp');
  const by = (tasks: Tasks) => () => other.runJob(tasks, { seconds: maxSeconds, everyMs: 50 });

  const rows: string[][] = [];
  /** Measures a job alone and during a flood, and deletes the rest of the flood. */
  async function compare(job: string, run: () => Promise<unknown>, rest: Flood) {
    await run();
    const alone = await times(run);
    const { ids } = await beginFlood(rest, flooding);
    const during = await times(run);
    await mapAtOnce(await ids, 8, (id) => flooding.client.call('DELETE', `/v1/process/jobs/${id}`));
    rows.push(row(`${job}, alone`, alone, alone), row(`${job} during ${rest} of another account`, during, alone));
  }

  await compare('a photograph', by(photo), '400 small jobs');
  const upload = () => uploaded(other, 'picture.png', content, 'webp').then((id) => ended(other, id));
  await compare('an uploaded photograph', upload, '400 uploads');
  const waited = async () => waitFor(other, (await other.createJob(photo)).id);
  await compare('a photograph that is waited for', waited, '100 waits');
  await compare('a web page', by(converted(shortPage, 'short.html', 'pdf')), '60 web pages');
  await compare('a document', by(converted(shortText, 'short.txt', 'pdf')), '10 slow documents');
  report(formatTable(['', 'median', 'worst', 'median, times alone', 'worst, times alone'], rows));
}

function ended(client: Client, id: string): Promise<unknown> {
  return client.waitForJob(id, { seconds: maxSeconds, everyMs: 50 });
}

/** Waits as clients do, which retry if no function is free. */
async function waitFor(client: Client, id: string): Promise<void> {
  for (let isOpen = true; isOpen; ) {
    const { status, body } = await client.call<{ endedAt: string | null }>('GET', `/v1/process/jobs/${id}/wait`);
    if (status === 503) {
      await setTimeout(200);
      continue;
    }
    if (status !== 200) throw new Error(`The wait responded with ${status}: ${JSON.stringify(body)}`);
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
