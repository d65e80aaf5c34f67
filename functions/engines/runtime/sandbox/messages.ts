import type { Readable } from 'node:stream';
import { maxFilesPerTask } from '../../../../shared/tasks/limits.ts';
import type { JsonObject } from '../../../../shared/tasks/task.ts';
import {
  detailsOf,
  fieldsOf,
  jsonOf,
  listOf,
  numberOf,
  printable,
  TamperedError,
  textOf,
  unexpected,
} from '../checks.ts';
import type { AnnouncedOutput, OutputFile, Work, WorkResult } from '../engine.ts';

/**
 * Messages between a sandbox's process and the trusted side, as lines of JSON. The process reads its work from standard input
 * and writes to standard output: the only descriptors that its programs do not inherit. Other output there is text for the
 * log.
 */

export type ToSandbox =
  | { type: 'run'; work: Work; canTimestamp: boolean; isArriving: boolean; canAnnounce: boolean }
  | { type: 'arrived'; index: number }
  /** The response of a time stamp authority in base64, or why there is none. */
  | { type: 'timestamp'; response: string }
  | { type: 'timestamp'; msg: string };

/** The result of a piece of work, with the warm programs to keep running, by their process IDs in the sandbox. */
type End = { warmPrograms: number[] } & (
  | { type: 'done'; result: WorkResult }
  | { type: 'refused'; msg: string; detail: string; needsTime: boolean }
  | { type: 'broken'; stack: string }
);

export type FromSandbox =
  | { type: 'ready'; pid: number }
  | { type: 'progress'; percent: number }
  | { type: 'log'; message: string; details: JsonObject }
  | { type: 'limit'; processorSeconds: number | undefined }
  /** Asks for a time stamp of a digest in hexadecimal. */
  | { type: 'timestamp'; digest: string }
  | { type: 'announced'; path: string; frontBytes: number }
  | End
  // After the end of a piece of work: the engine is ready for the next one.
  | { type: 'settled' };

/** Starts a line that is a message. Output of libraries does not contain it. */
const mark = '\u001e';
/** Enough for the maximum number of outputs with long names. */
const maxLineBytes = 2 * 1024 * 1024;
/** Limit for the output of one piece of work. */
const maxBytesPerWork = 16 * 1024 * 1024;
const maxNumber = 2 ** 31 - 1;
const maxPathLength = 4_096;
/** Enough for the maximum number of boundaries. */
const maxSurveyLength = 512 * 1024;

/** Returns a message as the process writes it: on a separate line, even after printed text. */
export function encodeMessage(message: FromSandbox): string {
  return `\n${mark}${JSON.stringify(message)}\n`;
}

export interface MessageEvents {
  message(message: FromSandbox): void;
  /** A line of text for the log. */
  text(line: string): void;
  /** Nothing more is read. */
  violation(error: TamperedError): void;
}

/** Reads the output of a sandbox's process: messages and text, or text only. */
export class MessageReader {
  readonly #events: Partial<MessageEvents>;
  #line: Buffer[] = [];
  #lineBytes = 0;
  #bytes = 0;
  #isOver = false;

  constructor(stream: Readable, events: Partial<MessageEvents> & Pick<MessageEvents, 'text' | 'violation'>) {
    this.#events = events;
    // Without a listener, an error of the pipe would crash the trusted process. The end of the other process is noticed anyway.
    stream
      .on('data', (chunk: Buffer) => this.#read(chunk))
      .on('error', () => {})
      .resume();
  }

  /** Resets the count for the next piece of work. */
  restart(): void {
    this.#bytes = 0;
  }

  #read(chunk: Buffer): void {
    this.#bytes += chunk.length;
    if (this.#bytes > maxBytesPerWork) this.#stop(new TamperedError('The engine wrote too much output.'));
    for (let rest = chunk; !this.#isOver && rest.length > 0; ) {
      const newline = rest.indexOf('\n');
      const end = newline === -1 ? rest.length : newline;
      this.#lineBytes += end;
      this.#line.push(rest.subarray(0, end));
      rest = rest.subarray(end + 1);
      if (this.#lineBytes > maxLineBytes) this.#stop(new TamperedError('The engine wrote a line that is too long.'));
      else if (newline !== -1) this.#handle(Buffer.concat(this.#line.splice(0)).toString());
    }
  }

  #handle(line: string): void {
    this.#lineBytes = 0;
    const { message, text } = this.#events;
    if (!message || !line.startsWith(mark)) {
      if (line !== '') text?.(printable(line, 1_000));
      return;
    }
    try {
      message(parseMessage(line.slice(mark.length)));
    } catch (error) {
      if (!(error instanceof TamperedError)) throw error;
      this.#stop(error);
    }
  }

  #stop(error: TamperedError): void {
    this.#isOver = true;
    this.#line = [];
    this.#events.violation?.(error);
  }
}

