import { execFile } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { EngineError } from '../../../functions/engines/engine.ts';
import { runEngine, secret } from './harness.ts';
import type { Canary, HostileDocument } from './hostile-documents.ts';
import { unzip } from './samples.ts';

const run = promisify(execFile);

/** Converts a hostile document in several ways and returns what of the canaries came out of it. */
export async function findReached(
  document: HostileDocument,
  folder: string,
  canary: Canary,
  outputs: string[],
): Promise<string[]> {
  const path = join(folder, `hostile.${document.format}`);
  await document.make(path, canary);
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
  const beside = await readdir(dirname(canary.text));
  if (beside.some((name) => name.endsWith('.stolen'))) reached.push('a macro ran');
  return reached;
}

async function canariesIn(path: string, format: string): Promise<string[]> {
  if (format === 'pdf') {
    const { stdout: text } = await run('pdftotext', [path, '-']);
    const { stdout: pictures } = await run('pdfimages', ['-list', path]);
    return [
      ...(text.includes(secret) ? ['text in pdf'] : []),
      ...(/\b77\s+55\b/.test(pictures) ? ['picture in pdf'] : []),
    ];
  }
  const bytes = await readFile(path);
  const parts =
    bytes.subarray(0, 2).toString() === 'PK' ? Object.entries(await unzip(path)) : [[format, bytes] as const];
  return parts.flatMap(([name, content]) => {
    const picture = /\.(png|jpe?g|emf)$/i.test(name) && !/thumbnail/i.test(name);
    return [...(content.includes(secret) ? [`text in ${name}`] : []), ...(picture ? [`picture ${name}`] : [])];
  });
}
