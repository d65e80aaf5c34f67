import type { Job, JobEventType } from '../jobs/job.ts';
import type { LongRuns } from '../tasks/long-runs.ts';
import type { StoredFile, Task, TaskFailure } from '../tasks/task.ts';
import type { Decision } from '../tasks/transitions.ts';
import type { NoChange } from './change-record.ts';

/** A job and tasks of it, or a task without a job: all of them, or what was asked for. */
export interface Group {
  job?: Job;
  tasks: Task[];
  /** The long runs of the account on the engine, if an account was given. */
  longRuns?: LongRuns;
}

/** Whose tasks a worker starts, and on which engine. */
export interface WorkerAccount {
  user: string;
  engine: string;
}

/** When a task that was given back is delivered again, and since when it has been waiting. */
export interface Later {
  delaySeconds: number;
  /** In milliseconds. */
  queuedAt: number;
}

/**
 * What the lifecycle needs of the records: atomic changes of single records. What a change of a task charges to its account is
 * written together with it.
 */
export interface LifecycleRecords {
  task(id: string): Promise<Task | undefined>;
  tasks(ids: string[]): Promise<Task[]>;
  /** Reads the whole group of a task or job. */
  group(id: string): Promise<Group>;
  /**
   * Reads the job of a task, if it has one, and some tasks, which may be of other groups, at once; for a worker also whether
   * anybody listens to what is published of them, and the account's long runs.
   */
  groupPart(id: string, tasks: string[], account?: WorkerAccount): Promise<Group>;
  createTasks(tasks: Task[]): Promise<void>;
  /** A known record saves the read before the write where it is still current. */
  changeTask(id: string, decision: (task: Task) => Decision, known?: Task): Promise<Decision | NoChange>;
  /** Adds to X's dependents and returns X as it is after that, so that one of the two sides always sees the other. */
  addDependent(id: string, dependent: string): Promise<Task | undefined>;
  deleteTask(task: Task): Promise<void>;
  job(id: string): Promise<Job | undefined>;
  createJob(job: Job): Promise<void>;
  changeJob(id: string, decision: (job: Job) => Job | undefined, known?: Job): Promise<Job | undefined>;
  /** Removes a task from its job's open set, and returns the job as it is after that unless more of its part are open. */
  closeTask(task: Task): Promise<Job | undefined>;
  /** Removes events from a job's outbox, and with the last of a completed job the time at which the sweep would look at it. */
  markPublished(job: Job, events: JobEventType[]): Promise<void>;
  /** Sets when the sweep looks at a group again; undefined takes effect only where its head is still as it was read. */
  reschedule(head: Task | Job, dueAt: number | undefined, now: number): Promise<void>;
  deleteJob(id: string): Promise<void>;
}

/** A record as it is after a change that is published. */
export type Change = { task: Task } | { job: Job; events: JobEventType[] };

export interface LifecycleParts {
  records: LifecycleRecords;
  /** Hands a task to the workers of an engine. At least once; a worker takes a task only once. */
  enqueue(engine: string, task: Task, later?: Later): Promise<void>;
  deleteFiles(task: Task): Promise<void>;
  /** Deletes the secrets of a task that has no more use for them. */
  deleteSecrets(task: Task): Promise<void>;
  /** Returns the engine for a task whose inputs have all completed, or why there is none. */
  route(task: Task, inputs: Task[]): { engine: string } | { failure: TaskFailure };
  /**
   * Publishes changes, in this order and at least once: by the versions, subscribers drop what they know. Returns false where
   * nobody listens, and nothing was published.
   */
  publish(changes: Change[]): Promise<boolean>;
  /** Returns whether anybody listens to more of an account than the ends of its jobs. */
  hasSubscribers(user: string): Promise<boolean>;
  /** Does the work of a task whose inputs have completed at once, where that takes no engine and little time. */
  perform?(task: Task, inputs: Task[]): Promise<StoredFile[] | undefined>;
  now(): number;
}

/** A job and its tasks, or a single task, ready to be written. */
export interface Plan {
  job?: Job;
  tasks: Task[];
}
