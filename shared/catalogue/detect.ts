import { extensionOf } from '../files/names.ts';
import type { Catalogue } from './catalogue.ts';

/** Number of bytes at the start of a file that detection reads. */
export const detectionBytes = 65_536;

export interface Detected {
  /** Canonical name; empty if unknown from content and name. */
  format: string;
  /** Format of the content, whatever the name says; empty if unknown, as for text. */
  content: string;
}

/**
 * Detects a file's canonical format from its content. The name decides only if the content is ambiguous: between
 * formats that share a container, and for text, which has no signature.
 */
export async function detectFile(catalogue: Catalogue, content: Uint8Array, name: string): Promise<Detected> {
  const start = content.subarray(0, detectionBytes);
  const named = catalogue.canonical(extensionOf(name));
  const found = detectByEngines(catalogue, start, name) ?? (await detectByContent(start)) ?? '';
  const detected = isBinary(catalogue, found) && isPlainText(start) ? '' : found;
  const mistaken = detected === '' && isNeverText(catalogue, named) ? textFormat(start) : undefined;
  if (mistaken !== undefined) return { format: named, content: mistaken };
  const isNamed = detected === '' || catalogue.format(named)?.contents?.includes(detected);
  return { format: isNamed ? named : catalogue.canonical(detected), content: detected };
}

/** Detects a file's canonical format. */
export async function detectFormat(catalogue: Catalogue, content: Uint8Array, name: string): Promise<string> {
  return (await detectFile(catalogue, content, name)).format;
}

/** Returns whether a file is a text, such as the error page of a download, with the name of something else. */
function isMistaken(catalogue: Catalogue, { format, content }: { format: string; content?: string }): boolean {
  return mistakable.some((text) => text === content) && isNeverText(catalogue, catalogue.canonical(format));
}

const mistakable = ['html', 'json'] as const;

/** Returns which text a file certainly is, although no signature says so. */
function textFormat(start: Uint8Array): (typeof mistakable)[number] | undefined {
  const text = Buffer.from(start.subarray(0, 1024))
    .toString('latin1')
    .replace(/^\xef\xbb\xbf/, '');
  if (/^\s*(?:<!--[\s\S]*?-->\s*)*<(?:!doctype\s+html|html|head|body)[\s>]/i.test(text)) return 'html';
  return /^\s*\{\s*"[^"\r\n]*"\s*:/.test(text) ? 'json' : undefined;
}

/** Returns whether a format is neither text nor based on XML, JSON or TeX. */
function isNeverText(catalogue: Catalogue, format: string): boolean {
  return (
    catalogue.format(format) !== undefined && !/^text\/|[+/](?:xml|json)$|\/x-tex/.test(catalogue.mediaType(format))
  );
}

/** Returns the format to treat a file as: the requested one, or undefined if the content contradicts it. */
export function formatAs(
  catalogue: Catalogue,
  file: { format: string; content?: string },
  requested: string | undefined,
): string | undefined {
  const format = catalogue.canonical(file.format);
  if (requested === undefined) return isMistaken(catalogue, file) ? undefined : format;
  const wanted = catalogue.canonical(requested);
  // Files that the service made have no detected content. Any text format may be treated as another.
  const isText = (name: string) => catalogue.mediaType(name).startsWith('text/');
  if (file.content === undefined && isText(format) && isText(wanted)) return wanted;
  const content = file.content ?? file.format;
  if (isMistaken(catalogue, file)) return isNeverText(catalogue, wanted) ? undefined : wanted;
  const holds = (one: string, other: string) => catalogue.format(one)?.contents?.includes(other);
  const agrees =
    wanted === format ||
    content === '' ||
    wanted === catalogue.canonical(content) ||
    holds(wanted, content) ||
    holds(content, wanted);
  return agrees ? wanted : undefined;
}

/** Loaded on demand: most functions that know formats never read a file. */
async function detectByContent(start: Uint8Array): Promise<string | undefined> {
  const { fileTypeFromBuffer } = await import('file-type');
  return (await fileTypeFromBuffer(start))?.ext;
}

/** Text formats that have a signature. */
const textSignatures = new Set(['xml', 'svg', 'rtf', 'ps', 'eps', 'pdf', 'ics', 'vcf']);

/** Returns whether files of a format start with bytes that no text has: images, audio, video, and unknown formats. */
function isBinary(catalogue: Catalogue, format: string): boolean {
  if (format === '' || textSignatures.has(format)) return false;
  return !catalogue.format(format) || /^(?:image|audio|video)\//.test(catalogue.mediaType(format));
}

/** Returns whether a file begins as plain text, which may have a signature by chance, such as the "BM" of bitmaps. */
function isPlainText(start: Uint8Array): boolean {
  return start.every((byte) => (byte >= 0x20 && byte !== 0x7f) || (byte >= 0x09 && byte <= 0x0d) || byte === 0x1b);
}

function detectByEngines(catalogue: Catalogue, start: Uint8Array, name: string): string | undefined {
  for (const { detect } of catalogue.engines) {
    const format = detect?.(start, name);
    if (format !== undefined) return format;
  }
  return undefined;
}
