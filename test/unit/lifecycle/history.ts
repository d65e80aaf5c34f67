import { planTasks, type TaskRequest, withFile } from '../../../functions/api/creation/plan.ts';
import { Catalogue } from '../../../shared/catalogue/catalogue.ts';
import type { Job } from '../../../shared/jobs/job.ts';
import { workersLost } from '../../../shared/lifecycle/ends.ts';
import { takenBy } from '../../../shared/tasks/charges.ts';
import { extendedMeter } from '../../../shared/tasks/meter.ts';
import { hasEnded, isLastOfJob, type Task, type TaskStatus } from '../../../shared/tasks/task.ts';
import { heartbeatWindowMs } from '../../../shared/tasks/transitions.ts';
import {
  type Change,
  type Faults,
  fileOf,
  type Gate,
  Interleaving,
  MemoryService,
  type Process,
} from './memory-records.ts';

/** How a task without inputs gets its file; a task with inputs is always done by a worker. */
export type Source = 'upload' | 'inline' | 'worker';

/** A task of a random graph; each input is the position of an earlier node, taken modulo how many there are. */
export interface Node {
  source: Source;
  inputs: number[];
}

/** How a worker ends: it may also give its task back, before it has claimed it or after. */
export type Outcome = 'complete' | 'fail' | 'vanish' | 'postpone' | 'return';

export type Action = Faults &
  (
    | { kind: 'work'; pick: number; outcome: Outcome; beats: number; lost: boolean; ms?: number }
    | { kind: 'cancel' | 'delete' | 'upload' | 'redeliver' | 'deadLetter'; pick: number }
    | { kind: 'deleteJob' | 'sweep' }
    | { kind: 'advance'; seconds: number }
  );

export interface History {
  /** Tasks of earlier requests, each created alone. */
  outside: Node[];
  /** Tasks of one request: a job, or again each alone. */
  inside: Node[];
  asJob: boolean;
  /** Whether there are subscribers to more than the ends of jobs. */
  hasSubscribers: boolean;
  /** Whether the function that completes the inputs of a task also performs the task. */
  performs: boolean;
  /** Whether dependents stand before their inputs in the request. */
  reversed: boolean;
  /** The engine time in milliseconds that workers may use in a month; unlimited if absent. */
  allowance?: number | undefined;
  /** What goes wrong while the request is created. */
  creation: Faults;
  actions: Action[];
  /** Which of the waiting calls, or the next action, comes next; in order when there are no more. */
  choices: ArrayLike<number>;
}

const start = Date.UTC(2026, 0, 1);
const noEngines = new Catalogue([]);

/** The spec's table of task states, written down again: from which status to which others a record may go. */
const taskMoves: Record<TaskStatus, readonly TaskStatus[]> = {
  // Completed if the function that completed the inputs performed it.
  created: ['processing', 'completed', 'canceled', 'failed', 'deleted'],
  processing: ['completed', 'canceled', 'failed', 'deleted'],
  completed: ['deleted'],
  canceled: ['deleted'],
  failed: ['deleted'],
  deleted: [],
};

const jobMoves: Record<Job['status'], readonly Job['status'][]> = {
  created: ['processing', 'completed', 'failed', 'deleted'],
  processing: ['completed', 'failed', 'deleted'],
  completed: ['deleted'],
  failed: ['deleted'],
  deleted: [],
};

/** Watches every change of every record and remembers what each task has been. */
class Witness {
  readonly been = new Map<string, Set<TaskStatus>>();
  /** What each task takes of its account's engine time, also after it was removed. */
  readonly taken = new Map<string, number>();
  readonly used = new Map<string, number>();
  readonly committed = new Set<string>();
  readonly tasks = new Map<string, Task>();

  hasBeen(id: string, status: TaskStatus): boolean {
    return this.been.get(id)?.has(status) ?? false;
  }

