import { readFile } from 'node:fs/promises';
import { EngineError } from '../runtime/engine.ts';

const maxBytes = 200_000_000;

export interface DecodedText {
  text: string;
  /** A warning for the user if the encoding is uncertain. */
  warning?: string;
}

/** Reads a text file in the given or the detected encoding. A byte order mark takes precedence. */
export async function readText(path: string, encoding = 'auto'): Promise<DecodedText> {
  return decodeText(await readBytes(path), encoding);
}

/** Reads HTML in the given, declared or detected encoding. A byte order mark takes precedence. */
export async function readHtml(path: string, encoding = 'auto'): Promise<DecodedText> {
  const bytes = await readBytes(path);
  const head = bytes.subarray(0, 4096).toString('latin1');
  const declared = /charset\s*=\s*["']?\s*([\w-]+)/i.exec(head)?.[1];
  const known = encoding === 'auto' && declared !== undefined && isKnown(declared) ? declared : encoding;
  return decodeText(bytes, known);
}

async function readBytes(path: string): Promise<Buffer> {
  const bytes = await readFile(path);
  if (bytes.length > maxBytes) throw new EngineError(`The text is larger than ${maxBytes / 1_000_000} MB. Split it.`);
  return bytes;
}

function isKnown(encoding: string): boolean {
  try {
    new TextDecoder(encoding);
    return true;
  } catch {
    return false;
  }
}

/** Decodes text in the given or the detected encoding. A byte order mark takes precedence. */
export async function decodeText(bytes: Buffer, encoding: string): Promise<DecodedText> {
  const marked = encodingByMark(bytes);
  if (marked !== undefined) return { text: new TextDecoder(marked).decode(bytes) };
  const wide = encoding === 'auto' ? encodingByZeros(bytes) : undefined;
  const name = wide ?? encoding;
  if (!name.startsWith('utf-16') && bytes.includes(0))
    throw new EngineError('The file is not text: it contains binary data.');
  if (name !== 'auto') return named(bytes, name);
  if (japaneseEscapes.some((mark) => bytes.includes(mark))) return named(bytes, 'iso-2022-jp');
  try {
    return { text: new TextDecoder('utf-8', { fatal: true }).decode(bytes) };
  } catch {
    return detected(bytes);
  }
}

function encodingByMark(bytes: Uint8Array): string | undefined {
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) return 'utf-8';
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return 'utf-16le';
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return 'utf-16be';
  return undefined;
}

/** Detects UTF-16 without a byte order mark: spaces and line ends have a zero byte, always on the same side. */
function encodingByZeros(bytes: Buffer): string | undefined {
  if (bytes.length % 2 !== 0 || !bytes.includes(0)) return undefined;
  const sides = new Set<number>();
  for (const [index, byte] of bytes.subarray(0, sampleBytes).entries()) if (byte === 0) sides.add(index % 2);
  if (sides.size !== 1) return undefined;
  return sides.has(1) ? 'utf-16le' : 'utf-16be';
}

function named(bytes: Uint8Array, encoding: string): DecodedText {
  const text = new TextDecoder(encoding).decode(bytes);
  return text.includes('\ufffd') ? { text, warning: replacedLetters(encoding) } : { text };
}

const replacedLetters = (encoding: string) =>
  `Some bytes are no letters in ${encoding} and were replaced. If the text has another encoding, set input_encoding.`;

const sampleBytes = 65_536;
/** Escape sequences of ISO-2022-JP, the seven-bit encoding of Japanese mail. */
const japaneseEscapes = ['\u001b$B', '\u001b$@'];

/** Encodings to choose from, by the detector's names. */
const candidates = [
  ...['Windows-1252', 'Windows-1250', 'ISO-8859-2', 'Windows-1251', 'KOI8-R', 'Windows-1253', 'Windows-1254'],
  ...['Windows-1255', 'Windows-1256', 'CP932', 'EUC-JP', 'GB18030', 'Big5', 'CP949'],
];
/** Names of encodings that the detector calls differently. */
const standardNames: Record<string, string> = { CP932: 'shift_jis', CP949: 'euc-kr' };

/** Undeclared text is most often Western European, with few letters that reveal it. */
const westernWeight = 1.6;
/** The encoding is certain enough if the next one with a different result is less than half as likely. */
const certain = 2;
const unlikely = 0.05;

/** Reads text in the most likely non-Unicode encoding. */
async function detected(bytes: Buffer): Promise<DecodedText> {
  const sample = sampleOf(bytes);
  const unicode = new TextDecoder().decode(sample);
  // A few damaged bytes do not mean another encoding.
  if (count(unicode, /\ufffd/g) * 10 < count(unicode, /[\u0080-\uffff]/g)) return named(bytes, 'utf-8');
  const { detectAll } = await import('jschardet');
  const found = detectAll(sample, { detectEncodings: candidates, minimumThreshold: 0 })
    .flatMap(({ encoding, confidence }) => {
      if (!encoding || !candidates.includes(encoding)) return [];
      const name = standardNames[encoding] ?? encoding.toLowerCase();
      const text = new TextDecoder(name).decode(sample);
      const weight = (name === 'windows-1252' ? westernWeight : 1) * (mixesScripts(text) ? 0.2 : 1);
      return [{ name, text, likelihood: confidence * weight }];
    })
    .sort((left, right) => right.likelihood - left.likelihood);
  const [best = { name: 'windows-1252', text: '', likelihood: 0 }] = found;
  const next = found.find(({ text }) => text !== best.text);
  const isCertain =
    best.likelihood > certain * (next?.likelihood ?? 0) && (best.name === 'windows-1252' || best.likelihood > unlikely);
  const text = new TextDecoder(best.name).decode(bytes);
  return isCertain
    ? { text }
    : {
        text,
        warning: `The encoding of the text is not declared, and ${best.name} was assumed. If letters are wrong, set input_encoding.`,
      };
}

function count(text: string, pattern: RegExp): number {
  return text.match(pattern)?.length ?? 0;
}

/** Returns the part with the first letters that are not ASCII. It ends with a line, so that no letter is cut. */
function sampleOf(bytes: Buffer): Buffer {
  const first = bytes.findIndex((byte) => byte >= 0x80);
  const part = bytes.subarray(Math.max(0, bytes.lastIndexOf(0x0a, first)), first + sampleBytes);
  const end = part.lastIndexOf(0x0a);
  return first + sampleBytes < bytes.length && end > 0 ? part.subarray(0, end) : part;
}

/** Returns whether words of another script often contain Latin letters, a sign of misread accented letters. */
function mixesScripts(text: string): boolean {
  const others = count(text, /[\p{Script=Cyrillic}\p{Script=Greek}\p{Script=Hebrew}\p{Script=Arabic}]/gu);
  const mixed = count(
    text,
    /[a-z](?=[\p{Script=Cyrillic}\p{Script=Greek}\p{Script=Hebrew}\p{Script=Arabic}])|(?<=[\p{Script=Cyrillic}\p{Script=Greek}\p{Script=Hebrew}\p{Script=Arabic}])[a-z]/giu,
  );
  return mixed * 3 > others;
}
