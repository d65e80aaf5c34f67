import type { EngineCheck } from '../engine.ts';

/** Tries to load the native library. */
export const check: EngineCheck = async () => {
  try {
    await import('sharp');
    return undefined;
  } catch (error) {
    return `sharp does not load here: ${error instanceof Error ? error.message.split('\n')[0] : String(error)}`;
  }
};
