import { execFile } from 'node:child_process';
import { hash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import sharp from 'sharp';
import { EngineError } from '../../../functions/engines/runtime/engine.ts';
import { runEngine, secret } from './harness.ts';
import type { Canary, HostileDocument } from './hostile-documents.ts';
import { unzip } from './samples.ts';

const run = promisify(execFile);

/** Converts a hostile document in several ways and returns the canaries that it reached. */
export async function findReached(
  document: HostileDocument,
  folder: string,
  { canary, hits }: { canary: Canary; hits: string[] },
  outputs: string[],
): Promise<string[]> {
  const path = await makeOnce(document, folder, canary);
  // What made the document may itself have come by.
  hits.length = 0;
  const reached: string[] = [];
  for (const output of outputs) {
    try {
      const result = await runEngine(path, document.format, output);
      for (const made of result.outputs) reached.push(...(await canariesIn(made.path, output)));
    } catch (error) {
      // To be refused is to reach nothing; any other failure is one of ours.
      if (!(error instanceof EngineError)) throw error;
    }
  }
  const names = await readdir(dirname(canary.text));
  if (names.some((name) => name.endsWith('.stolen'))) reached.push('a macro ran');
  return reached;
}

const made = new Map<string, Promise<string>>();

/** Returns the path of a hostile document, which is made when it is first asked for: for some, LibreOffice has to be started. */
export function makeOnce(document: HostileDocument, folder: string, canary: Canary): Promise<string> {
  const path = join(folder, `hostile-${hash('sha256', document.name).slice(0, 16)}.${document.format}`);
  const making = made.get(path) ?? document.make(path, canary).then(() => path);
  made.set(path, making);
  return making;
}

/** Returns what of the canaries is in a file. */
export async function canariesIn(path: string, format: string): Promise<string[]> {
  if (format === 'pdf') {
    const { stdout: text } = await run('pdftotext', [path, '-']);
    const { stdout: pictures } = await run('pdfimages', ['-list', path]);
    return [
      ...(text.includes(secret) ? ['text in pdf'] : []),
      ...(/\b77\s+55\b/.test(pictures) ? ['picture in pdf'] : []),
      ...((await pagesShowCanary(path)) ? ['picture on a page'] : []),
    ];
  }
  const bytes = await readFile(path);
  const parts =
    bytes.subarray(0, 2).toString() === 'PK' ? Object.entries(await unzip(path)) : [[format, bytes] as const];
  const found: string[] = [];
  for (const [name, content] of parts) {
    if (content.includes(secret)) found.push(`text in ${name}`);
    for (const [, data = ''] of content.toString('latin1').matchAll(/data:image\/(?:png|jpe?g);base64,([\w+/=\s]+)/g))
      if (await mayShowCanary(Buffer.from(data, 'base64'))) found.push(`picture written into ${name}`);
    if (/\.(png|jpe?g|gif)$/i.test(name) && !/thumbnail/i.test(name) && (await mayShowCanary(content)))
      found.push(`picture ${name}`);
    if (/\.emf$/i.test(name) && content.includes(Buffer.alloc(60, 'ff00ff', 'hex'))) found.push(`picture ${name}`);
  }
  return found;
}

/** Says whether the canary's colour is on one of the first pages: a vector picture leaves no image of its size. */
async function pagesShowCanary(path: string): Promise<boolean> {
  const stem = join(dirname(path), 'page');
  await run('pdftoppm', ['-l', '3', '-r', '40', '-png', path, stem]);
  for (const name of await readdir(dirname(path)))
    if (/^page-\d+\.png$/.test(name) && (await mayShowCanary(await readFile(join(dirname(path), name))))) return true;
  return false;
}

/** Says whether a picture has the canary's colour in it; one that cannot be looked at is suspected. */
async function mayShowCanary(picture: Buffer): Promise<boolean> {
  // LibreOffice writes only the signature of a PNG if there is nothing to draw.
  if (picture.length <= 8) return false;
  try {
    const { data, info } = await sharp(picture).flatten({ background: '#ffffff' }).raw().toBuffer({
      resolveWithObject: true,
    });
    for (let at = 0; at < data.length; at += info.channels)
      if ((data[at] ?? 0) > 200 && (data[at + 1] ?? 0) < 60 && (data[at + 2] ?? 0) > 200) return true;
    return false;
  } catch {
    return true;
  }
}
