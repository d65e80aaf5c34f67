import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { projectRoot } from '../bundling.ts';

/** The template's file in the cloud assembly. */
export const templateFile = 'Lathe.template.json';

/**
 * Synthesizes the stack's template for local use, with optional context values, and returns its path. Functions are
 * bundled separately; everything else is the same as in a deployment.
 */
export async function synthesize(folder: string, settings: Record<string, string> = {}): Promise<string> {
  const { context } = JSON.parse(readFileSync(`${projectRoot}/cdk.json`, 'utf8'));
  const app = spawn(process.execPath, [`${projectRoot}/infra/app.ts`], {
    cwd: projectRoot,
    stdio: ['ignore', 'ignore', 'inherit'],
    env: {
      ...process.env,
      CDK_OUTDIR: folder,
      // The CDK's own validation takes two thirds of the time.
      CDK_VALIDATION: 'false',
      CDK_CONTEXT_JSON: JSON.stringify({
        ...context,
        ...settings,
        'aws:cdk:bundling-stacks': [],
        'aws:cdk:enable-asset-metadata': true,
        'lathe:unchecked': true,
      }),
    },
  });
  const [code] = await once(app, 'exit');
  if (code !== 0) throw new Error(`Synthesizing the stack failed with code ${code}.`);
  return `${folder}/${templateFile}`;
}
