import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { cache } from '../cache.ts';
import { installPython } from '../pytest.ts';

const requirements = join(import.meta.dirname, 'requirements.txt');

/** Returns a Python with ministack and its token signing package, installing them if needed, or why that fails. */
export function findMinistack(): { program: string } | { missing: string } {
  // Named by versions, so that others are installed separately.
  const releases = readFileSync(requirements, 'utf8').trim().replaceAll('==', '-').split('\n');
  const environment = join(cache, releases.join('+'));
  if (existsSync(join(environment, 'bin/ministack'))) return { program: join(environment, 'bin/python') };
  return installPython(environment, ['-r', requirements], releases.join(' and '));
}
