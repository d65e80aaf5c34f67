import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { WebSocket } from 'ws';
import { ProgressPace } from '../../functions/worker/progress-pace.ts';
import { mapAtOnce } from '../../shared/concurrency.ts';
import { newId } from '../../shared/ids.ts';
import type { Task } from '../../shared/tasks/task.ts';
import { type JobView, postForm, taskOf } from '../support/client.ts';
import { keyOfTask } from '../support/records.ts';
import { type RunningService, startService } from '../support/running-stack.ts';
import { until } from '../support/until.ts';
import { formatTable, median, milliseconds } from './table.ts';

/** Jobs started per second: what two cores can do in addition to the service's own work. */
const pace = 2;
const uploadsAtOnce = 50;
const stormTasks = 1_000;
const stormReportMs = 100;
/** Duration of a task in the storm. Tasks start at different times, and each is followed by another. */
const stormTaskMs = 3 * 60_000;

interface Spread {
  median: number;
  /** The 99th percentile. */
  slowest: number;
}

interface Delays {
  name: string;
  events: number;
  all: Spread;
  completions: Spread;
}

export interface EventsLoad {
  sockets: number;
  jobs: number;
}

/** Measures how long after a change its subscribers receive it, at rest and in a storm of progress. */
export async function benchEvents(
  { sockets, jobs }: EventsLoad = { sockets: 2_000, jobs: 200 },
  settings: Record<string, string> = {},
): Promise<Delays[]> {
  await using service = await startService(settings);
  const atRest = await measure(service, `${sockets} sockets, ${jobs} jobs, ${pace} a second`, sockets, jobs);
  const atOnce = await measure(service, 'the same, all jobs at once', sockets, jobs, Number.POSITIVE_INFINITY);
  const stormy = await inStorm(service, () =>
    measure(service, `the same, ${stormTasks} tasks report every ${stormReportMs} ms`, sockets, jobs),
  );
  console.log('\nFrom the change of a record to its subscribers\n');
  console.log(format([atRest, atOnce, stormy]));
  return [atRest, atOnce, stormy];
}

function format(rows: Delays[]): string {
  return formatTable(
    ['', 'events', 'median', '99 %', 'completions: median', '99 %'],
    rows.map(({ name, events, all, completions }) => [
      name,
      String(events),
      ...[all.median, all.slowest, completions.median, completions.slowest].map(milliseconds),
    ]),
  );
}

function spreadOf(delays: number[]): Spread {
  const sorted = delays.toSorted((left, right) => left - right);
  return { median: median(delays), slowest: sorted[Math.floor(sorted.length * 0.99)] ?? Number.NaN };
}

async function measure(
  service: RunningService,
  name: string,
  socketCount: number,
  jobCount: number,
  perSecond = pace,
): Promise<Delays> {
  const created: JobView[] = [];
  for (let count = 0; count < jobCount; count++) {
    created.push(
      await service.client.createJob({
        import: { operation: 'import/upload' },
        export: { operation: 'export/url', input: 'import' },
      }),
    );
  }
  const starts: number[] = [];
  const completions: number[] = [];
  const ended = new Map(created.map(({ id }) => [id, 0]));
  const open = await openSockets(service, socketCount, (index, socket) => {
    const job = created[index % jobCount];
    let subscribed = false;
    socket.on('message', (data) => {
      const receivedAt = Date.now();
      const { event, data: shown } = JSON.parse(data.toString());
      // Events sent on subscribing happened before.
      if (event === 'task_started' && shown.id === job?.tasks[0]?.id) subscribed = true;
      else if (subscribed && /_(?:started|completed)$/.test(event)) {
        (event.endsWith('_completed') ? completions : starts).push(receivedAt - Date.parse(shown.updatedAt));
        if (event === 'job_completed') ended.set(shown.id, (ended.get(shown.id) ?? 0) + 1);
      }
    });
    socket.send(JSON.stringify({ action: 'subscribe', channel: `job.${job?.id}` }));
    return until('the channel is subscribed', () => subscribed, { seconds: 120, everyMs: 100 });
  });
  // Separate clients would send all requests at the same time; this one sends as fast as the machine accepts them.
  await mapAtOnce(created, Number.isFinite(perSecond) ? 1 : uploadsAtOnce, async (job) => {
    const { form } = taskOf(job, 'import').result;
    if (form) await postForm(form, 'note.txt', Buffer.from('note'));
    if (Number.isFinite(perSecond)) await pause(1000 / perSecond);
  });
  const each = Math.floor(socketCount / jobCount);
  await until('all subscribers received the end', () => [...ended.values()].every((count) => count >= each), {
    seconds: 180,
  });
  for (const socket of open) socket.terminate();
  const all = [...starts, ...completions];
  return { name, events: all.length, all: spreadOf(all), completions: spreadOf(completions) };
}

