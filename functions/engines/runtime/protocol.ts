import type { OptionValues } from '../../../shared/catalogue/options.ts';
import type { ProcessingOperation } from '../../../shared/operations/operations.ts';
import type { JsonObject } from '../../../shared/tasks/task.ts';

/**
 * What a worker and an engine say to each other. The worker holds the permissions; the engine is given signed URLs of
 * the files of one run, and nothing else that would be worth stealing from it.
 */

/** A file to work on. */
export interface RemoteInput {
  /** Signed for GET. */
  url: string;
  name: string;
  /** Canonical extension, detected from the content when the file was stored. */
  format: string;
  size: number;
}

/** The maximum size of an output: what S3 accepts in a form. */
export const maxPostBytes = 5 * 1024 ** 3;

/** A form that stores any number of files under a prefix, each up to a size. */
export interface OutputForm {
  url: string;
  fields: Record<string, string>;
  prefix: string;
}

/** One run of a task: the event that an engine is invoked with. */
export interface EngineRequest {
  taskId: string;
  /** For the log. */
  jobId?: string;
  attempt: number;
  /** The account that owns the files. Programs that stay warm are not shared between two of them. */
  tenant: string;
  operation: ProcessingOperation;
  /** URL of a page to import, in place of inputs. */
  page?: string;
  inputs: RemoteInput[];
  outputFormat: string;
  options: OptionValues;
  output: OutputForm;
  maxOutputBytes: number;
  /** Processor time that inputs of this size may take at most. Defaults to the time until the deadline. */
  maxProcessorSeconds?: number;
  /** Signed for HEAD, of an object that exists as soon as the run is canceled, deleted, taken over or out of time. */
  revoked: string;
  /** When the run is out of time, in milliseconds since the epoch. */
  deadline: number;
}

/** A file that the engine stored: the n-th of them is at the n-th key of the run. */
export interface RemoteOutput {
  name: string;
  format: string;
  /** The tag that S3 gave its content. */
  etag: string;
}

/** Which barriers stand, by their names, and why the others do not. */
export type Isolation = Record<string, { stands: true } | { stands: false; reason: string }>;

/**
 * A line of the engine's response, which is a stream of JSON objects. Any but the first two is the last. `engineMs` is the time
 * that the engine worked on the files, without that of fetching and storing them.
 */
export type EngineResponse =
  /** What stands between the files and the rest of the engine's machine, for the operator. */
  | { type: 'isolation'; barriers: Isolation }
  | { type: 'progress'; percent: number }
  | { type: 'done'; outputs: RemoteOutput[]; details?: JsonObject; engineMs: number }
  /** The file or the options are at fault: `msg` is for the user, `detail` for the log. */
  | { type: 'refused'; msg: string; detail: string; engineMs: number }
  /** The engine is at fault: the run is repeated. */
  | { type: 'broken'; message: string };