  taskChanged({ before, after }: Change<Task>): void {
    if (!after) {
      ensure(
        !before || before.status === 'deleted' || (before.job !== undefined && !this.committed.has(before.job)),
        `the record of a ${before?.status} task was removed`,
      );
      return;
    }
    this.tasks.set(after.id, after);
    this.taken.set(after.id, takenBy(after));
    if (after.meter?.usedMs !== undefined) {
      ensure((this.used.get(after.id) ?? after.meter.usedMs) === after.meter.usedMs, 'what a task has used changed');
      this.used.set(after.id, after.meter.usedMs);
    }
    const been = this.been.get(after.id);
    if (been) been.add(after.status);
    else this.been.set(after.id, new Set([after.status]));
    ensure(hasEnded(after) === (after.endedAt !== undefined), `endedAt is wrong for ${after.status}`);
    ensure(
      hasEnded(after) || after.job !== undefined || after.dueAt !== undefined,
      'nothing would wake a task that has not ended',
    );
    if (!before) return;
    ensure(after.version > before.version, 'a write did not raise the version');
    ensure(before.endedAt === undefined || before.endedAt === after.endedAt, 'endedAt changed');
    ensure(before.startedAt === undefined || before.startedAt === after.startedAt, 'startedAt changed');
    if (before.status !== after.status) {
      ensure(taskMoves[before.status].includes(after.status), `a task went from ${before.status} to ${after.status}`);
      if (hasEnded(after)) ensure(!after.form, 'a form outlived its task');
    }
    if (after.status === 'processing') {
      ensure(after.startedAt !== undefined, 'a task is processing and has no startedAt');
      for (const input of after.dependsOn)
        ensure(this.hasBeen(input, 'completed'), 'a task started before its input completed');
    }
    if (after.status === 'completed') {
      if (before.status !== 'completed')
        ensure(
          after.files.every(({ key }) => key === `files/${after.id}/${after.attempt}/0`),
          "a task has another attempt's files",
        );
      else ensure(after.files === before.files, 'the files of a completed task changed');
    }
  }

  jobChanged({ before, after }: Change<Job>): void {
    if (!after) {
      ensure(before?.status === 'deleted', `the record of a ${before?.status} job was removed`);
      return;
    }
    this.committed.add(after.id);
    ensure(
      after.endedAt === undefined || after.status === 'deleted' || this.#openOf(after).length === 0,
      'a job has ended before its tasks',
    );
    ensure(!isOpen(after) || after.dueAt !== undefined, 'nothing would wake the tasks of a job that has not ended');
    if (!before || before.status === after.status) return;
    ensure(jobMoves[before.status].includes(after.status), `a job went from ${before.status} to ${after.status}`);
    if (after.status === 'completed')
      ensure(
        after.tasks.every((id) => this.hasBeen(id, 'completed')),
        'a job completed before its tasks did',
      );
    if (after.status === 'failed') this.#checkReason(after);
  }

  #openOf({ tasks }: Job): Task[] {
    return tasks.flatMap((id) => this.tasks.get(id) ?? []).filter((task) => !hasEnded(task));
  }

  #checkReason(job: Job): void {
    const { failure, tasks } = job;
    const id = /\(([0-9a-f]{24})\)/.exec(failure?.msg ?? '')?.[1] ?? '';
    ensure(tasks.includes(id), 'the message of a failed job names none of its tasks');
    ensure(
      failure !== undefined && this.hasBeen(id, statusOfCode[failure.errorCode]),
      `a job failed with ${failure?.errorCode}, which its task never did`,
    );
    // A task that failed because of its input is not why the job failed: the input is, if it is of the same job.
    const cause = /failed: The input task "[^"]*" \(([0-9a-f]{24})\)/.exec(failure.msg)?.[1];
    ensure(cause === undefined || !tasks.includes(cause), 'a job blames a task that failed because of another one');
    const isBad = (input: string) => badEnds.some((status) => this.hasBeen(input, status));
    ensure(
      !this.#openOf(job).some(({ dependsOn }) => dependsOn.includes(id) && isBad(id)),
      'a job failed before a dependent of its cause',
    );
  }
}

/** Checks that nothing is lost, counted twice or overdrawn of an account's engine time. */
function checkCharges({ charged, usedMs }: MemoryService, { taken, used }: Witness, allowance = 0): void {
  const sum = (amounts: Iterable<number>) => [...amounts].reduce((total, amount) => total + amount, 0);
  ensure(sum(charged.values()) === sum(taken.values()), 'what is charged is not what tasks have taken');
  ensure(usedMs === sum(used.values()), 'the usage is not what tasks have used');
  // Histories end within a month.
  ensure(sum(charged.values()) <= allowance, 'the allowance is overdrawn');
}

