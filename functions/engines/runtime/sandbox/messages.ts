import type { JsonObject } from '../../../../shared/tasks/task.ts';
import type { Work, WorkResult } from '../engine.ts';
import type { Barriers } from './barriers.ts';

export type ToSandbox = { type: 'run'; work: Work };

/** How a piece of work ended, with the warm programs that are to go on, by their numbers in the sandbox. */
type End = { warmPrograms: number[] } & (
  | { type: 'done'; result: WorkResult }
  | { type: 'refused'; msg: string; detail: string }
  | { type: 'broken'; stack: string }
);

export type FromSandbox =
  | { type: 'ready'; pid: number; barriers: Barriers }
  | { type: 'progress'; percent: number }
  | { type: 'log'; message: string; details: JsonObject }
  | End
  // After the end of a piece of work: the engine is ready for the next one.
  | { type: 'settled' };
