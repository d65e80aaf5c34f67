import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { defined } from '../../../shared/defined.ts';
import { withExtension } from '../../../shared/files/names.ts';
import { bringInput } from '../runtime/bring-input.ts';
import { type Engine, EngineError, type InputFile, type OutputFile, type Work } from '../runtime/engine.ts';
import { justifiedSeconds } from '../runtime/justified-time.ts';
import { Outputs } from '../runtime/outputs.ts';
import { pageSuffix } from '../runtime/pages.ts';
import type { Content } from './model.ts';
import { read } from './read/read.ts';
import { writeJson } from './write/json.ts';
import { embedded, writeMarkdown } from './write/markdown.ts';

/** Converts documents to Markdown and JSON, one by one. */
export const engine: Engine = {
  async run(work, context) {
    const outputs = new Outputs(work);
    const warnings = new Set<string>();
    for (const [index, given] of work.inputs.entries()) {
      const { input, folder } = await bringInput(given, work, index);
      context.limitProcessorTime(justifiedSeconds({ bytes: input.size }));
      const progress = (percent: number) => context.progress(((index + percent / 100) / work.inputs.length) * 100);
      const reading = await read({ ...context, folder, progress, work, input });
      await outputs.add(...(await write(reading.content, work, input, folder)));
      for (const warning of reading.warnings) warnings.add(warning);
      progress(100);
    }
    return defined({ outputs: outputs.files, warnings: warnings.size > 0 ? [...warnings] : undefined });
  },
};

async function write(content: Content, { options, outputFormat }: Work, input: InputFile, folder: string) {
  const { pictures } = content;
  // Names are ours: those in a document may lead elsewhere.
  const names = pictures.map(({ format }, index) =>
    withExtension(input.name, format, `picture-${pageSuffix(index + 1, pictures.length)}`),
  );
  const address = (picture: number) => {
    const found = pictures[picture];
    if (!found || options.images === 'none') return undefined;
    return options.images === 'embedded' ? embedded(found) : encodeURIComponent(names[picture] ?? '');
  };
  const hasContent = content.blocks.some(({ kind }) => kind !== 'marker');
  const text =
    outputFormat === 'json'
      ? writeJson(content, address)
      : writeMarkdown(content, { markers: options.page_markers !== false, address });
  if (!hasContent || text.trim() === '') throw new EngineError('The document contains no text.');
  const path = join(folder, `output.${outputFormat}`);
  await writeFile(path, text);
  const files: OutputFile[] = [{ path, name: withExtension(input.name, outputFormat), format: outputFormat }];
  if (options.images !== 'files') return files;
  for (const [index, { bytes, format }] of pictures.entries()) {
    const file = join(folder, `picture-${index}`);
    await writeFile(file, bytes);
    files.push({ path: file, name: names[index] ?? '', format });
  }
  return files;
}