const badEnds = ['failed', 'canceled', 'deleted'] as const;
const statusOfCode = { task_failed: 'failed', task_canceled: 'canceled', task_deleted: 'deleted' } as const;

function isOpen({ status }: Job): boolean {
  return status === 'created' || status === 'processing';
}

function ensure(condition: boolean, problem: string): asserts condition {
  if (!condition) throw new Error(problem);
}

/** Runs a history and then lets everything come to rest; throws at the first thing that should never be. */
export async function run(history: History): Promise<void> {
  const { service, witness } = await play(history);
  await comeToRest(service, witness);
}

/** Runs a history without faults and lets the workers finish; throws if anything then waits for the sweep. */
export async function runPromptly(history: History): Promise<void> {
  const { service, witness } = await play(history);
  await workOff(service);
  checkNothingIsStuck(service, witness);
  for (const task of service.tasks.values())
    ensure(!hasEnded(task) || task.dueAt === undefined, 'what follows from an end waits for the sweep');
  for (const job of service.jobs.values()) {
    const openTasks = job.tasks
      .flatMap((id) => service.tasks.get(id) ?? [])
      .filter((task) => isLastOfJob(task) && !hasEnded(task));
    ensure(job.status !== 'deleted', 'a deleted job waits for the sweep');
    ensure(job.open.length === openTasks.length, 'a job does not know which of its tasks have ended');
    ensure(job.open.length > 0 || !isOpen(job), `a job stays ${job.status}`);
    const isOver = job.tasks.every((id) => hasEnded(service.tasks.get(id) ?? { status: 'deleted' }));
    ensure((job.endedAt !== undefined) === isOver, 'a job does not end with the last of its tasks');
    ensure(job.status !== 'completed' || job.dueAt === undefined, 'a completed job waits for the sweep');
  }
}

async function play(history: History): Promise<{ service: MemoryService; witness: Witness }> {
  const witness = new Witness();
  const sent: string[] = [];
  const service: MemoryService = new MemoryService(start, {
    taskChanged: (change) => {
      witness.taskChanged(change);
      checkCharges(service, witness, history.allowance);
    },
    jobChanged: (change) => witness.jobChanged(change),
    enqueued: (id) => {
      sent.push(id);
      for (const input of service.tasks.get(id)?.dependsOn ?? [])
        ensure(witness.hasBeen(input, 'completed'), 'a task was queued before its input completed');
    },
  });
  service.hasSubscribers = history.hasSubscribers;
  // What is done in place takes no engine.
  service.performs = history.performs && history.allowance === undefined;
  const { requests, ids, job } = plan(history);
  if (history.allowance !== undefined) meterWorkers(requests, history.allowance);
  for (const { request } of requests)
    for (const task of request.tasks) if (task.hasSecrets) service.secretsOf.add(task.id);
  await interleave(history, service, requests, { ids, job, sent, requests: [] });
  return { service, witness };
}

/** Gives the tasks of workers meters, as those of engines have. */
function meterWorkers(requests: Planned['requests'], allowance: number): void {
  for (const { request } of requests)
    for (const task of request.tasks)
      if (task.operation === operationOf.worker) task.meter = { limits: { account: allowance, task: allowance / 2 } };
}

type Request = ReturnType<typeof planRequest>;

interface Planned {
  requests: { request: Request; faults: Faults }[];
  ids: string[];
  job: string | undefined;
}

function plan(history: History): Planned {
  const earlier: Task[] = [];
  const alone = history.asJob ? history.outside : [...history.outside, ...history.inside];
  const requests = alone.map((node, index) => {
    const inputs = earlier.map(({ id }) => id);
    const request = planRequest([toRequest(node, `single${index}`, inputs)], earlier);
    earlier.push(...request.tasks);
    return { request, faults: index === alone.length - 1 && !history.asJob ? history.creation : {} };
  });
  const ids = earlier.map(({ id }) => id);
  if (!history.asJob) return { requests, ids, job: undefined };
  const names = history.inside.map((_, index) => `task${index}`);
  const named = history.inside.map((node, index) =>
    toRequest(node, `task${index}`, [...ids, ...names.slice(0, index)]),
  );
  const request = planRequest(history.reversed ? named.toReversed() : named, earlier, {});
  requests.push({ request, faults: history.creation });
  return { requests, ids: [...ids, ...request.tasks.map(({ id }) => id)], job: request.job?.id };
}

