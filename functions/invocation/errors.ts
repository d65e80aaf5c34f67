import type { TaskFailure } from '../../shared/tasks/task.ts';

/** A failure with an error code that the user can act on. */
export class TaskError extends Error {
  override name = 'TaskError';
  readonly failure: TaskFailure;

  constructor(failure: TaskFailure, options: { cause?: unknown } = {}) {
    super(failure.msg, options);
    this.failure = failure;
  }
}

/** Lambda has refused to invoke the engine, because the account's concurrency is used up. */
export class NoEngineFree extends Error {
  override name = 'NoEngineFree';
}

/** A run has no time left, and the next attempt goes on with what is not finished. */
export class Unfinished extends Error {
  override name = 'Unfinished';
  /** When the next attempt follows, if work goes on meanwhile. Absent if nothing does. */
  readonly delaySeconds: number | undefined;

  constructor(delaySeconds?: number) {
    super('The run is not finished.');
    this.delaySeconds = delaySeconds;
  }
}

/** The engine has ended without a result. The run can be repeated. */
export class BrokenRun extends Error {
  override name = 'BrokenRun';
}