async function openSockets(
  service: RunningService,
  count: number,
  begin: (index: number, socket: WebSocket) => Promise<unknown>,
): Promise<WebSocket[]> {
  const all: WebSocket[] = [];
  const indexes = Array.from({ length: count }, (_, index) => index).values();
  const lane = async () => {
    for (const index of indexes) {
      const socket = new WebSocket(`${service.url.replace('http', 'ws')}/ws`, {
        headers: { authorization: `Bearer ${service.apiKey}` },
        perMessageDeflate: false,
      });
      await once(socket, 'open');
      all.push(socket);
      await begin(index, socket);
    }
  };
  await Promise.all(Array.from({ length: 20 }, lane));
  return all;
}

/** Lets a thousand tasks report progress during a measurement, at the pace of workers. */
async function inStorm<T>(service: RunningService, work: () => Promise<T>): Promise<T> {
  const caller = await service.as('functions/transfers/handler.ts');
  const { credentials, region } = caller.client('sqs');
  const gate = new URL(service.url).port;
  Object.assign(process.env, caller.fn.environment, {
    AWS_REGION: region,
    AWS_ACCESS_KEY_ID: credentials.accessKeyId,
    AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey,
    AWS_SESSION_TOKEN: credentials.sessionToken,
    AWS_ENDPOINT_URL_DYNAMODB: `http://127.0.0.1:${gate}/_aws/dynamodb`,
    AWS_ENDPOINT_URL_SQS: `http://127.0.0.1:${gate}/_aws/sqs`,
  });
  // After setting the variables, which these modules read on load.
  const { lifecycle } = await import('../../functions/wiring/lifecycle.ts');
  const { put } = await import('../../shared/aws/table.ts');
  const user = newId();
  const tasks = Array.from({ length: stormTasks }, () => runningTask(user));
  // One by one, as a worker writes tasks.
  await mapAtOnce(tasks, 16, (task) => put({ ...keyOfTask(task.id), ...task }));
  let over = false;
  let reports = 0;
  let writes = 0;
  const runs = tasks.map(async (created, index) => {
    let task = created;
    // Each is at a different stage when the storm begins, and reports at a different moment.
    let began = Date.now() - (stormTaskMs * index) / stormTasks;
    await pause(Math.random() * 10_000);
    let progress = new ProgressPace(began);
    while (!over) {
      await pause(stormReportMs);
      reports += 1;
      const now = Date.now();
      if (now - began > stormTaskMs) {
        began = now;
        progress = new ProgressPace(began);
      }
      const percent = Math.floor(((now - began) / stormTaskMs) * 99);
      if (!progress.isDue(percent, now)) continue;
      const made = await lifecycle.apply(task.id, { type: 'progressed', attempt: 1, percent }, task);
      if (made.outcome === 'changed') task = made.task;
      progress.wrote(percent, now, Date.now());
      writes += 1;
    }
  });
  const began = Date.now();
  const result = await work();
  over = true;
  await Promise.all(runs);
  const seconds = (Date.now() - began) / 1000;
  console.log(`\nStorm: ${Math.round(reports / seconds)} reports and ${Math.round(writes / seconds)} writes a second`);
  return result;
}

function runningTask(user: string): Task {
  const now = new Date().toISOString();
  return {
    id: newId(),
    user,
    name: 'storm',
    operation: 'convert',
    status: 'processing',
    payload: {},
    dependsOn: [],
    dependents: [],
    files: [],
    attempt: 1,
    heartbeatAt: Date.now(),
    createdAt: now,
    startedAt: now,
    updatedAt: now,
    expiresAt: new Date(Date.now() + 86_400_000).toISOString(),
    version: 1,
  };
}
