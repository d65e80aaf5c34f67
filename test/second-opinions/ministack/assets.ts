import { readFileSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { ZipFile } from 'yazl';
import { currentBundleFolders } from '../../../infra/build/bundles.ts';
import { projectRoot } from '../../../infra/bundling.ts';
import { stageContext } from '../../../infra/images/context.ts';
import { readTemplate } from '../../../packages/local-aws/src/template/read.ts';
import type { Asset } from './adapt-template.ts';

const origin = 'http://localhost';

/** An image's entry point, with the packages of the checkout instead of those that the image installs. */
const bootstrap = `#!/bin/sh
[ -e node_modules ] || ln -sfn '${projectRoot}/node_modules' node_modules
exec env -u AWS_ACCESS_KEY_ID -u AWS_SECRET_ACCESS_KEY -u AWS_SESSION_TOKEN \\
  AWS_LAMBDA_LOG_GROUP_NAME="/aws/lambda/$AWS_LAMBDA_FUNCTION_NAME" \\
  node packages/runtime-client/src/main.ts
`;

/** Returns a writer of assets: bundles and engines as for a deployment, layers without content. */
export async function assetWriter(templatePath: string): Promise<(asset: Asset) => Promise<Buffer>> {
  const { functions } = readTemplate({
    template: templatePath,
    origins: { api: origin, gate: origin },
    parameters: {},
  });
  const entries = functions.filter(({ packaging }) => packaging === 'zip').map(({ entry }) => entry);
  const folders = await currentBundleFolders(entries);
  const bundles = new Map([...folders].map(([entry, { root }]) => [relative(projectRoot, entry), root]));
  return async (asset) => {
    if (asset.kind === 'template') throw new Error(`${asset.file} is a template, not an asset to write.`);
    // The engine with layers runs this machine's programs.
    if (asset.kind === 'layer') return await zip({ 'empty.txt': Buffer.alloc(0) });
    if (asset.kind === 'bundle') return await zip(await filesIn(bundles.get(asset.entry) ?? ''));
    const context = await filesIn(stageContext(asset.folder));
    const handler = `export { handler } from './${asset.folder}/handler.ts';\n`;
    return await zip({ ...context, 'handler.ts': Buffer.from(handler), bootstrap: Buffer.from(bootstrap) });
  };
}

async function filesIn(folder: string): Promise<Record<string, Buffer>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const paths = entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name));
  return Object.fromEntries(paths.map((path) => [relative(folder, path), readFileSync(path)]));
}

async function zip(files: Record<string, Buffer>): Promise<Buffer> {
  const file = new ZipFile();
  for (const [name, content] of Object.entries(files)) file.addBuffer(content, name, { mode: 0o100755 });
  file.end();
  return await buffer(file.outputStream);
}
