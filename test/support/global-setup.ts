import { currentBundleFolders } from '../../infra/build/bundles.ts';
import { currentTemplate } from '../../infra/build/template-cache.ts';
import { readTemplate } from '../../packages/local-aws/src/template/read.ts';

/**
 * Synthesizes the template once, before all files that start a service would do it and, in a whole run, bundles all
 * functions for the same reason. In partial runs, files make the bundles they need.
 */
export default async function setup(): Promise<void> {
  const template = await currentTemplate();
  if (!isWholeRun(process.argv.slice(2))) return;
  const origin = 'http://localhost';
  const { functions } = readTemplate({ template, origins: { api: origin, gate: origin }, parameters: {} });
  await currentBundleFolders(functions.filter(({ packaging }) => packaging === 'zip').map(({ entry }) => entry));
}

/** Returns whether Vitest's command line selects no files. */
function isWholeRun(args: string[]): boolean {
  return args.every((arg) => arg === 'run' || arg.startsWith('-'));
}
