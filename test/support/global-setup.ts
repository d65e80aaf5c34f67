import { currentBundleFolders } from '../../infra/build/bundles.ts';
import { currentTemplate } from '../../infra/build/template-cache.ts';
import { readTemplate } from '../../packages/local-aws/src/template/read.ts';

/**
 * Synthesizes the template once, before the files that start a service would all do it, and where all of them run, bundles
 * all functions for the same reason. A few files make the bundles that they need.
 */
export default async function setup(): Promise<void> {
  const template = await currentTemplate();
  if (!isWholeRun(process.argv.slice(2))) return;
  const origin = 'http://localhost';
  const { functions } = readTemplate({ template, origins: { api: origin, gate: origin }, parameters: {} });
  await currentBundleFolders(functions.filter(({ packaging }) => packaging === 'zip').map(({ entry }) => entry));
}

/** Tells whether the command line of Vitest names no files to choose from. */
function isWholeRun(args: string[]): boolean {
  return args.every((arg) => arg === 'run' || arg.startsWith('-'));
}
