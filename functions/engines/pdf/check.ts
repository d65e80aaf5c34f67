import type { EngineCheck } from '../runtime/engine.ts';
import { missingPackage, missingPrograms } from '../runtime/find-program.ts';
import { components } from './components.ts';

/** Looks for the programs, and checks that the native library loads. */
export const check: EngineCheck = async () => ({
  ...(await missingPackage('sharp')),
  ...(await missingPrograms(Object.keys(components).filter((name) => name !== 'sharp'))),
});
