import { workersLost } from '../../shared/lifecycle/lifecycle.ts';
import type { JobView } from '../support/client.ts';
import { functionOf } from '../support/running-stack.ts';
import { until } from '../support/until.ts';
import {
  type Follower,
  PlainFollower,
  SocketFollower,
  untilFollowing,
  untilHeard,
  withoutRepeats,
} from './followers.ts';
import type { TestStack } from './stack.ts';
import { findFaults, findStale, tenTasks, upload } from './ten-tasks.ts';

export interface ChaosFigures {
  runs: number;
  kills: Record<'worker' | 'relay' | 'socket', number>;
  events: number;
  /** Events that came a second time under the same version, which clients drop by it. */
  repeats: number;
  /** Repeats on a connection that was not cut: a relay died between telling and taking note. */
  repeatsOfRelay: number;
  /** Jobs that failed since the workers of one task were killed as often as the service tries. */
  givenUp: number;
  faults: string[];
}

/** Runs jobs of ten tasks, so many at once, each followed by both kinds of client, while parts of the service are killed. */
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
    const followers: Follower[] = [new PlainFollower(stack), new SocketFollower(stack)];
    const patience = { seconds };
    try {
      for (const follower of followers) {
        if (follower instanceof SocketFollower) follower.socket.once('connect', () => follower.follow(`job.${job.id}`));
        else follower.follow(`job.${job.id}`);
      }
      await Promise.all(followers.map((follower) => untilFollowing(follower, `job.${job.id}`, patience)));
      // Following a job from its creation means to have heard that it waits for the upload.
      const [first = job] = job.tasks;
      // A second channel that carries the same must bring nothing twice.
      for (const follower of followers) follower.follow(`task.${first.id}`);
      await Promise.all(followers.map((follower) => untilFollowing(follower, `task.${first.id}`, patience)));
      await Promise.all(followers.map((follower) => untilHeard(follower, 'task_started', first.id, patience)));
      await upload(job);
      const strikes = kill ? 1 + Math.floor(Math.random() * 2) : 0;
      for (let count = 0; count < strikes; count++) setTimeout(strike, Math.random() * 1_500);
      const ended = await endOf(job.id);
      if (ended.status === 'failed') {
        const reasons = ended.tasks.filter(({ result }) => result.msg === workersLost.msg);
        if (reasons.length === 0) figures.faults.push(`${job.id}: it failed though no task was given up`);
        figures.givenUp += 1;
        await Promise.all(followers.map(untilRight));
        return;
      }
      await Promise.all(followers.map((follower) => untilHeard(follower, 'job_completed', job.id, patience)));
      for (const follower of followers) judge(follower, job.id);
    } catch (error) {
      const state = await stack.client.showJob(job.id);
      const told = followers.map(({ connections, heard }) => `${heard.length} events on ${connections} connections`);
      const tasks = state.tasks.map(({ name, status }) => `${name} ${status}`);
      figures.faults.push(`${job.id}: ${String(error)} It is ${state.status} (${tasks}); told: ${told.join('; ')}`);
    } finally {
      for (const follower of followers) follower.close();
    }

    async function endOf(id: string): Promise<JobView> {
      const isOver = ({ status }: { status: string }) => status === 'completed' || status === 'failed';
      return until(
        'the job has ended',
        async () => {
          const state = await stack.client.showJob(id);
          return [state, ...state.tasks].every(isOver) ? state : undefined;
        },
        { ...patience, everyMs: 500 },
      );
    }

    async function untilRight({ heard }: Follower): Promise<void> {
      const state = await stack.client.showJob(job.id);
      const isLast = ({ id, status }: { id: string; status: string }) =>
        heard.findLast((one) => one.id === id)?.status === status;
      await until('the last states are right', () => [state, ...state.tasks].every(isLast) || undefined, patience);
    }

    function judge(follower: Follower, id: string): void {
      const name = `${follower.constructor.name} of ${id}`;
      const known = withoutRepeats(follower.heard);
      figures.events += follower.heard.length;
      figures.repeats += follower.heard.length - known.length;
      figures.faults.push(...findStale(follower.heard).map((fault) => `${name}: ${fault}`));
      // A client that was cut off missed starts that happened meanwhile, and was shown the present state instead.
      const wasCut = follower.connections > 1;
      if (!wasCut) figures.repeatsOfRelay += follower.heard.length - known.length;
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
