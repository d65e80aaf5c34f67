import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll } from 'vitest';
import { catalogue } from '../../../functions/engines/mail/catalogue.ts';
import { engine } from '../../../functions/engines/mail/run.ts';
import type { WorkResult } from '../../../functions/engines/runtime/engine.ts';
import { Catalogue } from '../../../shared/catalogue/catalogue.ts';
import { checkOptions } from '../../../shared/catalogue/options.ts';
import { quietContext } from '../../support/sandboxed.ts';

const run = promisify(execFile);
export const known = new Catalogue([catalogue]);
const folders: string[] = [];

afterAll(async () => {
  for (const folder of folders.splice(0)) await rm(folder, { recursive: true, force: true });
});

/** Makes a folder that is gone when the test file ends. */
export async function makeFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'mail-test-'));
  folders.push(folder);
  return folder;
}

/** Converts a message or mailbox as the worker would. */
export async function convertMail(
  content: string | Uint8Array,
  to: string,
  options: Record<string, unknown> = {},
  from = 'eml',
): Promise<WorkResult> {
  const folder = await makeFolder();
  await mkdir(join(folder, 'in'));
  const path = join(folder, 'in', '0');
  await writeFile(path, content);
  const match = known.find('convert', from, to);
  if (!match) throw new Error(`${from} to ${to} is not advertised.`);
  const checked = checkOptions(match.capability.options, options);
  if (Object.keys(checked.errors).length > 0) throw new Error(JSON.stringify(checked.errors));
  const size = Buffer.byteLength(content);
  const input = { path, name: `mail.${from}`, format: from, size };
  return engine.run(
    { operation: 'convert', inputs: [input], outputFormat: to, options: checked.values, folder },
    quietContext(),
  );
}

/** Converts a message to a text format, and returns what was written. */
export async function textOfMail(
  content: string | Uint8Array,
  to = 'txt',
  options: Record<string, unknown> = {},
  from = 'eml',
): Promise<string> {
  const { outputs } = await convertMail(content, to, options, from);
  return readFile(outputs[0]?.path ?? '', 'utf8');
}

/** Reads a PDF with poppler and qpdf. */
export async function readPdf(path: string): Promise<{ text: string; pages: number }> {
  await run('qpdf', ['--check', path]);
  const [{ stdout: text }, { stdout: facts }] = await Promise.all([
    run('pdftotext', ['-layout', path, '-']),
    run('pdfinfo', [path]),
  ]);
  return { text: text.replaceAll(/[ \u00a0]+/g, ' '), pages: Number(/^Pages:\s+(\d+)/m.exec(facts)?.[1]) };
}
