import { readFileSync } from 'node:fs';

/** Returns the version of this package, for the command line. */
export function packageVersion(): string {
  const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
  return String(version);
}
