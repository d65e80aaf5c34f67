import type { OptionValues } from '../../../shared/catalogue/options.ts';
import { maxRequestBytes } from '../../../shared/files/limits.ts';
import type { ProcessingOperation } from '../../../shared/operations/operations.ts';
import type { PictureRequest } from '../../../shared/pictures/picture.ts';
import type { JsonObject } from '../../../shared/tasks/task.ts';

/**
 * Messages between a worker and an engine. The worker holds the permissions. The engine receives only signed URLs for the
 * files of one run.
 */

/** An input: the URL of the file, signed for GET, or the file itself in base64. */
export type RemoteInput = ({ url: string } & InputFacts) | ({ content: string } & InputFacts);

interface InputFacts {
  name: string;
  /** Canonical extension, detected from the content when the file was stored. */
  format: string;
  size: number;
}

/** The maximum size of an output: the limit of S3 for a posted form. */
export const maxPostBytes = maxRequestBytes;

/** A form that stores any number of files under a prefix, each up to a maximum size. */
export interface OutputForm {
  url: string;
  fields: Record<string, string>;
  prefix: string;
}

/** A part of a run that is split over several invocations. Without one, the engine does the whole run. */
export type PartRequest =
  /** Reads the first input and returns a survey in `details.survey`, without an output. */
  | { kind: 'survey' }
  /** Encodes the pictures whose source time is in [from, to) seconds; no `to` for the last chunk. One Matroska output. */
  | { kind: 'chunk'; index: number; from: number; to?: number; video?: VideoTarget }
  /** Encodes all sound, whole. One Matroska output. */
  | { kind: 'sound' }
  /** Joins: inputs are the source, the chunks in order, and the sound if there is one. */
  | { kind: 'join'; starts: number[]; sound: boolean };

/** For a target size: the bit rate of this chunk, in bits per second, from the complexity pass. */
export interface VideoTarget {
  bitrate: number;
}

export interface Survey {
  /** Estimated engine seconds of the whole run on one engine of this size. */
  seconds: number;
  /** Source time of the first picture and the end of the last one. */
  start: number;
  end: number;
  /** Source times at which a chunk may begin (source keyframes), ascending; absent if the run cannot be split. */
  boundaries?: number[];
  /** Why the run cannot be split, as one sentence. */
  whole?: string;
  sound: boolean;
}

/** One run of a task: the event that an engine is invoked with. */
export interface EngineRequest {
  taskId: string;
  /** For the log. */
  jobId?: string;
  attempt: number;
  /** The account that owns the files. Warm programs are not shared between accounts. */
  tenant: string;
  operation: ProcessingOperation;
  /** URL of a page to import, instead of inputs. */
  page?: string;
  /** A derivative of a picture, in a format that the engine chooses. Operation, output format and options do not count. */
  picture?: PictureRequest;
  /** The part of a split run that the engine performs. Absent for a whole run. */
  part?: PartRequest;
  inputs: RemoteInput[];
  outputFormat: string;
  options: OptionValues;
  output: OutputForm;
  /** Outputs of up to this many bytes in all are returned in the response. Defaults to none. */
  inlineBytes?: number;
  /** Name of the ZIP in which several outputs are returned. By default, each is returned for itself. */
  archive?: string;
  maxOutputBytes: number;
  /** Maximum processor time for inputs of this size. Defaults to the time until the deadline. */
  maxProcessorSeconds?: number;
  /**
   * Signed for HEAD. The object exists as soon as the run is canceled, deleted, taken over or timed out. Absent if the run
   * can only time out.
   */
  revoked?: string;
  /** When the run times out, in milliseconds since the epoch. */
  deadline: number;
}

interface OutputFacts {
  name: string;
  format: string;
}

/** A file that the engine stored. The n-th file is at the n-th key of the run. */
export interface StoredOutput extends OutputFacts {
  /** The tag that S3 gave its content. */
  etag: string;
}

/** A file in the response, in base64. */
export interface InlineOutput extends OutputFacts {
  content: string;
}

export type RemoteOutput = StoredOutput | InlineOutput;

/** The active barriers by name, and the reasons why others are not active. */
export type Isolation = Record<string, { stands: true } | { stands: false; reason: string }>;

/**
 * A line of the engine's response, which is a stream of JSON objects. `done`, `refused` and
 * `broken` end it. `engineMs` excludes the time for fetching and storing files.
 */
export type EngineResponse =
  /** The barriers between the files and the rest of the engine's machine, for the operator. */
  | { type: 'isolation'; barriers: Isolation }
  | { type: 'progress'; percent: number }
  /** An engine sends a survey in its details; checked, it is a field of its own. */
  | { type: 'done'; outputs: RemoteOutput[]; details?: JsonObject; survey?: Survey; engineMs: number }
  /** The file or the options are at fault: `msg` is for the user, `detail` for the log. `needsTime` if more time would help. */
  | { type: 'refused'; msg: string; detail: string; engineMs: number; needsTime?: true }
  /** The engine is at fault: the run is repeated. */
  | { type: 'broken'; message: string };
