import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { delimiter, join } from 'node:path';
import { projectRoot } from '../../../infra/bundling.ts';
import { freePort } from '../../support/free-port.ts';
import { until } from '../../support/until.ts';

export interface Ministack extends AsyncDisposable {
  endpoint: string;
}

const bridge = join(import.meta.dirname, 'bridge.py');
const inherited = ['HOME', 'LANG', 'TZ', 'FONTCONFIG_FILE', 'MALLOC_ARENA_MAX', 'NODE_COMPILE_CACHE'];

/** Starts ministack on a free loopback port, with its files in a folder and its output in a log. */
export async function startMinistack(python: string, folder: string, log: string): Promise<Ministack> {
  const port = await freePort();
  const endpoint = `http://127.0.0.1:${port}`;
  const variables = inherited.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]]]));
  const server = spawn(python, [bridge], {
    cwd: folder,
    // Leader of its own group, with which the functions' processes end.
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      ...Object.fromEntries(variables),
      // It runs functions with the first node in PATH.
      PATH: [join(projectRoot, 'node_modules/.bin'), process.env.PATH].join(delimiter),
      TMPDIR: folder,
      GATEWAY_PORT: String(port),
      BIND_HOST: '127.0.0.1',
      // Enables checks of signatures and role permissions.
      AUTH: 'true',
      PYTHONDONTWRITEBYTECODE: '1',
      // Processes of concurrent invocations stay for this long.
      LAMBDA_WARM_TTL_SECONDS: '30',
    },
  });
  const lines = createWriteStream(log);
  server.stdout.pipe(lines);
  server.stderr.pipe(lines);
  const killWithParent = () => kill(server);
  process.once('exit', killWithParent);
  await until('ministack is ready', async () => {
    if (server.exitCode !== null) throw new Error(`ministack ended at its start; its log is ${log}`);
    return await isReady(endpoint);
  });
  return {
    endpoint,
    async [Symbol.asyncDispose]() {
      process.off('exit', killWithParent);
      const ended = server.exitCode === null && server.signalCode === null ? once(server, 'exit') : undefined;
      kill(server);
      await ended;
    },
  };
}

function kill({ pid }: ChildProcess): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
  }
}

async function isReady(endpoint: string): Promise<boolean> {
  try {
    return (await fetch(`${endpoint}/_ministack/health`)).ok;
  } catch {
    // It does not listen yet.
    return false;
  }
}
