import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { cache } from '../cache.ts';
import { installPython } from '../pytest.ts';

const requirements = join(import.meta.dirname, 'requirements.txt');

/** Returns a Python with ministack, installed where it is not there, or why there is none. */
export function findMinistack(): { program: string } | { missing: string } {
  // Named after its version, so that another one is installed beside it.
  const release = readFileSync(requirements, 'utf8').trim().replace('==', '-');
  const environment = join(cache, release);
  if (existsSync(join(environment, 'bin/ministack'))) return { program: join(environment, 'bin/python') };
  return installPython(environment, ['-r', requirements], release);
}
