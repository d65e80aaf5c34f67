import { copyFile, mkdir, mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterAll } from 'vitest';
import { catalogue } from '../../../functions/engines/ebook/catalogue.ts';
import { check } from '../../../functions/engines/ebook/check.ts';
import { engine } from '../../../functions/engines/ebook/run.ts';
import type { WorkResult } from '../../../functions/engines/runtime/engine.ts';
import { Catalogue } from '../../../shared/catalogue/catalogue.ts';
import { reasonOff } from '../../../shared/catalogue/missing.ts';
import { checkOptions } from '../../../shared/catalogue/options.ts';
import { quietContext } from '../../support/sandboxed.ts';

export const known = new Catalogue([catalogue]);

/** Why the engine is unavailable here, if it is: Calibre is optional, and nothing can be tested without it. */
export const off = whyOff(await check());

function whyOff(missing: Record<string, string>): string | undefined {
  if (Object.keys(missing).length === 0) return undefined;
  return `${reasonOff(catalogue, { engines: { [catalogue.engine]: missing } })} npm run test:extra installs it.`;
}

const taskFolders: string[] = [];

afterAll(async () => {
  for (const folder of taskFolders.splice(0)) await rm(folder, { recursive: true, force: true });
});

/** Runs the engine on a file as the worker would. */
export async function runEngine(
  path: string,
  from: string,
  to: string,
  options: Record<string, unknown> = {},
): Promise<WorkResult> {
  const match = known.find('convert', from, to);
  if (!match) throw new Error(`${from} to ${to} is not advertised.`);
  const folder = await mkdtemp(join(tmpdir(), 'ebook-task-'));
  taskFolders.push(folder);
  await mkdir(join(folder, 'in'));
  const input = join(folder, 'in', '0');
  await copyFile(path, input);
  return engine.run(
    {
      operation: 'convert',
      inputs: [{ path: input, name: basename(path), format: from, size: (await stat(path)).size }],
      outputFormat: to,
      options: checkOptions(match.capability.options, options).values,
      folder,
    },
    quietContext(),
  );
}