/** Parses a message. Throws a `TamperedError` if the engine's own code would not send it. */
export function parseMessage(line: string): FromSandbox {
  const fields = fieldsOf(jsonOf(line), 'the message');
  switch (fields.type) {
    case 'ready':
      return { type: 'ready', pid: integerOf(fields.pid, 'pid') };
    case 'settled':
      return { type: 'settled' };
    case 'progress':
      return { type: 'progress', percent: numberOf(fields.percent, 'percent', 0, 100) };
    case 'limit':
      return {
        type: 'limit',
        processorSeconds:
          fields.processorSeconds === undefined
            ? undefined
            : numberOf(fields.processorSeconds, 'processorSeconds', 0, maxNumber),
      };
    case 'timestamp':
      return { type: 'timestamp', digest: digestOf(fields.digest) };
    case 'announced':
      return {
        type: 'announced',
        path: textOf(fields.path, 'path', maxPathLength),
        frontBytes: integerOf(fields.frontBytes, 'frontBytes'),
      };
    case 'log':
      return {
        type: 'log',
        message: shown(fields.message, 'message', 1_000),
        details: detailsOf(fields.details, 'details'),
      };
    default:
      return {
        ...endOf(fields),
        warmPrograms: listOf(fields.warmPrograms, 'warmPrograms', 100, (pid) => integerOf(pid, 'a process')),
      };
  }
}

type WithoutPrograms<T> = T extends unknown ? Omit<T, 'warmPrograms'> : never;

function endOf(fields: Record<string, unknown>): WithoutPrograms<End> {
  switch (fields.type) {
    case 'done':
      return { type: 'done', result: resultOf(fields.result) };
    case 'refused':
      return {
        type: 'refused',
        msg: shown(fields.msg, 'msg', 1_000),
        // The end of a program's output has the reason for its failure.
        detail: printable(textOf(fields.detail, 'detail').slice(-8_000), 8_000),
        needsTime: fields.needsTime === true,
      };
    case 'broken':
      return { type: 'broken', stack: shown(fields.stack, 'stack', 8_000) };
    default:
      throw unexpected('a known type', fields.type);
  }
}

function resultOf(value: unknown): WorkResult {
  const { outputs, details, warnings } = fieldsOf(value, 'result');
  return {
    outputs: listOf(outputs, 'outputs', maxFilesPerTask, outputOf),
    ...(details === undefined ? {} : { details: detailsOf(details, 'details', detailsLengthOf(details)) }),
    ...(warnings === undefined
      ? {}
      : { warnings: listOf(warnings, 'warnings', maxFilesPerTask, (warning) => shown(warning, 'a warning', 1_000)) }),
  };
}

/** Returns the maximum length of details. The worker that asked for a survey stores nothing of it as it is. */
function detailsLengthOf(details: unknown): number | undefined {
  return 'survey' in fieldsOf(details, 'details') ? maxSurveyLength : undefined;
}

function outputOf(value: unknown): OutputFile {
  const { path, name, format, announced } = fieldsOf(value, 'an output');
  return {
    path: textOf(path, 'path', maxPathLength),
    name: textOf(name, 'name', 1_024),
    format: textOf(format, 'format', 20),
    ...(announced === undefined ? {} : { announced: announcedOf(announced) }),
  };
}

function announcedOf(value: unknown): AnnouncedOutput {
  const { front, end } = fieldsOf(value, 'announced');
  return {
    ...(front === undefined ? {} : { front: textOf(front, 'front', maxPathLength) }),
    end: Math.trunc(numberOf(end, 'end', 1, Number.MAX_SAFE_INTEGER)),
  };
}

/** Returns a text for people, shortened if it is too long. */
function shown(value: unknown, name: string, maxLength: number): string {
  return printable(textOf(value, name), maxLength);
}

/** Returns a digest by SHA-256, SHA-384 or SHA-512. */
function digestOf(value: unknown): string {
  const digest = textOf(value, 'digest', 128);
  if (/^(?:[\da-f]{64}|[\da-f]{96}|[\da-f]{128})$/.test(digest)) return digest;
  throw unexpected('a digest', value);
}

function integerOf(value: unknown, name: string): number {
  return Math.trunc(numberOf(value, name, 1, maxNumber));
}
