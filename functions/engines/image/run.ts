import type { ProcessingOperation } from '../../../shared/operations/operations.ts';
import type { Engine } from '../runtime/engine.ts';
import { compress } from './compress.ts';
import { convert } from './convert.ts';
import { crop } from './crop.ts';
import { merge } from './merge.ts';

const operations: Partial<Record<ProcessingOperation, Engine['run']>> = { compress, convert, crop, merge };

/** Converts, compresses, merges and crops images. */
export const engine: Engine = {
  async run(work, context) {
    const perform = operations[work.operation];
    if (!perform) throw new Error(`The catalogue lists ${work.operation}, which this engine does not perform.`);
    return perform(work, context);
  },
};
