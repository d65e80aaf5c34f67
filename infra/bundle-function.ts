import { build } from 'esbuild';
import { bundlingOf } from './bundling.ts';

/**
 * Bundles a function's module into a folder: `node infra/bundle-function.ts <module> <folder>`. Run by the CDK, which
 * waits for it.
 */
const [entry, folder] = process.argv.slice(2);
if (entry === undefined || folder === undefined) throw new Error('Expected a module and a folder.');
await build({ ...bundlingOf(entry), outdir: folder });
