import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { cache } from '../cache.ts';
import { installPython } from '../pytest.ts';

const requirements = join(import.meta.dirname, 'requirements.txt');

/** Returns a Python with ministack and what its user pools sign tokens by, installed where it is not there, or why there is none. */
export function findMinistack(): { program: string } | { missing: string } {
  // Named after the versions, so that others are installed beside it.
  const releases = readFileSync(requirements, 'utf8').trim().replaceAll('==', '-').split('\n');
  const environment = join(cache, releases.join('+'));
  if (existsSync(join(environment, 'bin/ministack'))) return { program: join(environment, 'bin/python') };
  return installPython(environment, ['-r', requirements], releases.join(' and '));
}
