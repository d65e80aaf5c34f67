import { pictureFormats } from '../../shared/pictures/picture.ts';
import { maxFilesPerTask } from '../../shared/tasks/limits.ts';
import { resultFields } from '../../shared/tasks/present.ts';
import type { JsonObject, JsonValue } from '../../shared/tasks/task.ts';
import { barrierMeanings } from '../engines/runtime/barriers.ts';
import { fieldsOf, jsonOf, listOf, numberOf, TamperedError, textOf, unexpected } from '../engines/runtime/checks.ts';
import { EngineError } from '../engines/runtime/engine.ts';
import type {
  EngineRequest,
  EngineResponse,
  Isolation,
  PartRequest,
  RemoteOutput,
} from '../engines/runtime/protocol.ts';
import { surveyOf } from './parse-survey.ts';

/** Limits on an engine's response. Longer texts are cut; anything else beyond a limit is refused. */
export const responseLimits = {
  /** A line with the maximum number of outputs takes half of this. */
  lineCharacters: 1024 * 1024,
  /** More progress than an engine reports in a quarter of an hour. */
  lines: 100_000,
  bytes: 16 * 1024 * 1024,
  /** Names are shortened to 200 bytes afterwards. */
  nameCharacters: 1_024,
  msgCharacters: 1_000,
  /** The end of a longer log text is kept. */
  logCharacters: 10_000,
  warnings: maxFilesPerTask,
  detailsCharacters: 100_000,
  detailsDepth: 4,
  detailsKeys: 50,
  /** Each barrier has a reason, which /health shows. */
  reasonCharacters: 1_000,
  /** How far the clocks of two machines may diverge during a run. */
  clockMs: 1_000,
} as const;

/** What a worker knows about a run without trusting the engine. */
export interface KnownRun
  extends Pick<EngineRequest, 'outputFormat' | 'inlineBytes' | 'archive' | 'picture' | 'part' | 'large'> {
  inputs?: { size: number }[];
  /** The time since the engine was invoked. */
  elapsedMs: number;
}

/** Returns the failure of a run whose response is invalid. It is not retried. */
export function invalidResponse(violation: string): EngineError {
  return new EngineError(
    "The engine's response was not valid, so its result was discarded. Try another file; if that fails too, report this task to the operator.",
    { detail: violation },
  );
}

/**
 * Parses a line of an engine's response. The engine opens untrusted files and may be compromised, so every value is checked, and
 * only checked values are returned.
 */
export function parseResponse(line: string, run: KnownRun): EngineResponse {
  try {
    return checked(fieldsOf(jsonOf(line), 'a line'), run);
  } catch (error) {
    throw error instanceof TamperedError ? invalidResponse(error.message) : error;
  }
}

/**
 * Parses the lines that an engine has stored as its response so far. Throws if there are more or longer lines than a correct
 * engine stores.
 */
export function parseResponses(stored: Uint8Array, run: KnownRun): EngineResponse[] {
  if (stored.length > responseLimits.bytes) throw invalidResponse(`Found more than ${responseLimits.bytes} bytes.`);
  const lines = new TextDecoder().decode(stored).split('\n');
  if (lines.pop() !== '') throw invalidResponse('Found the beginning of a line.');
  if (lines.length > responseLimits.lines) throw invalidResponse(`Found more than ${responseLimits.lines} lines.`);
  const maxCharacters = maxLineCharacters(run);
  if (lines.some(({ length }) => length > maxCharacters))
    throw invalidResponse(`Found a line of more than ${maxCharacters} characters.`);
  return lines.map((line) => parseResponse(line, run));
}

