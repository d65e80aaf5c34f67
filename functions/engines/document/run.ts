import { defined } from '../../../shared/defined.ts';
import type { JsonObject } from '../../../shared/tasks/task.ts';
import { bringInput } from '../runtime/bring-input.ts';
import type { Engine, InputFile, Work } from '../runtime/engine.ts';
import { justifiedSeconds } from '../runtime/justified-time.ts';
import { Outputs } from '../runtime/outputs.ts';
import { checkPdf, type Workspace } from '../runtime/pdf-file.ts';
import { convert, preparedPercent } from './convert.ts';
import { warmOffice } from './office/office.ts';
import { compress } from './pdf/compress.ts';
import { crop } from './pdf/crop.ts';
import { merge } from './pdf/merge.ts';

// LibreOffice starts while the first input is still being fetched.
warmOffice();

/** Converts and merges documents, and compresses and crops PDFs. */
export const engine: Engine = {
  async run(work, context) {
    const outputs = new Outputs(work);
    const warnings = new Set<string>();
    let details: JsonObject | undefined;
    if (work.operation === 'merge') {
      const inputs = [];
      for (const [index, given] of work.inputs.entries()) inputs.push(await bringInput(given, work, index));
      return merge(work, inputs, context);
    }
    for (const [index, given] of work.inputs.entries()) {
      const { input, folder } = await bringInput(given, work, index);
      context.limitProcessorTime(justifiedSeconds({ bytes: input.size }));
      const progress = (percent: number) => {
        // A run that is surveyed has got nowhere until its pages are drawn.
        if (work.part?.kind !== 'survey' || percent > preparedPercent)
          context.progress(((index + percent / 100) / work.inputs.length) * 100);
      };
      const space = { ...context, folder, progress };
      if (work.operation === 'compress') {
        const compressed = await compress(work, input, space);
        await outputs.add(compressed.output);
        details = compressed.details;
        for (const warning of compressed.warnings) warnings.add(warning);
      } else if (work.operation === 'crop') await outputs.add(await crop(work, input, space));
      else if (work.operation === 'pdf/ua') {
        const made = await convertToUa(work, input, space);
        await outputs.add(made.output);
        details = made.details;
        for (const warning of made.warnings) warnings.add(warning);
      } else {
        const converted = await convert(work, input, space);
        if (converted.survey) return { outputs: [], details: { survey: { ...converted.survey } } };
        await outputs.add(...converted.outputs);
        for (const warning of converted.warnings) warnings.add(warning);
      }
      progress(100);
    }
    return defined({ outputs: outputs.files, details, warnings: warnings.size > 0 ? [...warnings] : undefined });
  },
};

/** Converts a document to a tagged PDF, and makes it PDF/UA. */
async function convertToUa(work: Work, input: InputFile, space: Workspace) {
  const universal = { ...work, operation: 'convert' as const, options: { ...work.options, universal: true } };
  const { outputs, warnings } = await convert(universal, input, space);
  const [output] = outputs;
  if (!output) throw new Error('The conversion made no file.');
  const { makeUniversal } = await import('../pdf/archive/ua.ts');
  const made = await makeUniversal(await checkPdf(output.path, space.folder, space), { ...space, work, input }, true);
  return { output: { ...output, path: made.path }, details: made.details, warnings: [...warnings, ...made.warnings] };
}
