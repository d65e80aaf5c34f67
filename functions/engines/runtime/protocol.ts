import type { OptionValues } from '../../../shared/catalogue/options.ts';
import { maxRequestBytes } from '../../../shared/files/limits.ts';
import type { FileRole, ProcessingOperation } from '../../../shared/operations/operations.ts';
import type { PictureRequest } from '../../../shared/pictures/picture.ts';
import type { JsonObject } from '../../../shared/tasks/task.ts';
import type { ByteRange } from './byte-ranges.ts';

/**
 * Messages between a worker and an engine. The worker holds the permissions. The engine receives only signed URLs for the
 * files of one run.
 */

/** An input: the URL of the file, signed for GET, or the file itself, which the engine receives in base64. */
export type RemoteInput<Content = string> =
  | ({ url: string } & SourceRead & InputFacts)
  | ({ content: Content } & InputFacts);

/** What is fetched of an input. Defaults to all of it; the rest is a hole in a file of the same size. */
export interface SourceRead {
  ranges?: ByteRange[];
  /** Everything but most of the pictures and sound, in formats that keep their index in one place. */
  read?: 'index';
}

interface InputFacts {
  name: string;
  /** Canonical extension, detected from the content when the file was stored. */
  format: string;
  size: number;
  /** What it is for, if the run does not work on it. These come last. */
  role?: FileRole;
}

/** The maximum size of an output: the limit of S3 for a posted form. */
export const maxPostBytes = maxRequestBytes;

/** A form that stores any number of files under a prefix, each up to a maximum size. */
export interface OutputForm {
  url: string;
  fields: Record<string, string>;
  prefix: string;
}

/**
 * Signed URLs for the parts of one output that is larger than `overBytes`. Each of `parts` takes exactly `partBytes`, and `rest`
 * takes what remains. The number of a part is its place in the list; that of the rest follows the last one.
 */
export interface LargeOutput {
  overBytes: number;
  partBytes: number;
  parts: string[];
  rest: string;
  /**
   * Takes the first part whatever its length. Set if the output may be stored while it is written: its start is complete only at
   * its end.
   */
  front?: string;
}

/** A part of a run that is split over several invocations. Without one, the engine does the whole run. */
export type PartRequest =
  /**
   * Reads the first input and returns a survey in `details.survey`, without an output. A run that is estimated to take at most
   * `wholeWithin` seconds is performed instead, and returns its outputs.
   */
  | { kind: 'survey'; wholeWithin?: number }
  /** Encodes the pictures whose source time is in [from, to) seconds; no `to` for the last chunk. One Matroska output. */
  | {
      kind: 'chunk';
      index: number;
      from: number;
      to?: number;
      video?: VideoTarget;
      /** How many pictures the source has there. A chunk of a source that was read in part is rejected if it has others. */
      pictures?: number;
    }
  /** For a target size: encodes the same pictures fast at a constant quality. The size of the output shows what they need. */
  | { kind: 'measure'; index: number; from: number; to?: number; pictures?: number }
  /** Encodes all sound, whole. One Matroska output. */
  | { kind: 'sound' }
  /** Processes the selected pages from one index to before another. One output for each, named as in a whole run. */
  | { kind: 'pages'; from: number; to: number }
  /** Recognises the text of the pages that need it, from one index to before another. One output, as JSON. */
  | { kind: 'texts'; from: number; to: number }
  /** Joins: inputs are the source, the chunks or texts in order, and the sound if there is one. */
  | { kind: 'join'; starts: number[]; sound: boolean };

/** For a target size: how a chunk is encoded. */
export interface VideoTarget {
  /** In bits per second, from the measured size of the chunk. */
  bitrate: number;
  /** Scale of its sides, relative to that of a whole run at its first attempt. */
  scale: number;
}

/** The size that a video is compressed to, in bytes. */
export interface TargetSize {
  bytes: number;
  /** What the container takes for each picture, in all. */
  overhead: number;
}

export interface Survey {
  /** Estimated engine seconds of the whole run on one engine of this size. */
  seconds: number;
  /** Source time of the first picture and the end of the last one; 0 for a document. */
  start: number;
  end: number;
  /** Source times at which a chunk may begin (source keyframes), ascending; absent if the run cannot be split. */
  boundaries?: number[];
  /** How many pages the document has, or how many need their text recognised, if its work splits by pages. */
  pages?: number;
  /** Why the run cannot be split, as one sentence. */
  whole?: string;
  sound: boolean;
  /** The size to compress to, if the options have one. */
  size?: TargetSize;
  /** Which bytes the parts need. Absent if each needs the whole source. */
  reads?: SourceReads;
}

export interface SourceReads {
  /** For every part: what programs read to open the source. */
  index: ByteRange[];
  /**
   * Of the start, of each boundary and of the end, in this order: the first byte of a chunk that begins there, the byte after
   * the last of one that ends there, and the number of pictures before it.
   */
  from: number[];
  to: number[];
  pictures: number[];
  /** For the sound. Absent if it needs the whole source. */
  sound?: ByteRange[];
  /** For the join. Absent if it needs the whole source. */
  join?: ByteRange[];
}

/** One run of a task: the event that an engine is invoked with. */
export interface EngineRequest<Content = string> {
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
  inputs: RemoteInput<Content>[];
  outputFormat: string;
  options: OptionValues;
  output: OutputForm;
  /** For an output that is larger than the form takes. Absent if there is no room for one. */
  large?: LargeOutput;
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

/** The file that the engine stored in parts. */
export interface OutputInParts extends OutputFacts {
  /** The tags that S3 gave them: as many full parts as there are, and the rest, if any. */
  parts: string[];
}

/** A file in the response, in base64. */
export interface InlineOutput extends OutputFacts {
  content: string;
}

export type RemoteOutput = StoredOutput | OutputInParts | InlineOutput;

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
