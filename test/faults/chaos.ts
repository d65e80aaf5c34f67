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
  kills: Record<'worker' | 'relay' | 'socket', number>;
  events: number;
  /** Events that came a second time under the same version, which clients drop by it. */
  repeats: number;
  /** Repeats on a connection that was not cut: a relay died between sending and saving the cursor. */
  repeatsOfRelay: number;
  /** Jobs that failed since the workers of one task were killed as often as the service tries. */
  givenUp: number;
  faults: string[];
}

/** Runs jobs of ten tasks, so many at once, each with both kinds of client subscribed, while parts of the service are killed. */
export async function runChaos(
  stack: TestStack,
  { runs, atOnce, kill = true, seconds = 240 }: { runs: number; atOnce: number; kill?: boolean; seconds?: number },
): Promise<ChaosFigures> {
  const figures: ChaosFigures = {
    runs,
    kills: { worker: 0, relay: 0, socket: 0 },
    events: 0,
    repeats: 0,
    repeatsOfRelay: 0,
    givenUp: 0,
    faults: [],
  };
  const worker = functionOf(stack.stack, 'functions/transfers/handler.ts');
  const relay = functionOf(stack.stack, 'functions/events/relay/relay.ts');

  function strike(): void {
    const chance = Math.random();
    if (chance < 0.2) {
      figures.kills.worker += 1;
      stack.killFunction(worker);
    } else if (chance < 0.6) {
      figures.kills.relay += 1;
      stack.killFunction(relay);
    } else {
      const ids = stack.sockets.connectionIds();
      const chosen = ids[Math.floor(Math.random() * ids.length)];
      if (chosen !== undefined) {
        figures.kills.socket += 1;
        stack.sockets.cut(chosen);
      }
    }
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
      // Subscribing to a job from its creation means to have received that it waits for the upload.
      const [first = job] = job.tasks;
      // A second channel that carries the same must bring nothing twice.
      for (const subscriber of subscribers) subscriber.subscribe(`task.${first.id}`);
      await Promise.all(subscribers.map((subscriber) => untilSubscribed(subscriber, `task.${first.id}`, timeout)));
      await Promise.all(subscribers.map((subscriber) => untilReceived(subscriber, 'task_started', first.id, timeout)));
      await upload(job);
      const strikes = kill ? 1 + Math.floor(Math.random() * 2) : 0;
      for (let count = 0; count < strikes; count++) setTimeout(strike, Math.random() * 1_500);
      const ended = await endOf(job.id);
      if (ended.status === 'failed') {
        const reasons = ended.tasks.filter(({ result }) => result.msg === workersLost.msg);
        if (reasons.length === 0) figures.faults.push(`${job.id}: it failed though no task was given up`);
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
      for (const subscriber of subscribers) subscriber.close();
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
      await until('the last states are right', () => [state, ...state.tasks].every(isLast) || undefined, timeout);
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
  await Promise.all(Array.from({ length: Math.min(atOnce, runs) }, lane));
  return figures;
}