function checked(response: Record<string, unknown>, run: KnownRun): EngineResponse {
  const { type, barriers, percent, outputs, details, msg, detail, message, engineMs, needsTime } = response;
  switch (type) {
    case 'isolation':
      return { type, barriers: barriersOf(barriers) };
    case 'progress':
      return { type, percent: numberOf(percent, 'percent', 0, 100) };
    case 'broken':
      return { type, message: logTextOf(message, 'message') };
    case 'refused':
      return {
        type,
        msg: lineOf(textOf(msg, 'msg')).slice(0, responseLimits.msgCharacters).toWellFormed(),
        detail: logTextOf(detail, 'detail'),
        engineMs: engineMsOf(engineMs, run),
        ...(needsTime === true ? { needsTime } : {}),
      };
    case 'done':
      if (run.part?.kind === 'survey' && !isPerformed(outputs, run.part)) return surveyed(details, run, engineMs);
      return {
        type,
        outputs: outputsOf(outputs, run),
        ...(details === undefined ? {} : { details: detailsOf(details) }),
        engineMs: engineMsOf(engineMs, run),
      };
    default:
      throw unexpected('a known type', type);
  }
}

/** Returns whether an engine performed the whole run instead of a survey, as it was allowed to. */
function isPerformed(outputs: unknown, { wholeWithin }: { wholeWithin?: number }): boolean {
  return wholeWithin !== undefined && Array.isArray(outputs) && outputs.length > 0;
}

/** A survey has no output. It is not stored with the task, so it may be longer than other details. */
function surveyed(details: unknown, run: KnownRun, engineMs: unknown): EngineResponse {
  const { survey } = fieldsOf(details, 'details');
  return {
    type: 'done',
    outputs: [],
    survey: surveyOf(survey, run.inputs?.[0]?.size ?? 0, lineOf),
    engineMs: engineMsOf(engineMs, run),
  };
}

/** Returns whether an output may have a format. */
function isExpected(format: string, { part, outputFormat, archive, picture }: KnownRun): boolean {
  // Only the join reads chunks and sound.
  if (part && ['chunk', 'measure', 'sound'].includes(part.kind) && ['mkv', 'mp4'].includes(format)) return true;
  if (part?.kind === 'texts') return format === 'json';
  if (archive !== undefined && format === 'zip') return true;
  return format === outputFormat || (picture !== undefined && pictureFormats.some((known) => known === format));
}

function engineMsOf(value: unknown, { elapsedMs }: KnownRun): number {
  return Math.min(elapsedMs, numberOf(value, 'engineMs', 0, elapsedMs + responseLimits.clockMs));
}

function barriersOf(value: unknown): Isolation {
  return Object.fromEntries(
    Object.entries(fieldsOf(value, 'barriers')).map(([name, state]) => {
      if (!Object.hasOwn(barrierMeanings, name)) throw unexpected('the name of a barrier', name);
      const { stands, reason } = fieldsOf(state, 'a barrier');
      if (stands === true) return [name, { stands }];
      if (stands !== false) throw unexpected('true or false for stands', stands);
      return [name, { stands, reason: lineOf(textOf(reason, 'reason')).slice(0, responseLimits.reasonCharacters) }];
    }),
  );
}

function outputsOf(value: unknown, run: KnownRun): RemoteOutput[] {
  const { archive, inlineBytes, part } = run;
  let { large } = run;
  let left = inlineBytes ?? 0;
  const maxOutputs = archive === undefined ? outputCount(part) : 1;
  const outputs = listOf(value, 'outputs', maxOutputs, (output): RemoteOutput => {
    const { name, format, etag, parts, content } = fieldsOf(output, 'an output');
    if (typeof format !== 'string' || !isExpected(format, run))
      throw unexpected(`the format ${run.outputFormat}`, format);
    const facts = { name: textOf(name, 'a name', responseLimits.nameCharacters), format };
    if (parts !== undefined) {
      // Its media type was fixed when its upload began.
      if (!large || format !== run.outputFormat) throw unexpected('one output in parts', 'another');
      const tags = listOf(parts, 'parts', large.parts.length + 1, tagOf);
      large = undefined;
      return { ...facts, parts: tags };
    }
    if (content === undefined || inlineBytes === undefined) return { ...facts, etag: tagOf(etag) };
    const bytes = textOf(content, 'content', base64Length(inlineBytes));
    const size = Buffer.byteLength(bytes, 'base64');
    // Buffer skips other characters, and the content would be shorter than its length says.
    if (Buffer.from(bytes, 'base64').length !== size) throw unexpected('content in base64', 'other characters');
    left -= size;
    if (left < 0 || size === 0) throw unexpected(`content of 1 to ${inlineBytes} bytes`, 'more or less');
    return { ...facts, content: bytes };
  });
  if (outputs.length === 0) throw unexpected('one or more outputs', value);
  if (part?.kind === 'pages' && outputs.length !== maxOutputs) throw unexpected(`${maxOutputs} outputs`, value);
  return outputs;
}

