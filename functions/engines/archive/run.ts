import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { safeName, withExtension } from '../../../shared/files/names.ts';
import {
  type Engine,
  EngineError,
  type InputFile,
  type OutputFile,
  type Work,
  type WorkContext,
} from '../runtime/engine.ts';
import { Outputs } from '../runtime/outputs.ts';
import { allowance, tooMuchAtOnce } from './limits.ts';
import { pack } from './pack.ts';
import { unpack } from './unpack.ts';

/** Converts archives: unpacks each within limits and packs its contents again. */
export const engine: Engine = {
  async run(work, context) {
    const outputs = new Outputs(work);
    const warnings = new Set<string>();
    for (const [index, input] of work.inputs.entries()) {
      const progress = (part: number) => context.progress(((index + part) / work.inputs.length) * 100);
      // Unpacked and packed again, the contents are on disk twice.
      if (outputs.bytesLeft < 2 * allowance(input.size)) throw tooMuchAtOnce();
      const converted = await convert(work, input, index, { ...context, progress });
      await outputs.add(converted.output);
      for (const warning of converted.warnings) warnings.add(warning);
      progress(1);
    }
    return { outputs: outputs.files, warnings: [...warnings] };
  },
};

async function convert(
  work: Work,
  input: InputFile,
  index: number,
  context: WorkContext,
): Promise<{ output: OutputFile; warnings: string[] }> {
  if (input.size === 0) throw new EngineError('The file is empty.');
  const { outputFormat, options } = work;
  const password = typeof options.password === 'string' ? options.password : '';
  const encoding = typeof options.input_encoding === 'string' ? options.input_encoding : 'auto';
  const folder = join(work.folder, `unpacked-${index}`);
  const path = join(work.folder, `${index}.${outputFormat}`);
  try {
    const unpacked = await unpack(input, { password, encoding }, folder, context);
    context.progress(0.5);
    await pack(unpacked, outputFormat, options, path, context);
    const output = { path, name: nameFor(input.name, outputFormat), format: outputFormat };
    return { output, warnings: unpacked.warnings };
  } finally {
    // The next input needs the disk space.
    await rm(folder, { recursive: true, force: true });
  }
}

/** Replaces the extension, including both parts of a compressed tar's. */
function nameFor(name: string, format: string): string {
  const stem = name.replace(/\.tar\.(?:zst|lzma|z)$/i, '.tar');
  return withExtension(safeName(stem, 'archive'), format);
}
