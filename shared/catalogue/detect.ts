import { extensionOf } from '../files/names.ts';
import type { Catalogue } from './catalogue.ts';

/** Number of bytes at the start of a file that detection reads. */
export const detectionBytes = 65_536;

/**
 * Detects a file's canonical format from its content. Its name decides only where the content is ambiguous:
 * between formats that share a container, and for text, which has no signature.
 */
export async function detectFormat(catalogue: Catalogue, content: Uint8Array, name: string): Promise<string> {
  const start = content.subarray(0, detectionBytes);
  const named = catalogue.canonical(extensionOf(name));
  const detected = detectByEngines(catalogue, start, name) ?? (await detectByContent(start));
  if (detected === undefined) return named;
  if (catalogue.format(named)?.contents?.includes(detected)) return named;
  return catalogue.canonical(detected);
}

/** Loaded when it is first needed: most functions that know formats never look into a file. */
async function detectByContent(start: Uint8Array): Promise<string | undefined> {
  const { fileTypeFromBuffer } = await import('file-type');
  return (await fileTypeFromBuffer(start))?.ext;
}

function detectByEngines(catalogue: Catalogue, start: Uint8Array, name: string): string | undefined {
  for (const { detect } of catalogue.engines) {
    const format = detect?.(start, name);
    if (format !== undefined) return format;
  }
  return undefined;
}
