import { tmpdir } from 'node:os';
import type { EngineCheck } from '../engine.ts';
import { runProgram } from '../program.ts';
import { findChromium } from './chromium.ts';

/** Tries to start Chromium as far as its version. */
export const check: EngineCheck = async () => {
  try {
    await runProgram(await findChromium(), ['--version'], { cwd: tmpdir(), timeoutMs: 20_000 });
    return undefined;
  } catch (error) {
    return `Chromium does not run here: ${error instanceof Error ? error.message.split('\n')[0] : String(error)}`;
  }
};