function toRequest(node: Node, name: string, earlier: string[]): TaskRequest {
  const inputs = earlier.length === 0 ? [] : node.inputs.map((input) => earlier[input % earlier.length] ?? '');
  const source = inputs.length > 0 ? 'worker' : node.source;
  return {
    name,
    operation: operationOf[source],
    inputs,
    parameters: {},
    secrets: source === 'worker' ? { password: 'secret' } : {},
    unknownFields: [],
    path: name,
  };
}

const operationOf = { worker: 'export/url', upload: 'import/upload', inline: 'import/base64' } as const;

function planRequest(requests: TaskRequest[], earlier: Task[], job?: { tag?: string }) {
  const planned = planTasks(requests, {
    user: 'user',
    now: start,
    recordSeconds: 86_400,
    uploadSeconds: 3_600,
    catalogue: noEngines,
    outside: new Map(earlier.map((task) => [task.id, task])),
    ...(job ? { job } : {}),
  });
  ensure('plan' in planned, 'a valid graph was refused');
  let ready = {
    ...planned.plan,
    tasks: planned.plan.tasks.map((task) =>
      task.operation === 'import/upload' ? { ...task, form: { url: 'http://form', parameters: {} } } : task,
    ),
  };
  for (const task of ready.tasks)
    if (task.operation === 'import/base64') ready = withFile(ready, task.id, fileOf(task.id, 0), start);
  return ready;
}

interface Known {
  ids: string[];
  job: string | undefined;
  sent: string[];
  requests: { process: Process; startedAt: number }[];
}

/** A function of the API is ended after this time, so no request is half written for longer. */
const apiLimitMs = 30_000;

async function interleave(
  history: History,
  service: MemoryService,
  requests: { request: Request; faults: Faults }[],
  known: Known,
): Promise<void> {
  const interleaving = new Interleaving();
  const { choices } = history;
  const scripted = [
    ...requests.map(({ request, faults }) => () => {
      const process = interleaving.start('create', (gate) => service.lifecycle(gate).create(request), faults);
      known.requests.push({ process, startedAt: service.now });
    }),
    ...history.actions.map((action) => () => act(action, service, interleaving, known)),
  ];
  let next = 0;
  for (let turn = 0; ; turn++) {
    await interleaving.settle();
    const { waiting } = interleaving;
    const possible = waiting + (next < scripted.length ? 1 : 0);
    if (possible === 0) return;
    const choice = turn < choices.length ? (choices[turn] ?? 0) % possible : 0;
    if (choice < waiting) interleaving.step(choice);
    else scripted[next++]?.();
  }
}

function act(action: Action, service: MemoryService, interleaving: Interleaving, known: Known): void {
  const { ids, job, sent, requests } = known;
  const begin = (work: (lifecycle: ReturnType<MemoryService['lifecycle']>) => Promise<unknown>) =>
    interleaving.start(action.kind, (gate) => work(service.lifecycle(gate)), action);
  const id = 'pick' in action ? (ids[action.pick % ids.length] ?? '') : '';
  const task = service.tasks.get(id);
  // No list shows a task before its job is written, so no client knows of it.
  const picked = task && (!task.job || service.jobs.has(task.job)) ? id : '';
  switch (action.kind) {
    case 'work': {
      const [message] = service.queue.splice(action.pick % Math.max(1, service.queue.length), 1);
      if (message) interleaving.start('work', (gate) => work(service, gate, message, action), action);
      return;
    }
    case 'cancel':
      begin((lifecycle) => lifecycle.apply(picked, { type: 'canceled' }));
      return;
    case 'delete':
      begin((lifecycle) => lifecycle.apply(picked, { type: 'deleted' }));
      return;
    case 'upload':
      if (isUpload(service, picked)) interleaving.start('upload', (gate) => upload(service, gate, picked), action);
      return;
    case 'redeliver': {
      const again = sent[action.pick % Math.max(1, sent.length)];
      if (again) service.queue.push(again);
      return;
    }
    case 'deadLetter': {
      const [message] = service.queue.splice(action.pick % Math.max(1, service.queue.length), 1);
      if (message) interleaving.start('deadLetter', (gate) => giveUp(service, gate, message), action);
      return;
    }
    case 'deleteJob':
      if (job) begin((lifecycle) => lifecycle.deleteJob(job));
      return;
    case 'sweep':
      interleaving.start('sweep', (gate) => service.sweep(gate), action);
      return;
    case 'advance':
      service.now += action.seconds * 1000;
      for (const { process, startedAt } of requests) if (service.now - startedAt > apiLimitMs) process.dead = true;
  }
}

