import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readLines } from './lines.ts';

const script = fileURLToPath(new URL('./reaper.pl', import.meta.url));

/**
 * The process that ends the processes of environments, including any they left behind. It also ends all of them when
 * this process has exited, which a frozen process cannot notice.
 */
export class Reaper {
  /** Holds the folders of all environments. */
  readonly folder = mkdtempSync(join(tmpdir(), 'local-aws-'));
  readonly #process: ChildProcess;
  readonly #waiting = new Map<number, PromiseWithResolvers<void>>();
  #lost = false;

  constructor() {
    this.#process = spawn('perl', [script, this.folder], {
      stdio: ['pipe', 'pipe', 'inherit'],
      detached: true,
      env: { PATH: process.env.PATH },
    });
    if (this.#process.stdout) readLines(this.#process.stdout, (line) => this.#ended(Number(line)));
    this.#process.stdin?.on('error', () => {});
    this.#process.once('error', () => this.#lose());
    this.#process.once('exit', () => this.#lose());
  }

  /** Kills the processes of an environment, even if the first has exited, and waits until none is left. */
  async end(leader: number, folder: string): Promise<void> {
    const found = this.#waiting.get(leader);
    if (found) return await found.promise;
    if (this.#lost) return killGroup(leader);
    const waiting = Promise.withResolvers<void>();
    this.#waiting.set(leader, waiting);
    this.#process.stdin?.write(`${leader} ${folder}\n`);
    await waiting.promise;
  }

  /** Lets it exit once no environment is left. */
  close(): void {
    this.#process.stdin?.end();
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 3 });
  }

  #ended(leader: number): void {
    this.#waiting.get(leader)?.resolve();
    this.#waiting.delete(leader);
  }

  /** Without Perl, or if its process was killed, at least the group is ended. */
  #lose(): void {
    this.#lost = true;
    for (const leader of [...this.#waiting.keys()]) {
      killGroup(leader);
      this.#ended(leader);
    }
  }
}

function killGroup(leader: number): void {
  try {
    process.kill(-leader, 'SIGKILL');
  } catch {}
}
