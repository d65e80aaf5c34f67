import { type SpawnSyncOptions, spawnSync } from 'node:child_process';

/** The end of a command's output usually tells why it failed. */
const shownCharacters = 3000;

/** Runs a command and returns its output. Its errors go to the terminal. */
export function run(command: string[], options: SpawnSyncOptions = {}): string {
  const [program = '', ...args] = command;
  const { status, error, stdout } = spawnSync(program, args, {
    stdio: ['ignore', 'pipe', 'inherit'],
    maxBuffer: 64 * 1024 * 1024,
    ...options,
  });
  if (error) throw error;
  const printed = String(stdout ?? '').trim();
  if (status !== 0)
    throw new Error(`${command.join(' ')} failed with status ${status}:\n${printed.slice(-shownCharacters)}`);
  return printed;
}

/** Returns whether a command exists and succeeds. */
export function succeeds(command: string[], timeoutMs = 30_000): boolean {
  const [program = '', ...args] = command;
  return spawnSync(program, args, { stdio: 'ignore', timeout: timeoutMs }).status === 0;
}