function isUpload(service: MemoryService, id: string): boolean {
  return service.tasks.get(id)?.operation === 'import/upload';
}

/** Does what the handler of an engine's queue does with a message; a message that fails comes back unless it is lost. */
async function work(
  service: MemoryService,
  gate: Gate,
  id: string,
  { outcome, beats, lost, ms = 1_000 }: Pick<Extract<Action, { kind: 'work' }>, 'outcome' | 'beats' | 'lost' | 'ms'>,
): Promise<void> {
  const lifecycle = service.lifecycle(gate, { isWorker: true });
  try {
    const near = service.tasks.get(id);
    const decision = await lifecycle.start(id, {
      near: near ? [...near.dependsOn, ...near.dependents] : [],
      ...(outcome === 'postpone' ? { share: 0 } : {}),
    });
    const later = { delaySeconds: 2, queuedAt: service.now };
    if (decision.outcome === 'postponed') await lifecycle.giveBack('transfer', decision.task, later);
    if (!('group' in decision)) return;
    let known = decision.task;
    const { group } = decision;
    const { attempt } = known;
    for (let beat = 0; beat < beats; beat++) {
      const meter = extendedMeter(known.meter, service.now);
      const progressed = { type: 'progressed', attempt, percent: beat * 10, ...(meter ? { meter } : {}) } as const;
      const kept = await lifecycle.apply(id, progressed, known);
      if (kept.outcome !== 'changed') return;
      known = kept.task;
    }
    const files = [fileOf(id, attempt)];
    const engine = { ms };
    if (outcome === 'complete') await lifecycle.apply(id, { type: 'completed', attempt, files, engine }, known, group);
    if (outcome === 'fail')
      await lifecycle.apply(id, {
        type: 'failed',
        attempt,
        failure: { errorCode: 'processing_failed', msg: 'The file is damaged.' },
        engine,
      });
    if (outcome === 'return') await lifecycle.giveBack('transfer', known, later, attempt);
    if (outcome === 'vanish' && !lost) service.queue.push(id);
  } catch (error) {
    if (!lost) service.queue.push(id);
    throw error;
  }
}

async function upload(service: MemoryService, gate: Gate, id: string): Promise<void> {
  const lifecycle = service.lifecycle(gate);
  const known = await service.records(gate).task(id);
  const { outcome } = await lifecycle.apply(id, { type: 'uploaded', file: fileOf(id, 0) }, known);
  if (outcome === 'refused') await lifecycle.settleAgain(id);
}

async function giveUp(service: MemoryService, gate: Gate, id: string): Promise<void> {
  const lifecycle = service.lifecycle(gate);
  const task = await service.records(gate).task(id);
  if (!task) return;
  if (hasEnded(task)) await lifecycle.settle(task);
  else if (task.status !== 'processing' || (task.heartbeatAt ?? 0) + heartbeatWindowMs <= service.now)
    await lifecycle.apply(id, { type: 'expired', failure: workersLost });
}

const noFault: Gate = () => Promise.resolve();
const maxTimeoutMs = 16 * 60_000;

/** Lets the sweep and then honest workers run without faults, and checks what must hold once nothing moves any more. */
async function comeToRest(service: MemoryService, witness: Witness): Promise<void> {
  // Once for what was lost, once for what that brought about, once for the debts of that.
  for (let round = 0; round < 3; round++) {
    service.now += maxTimeoutMs;
    await service.sweep();
  }
  checkNothingIsStuck(service, witness);
  for (let round = 0; ; round++) {
    ensure(round < 100, 'the service does not come to rest');
    await workOff(service);
    const owed = [...service.tasks.values(), ...service.jobs.values()].flatMap(({ dueAt }) => dueAt ?? []);
    if (owed.length === 0) break;
    service.now = Math.max(service.now, Math.min(...owed));
    await service.sweep();
  }
  checkEnds(service, witness);
}

