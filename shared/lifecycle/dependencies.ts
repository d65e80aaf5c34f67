import type { Job, JobEventType } from '../jobs/job.ts';
import type { LongRuns } from '../tasks/long-runs.ts';
import type { StoredFile, Task, TaskFailure } from '../tasks/task.ts';
import type { Decision } from '../tasks/transitions.ts';
import type { NoChange } from './change-record.ts';

/** A job with its tasks, or a task without a job: the whole group, or the records that were requested. */
export interface Group {
  job?: Job;
  tasks: Task[];
  /** The account's long runs on the engine, if an account was given. */
  longRuns?: LongRuns;
}

/** The record that schedules a group for the sweep: its job, or its only task. The tombstone of a task schedules itself. */
export type GroupRecord = Task | Job;

/** The account whose tasks a worker starts, and the engine. */
export interface WorkerAccount {
  user: string;
  engine: string;
}

/** When a returned task is delivered again, and since when it has been waiting. */
export interface Later {
  delaySeconds: number;
  /** In milliseconds. */
  queuedAt: number;
  /** Whether its work goes on meanwhile, so that the time is charged. Defaults to false. */
  goesOn?: boolean;
}

/** Atomic changes of single records. A change of a task and the charge to its account are one write. */
export interface LifecycleRecords {
  task(id: string): Promise<Task | undefined>;
  tasks(ids: string[]): Promise<Task[]>;
  /** Reads the whole group of a task or job. */
  group(id: string): Promise<Group>;
  /**
   * Reads the job of a task, if it has one, together with the given tasks, which may belong to other groups. For a worker it
   * also reads whether the account has subscribers, and the account's long runs.
   */
  groupPart(id: string, tasks: string[], account?: WorkerAccount): Promise<Group>;
  createTasks(tasks: Task[]): Promise<void>;
  /** Changes a task. A known record saves the read before the write if it is still current. */
  changeTask(id: string, decision: (task: Task) => Decision, known?: Task): Promise<Decision | NoChange>;
  /** Adds a dependent to a task and returns the updated task, so that one of the two always sees the other. */
  addDependent(id: string, dependent: string): Promise<Task | undefined>;
  deleteTask(task: Task): Promise<void>;
  job(id: string): Promise<Job | undefined>;
  createJob(job: Job): Promise<void>;
  changeJob(id: string, decision: (job: Job) => Job | undefined, known?: Job): Promise<Job | undefined>;
  /** Removes a task from its job's open set. Returns the updated job, or undefined if the task's part of the set is not empty. */
  closeTask(task: Task): Promise<Job | undefined>;
  /** Removes events from a job's outbox. Emptying the outbox of a completed job also removes it from the sweep's schedule. */
  markPublished(job: Job, events: JobEventType[]): Promise<void>;
  /** Sets when the sweep checks a group again. Undefined takes it off the schedule, unless the record changed since it was read. */
  reschedule(record: GroupRecord, dueAt: number | undefined, now: number): Promise<void>;
  deleteJob(id: string): Promise<void>;
}

/** A record after a change that is published. */
export type Change = { task: Task } | { job: Job; events: JobEventType[] };

/** Everything that the lifecycle reads, writes and calls. */
export interface LifecycleDependencies {
  records: LifecycleRecords;
  /** Queues a task for the workers of an engine, at least once; only one worker can claim it. */
  enqueue(engine: string, task: Task, later?: Later): Promise<void>;
  deleteFiles(task: Task): Promise<void>;
  /** Deletes what a client has uploaded in parts and not completed. */
  abortParts(task: Task): Promise<void>;
  /** Deletes the secrets of a task that no longer needs them. */
  deleteSecrets(task: Task): Promise<void>;
  /** Returns the engine for a task whose inputs have all completed, or the reason why there is none. */
  route(task: Task, inputs: Task[]): { engine: string } | { failure: TaskFailure };
  /**
   * Publishes changes in this order, at least once; subscribers ignore versions they have seen. Returns false if nothing was
   * published because there are no subscribers.
   */
  publish(changes: Change[]): Promise<boolean>;
  /** Returns whether an account has subscribers to more than the ends of its jobs. */
  hasSubscribers(user: string): Promise<boolean>;
  /** Performs a task whose inputs have completed right away, if it needs no engine and little time. */
  perform?(task: Task, inputs: Task[]): Promise<StoredFile[] | undefined>;
  now(): number;
}

/** A job and its tasks, or a single task, ready to be written. */
export interface Plan {
  job?: Job;
  tasks: Task[];
}

/** How many tasks of a group are worked on concurrently. */
export const tasksAtOnce = 16;