function tagOf(value: unknown): string {
  if (typeof value !== 'string' || !/^"[\x21\x23-\x7e]{1,100}"$/.test(value)) throw unexpected('a tag of S3', value);
  return value;
}

/** Returns the maximum number of outputs of a part, or of a whole run. */
function outputCount(part: PartRequest | undefined): number {
  if (part?.kind === 'pages') return part.to - part.from;
  return part === undefined || part.kind === 'survey' ? maxFilesPerTask : 1;
}

/** Returns how many characters a number of bytes takes in base64. */
export function base64Length(bytes: number): number {
  return Math.ceil(bytes / 3) * 4;
}

/** Returns the maximum length of a line of a response to a request. */
export function maxLineCharacters({ inlineBytes = 0 }: Pick<EngineRequest, 'inlineBytes'>): number {
  return responseLimits.lineCharacters + base64Length(inlineBytes);
}

function detailsOf(value: unknown): JsonObject {
  const { warnings, ...rest } = fieldsOf(value, 'details');
  const own = Object.keys(rest).find((key) => resultFields.some((field) => field === key));
  if (own !== undefined) throw unexpected('details without fields of the result', own);
  const details = {
    ...jsonObjectOf(rest, responseLimits.detailsDepth),
    ...(warnings === undefined ? {} : { warnings: warningsOf(warnings) }),
  };
  const { length } = JSON.stringify(details);
  if (length > responseLimits.detailsCharacters)
    throw unexpected(`details of at most ${responseLimits.detailsCharacters} characters`, length);
  return details;
}

function warningsOf(value: unknown): string[] {
  return listOf(value, 'warnings', responseLimits.warnings, (warning) =>
    lineOf(textOf(warning, 'a warning')).slice(0, responseLimits.msgCharacters).toWellFormed(),
  );
}

function detailOf(value: unknown, depth: number): JsonValue {
  if (value === null || typeof value === 'boolean') return value;
  if (typeof value === 'string') return lineOf(value);
  if (typeof value === 'number') {
    // DynamoDB refuses numbers that are much larger or smaller.
    if (value !== 0 && !(Math.abs(value) < 1e100 && Math.abs(value) > 1e-100))
      throw unexpected('a number that can be stored', value);
    return value;
  }
  if (depth === 0) throw unexpected(`details of at most ${responseLimits.detailsDepth} levels`, 'more');
  return Array.isArray(value) ? value.map((item) => detailOf(item, depth - 1)) : jsonObjectOf(value, depth);
}

function jsonObjectOf(value: unknown, depth: number): JsonObject {
  const entries = Object.entries(fieldsOf(value, 'details'));
  if (entries.length > responseLimits.detailsKeys)
    throw unexpected(`at most ${responseLimits.detailsKeys} keys`, entries.length);
  return Object.fromEntries(
    entries.map(([key, item]) => {
      if (!/^[a-z][a-z0-9_]{0,63}$/.test(key)) throw unexpected('a key of small letters', key);
      return [key, detailOf(item, depth - 1)];
    }),
  );
}

/** Returns the end of a text for the log, with its line breaks. */
function logTextOf(value: unknown, what: string): string {
  return textOf(value, what)
    .slice(-responseLimits.logCharacters)
    .toWellFormed()
    .replace(/[^\P{Cc}\n\t]/gu, ' ');
}

/** Returns a text as one line. Control characters act on a terminal, and bidirectional ones disguise the text after them. */
function lineOf(text: string): string {
  return text
    .slice(0, responseLimits.detailsCharacters)
    .toWellFormed()
    .replace(/[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]+/gu, ' ');
}
