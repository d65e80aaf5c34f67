import { decodeWords } from 'postal-mime';
import { EngineError } from '../runtime/engine.ts';
import { decoderOf } from './charsets.ts';

/** Limits of a message. Real ones stay far below. */
const maxParts = 2_000;
const maxDepth = 50;
const maxHeaderBytes = 1024 ** 2;
const maxHeaders = 2_000;

/** A part of a message, with its body still in its transfer encoding. */
export interface Part {
  headers: Map<string, string[]>;
  /** In lower case, such as `text/html`. */
  mediaType: string;
  parameters: Map<string, string>;
  disposition: string;
  /** File name as given, which may be a path. */
  name: string | undefined;
  contentId: string | undefined;
  location: string | undefined;
  raw: Buffer;
  parts: Part[];
}

interface Budget {
  parts: number;
}

/** Parses a message or part into a tree. Damaged parts are read as far as possible, as mail programs do. */
export function parsePart(bytes: Buffer, inherited = 'text/plain', budget: Budget = { parts: 0 }, depth = 0): Part {
  budget.parts += 1;
  if (budget.parts > maxParts)
    throw new EngineError(`The message has more than ${maxParts.toLocaleString('en')} parts.`);
  const { headers, body } = splitHeaders(bytes);
  const type = parameterized(first(headers, 'content-type') ?? inherited);
  const disposition = parameterized(first(headers, 'content-disposition') ?? '');
  const mediaType = /^[\w.+-]+\/[\w.+-]+$/.test(type.value) ? type.value : inherited;
  const part: Part = {
    headers,
    mediaType,
    parameters: type.parameters,
    disposition: disposition.value,
    name: disposition.parameters.get('filename') ?? type.parameters.get('name'),
    contentId: first(headers, 'content-id')?.replaceAll(/^<|>$/g, ''),
    location: first(headers, 'content-location'),
    raw: body,
    parts: [],
  };
  const boundary = type.parameters.get('boundary');
  if (!mediaType.startsWith('multipart/') || !boundary) return part;
  if (depth >= maxDepth) throw new EngineError(`The message has parts more than ${maxDepth} levels deep.`);
  const child = mediaType === 'multipart/digest' ? 'message/rfc822' : 'text/plain';
  for (const piece of splitParts(body, boundary)) part.parts.push(parsePart(piece, child, budget, depth + 1));
  return part;
}

/** Returns the first value of a header. */
export function first(headers: Part['headers'], name: string): string | undefined {
  return headers.get(name)?.[0];
}

/** Decodes the body of a part. */
export function contentOf({ headers, raw }: Part): Buffer {
  const encoding = /[\w-]+/.exec(first(headers, 'content-transfer-encoding') ?? '')?.[0]?.toLowerCase();
  if (encoding === 'base64') return Buffer.from(raw.toString('latin1').replaceAll(/[^\w+/=]/g, ''), 'base64');
  if (encoding === 'quoted-printable') return decodeQuotedPrintable(raw.toString('latin1'));
  return raw;
}

function decodeQuotedPrintable(text: string): Buffer {
  const joined = text.replaceAll(/[ \t]+(?=\r?\n|$)/g, '').replaceAll(/=\r?\n/g, '');
  return Buffer.from(
    joined.replaceAll(/=([\dA-F]{2})/gi, (_all, code: string) => String.fromCharCode(Number.parseInt(code, 16))),
    'latin1',
  );
}

/** Splits a message at its first empty line, and unfolds the headers. */
export function splitHeaders(bytes: Buffer): { headers: Part['headers']; body: Buffer } {
  const headers: Part['headers'] = new Map();
  let at = 0;
  let count = 0;
  let name = '';
  let lines: Buffer[] = [];
  const close = () => {
    if (name === '' || ++count > maxHeaders) return;
    const value = decodeBytes(Buffer.concat(lines))
      .replaceAll(/\r?\n|\r|\0/g, '')
      .trim();
    headers.set(name, [...(headers.get(name) ?? []), value]);
  };
  while (at < bytes.length) {
    if (at > maxHeaderBytes)
      throw new EngineError(`The headers of the message are larger than ${maxHeaderBytes / 1024 ** 2} MB.`);
    const end = bytes.indexOf(10, at);
    const next = end < 0 ? bytes.length : end + 1;
    const line = bytes.subarray(at, next);
    const isEmpty = line.length === 0 || line.toString('latin1').trim() === '';
    if (isEmpty) {
      at = next;
      break;
    }
    const isFolded = line[0] === 0x20 || line[0] === 0x09;
    const [, key] = isFolded ? [] : (/^([!-9;-~]{1,200})[ \t]*:/.exec(line.toString('latin1')) ?? []);
    if (isFolded) lines.push(line);
    else if (key !== undefined) {
      close();
      name = key.toLowerCase();
      lines = [line.subarray(line.indexOf(0x3a) + 1)];
    } else if (count === 0 && name === '' && /^>?From /.test(line.toString('latin1', 0, 6))) {
      // The line between the messages of a mailbox, which some programs keep.
    } else {
      // The body begins without an empty line.
      break;
    }
    at = next;
  }
  close();
  return { headers, body: bytes.subarray(at) };
}

