import { rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { OptionValues } from '../../../shared/catalogue/options.ts';
import { EngineError, type WorkContext } from './engine.ts';
import { justifiedSeconds } from './justified-time.ts';
import { countTreePages } from './page-tree.ts';
import { maxPages } from './pages.ts';
import { ProgramError, type ProgramResult, runProgram } from './program.ts';

const programMs = 240_000;

export interface Pdf {
  path: string;
  pages: number;
}

/** The folder of one input, and the context of its task. */
export interface Workspace extends WorkContext {
  folder: string;
}

type Signal = Pick<WorkContext, 'signal'>;
export type Programs = Signal & { folder: string };

/** Limits the processor time of a program that processes a whole PDF. */
export async function limitByPages({ path, pages }: Pdf, { limitProcessorTime }: Workspace): Promise<void> {
  limitProcessorTime(justifiedSeconds({ bytes: (await stat(path)).size, pages }));
}

/** Opens a user's PDF: decrypts it, counts its pages and throws if it has none. */
export async function openPdf(path: string, { password }: OptionValues, space: Programs): Promise<Pdf> {
  const { code, stderr } = await runTool('qpdf', ['--is-encrypted', path], space, [0, 2, 3]);
  if (/unsupported encryption|unsupported security handler/i.test(stderr))
    throw new EngineError('The PDF is encrypted for certificates, or in another way that is not supported.');
  const plain = code === 0 ? await decrypt(path, password, space) : path;
  const pages = await countPages(plain, space);
  if (pages < 1) throw new EngineError('The PDF has no pages.');
  if (pages > maxPages) throw new EngineError(`The PDF has ${pages} pages; the maximum is ${maxPages}.`);
  return { path: plain, pages };
}

async function decrypt(path: string, password: unknown, space: Programs): Promise<string> {
  const output = join(space.folder, 'decrypted.pdf');
  const secret = join(space.folder, 'password');
  await writeFile(secret, String(password ?? ''), { mode: 0o600 });
  try {
    const args = [`--password-file=${secret}`, '--decrypt', '--stream-data=preserve', '--warning-exit-0', path, output];
    await runTool('qpdf', args, space);
    return output;
  } catch (error) {
    if (error instanceof EngineError && /invalid password/i.test(error.detail))
      throw new EngineError(
        password === undefined
          ? 'The PDF is password-protected. Set the option password.'
          : 'The option password does not open the PDF.',
        { detail: error.detail },
      );
    throw error;
  } finally {
    await rm(secret, { force: true });
  }
}

/** Counts the reachable pages of a PDF. */
async function countPages(path: string, space: Programs): Promise<number> {
  const { stdout } = await runTool('pdfinfo', [path], space);
  return Number(/^Pages:\s+(\d+)/m.exec(stdout)?.[1] ?? 0);
}

/** Writes the given pages of a PDF to another one, in order. */
export async function selectPages(pdf: Pdf, pages: number[], space: Workspace): Promise<Pdf> {
  if (pages.length === pdf.pages && pages.every((page, index) => page === index + 1)) return pdf;
  const output = join(space.folder, 'selected.pdf');
  const args = [pdf.path, '--pages', '.', pages.join(','), '--', '--warning-exit-0', output];
  await runTool('qpdf', args, space);
  return { path: output, pages: pages.length };
}

/** Encrypts a PDF with AES-256. `permissions` are those of qpdf for readers without the owner password. */
export async function protectPdf(
  path: string,
  output: string,
  { user, owner = user, permissions = {} }: { user: string; owner?: string; permissions?: Record<string, string> },
  space: Workspace,
) {
  const job = {
    inputFile: path,
    outputFile: output,
    streamData: 'preserve',
    encrypt: { userPassword: user, ownerPassword: owner, '256bit': permissions },
  };
  // In a file, the passwords do not appear in the process list.
  const file = join(space.folder, 'encryption.json');
  await writeFile(file, JSON.stringify(job), { mode: 0o600 });
  try {
    await runTool('qpdf', [`--job-json-file=${file}`], space, [0, 3]);
  } finally {
    await rm(file, { force: true });
  }
}

/** Runs one of the PDF programs; its failure is reported as a failure of the file. */
export async function runTool(
  program: string,
  args: string[],
  { folder, signal }: Programs,
  successCodes: number[] = [0],
  temporary = folder,
): Promise<ProgramResult> {
  try {
    const options = { cwd: folder, env: { TMPDIR: temporary }, signal, timeoutMs: programMs, successCodes };
    return await runProgram(program, args, options);
  } catch (error) {
    if (!(error instanceof ProgramError)) throw error;
    const detail = error.stderr.trim().split('\n').slice(-5).join('\n');
    if (error.timedOut) throw new EngineError('The PDF takes too long to process. Split it.', { detail });
    throw damagedPdf(error, detail);
  }
}

/** Returns the error for a PDF that cannot be processed. */
export function damagedPdf(cause: unknown, detail = cause instanceof Error ? cause.message : String(cause)) {
  return new EngineError('The PDF could not be read: it is damaged or incomplete.', { detail, cause });
}

/** Checks that an output PDF opens and has the expected pages. */
export async function checkPdf(path: string, folder: string, { signal }: Signal, pages?: number): Promise<Pdf> {
  if ((await stat(path)).size === 0) throw new EngineError('The conversion produced an empty PDF.');
  const found = (await countTreePages(path)) ?? (await countPages(path, { folder, signal }));
  if (found < 1 || (pages !== undefined && found !== pages))
    throw new EngineError(`The output PDF has ${found} pages${pages === undefined ? '' : ` instead of ${pages}`}.`);
  return { path, pages: found };
}
