import { afterAll, beforeAll, expect, test } from 'vitest';
import { Random } from '../../../packages/local-aws/src/faults/random.ts';
import type { LocalStack } from '../../../packages/local-aws/src/template/model.ts';
import { startStack, type TestStack } from '../../events/stack.ts';
import { PlainSubscriber, type Received, untilSubscribed, withoutRepeats } from '../../events/subscribers.ts';
import { findStale } from '../../events/ten-tasks.ts';
import { isBroad } from '../../support/breadth.ts';
import {
  download,
  filesOf,
  formOf,
  type JobView,
  postForm,
  type TaskDefinition,
  taskOf,
} from '../../support/client.ts';
import { until } from '../../support/until.ts';

const seed = 15;
/** `npm run test:misbehaving` and `npm run test:breadth` run all of them. */
const count = isBroad ? 20 : 8;
const atOnce = 5;
const seconds = 300;

const tasks: Record<string, TaskDefinition> = {
  import: { operation: 'import/upload' },
  convert: { operation: 'convert', input: 'import', output_format: 'webp' },
  export: { operation: 'export/url', input: 'convert' },
};
const png = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAIAAAACAQMAAABIeJ9nAAAAA1BMVEXmfiJuyYRUAAAACXBIWXMAAAPoAAAD6AG1e1JrAAAADElEQVQImWNgYGAAAAAEAAGjChXjAAAAAElFTkSuQmCC',
  'base64',
);

let stack: TestStack;
beforeAll(async () => {
  const faults = process.env.LATHE_LOCAL_FAULTS ?? `all:${seed}`;
  stack = await startStack({ LATHE_LOCAL_FAULTS: faults, LATHE_SWEEP_SECONDS: '5' }, { alter: hastenRedelivery });
});
afterAll(() => stack[Symbol.asyncDispose]());

/** Otherwise messages of a killed function stay hidden for six times its timeout, which may be more than an hour. */
function hastenRedelivery({ queueSources }: LocalStack): void {
  for (const { queue } of queueSources)
    queue.attributes.VisibilityTimeout = String(Math.min(40, Number(queue.attributes.VisibilityTimeout)));
}

interface Outcome {
  job: JobView;
  /** Whether the conversion was canceled. */
  canceled: boolean;
}

/** Runs a job to its end, and cancels its conversion after a delay, if given. */
async function run(subscriber: PlainSubscriber, cancelAfterMs: number | undefined): Promise<Outcome> {
  const created = await stack.client.createJob(tasks);
  subscriber.subscribe(`job.${created.id}`);
  await untilSubscribed(subscriber, `job.${created.id}`, { seconds });
  const { status } = await postForm(formOf(taskOf(created, 'import')), 'dot.png', png);
  expect(status).toBe(204);
  const path = `/v1/process/tasks/${taskOf(created, 'convert').id}/cancel`;
  const canceling =
    cancelAfterMs === undefined
      ? undefined
      : new Promise((resolve) => setTimeout(resolve, cancelAfterMs)).then(() => stack.client.call('POST', path));
  const response = await canceling;
  if (response) expect([200, 409]).toContain(response.status);
  // Polling the service would take most of this test's processor time.
  const isEnd = ({ id, event }: Received) => id === created.id && /_(completed|failed)$/.test(event);
  await until(`${created.id} ends`, () => subscriber.received.some(isEnd), { seconds }).catch(async (cause) => {
    const job = await stack.client.showJob(created.id);
    const received = subscriber.received.filter(({ id }) => [job, ...job.tasks].some((each) => each.id === id));
    throw new Error(JSON.stringify({ job, received, reports: stack.reports }, undefined, 1), { cause });
  });
  const job = await stack.client.waitForJob(created.id, { seconds, everyMs: 1_000 });
  return { job, canceled: response?.status === 200 };
}

async function findFaults({ job, canceled }: Outcome): Promise<string[]> {
  const states = [job, ...job.tasks].map(({ status }) => status).join(' ');
  if (canceled)
    return states === 'failed completed canceled failed' || states === 'failed failed canceled failed'
      ? []
      : [`${job.id} is ${states} after it was canceled`];
  if (states !== 'completed completed completed completed')
    return [`${job.id} is ${states}: ${JSON.stringify(job.tasks.map(({ result }) => result))}`];
  const [file, ...others] = filesOf(job, 'export');
  if (!file || others.length > 0) return [`${job.id} has ${others.length} files too many`];
  const content = await download(file.url);
  return content.subarray(8, 12).toString() === 'WEBP' ? [] : [`the output of ${job.id} is not a WebP`];
}

/**
 * Lists mistakes in the events of a job: earlier states after later ones, repeats under a new version, or a wrong end.
 */
function findWrongEvents({ job }: Outcome, received: Received[]): string[] {
  const ids = new Set([job.id, ...job.tasks.map(({ id }) => id)]);
  const own = received.filter(({ id }) => ids.has(id));
  const wrongEnds = [job, ...job.tasks].flatMap(({ id, status }) => {
    const last = withoutRepeats(own).findLast((event) => event.id === id)?.status;
    return last === status ? [] : [`${id} of ${job.id} is ${status}, but the last event said ${last}`];
  });
  return [...findStale(own), ...wrongEnds];
}

test(
  'jobs end correctly, with their events in order, under all faults and with some canceled',
  async () => {
    const random = new Random(seed);
    const subscriber = new PlainSubscriber(stack);
    const delays = Array.from({ length: count }, (_, index) =>
      index % 4 === 3 ? random.between(0, 4_000) : undefined,
    );

    const outcomes: Outcome[] = [];
    const left = delays.values();
    const lane = async () => {
      for (const delay of left) outcomes.push(await run(subscriber, delay));
    };
    // Each concurrent job starts environments, and each of those takes half a second of a core.
    await Promise.all(Array.from({ length: atOnce }, lane));

    expect((await Promise.all(outcomes.map(findFaults))).flat()).toEqual([]);
    const wrong = () => outcomes.flatMap((outcome) => findWrongEvents(outcome, subscriber.received));
    await until('all events have come', () => wrong().length === 0, { seconds }).catch(() => {});
    expect(wrong()).toEqual([]);
    subscriber.close();
  },
  3 * seconds * 1000,
);
