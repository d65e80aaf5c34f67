import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { EngineError, type InputFile, type WorkContext } from '../../runtime/engine.ts';
import { postScriptError, withoutDirectoryWalks } from '../../runtime/ghostscript.ts';
import { justifiedSeconds } from '../../runtime/justified-time.ts';
import { ProgramError, runProgram } from '../../runtime/program.ts';
import { damaged } from '../failures.ts';

const timeoutMs = 120_000;

export interface ProgramContext extends Pick<WorkContext, 'signal' | 'limitProcessorTime'> {
  /** The task's own folder. */
  folder: string;
}

/** Limits the processor time of programs for a drawing, but not the time for processing the picture. */
export async function limited<T>(
  input: InputFile,
  context: ProgramContext,
  work: () => Promise<T>,
  pixels = 0,
): Promise<T> {
  context.limitProcessorTime(justifiedSeconds({ bytes: input.size, pixels }));
  try {
    return await work();
  } finally {
    context.limitProcessorTime();
  }
}

/** Returns the error for a drawing that a program could not convert in time. */
function tooSlow(input: InputFile, program: string): EngineError {
  return new EngineError(`The drawing ${JSON.stringify(input.name)} takes too long to render. Simplify it.`, {
    detail: `${program} was stopped`,
  });
}

/** Converts PostScript to a PDF of the same size, keeping lines and letters, and returns its path. */
export async function postScriptToPdf(input: InputFile, context: ProgramContext): Promise<string> {
  const { folder, signal } = context;
  const output = join(folder, 'drawing.pdf');
  const args = [
    ...['-dSAFER', '-dBATCH', '-dNOPAUSE', '-dNOPROMPT', '-dQUIET'],
    ...['-dEPSCrop', '-sDEVICE=pdfwrite', '-dCompatibilityLevel=1.7'],
    // By default, only the input on the command line and the output are permitted.
    `-sOutputFile=${output}`,
    ...withoutDirectoryWalks,
    input.path,
  ];
  // Safer mode still allows writing and deleting in the temporary folder, so it gets a separate one.
  const temporary = join(folder, 'gs');
  await mkdir(temporary, { recursive: true });
  try {
    const env = { TMPDIR: temporary, TEMP: temporary };
    await limited(input, context, () => runProgram('gs', args, { cwd: temporary, signal, timeoutMs, env }));
  } catch (error) {
    if (!(error instanceof ProgramError)) throw error;
    if (error.timedOut) throw tooSlow(input, 'gs');
    const { said, asksForFiles } = postScriptError(error.stdout);
    if (asksForFiles) {
      throw new EngineError(
        `The drawing ${JSON.stringify(input.name)} is a PostScript program that reads, writes or lists files, which is not allowed.`,
        { detail: said },
      );
    }
    throw damaged(input, said || error.message);
  }
  return output;
}

/** Converts an SVG in memory to a PDF, keeping lines and letters, and returns its path. */
export async function svgToPdf(svg: Buffer, input: InputFile, context: ProgramContext): Promise<string> {
  const { folder, signal } = context;
  const output = join(folder, 'drawing.pdf');
  const args = ['--format', 'pdf', '--dpi-x', '96', '--dpi-y', '96', '--output', output];
  try {
    // From standard input it has no address, so references to other files cannot be resolved.
    await limited(input, context, () =>
      runProgram('rsvg-convert', args, { cwd: folder, signal, timeoutMs, input: svg }),
    );
  } catch (error) {
    if (!(error instanceof ProgramError)) throw error;
    if (error.timedOut) throw tooSlow(input, 'rsvg-convert');
    throw damaged(input, error.stderr);
  }
  return output;
}
