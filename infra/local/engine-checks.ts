import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { engineCatalogues } from '../../functions/engines/catalogues.ts';
import type { EngineCheck } from '../../functions/engines/engine.ts';

const isMain = process.argv[1] === fileURLToPath(import.meta.url);

/** Finds out which engines cannot work on this machine, and why. In a process of its own: a native library that breaks must break nothing else. */
export async function findEnginesOff(): Promise<Record<string, string>> {
  const { stdout } = await promisify(execFile)(process.execPath, [fileURLToPath(import.meta.url)]);
  return JSON.parse(stdout);
}

async function checkAll(): Promise<Record<string, string>> {
  const images = engineCatalogues.filter(({ resources }) => resources.packaging === 'image');
  const reasons = await Promise.all(
    images.map(async ({ engine }): Promise<[string, string][]> => {
      const { check }: { check: EngineCheck } = await import(
        new URL(`../../functions/engines/${engine}/check.ts`, import.meta.url).href
      );
      const reason = await check();
      return reason === undefined ? [] : [[engine, reason]];
    }),
  );
  return Object.fromEntries(reasons.flat());
}

if (isMain) process.stdout.write(JSON.stringify(await checkAll()));
