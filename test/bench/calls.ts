import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { CapacityMeter } from '../../packages/local-aws/src/dynamodb/capacity/meter.ts';
import { type Client, formOf, postForm, taskOf } from '../support/client.ts';
import { photograph } from '../support/images.ts';
import { startAlteredStack } from '../support/running-stack.ts';
import { until } from '../support/until.ts';

/** Messages are deleted after a job has ended, so its end does not mean that its calls are over. */
const quietMs = 3_000;
/** Consecutive jobs, as under load, when caches of functions save calls. */
const row = { jobs: 40, everyMs: 250 };

/** A request to AWS or from the client, in milliseconds since the job was created. */
export interface TimedCall {
  name: string;
  from: number;
  to: number;
}

export interface JobCalls {
  /** AWS calls of the functions by name, most frequent first. */
  calls: [string, number][];
  /** Calls per job in a series of jobs. */
  callsInRow: number;
  /** Write units of the table and of each index. */
  writeUnits: [string, number][];
  readUnits: number;
  /** All requests in order, including those of the client, Lambda and the engine. */
  timeline: TimedCall[];
}

/**
 * Counts and times the AWS calls of one job of an upload, a conversion and an export. Lambda's own calls, which receive
 * and delete messages, and transfers by presigned URLs and forms are not counted.
 */
export function countCalls(): Promise<JobCalls> {
  return countCallsOf(async (client, picture) => {
    await client.waitForJob(await runJob(client, picture));
  });
}

/** Counts and times the AWS calls of one conversion. */
export async function countCallsOf(convert: (client: Client, picture: Buffer) => Promise<void>): Promise<JobCalls> {
  const capacityMeter = new CapacityMeter();
  await using stack = await startAlteredStack(() => {}, {}, { capacityMeter });
  const picture = await photograph(600, 600);
  for (let warm = 0; warm < 3; warm++) await convert(stack.client, picture);
  await untilQuiet(capacityMeter);

  const before = capacityMeter.totals();
  const timeline = await timed(() => convert(stack.client, picture));
  const after = capacityMeter.totals();
  const inRow = await timed(async () => {
    for (let count = 0; count < row.jobs; count++) {
      await convert(stack.client, picture);
      await pause(row.everyMs);
    }
  });

  const counted = Object.groupBy(
    timeline.filter(({ counts }) => counts),
    ({ name }) => name,
  );
  const units = (kind: 'read' | 'write') =>
    after.flatMap((total): [string, number][] => {
      const former = before.find((one) => one.kind === kind && one.table === total.table && one.index === total.index);
      return total.kind === kind ? [[total.index ?? 'table', total.units - (former?.units ?? 0)]] : [];
    });
  return {
    calls: Object.entries(counted)
      .map(([name, calls = []]): [string, number] => [name, calls.length])
      .sort(([, left], [, right]) => right - left),
    callsInRow: inRow.filter(({ counts }) => counts).length / row.jobs,
    writeUnits: units('write'),
    readUnits: units('read').reduce((sum, [, count]) => sum + count, 0),
    timeline: timeline.filter(({ name }) => !name.endsWith('ReceiveMessage') && !name.includes('invocation/next')),
  };
}

/** Returns all requests to this process until the work and its consequences are over. */
async function timed(work: () => Promise<unknown>): Promise<(TimedCall & { counts: boolean })[]> {
  const timeline: (TimedCall & { counts: boolean })[] = [];
  const open = new Map<IncomingMessage, TimedCall>();
  const start = performance.now();
  let latest = Date.now();
  const began = (message: unknown) => {
    const { request } = message as { request: IncomingMessage };
    const call = { ...nameOf(request), from: performance.now() - start, to: Number.NaN };
    open.set(request, call);
    timeline.push(call);
    latest = Date.now();
  };
  const ended = (message: unknown) => {
    const { request } = message as { request: IncomingMessage; response: ServerResponse };
    const call = open.get(request);
    if (call) call.to = performance.now() - start;
    open.delete(request);
  };
  subscribe('http.server.request.start', began);
  subscribe('http.server.response.finish', ended);
  await work();
  await until('the calls have ceased', () => Date.now() > latest + quietMs);
  unsubscribe('http.server.request.start', began);
  unsubscribe('http.server.response.finish', ended);
  return timeline;
}

async function runJob(client: Client, picture: Uint8Array): Promise<string> {
  const job = await client.createJob({
    upload: { operation: 'import/upload' },
    convert: { operation: 'convert', input: 'upload', output_format: 'webp' },
    export: { operation: 'export/url', input: 'convert' },
  });
  await postForm(formOf(taskOf(job, 'upload')), 'picture.png', picture);
  return job.id;
}

async function untilQuiet(meter: CapacityMeter): Promise<void> {
  const sum = () => meter.totals().reduce((total, { units }) => total + units, 0);
  let seen = sum();
  let since = Date.now();
  await until('nothing is written any more', () => {
    if (sum() !== seen) since = Date.now();
    seen = sum();
    return Date.now() > since + quietMs;
  });
}

/** Names a request, and returns whether a function made it. */
function nameOf(request: IncomingMessage): { name: string; counts: boolean } {
  const { pathname, searchParams } = new URL(request.url ?? '', 'http://local');
  const [, , service = ''] = pathname.split('/');
  if (!pathname.startsWith('/_aws/')) return { name: `${request.method} ${shortened(pathname)}`, counts: false };
  const target = request.headers['x-amz-target'];
  const action = typeof target === 'string' ? (target.split('.')[1] ?? '') : (request.method ?? '');
  const isTransfer = searchParams.has('X-Amz-Signature') || (action === 'POST' && service === 's3');
  const isLambdas = action === 'ReceiveMessage' || action === 'DeleteMessageBatch';
  return { name: `${service} ${action}${isTransfer ? ' (presigned)' : ''}`, counts: !isTransfer && !isLambdas };
}

function shortened(path: string): string {
  return path.replaceAll(/[0-9a-f-]{24,}/g, '…');
}
