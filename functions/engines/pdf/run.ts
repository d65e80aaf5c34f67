import { defined } from '../../../shared/defined.ts';
import type { ProcessingOperation } from '../../../shared/operations/operations.ts';
import type { JsonObject } from '../../../shared/tasks/task.ts';
import { bringInput } from '../runtime/bring-input.ts';
import type { Engine } from '../runtime/engine.ts';
import { justifiedSeconds } from '../runtime/justified-time.ts';
import { Outputs } from '../runtime/outputs.ts';
import type { Operation } from './job.ts';

/** The operations, loaded when they are needed: a function that rotates pages does not wait for the recognition of text. */
const operations: Partial<Record<ProcessingOperation, () => Promise<Operation>>> = {
  'pdf/split': async () => (await import('./pages/split.ts')).split,
  'pdf/extract': async () => (await import('./pages/extract.ts')).extract,
  'pdf/reorder': async () => (await import('./pages/reorder.ts')).reorder,
  'pdf/rotate': async () => (await import('./pages/rotate.ts')).rotate,
  'pdf/watermark': async () => (await import('./marks/mark.ts')).mark,
  'pdf/stamp': async () => (await import('./marks/mark.ts')).mark,
  'pdf/encrypt': async () => (await import('./protect/encrypt.ts')).encrypt,
  'pdf/optimize': async () => (await import('./optimize/optimize.ts')).optimize,
  'pdf/redact': async () => (await import('./redact/redact.ts')).redact,
  'pdf/decrypt': async () => (await import('./protect/decrypt.ts')).decrypt,
  'pdf/forms': async () => (await import('./forms/list.ts')).listForms,
  'pdf/fill': async () => (await import('./forms/fill.ts')).fill,
  'pdf/compare': async () => (await import('./compare/compare.ts')).compare,
  'pdf/sign': async () => (await import('./sign/sign.ts')).sign,
  'pdf/verify': async () => (await import('./sign/verify.ts')).verify,
  'pdf/ocr': async () => (await import('./ocr/ocr.ts')).ocr,
  'pdf/a': async () => (await import('./archive/pdfa.ts')).makePdfa,
  'pdf/ua': async () => (await import('./archive/ua.ts')).makeUa,
  'invoice/embed': async () => (await import('./invoice/embed.ts')).embedInvoice,
  'invoice/extract': async () => (await import('./invoice/extract.ts')).extractInvoice,
};

/** Works on PDFs one by one. */
export const engine: Engine = {
  async run(work, context) {
    const load = operations[work.operation];
    if (!load) throw new Error(`The catalogue lists no ${work.operation} of PDFs.`);
    const operation = await load();
    const outputs = new Outputs(work);
    const warnings = new Set<string>();
    let details: JsonObject | undefined;
    // The others are what the parts have made.
    const inputs = work.part?.kind === 'join' ? work.inputs.slice(0, 1) : work.inputs;
    for (const [index, given] of inputs.entries()) {
      const { input, folder } = await bringInput(given, work, index);
      context.limitProcessorTime(justifiedSeconds({ bytes: input.size }));
      const progress = (percent: number) => context.progress(((index + percent / 100) / inputs.length) * 100);
      const result = await operation({ ...context, folder, progress, work, input });
      await outputs.add(...result.outputs);
      for (const warning of result.warnings ?? []) warnings.add(warning);
      details = { ...details, ...result.details };
      progress(100);
    }
    return defined({ outputs: outputs.files, details, warnings: warnings.size > 0 ? [...warnings] : undefined });
  },
};