async function workOff(service: MemoryService): Promise<void> {
  for (let message = service.queue.shift(); message; message = service.queue.shift())
    await work(service, noFault, message, { outcome: 'complete', beats: 0, lost: false });
}

/** Returns the tasks that were confirmed to a client. Those of a job that was never written expire unseen. */
function answeredTasks(service: MemoryService, witness: Witness): Task[] {
  return [...service.tasks.values()].filter(({ job }) => job === undefined || witness.committed.has(job));
}

function checkNothingIsStuck(service: MemoryService, witness: Witness): void {
  const queued = new Set(service.queue);
  for (const task of answeredTasks(service, witness)) {
    ensure(task.status !== 'deleted', 'a deleted task is still there');
    if (hasEnded(task) || (task.status === 'processing' && task.form)) continue;
    const inputs = task.dependsOn.map((id) => service.tasks.get(id));
    if (inputs.every((input) => input?.status === 'completed'))
      ensure(queued.has(task.id) || task.heartbeatAt !== undefined, 'a task that could run is in no queue');
    for (const input of inputs) {
      ensure(
        task.status === 'processing' || (input !== undefined && (!hasEnded(input) || input.status === 'completed')),
        'a task waits for an input that has ended badly',
      );
      ensure(
        !input || hasEnded(input) || input.dependents.includes(task.id),
        'a task waits for an input that does not know it',
      );
    }
  }
}

function checkEnds(service: MemoryService, witness: Witness): void {
  const answered = answeredTasks(service, witness);
  for (const task of answered)
    ensure(hasEnded(task) && task.status !== 'deleted', `a task is ${task.status} at the end`);
  for (const [id, been] of witness.been)
    ensure(!been.has('deleted') || !service.tasks.has(id), 'a deleted task is still there');
  for (const { id } of answered) ensure(!service.secretsOf.has(id), 'the secrets of a task outlived it');
  for (const [id, been] of witness.been)
    ensure(!been.has('deleted') || !service.secretsOf.has(id), 'the secrets of a deleted task outlived it');
  for (const task of answered) ensure(task.meter?.reservedMs === undefined, 'an ended task has engine time set aside');
  const endsPublished = checkTelling(service);
  for (const job of service.jobs.values()) {
    ensure(endsPublished.has(job.id), 'the end of a job was never published');
    for (const id of service.hasSubscribers ? job.tasks : [])
      ensure(endsPublished.has(id) || !service.tasks.has(id), 'the end of a task was never published');
    const badly = job.tasks.some((id) => badEnds.some((status) => witness.hasBeen(id, status)));
    const well = job.tasks.every((id) => witness.hasBeen(id, 'completed'));
    ensure(job.open.length === 0, 'a job has open tasks although all have ended');
    ensure(job.status === 'completed' || job.status === 'failed', `a job is ${job.status} at the end`);
    if (job.status === 'completed') ensure(well, 'a job completed although not all of its tasks did');
    else ensure(badly, 'a job failed although none of its tasks ended badly');
  }
}

/** Checks the order in which a job and its tasks were published. Returns those whose end was published. */
function checkTelling({ published, hasSubscribers }: MemoryService): Set<string> {
  const ended = new Set<string>();
  for (const change of published) {
    if ('job' in change) {
      if (!change.events.includes('ended')) continue;
      if (change.job.status === 'completed' && hasSubscribers)
        ensure(
          change.job.tasks.every((id) => ended.has(id)),
          'a job was published as completed before all of its tasks were published as ended',
        );
      ended.add(change.job.id);
      continue;
    }
    const { task } = change;
    if (hasEnded(task)) ended.add(task.id);
    else if (task.status === 'processing' && task.job)
      for (const id of task.dependsOn)
        ensure(
          ended.has(id) ||
            !published.some((other) => 'task' in other && other.task.id === id && other.task.job === task.job),
          'a task was published as started before its input was published as ended',
        );
  }
  return ended;
}
