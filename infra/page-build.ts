import { join } from 'node:path';
import { projectRoot } from './bundling.ts';
import { fingerprint } from './fingerprint.ts';

/** Returns a hash of the page's sources. */
export function pageFingerprint(): string {
  return fingerprint(['package-lock.json', 'web'], new Set(['web/dist']));
}

/** Returns the command that builds the page into a folder. */
export function pageBuild(folder: string): [program: string, ...args: string[]] {
  const vite = join(projectRoot, 'node_modules/vite/bin/vite.js');
  return [process.execPath, vite, 'build', join(projectRoot, 'web'), '--outDir', folder, '--logLevel', 'warn'];
}
