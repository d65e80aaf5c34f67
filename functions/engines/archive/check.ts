import type { EngineCheck } from '../runtime/engine.ts';
import { brokenPrograms } from '../runtime/find-program.ts';

/** Checks that the programs that read and write archives start. */
export const check: EngineCheck = () =>
  brokenPrograms({ '7zz': { path: '7zz', args: ['i'] }, bsdtar: { path: 'bsdtar', args: ['--version'] } });
