import type { EngineCatalogue } from '../../../shared/catalogue/catalogue.ts';
import type { OptionValues } from '../../../shared/catalogue/options.ts';
import type { ProcessingOperation } from '../../../shared/operations/operations.ts';
import type { JsonObject } from '../../../shared/tasks/task.ts';

/** A file the engine reads. The path is inside the task's own folder and its name is not the user's. */
export interface InputFile {
  path: string;
  /** The user's file name, for the names of outputs and for messages; never part of a path or an argument. */
  name: string;
  /** Canonical extension, detected from the content. */
  format: string;
  size: number;
}

/** One piece of work for an engine: everything it needs, and no credentials. */
export interface Work {
  operation: ProcessingOperation;
  inputs: InputFile[];
  /** URL of a page to import, in place of inputs: only the engine that renders pages has a browser. */
  page?: string;
  /** Canonical extension of the output. */
  outputFormat: string;
  /** Checked against the catalogue, defaults filled in. */
  options: OptionValues;
  /** Maximum size of all outputs: the disk space that the inputs leave. Defaults to no limit. */
  maxOutputBytes?: number;
  /** Maximum of processor time, whatever limits the engine asks for. Defaults to no limit. */
  maxProcessorSeconds?: number;
  /** When the work is aborted, in milliseconds since the epoch. Defaults to the engine's timeout from its start. */
  deadline?: number;
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
  /** Details to show besides the links, such as sizes before and after. */
  details?: JsonObject;
  /** Warnings for the user about input that is not in the outputs; shown as `result.warnings`. */
  warnings?: string[];
}

export interface WorkContext {
  /** Aborted when the task is canceled, deleted or out of time; the engine ends its programs at once. */
  signal: AbortSignal;
  /** Reports progress in percent; may be called at any rate. */
  progress(percent: number): void;
  /** Writes a log line for the operator, without the user's secrets. */
  log(message: string, details?: JsonObject): void;
  /**
   * Ends the work with a refusal if its processes use more processor time than this from now on, until the next call. Without
   * a number nothing but the limit in the engine's resources counts, which always does.
   */
  limitProcessorTime(seconds?: number): void;
}

/** What is outside of the sandbox listens to; limits are enforced there, not passed on. */
export type RunContext = Omit<WorkContext, 'limitProcessorTime'>;

/** What a folder under engines/ provides besides its catalogue. Runs in a separate process without credentials. */
export interface Engine {
  run(work: Work, context: WorkContext): Promise<WorkResult>;
  /** Ends what a run has left open and prepares for the next one; called after each, while its outputs are being stored. */
  settle?(): Promise<void>;
}

/** Enough of a program's output to see what it complained about. */
const maxDetailCharacters = 10_000;

/** A failure that the user can act on: its message becomes `result.msg`. Any other error of an engine is a bug. */
export class EngineError extends Error {
  override name = 'EngineError';
  /** The last lines of the program's output, for the log. */
  readonly detail: string;

  constructor(msg: string, options: { detail?: string; cause?: unknown } = {}) {
    super(msg, { cause: options.cause });
    this.detail = options.detail?.slice(-maxDetailCharacters) ?? '';
  }
}

/** Finds the components of an engine that are missing on this machine, each with the reason, which is empty if it is not installed. */
export type EngineCheck = () => Promise<Record<string, string>>;

export type { EngineCatalogue };
