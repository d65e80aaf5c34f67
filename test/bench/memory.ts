import { execFile } from 'node:child_process';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { engineCatalogues } from '../../functions/catalogue/catalogues.ts';
import { memoryOf, sandboxProcesses } from '../../functions/engines/runtime/sandbox/processes.ts';
import { Sandbox } from '../../functions/engines/runtime/sandbox/sandbox.ts';
import { findMissing } from '../../infra/local/engine-checks.ts';
import { Catalogue } from '../../shared/catalogue/catalogue.ts';
import { checkOptions } from '../../shared/catalogue/options.ts';
import type { EngineMatrix } from '../engines/matrix.ts';
import { runSandboxed } from '../support/sandboxed.ts';
import { formatTable } from './table.ts';

const run = promisify(execFile);
const conversions = 200;
/** When memory is recorded; after a hundred conversions the process is replaced. */
const noted = [20, 60, 99, 120, 160, 199];

/** Books are left out: Calibre starts a new process for each. */
const kinds: [engine: string, from: string, to: string][] = [
  ['image', 'jpg', 'webp'],
  ['image', 'psd', 'png'],
  ['media', 'mp4', 'webm'],
  ['media', 'wav', 'mp3'],
  ['document', 'docx', 'pdf'],
  ['document', 'xlsx', 'pdf'],
  ['document', 'pdf', 'png'],
  ['webpage', 'html', 'pdf'],
  ['archive', 'zip', '7z'],
];

/** Converts the same sample many times in one worker of each kind, and reports the memory of its processes. */
export async function benchMemory(): Promise<string> {
  const catalogue = new Catalogue(engineCatalogues, (await findMissing()).engines);
  const rows: string[][] = [];
  for (const [engine, from, to] of kinds) {
    const name = `${engine} ${from} to ${to}`;
    rows.push([
      name,
      ...(catalogue.find('convert', from, to)?.engine === engine
        ? await repeat(engine, from, to)
        : noted.map(() => 'off')),
    ]);
  }
  return formatTable(['MB after conversions', ...noted.map(String)], rows);
}

async function repeat(engine: string, from: string, to: string): Promise<string[]> {
  const folder = await mkdtemp(join(tmpdir(), 'bench-memory-'));
  const module = new URL(`../../functions/engines/${engine}/run.ts`, import.meta.url);
  const sandbox = new Sandbox({ module, memoryBytes: 4 * 1024 ** 3, network: engine === 'webpage' });
  const { matrix }: { matrix: EngineMatrix } = await import(
    new URL(`../engines/${engine}/matrix.ts`, import.meta.url).href
  );
  const found = new Catalogue(engineCatalogues).find('convert', from, to);
  const { values } = checkOptions(found?.capability.options ?? [], {});
  try {
    const path = await matrix.sample(from, folder);
    const input = { path, name: `sample.${from}`, format: from, size: (await stat(path)).size };
    const megabytes: string[] = [];
    for (let count = 1; count <= conversions; count++) {
      await runSandboxed(sandbox, { operation: 'convert', inputs: [input], outputFormat: to, options: values });
      if (noted.includes(count)) megabytes.push(String(Math.round((await childrenMemory()) / 1024 ** 2)));
    }
    return megabytes;
  } finally {
    sandbox.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

/** The engine's supervisor is a child of this process, and all its processes descend from it. */
async function childrenMemory(): Promise<number> {
  const { stdout } = await run('pgrep', ['--parent', String(process.pid)]);
  return stdout
    .trim()
    .split('\n')
    .map(Number)
    .reduce((sum, pid) => sum + memoryOf(sandboxProcesses(pid)), 0);
}
