import type { Sandbox } from '../../functions/engines/runtime/sandbox/sandbox.ts';
import { runSandboxed } from '../support/sandboxed.ts';

/** Runs a program behind the barriers of a sandbox around the program engine. */
export async function runProgramSandboxed(
  sandbox: Sandbox,
  program: string,
  args: string[],
): Promise<{ failed: boolean; stdout: string; output: string }> {
  const options = { command: JSON.stringify([program, ...args]) };
  const { details } = await runSandboxed(sandbox, { operation: 'convert', inputs: [], outputFormat: 'txt', options });
  return { failed: details?.failed === true, stdout: String(details?.stdout), output: String(details?.output) };
}
