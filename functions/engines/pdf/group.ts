import type { Capability, OptionDescriptor } from '../../../shared/catalogue/catalogue.ts';
import type { ProcessingOperation } from '../../../shared/operations/operations.ts';

/** Operations that belong together. Each group is a folder; its `group.ts` holds no code that runs in the engine. */
export interface Group {
  capabilities: Capability[];
}

/** Returns the capability of an operation that takes a PDF and gives PDFs. */
export function onPdf(operation: ProcessingOperation, options: OptionDescriptor[]): Capability {
  return { operation, from: ['pdf'], to: ['pdf'], options };
}
