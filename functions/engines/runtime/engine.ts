import type { EngineCatalogue } from '../../../shared/catalogue/catalogue.ts';
import type { OptionValues } from '../../../shared/catalogue/options.ts';
import type { ProcessingOperation } from '../../../shared/operations/operations.ts';
import type { JsonObject } from '../../../shared/tasks/task.ts';

/** A file the engine reads. The path is inside the task's own folder and its name is not the user's. */
export interface InputFile {
  path: string;
  /** The user's name for it, for the names of outputs and for messages; never part of a path or an argument. */
  name: string;
  /** Canonical extension, detected from the content. */
  format: string;
  size: number;
}

/** One piece of work for an engine: everything it needs, and nothing it could steal. */
export interface Work {
  operation: ProcessingOperation;
  inputs: InputFile[];
  /** A live page to bring in, in place of inputs: only the engine that renders pages has a browser. */
  page?: string;
  /** Canonical extension of the output. */
  outputFormat: string;
  /** Checked against the catalogue, defaults filled in. */
  options: OptionValues;
  /** What the outputs may have in all: the room that the inputs leave on the disk. Defaults to no limit. */
  maxOutputBytes?: number;
  /** An empty folder for this task alone; outputs and temporary files go here and it is deleted afterwards. */
  folder: string;
}

export interface OutputFile {
  path: string;
  name: string;
  format: string;
}

export interface WorkResult {
  outputs: OutputFile[];
  /** Facts to show beside the links, such as sizes before and after. */
  details?: JsonObject;
  /** Sentences for the user on what of the input is not in the outputs; shown as `result.warnings`. */
  warnings?: string[];
}

export interface WorkContext {
  /** Aborted when the task is canceled, deleted or out of time; the engine ends its programs at once. */
  signal: AbortSignal;
  /** Reports how far the work is, in percent; may be called as often as is handy. */
  progress(percent: number): void;
  /** Writes a line for the operator: the engine's own words, never the user's secrets. */
  log(message: string, details?: JsonObject): void;
}

/** What a folder under engines/ provides beside its catalogue. Runs in a process of its own, without credentials. */
export interface Engine {
  run(work: Work, context: WorkContext): Promise<WorkResult>;
}

/** A failure that the user can act on: its message becomes `result.msg`. Anything else an engine throws is a fault of ours. */
export class EngineError extends Error {
  override name = 'EngineError';
  /** The last lines of the program's own message, for the log. */
  readonly detail: string;

  constructor(msg: string, options: { detail?: string; cause?: unknown } = {}) {
    super(msg, { cause: options.cause });
    this.detail = options.detail ?? '';
  }
}

/** Finds the components of an engine that this machine lacks, each with the reason, which is empty where it is not installed. */
export type EngineCheck = () => Promise<Record<string, string>>;

export type { EngineCatalogue };
