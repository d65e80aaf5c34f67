import { workersLost } from '../../shared/lifecycle/ends.ts';
import type { TestStack } from '../events/stack.ts';
import {
  PlainSubscriber,
  SocketSubscriber,
  type Subscriber,
  untilReceived,
  untilSubscribed,
  withoutRepeats,
} from '../events/subscribers.ts';
import { findFaults, findStale, tenTasks, upload } from '../events/ten-tasks.ts';
import type { JobView } from '../support/client.ts';
import { functionOf } from '../support/running-stack.ts';
import { until } from '../support/until.ts';

export interface ChaosFigures {
  runs: number;
  kills: Record<Kind, number>;
  /** Invocations that ended with a killed process; a kill may also hit an idle one. */
  interruptions: Record<Exclude<Kind, 'socket'>, number>;
  /** Connections that clients opened again after theirs was cut. */
  reconnects: number;
  events: number;
  /** Events received twice with the same version, which clients ignore. */
  repeats: number;
  /** Repeats on a connection that was not cut: a relay died between sending and saving the cursor. */
  repeatsOfRelay: number;
  /** Jobs that failed because the workers of one task were killed too often. */
  givenUp: number;
  faults: string[];
}

type Kind = 'worker' | 'relay' | 'socket';

/** Taken in turn, so that three runs are enough to kill each kind. Few workers, since a task gives up after some kills. */
const turns: Kind[] = ['socket', 'relay', 'worker', 'relay', 'socket'];

/** Runs jobs of ten tasks concurrently, each with both kinds of client subscribed, while parts of the service are killed. */
export async function runChaos(
  stack: TestStack,
  { runs, atOnce, kill = true, seconds = 240 }: { runs: number; atOnce: number; kill?: boolean; seconds?: number },
): Promise<ChaosFigures> {
  const figures: ChaosFigures = {
    runs,
    kills: { worker: 0, relay: 0, socket: 0 },
    interruptions: { worker: 0, relay: 0 },
    reconnects: 0,
    events: 0,
    repeats: 0,
    repeatsOfRelay: 0,
    givenUp: 0,
    faults: [],
  };
  const functions = {
    worker: functionOf(stack.stack, 'functions/transfers/handler.ts'),
    relay: functionOf(stack.stack, 'functions/events/relay/relay.ts'),
  };
  let strikes = 0;

  function strike(): void {
    const kind = turns[strikes++ % turns.length] ?? 'socket';
    if (kind === 'socket') {
      const ids = stack.sockets.connectionIds();
      const chosen = ids[Math.floor(Math.random() * ids.length)];
      if (chosen === undefined) return;
      stack.sockets.cut(chosen);
    } else stack.killFunction(functions[kind]);
    figures.kills[kind] += 1;
  }

  async function run(): Promise<void> {
    const job = await stack.client.createJob(tenTasks);
    const subscribers: Subscriber[] = [new PlainSubscriber(stack), new SocketSubscriber(stack)];
    const timeout = { seconds };
    try {
      for (const subscriber of subscribers) {
        if (subscriber instanceof SocketSubscriber)
          subscriber.socket.once('connect', () => subscriber.subscribe(`job.${job.id}`));
        else subscriber.subscribe(`job.${job.id}`);
      }
      await Promise.all(subscribers.map((subscriber) => untilSubscribed(subscriber, `job.${job.id}`, timeout)));
      // A client that subscribed when the job was created has received that the import waits for the upload.
      const [first = job] = job.tasks;
      // A second channel that carries the same events must not repeat any.
      for (const subscriber of subscribers) subscriber.subscribe(`task.${first.id}`);
      await Promise.all(subscribers.map((subscriber) => untilSubscribed(subscriber, `task.${first.id}`, timeout)));
      await Promise.all(subscribers.map((subscriber) => untilReceived(subscriber, 'task_started', first.id, timeout)));
      await upload(job);
      if (kill) {
        // At once, while the job certainly runs and its clients are connected; perhaps again at any later point.
        strike();
        if (Math.random() < 0.5) setTimeout(strike, Math.random() * 1_500);
      }
      const ended = await endOf(job.id);
      if (ended.status === 'failed') {
        const reasons = ended.tasks.filter(({ result }) => result.msg === workersLost.msg);
        if (reasons.length === 0) figures.faults.push(`${job.id}: it failed although no task was given up`);
        figures.givenUp += 1;
        await Promise.all(subscribers.map(untilRight));
        return;
      }
      await Promise.all(subscribers.map((subscriber) => untilReceived(subscriber, 'job_completed', job.id, timeout)));
      for (const subscriber of subscribers) judge(subscriber, job.id);
    } catch (error) {
      const state = await stack.client.showJob(job.id);
      const received = subscribers.map(
        ({ connections, received: events }) => `${events.length} events on ${connections} connections`,
      );
      const tasks = state.tasks.map(({ name, status }) => `${name} ${status}`);
      figures.faults.push(
        `${job.id}: ${String(error)} It is ${state.status} (${tasks}); received: ${received.join('; ')}`,
      );
    } finally {
      for (const subscriber of subscribers) {
        figures.reconnects += Math.max(0, subscriber.connections - 1);
        subscriber.close();
      }
    }

    async function endOf(id: string): Promise<JobView> {
      const isOver = ({ status }: { status: string }) => status === 'completed' || status === 'failed';
      return until(
        'the job has ended',
        async () => {
          const state = await stack.client.showJob(id);
          return [state, ...state.tasks].every(isOver) ? state : undefined;
        },
        { ...timeout, everyMs: 500 },
      );
    }

    async function untilRight({ received }: Subscriber): Promise<void> {
      const state = await stack.client.showJob(job.id);
      const isLast = ({ id, status }: { id: string; status: string }) =>
        received.findLast((one) => one.id === id)?.status === status;
      await until('the last states are right', () => [state, ...state.tasks].every(isLast), timeout);
    }

    function judge(subscriber: Subscriber, id: string): void {
      const name = `${subscriber.constructor.name} of ${id}`;
      const known = withoutRepeats(subscriber.received);
      figures.events += subscriber.received.length;
      figures.repeats += subscriber.received.length - known.length;
      figures.faults.push(...findStale(subscriber.received).map((fault) => `${name}: ${fault}`));
      // A client that was disconnected missed starts that happened meanwhile, and received the current state instead.
      const wasCut = subscriber.connections > 1;
      if (!wasCut) figures.repeatsOfRelay += subscriber.received.length - known.length;
      const faults = findFaults(job, known).filter((fault) => !wasCut || !/^task_started .* never came$/.test(fault));
      figures.faults.push(...faults.map((fault) => `${name}: ${fault}`));
      const states = new Map(known.map((one) => [one.id, one.status]));
      for (const task of [...job.tasks, job])
        if (states.get(task.id) !== 'completed')
          figures.faults.push(`${name}: ${task.id} was last ${states.get(task.id)}`);
    }
  }

  const left = Array.from({ length: runs }).values();
  const lane = async () => {
    for (const _ of left) await run();
  };
  const reported = stack.reports.length;
  await Promise.all(Array.from({ length: Math.min(atOnce, runs) }, lane));
  const crashes = stack.reports.slice(reported).filter((line) => line.includes('signal: SIGKILL'));
  for (const kind of ['worker', 'relay'] as const)
    figures.interruptions[kind] = crashes.filter((line) => line.includes(functions[kind].name)).length;
  return figures;
}
