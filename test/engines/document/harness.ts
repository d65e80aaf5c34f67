import { copyFile, mkdir, mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import sharp from 'sharp';
import { afterAll, beforeAll } from 'vitest';
import { catalogue } from '../../../functions/engines/document/catalogue.ts';
import { stopOffice } from '../../../functions/engines/document/office/office.ts';
import { engine } from '../../../functions/engines/document/run.ts';
import type { WorkResult } from '../../../functions/engines/runtime/engine.ts';
import type { PartRequest } from '../../../functions/engines/runtime/protocol.ts';
import { Catalogue } from '../../../shared/catalogue/catalogue.ts';
import { checkOptions } from '../../../shared/catalogue/options.ts';
import { defined } from '../../../shared/defined.ts';
import type { ProcessingOperation } from '../../../shared/operations/operations.ts';
import { quietContext } from '../../support/sandboxed.ts';
import type { Canary } from './hostile-documents.ts';

export const known = new Catalogue([catalogue]);

const taskFolders: string[] = [];

// What a test leaves is removed when its file ends, as the worker removes a task's folder when the task ends.
afterAll(async () => {
  for (const folder of taskFolders.splice(0)) await rm(folder, { recursive: true, force: true });
});

/** Gives a test file a folder for its tests, which goes when they end, and LibreOffice with it. */
export function placeOfFile(): { readonly folder: string } {
  let folder = '';
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'document-test-'));
  });
  afterAll(async () => {
    await stopOffice();
    await rm(folder, { recursive: true, force: true });
  });
  return {
    get folder() {
      return folder;
    },
  };
}

/** Runs the engine on a file as the worker would: options checked, the input under a name that is not the user's. */
export async function runEngine(
  path: string,
  format: string,
  outputFormat: string,
  options: Record<string, unknown> = {},
  operation: ProcessingOperation = 'convert',
  part?: PartRequest,
): Promise<WorkResult & { progress: number[] }> {
  const match = known.find(operation, format, outputFormat);
  if (!match) throw new Error(`${operation} ${format} to ${outputFormat} is not advertised.`);
  const checked = checkOptions(match.capability.options, options);
  if (Object.keys(checked.errors).length > 0) throw new Error(JSON.stringify(checked.errors));
  const folder = await mkdtemp(join(tmpdir(), 'document-task-'));
  taskFolders.push(folder);
  await mkdir(join(folder, 'in'));
  const input = join(folder, 'in', '0');
  await copyFile(path, input);
  const progress: number[] = [];
  const result = await engine.run(
    {
      operation,
      inputs: [{ path: input, name: basename(path), format, size: (await stat(path)).size }],
      outputFormat,
      options: checked.values,
      folder,
      ...defined({ part }),
    },
    { ...quietContext(), progress: (percent) => progress.push(percent) },
  );
  return { ...result, progress };
}

/** Returns the path of the only output. */
export function only({ outputs }: WorkResult): string {
  const [output, ...others] = outputs;
  if (!output || others.length > 0) throw new Error(`Expected one output but received ${outputs.length}.`);
  return output.path;
}

export const secret = 'CANARYTEXT';

/** Lays out what no document may reach: a text, a picture, and a listener that counts who comes. */
export async function layCanaries(folder: string): Promise<{ canary: Canary; hits: string[]; close(): Promise<void> }> {
  const hits: string[] = [];
  const picture = join(folder, 'canary.png');
  await sharp({ create: { width: 77, height: 55, channels: 3, background: '#ff00ff' } })
    .png()
    .toFile(picture);
  const text = join(folder, 'canary.txt');
  await writeFile(text, `${secret}\n`);
  const server = createServer((request, response) => {
    hits.push(request.url ?? '');
    response.end(secret);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    canary: { text, picture, url: `http://127.0.0.1:${port}` },
    hits,
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
}
