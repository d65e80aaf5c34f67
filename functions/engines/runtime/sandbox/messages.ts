import type { JsonObject } from '../../../../shared/tasks/task.ts';
import type { Work, WorkResult } from '../engine.ts';

export type ToSandbox = { type: 'run'; work: Work };

export type FromSandbox =
  | { type: 'ready' }
  | { type: 'progress'; percent: number }
  | { type: 'log'; message: string; details: JsonObject }
  | { type: 'done'; result: WorkResult }
  | { type: 'refused'; msg: string; detail: string }
  | { type: 'broken'; stack: string };
