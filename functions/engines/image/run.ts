import type { ProcessingOperation } from '../../../shared/operations/operations.ts';
import type { Engine } from '../runtime/engine.ts';
import { compress } from './compress.ts';
import { convert } from './convert.ts';
import { crop } from './crop.ts';
import { derive } from './derive/derive.ts';
import { merge } from './merge.ts';

const operations: Partial<Record<ProcessingOperation, Engine['run']>> = { compress, convert, crop, merge };

/** Converts, compresses, merges and crops images, and makes derivatives of them. */
export const engine: Engine = {
  async run(work, context) {
    if (work.picture) return derive(work, work.picture, context);
    const perform = operations[work.operation];
    if (!perform) throw new Error(`The catalogue lists ${work.operation}, which this engine does not perform.`);
    return perform(work, context);
  },
};
