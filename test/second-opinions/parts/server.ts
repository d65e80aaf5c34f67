import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { freePort } from '../../support/free-port.ts';

const startMs = 180_000;
const pollMs = 200;

/** A third-party server that replaces an embedded one. */
export interface Part {
  /** Its name and version. */
  title: string;
  /** The service whose embedded server it replaces. */
  replaces: 'DynamoDB' | 'S3' | 'SQS';
  /** The variable for its address. */
  variable: 'LATHE_DYNAMODB_SERVER' | 'LATHE_SQS_SERVER' | 'LATHE_S3_SERVER';
  /** Installs it if needed, and returns how to start it, or why it is unavailable. */
  prepare(folder: string): StartCommand | { missing: string };
}

export interface StartCommand {
  program: string;
  args(port: number): string[];
  env?: Record<string, string>;
  address(port: number): string;
}

export interface RunningServer extends AsyncDisposable {
  address: string;
}

/** Starts a server on a free loopback port, and waits until it accepts connections. */
export async function startServer({ program, args, env, address }: StartCommand): Promise<RunningServer> {
  const port = await freePort();
  const child = spawn(program, args(port), { stdio: ['ignore', 'pipe', 'pipe'], env: { ...process.env, ...env } });
  const output: string[] = [];
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text) => output.push(text));
  const killWithParent = () => child.kill('SIGKILL');
  process.once('exit', killWithParent);
  const stop = async () => {
    process.off('exit', killWithParent);
    await end(child);
  };
  const deadline = Date.now() + startMs;
  while (!(await takesConnections(port))) {
    if (child.exitCode !== null || Date.now() > deadline) {
      await stop();
      throw new Error(`${program} did not start:\n${output.join('')}`);
    }
    await new Promise((resolve) => setTimeout(resolve, pollMs));
  }
  return { address: address(port), [Symbol.asyncDispose]: stop };
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, 'exit');
  child.kill('SIGKILL');
  await gone;
}

function takesConnections(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}
