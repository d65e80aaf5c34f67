import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';

export interface Newcomer {
  url: string;
  apiKey: string;
  /** The example line of the greeting. */
  line: string;
  output(): string;
  stop(): Promise<void>;
}

/** Runs `npm start` as after a fresh clone, and reads its output. */
export async function npmStart(env: Record<string, string>): Promise<Newcomer> {
  const child = spawn('npm', ['start'], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  let text = '';
  const printed = Promise.withResolvers<void>();
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
      if (/^Reference: /m.test(text)) printed.resolve();
    });
  }
  child.once('exit', (code) => printed.reject(new Error(`npm start ended with code ${code}:\n${text}`)));
  await printed.promise;
  const found = (pattern: RegExp) => pattern.exec(text)?.[1] ?? '';
  return {
    url: found(/^Lathe is at +(\S+)$/m),
    apiKey: found(/^API key +(\S+)$/m),
    line: found(/^Convert a file:\n\n(.+)$/m),
    output: () => text,
    stop: () => end(child),
  };
}

async function end(child: ChildProcess): Promise<void> {
  if (child.pid === undefined || child.exitCode !== null) return;
  const gone = once(child, 'exit');
  // Like Ctrl-C, which reaches npm and all its descendants.
  process.kill(-child.pid, 'SIGINT');
  await gone;
}
