import { tmpdir } from 'node:os';
import type { EngineCheck } from '../runtime/engine.ts';
import { missingPackage, whyNotStarted } from '../runtime/find-program.ts';
import { runProgram } from '../runtime/program.ts';
import { findChromium } from './chromium.ts';

/** Checks that Chromium starts and prints its version. */
export const check: EngineCheck = async () => ({ ...(await missingPackage('sharp')), ...(await missingChromium()) });

async function missingChromium(): Promise<Record<string, string>> {
  try {
    const { path, env } = await findChromium();
    await runProgram(path, ['--version'], { cwd: tmpdir(), env, timeoutMs: 20_000 });
    return {};
  } catch (error) {
    return { chromium: whyNotStarted(error) };
  }
}
