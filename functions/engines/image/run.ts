import type { Engine } from '../runtime/engine.ts';
import { compress } from './compress.ts';
import { convert } from './convert.ts';
import { crop } from './crop.ts';
import { merge } from './merge.ts';

/** Converts, compresses, merges and crops images. */
export const engine: Engine = {
  async run(work, context) {
    switch (work.operation) {
      case 'convert':
        return { outputs: await convert(work, context) };
      case 'crop':
        return { outputs: await crop(work, context) };
      case 'merge':
        return merge(work, context);
      case 'compress':
        return compress(work, context);
      default:
        throw new Error(`The catalogue lists ${work.operation}, which this engine does not perform.`);
    }
  },
};
