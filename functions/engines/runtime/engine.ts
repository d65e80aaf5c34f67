import type { OptionValues } from '../../../shared/catalogue/options.ts';
import type { FileRole, ProcessingOperation } from '../../../shared/operations/operations.ts';
import type { PictureRequest } from '../../../shared/pictures/picture.ts';
import type { JsonObject } from '../../../shared/tasks/task.ts';
import type { ByteRange } from './byte-ranges.ts';
import type { PartRequest } from './protocol.ts';

/** A file the engine reads. The path is inside the task's own folder and its name is not the user's. */
export interface InputFile {
  path: string;
  /** The user's file name, for the names of outputs and for messages; never part of a path or an argument. */
  name: string;
  /** Canonical extension, detected from the content. */
  format: string;
  size: number;
  /** The bytes that were fetched, if not all were: the others are holes, which read as zeros. */
  ranges?: ByteRange[];
}

/** One piece of work for an engine: everything it needs, and no credentials. */
export interface Work {
  operation: ProcessingOperation;
  inputs: InputFile[];
  /** Files that the work uses in addition to its inputs. */
  others?: (InputFile & { role: FileRole })[];
  /** URL of a page to import, instead of inputs: only the engine that renders pages has a browser. */
  page?: string;
  /** A derivative of a picture, in a format that the engine chooses. Operation, output format and options do not count. */
  picture?: PictureRequest;
  /** The part of a split run to perform. Absent for a whole run. */
  part?: PartRequest;
  /** Canonical extension of the output. */
  outputFormat: string;
  /** Checked against the catalogue, defaults filled in. */
  options: OptionValues;
  /** Maximum size of all outputs: the disk space that the inputs leave. Defaults to no limit. */
  maxOutputBytes?: number;
  /** Maximum processor time, which the engine's own limits cannot raise. Defaults to no limit. */
  maxProcessorSeconds?: number;
  /** When the work is aborted, in milliseconds since the epoch. Defaults to the engine's timeout from its start. */
  deadline?: number;
  /** An empty folder for outputs and temporary files of this task. It is deleted afterwards. */
  folder: string;
}

export interface OutputFile {
  path: string;
  name: string;
  format: string;
  /** Set if it was announced, and its bytes after the front are as they were written. */
  announced?: AnnouncedOutput;
}

/** How an output is put together whose writing was announced. */
export interface AnnouncedOutput {
  /** Path of the file that comes instead of its front. Defaults to its front as it is. */
  front?: string;
  /** Where it ends. Bytes of the file after this are not part of it. */
  end: number;
}

export interface WorkResult {
  outputs: OutputFile[];
  /** Details to show next to the links, such as sizes before and after. */
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
   * Rejects the work if its processes use more processor time than this until the next call. Without a number, only the
   * limit in the engine's resources applies.
   */
  limitProcessorTime(seconds?: number): void;
  /**
   * Asks the authority in the option `timestamp` for a time stamp of a digest, and returns its response unchecked. Absent if
   * the options name none; allowed once for each input.
   */
  timestamp?(digest: Uint8Array): Promise<Uint8Array>;
  /** Waits until an input has arrived. Absent if all have. */
  arrival?(index: number): Promise<void>;
  /**
   * Announces an output that is written from its start to its end, except for its first bytes. Those that follow are stored
   * meanwhile. Absent if outputs are only stored when the work is done; allowed once.
   */
  announce?(path: string, frontBytes: number): void;
}

/** Callbacks outside the sandbox. Limits are enforced there and not passed on. */
export type RunContext = Omit<WorkContext, 'limitProcessorTime'>;

/** What a folder under engines/ provides in addition to its catalogue. Runs in a separate process without credentials. */
export interface Engine {
  run(work: Work, context: WorkContext): Promise<WorkResult>;
  /** Whether its work may begin before all inputs have arrived. */
  awaitsInputs?: boolean;
  /** Closes what a run left open and prepares for the next. Called after each run, while its outputs are being stored. */
  settle?(): Promise<void>;
}

/** Limit for the program output in an error. */
const maxDetailCharacters = 10_000;

/** A failure that the user can act on: its message becomes `result.msg`. Any other error of an engine is a bug. */
export class EngineError extends Error {
  override name = 'EngineError';
  /** The last lines of the program's output, for the log. */
  readonly detail: string;
  /** Whether the work would succeed with more time. */
  readonly needsTime: boolean;

  constructor(msg: string, options: { detail?: string; cause?: unknown; needsTime?: boolean } = {}) {
    super(msg, { cause: options.cause });
    this.needsTime = options.needsTime ?? false;
    this.detail = options.detail?.slice(-maxDetailCharacters) ?? '';
  }
}

/** Finds the components of an engine that are missing on this machine. The reason is empty for one that is not installed. */
export type EngineCheck = () => Promise<Record<string, string>>;