/** Splits the body of a multipart at its boundary. A missing end is tolerated. */
function splitParts(body: Buffer, boundary: string): Buffer[] {
  const mark = Buffer.from(`--${boundary}`, 'latin1');
  const pieces: Buffer[] = [];
  let start = -1;
  for (let at = body.indexOf(mark); at >= 0; at = body.indexOf(mark, at + 1)) {
    if (at > 0 && body[at - 1] !== 10) continue;
    const lineEnd = body.indexOf(10, at);
    const rest = body.toString('latin1', at + mark.length, lineEnd < 0 ? body.length : lineEnd).trimEnd();
    if (rest !== '' && rest !== '--') continue;
    if (start >= 0) pieces.push(withoutLineEnd(body.subarray(start, at)));
    if (pieces.length > maxParts) return pieces;
    start = rest === '--' ? -1 : lineEnd < 0 ? body.length : lineEnd + 1;
    if (rest === '--') return pieces;
  }
  if (start >= 0) pieces.push(body.subarray(start));
  return pieces;
}

function withoutLineEnd(bytes: Buffer): Buffer {
  const end = bytes.length - (bytes.at(-1) === 10 ? (bytes.at(-2) === 13 ? 2 : 1) : 0);
  return bytes.subarray(0, end);
}

/** Decodes a header: UTF-8, or Western European as it was before. */
function decodeBytes(bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return new TextDecoder('windows-1252').decode(bytes);
  }
}

/** Decodes the encoded words of a header. */
export function decodeHeader(value: string): string {
  return decodeWords(value.slice(0, 100_000))
    .replaceAll(/\p{Cc}+/gu, ' ')
    .trim();
}

/** Parses a value with parameters, with their continuations and character sets (RFC 2231). */
export function parameterized(text: string): { value: string; parameters: Map<string, string> } {
  const value = /^[^;]*/.exec(text)?.[0].trim().toLowerCase() ?? '';
  const pieces = new Map<string, { at: number; text: string; isEncoded: boolean }[]>();
  const pattern = /;\s*([^\s=;*]{1,100})(?:\*(\d{1,3}))?(\*)?\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^;]*))/g;
  for (const [, key = '', index, encoded, quoted, bare = ''] of text.slice(0, 100_000).matchAll(pattern)) {
    const name = key.toLowerCase();
    const piece = {
      at: Number(index ?? -1),
      text: quoted === undefined ? bare.trim() : quoted.replaceAll(/\\(["\\])/g, '$1'),
      isEncoded: encoded !== undefined,
    };
    pieces.set(name, [...(pieces.get(name) ?? []), piece]);
  }
  const parameters = new Map<string, string>();
  for (const [name, found] of pieces) {
    const parts = found.length === 1 ? found : found.filter(({ at, isEncoded }) => at >= 0 || isEncoded);
    parts.sort((one, other) => one.at - other.at);
    parameters.set(name, joinPieces(parts.length > 0 ? parts : found.slice(0, 1)));
  }
  return { value, parameters };
}

function joinPieces(pieces: { text: string; isEncoded: boolean }[]): string {
  if (!pieces.some(({ isEncoded }) => isEncoded)) return decodeHeader(pieces.map(({ text }) => text).join(''));
  let charset = 'utf-8';
  const bytes = pieces.map(({ text, isEncoded }, index) => {
    if (!isEncoded) return Buffer.from(text);
    const [, declared, rest] = (index === 0 ? /^([^']*)'[^']*'([\s\S]*)$/.exec(text) : undefined) ?? [];
    if (declared) charset = declared;
    return Buffer.from(
      (rest ?? text).replaceAll(/%([\da-f]{2})/gi, (_all, code: string) =>
        String.fromCharCode(Number.parseInt(code, 16)),
      ),
      'latin1',
    );
  });
  return decoderOf(charset).decode(Buffer.concat(bytes));
}
