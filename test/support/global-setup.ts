import { currentBundleFolders } from '../../infra/local/bundles.ts';
import { readTemplate } from '../../infra/local/template/read.ts';
import { currentTemplate } from '../../infra/local/template-cache.ts';

/** Synthesizes the template and bundles its functions once, before the files that start a service would all do it. */
export default async function setup(): Promise<void> {
  const template = await currentTemplate();
  const origin = 'http://localhost';
  const { functions } = readTemplate({ template, origins: { api: origin, gate: origin }, parameters: {} });
  await currentBundleFolders(functions.filter(({ packaging }) => packaging === 'zip').map(({ entry }) => entry));
}
