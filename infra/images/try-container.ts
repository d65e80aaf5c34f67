import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import sharp from 'sharp';
import { projectRoot } from '../bundling.ts';
import { addAccount } from '../local/add-account.ts';
import { readIdentity } from '../local/identity.ts';
import { Service } from '../smoke/service.ts';
import type { Builder, RunningImage } from './builder.ts';

/** A start after the first run, with its data. */
const maxStartSeconds = 10;
const maxFirstStartSeconds = 60;
const stopSeconds = 20;
const jobs = 12;
/** As for the suite on this machine: it makes more requests than one client may, and expects a limit. */
const settingsOfSuites = { LATHE_RATE_PER_MINUTE: '1000000', LATHE_IDLE_ENVIRONMENTS: '60' };

/**
 * Tries an image of the whole service as an ordinary user with a read-only root: it starts, converts, loses no job when it
 * is killed, starts again within seconds, keeps the contract, and stops on SIGTERM. Throws what is wrong.
 */
export async function tryContainer(builder: Builder, name: string): Promise<void> {
  const data = mkdtempSync(join(tmpdir(), 'lathe-data-'));
  const { apiKey, masterSecret } = await readIdentity(data);
  // The user of the image is not one of this machine.
  chmodSync(data, 0o777);
  chmodSync(join(data, 'identity.json'), 0o644);
  const port = await freePort();
  const url = `http://localhost:${port}`;
  const variables = { PORT: String(port), ...settingsOfSuites };
  const service = new Service(url, apiKey);
  const started: RunningImage[] = [];
  const start = async (maxSeconds: number) => {
    const began = performance.now();
    const running = builder.start(name, variables, data);
    started.push(running);
    running.process.stderr?.pipe(process.stderr);
    running.process.stdout?.resume();
    await responds(url, running, maxSeconds);
    return { running, seconds: (performance.now() - began) / 1000 };
  };
  try {
    const first = await start(maxFirstStartSeconds);
    const ids = await Promise.all(Array.from({ length: jobs }, async () => (await createJob(service)).id));
    // Others are running when the first has ended.
    await Promise.race(ids.map((id) => statusAtEnd(service, id)));
    first.running.stop();
    await ended(first.running);

    const second = await start(maxStartSeconds);
    console.log(`${name}: started in ${first.seconds.toFixed(1)} s, after SIGKILL in ${second.seconds.toFixed(1)} s`);
    const completed = await Promise.all(ids.map((id) => statusAtEnd(service, id)));
    if (completed.some((status) => status !== 'completed'))
      throw new Error(`Expected all jobs to survive SIGKILL but they are ${completed.join(', ')}.`);
    console.log(`${name}: ${jobs} jobs survived SIGKILL`);

    await judge(url, apiKey, await addAccount(url, masterSecret));
    second.running.terminate();
    const code = await ended(second.running);
    if (code !== 0) throw new Error(`Expected SIGTERM to end it with 0 but it ended with ${code}.`);
    console.log(`${name}: stopped by SIGTERM`);
  } finally {
    for (const running of started) if (running.process.exitCode === null) running.stop();
    rmSync(data, { recursive: true, force: true });
  }
}

async function responds(url: string, { process: container }: RunningImage, maxSeconds: number): Promise<void> {
  const deadline = performance.now() + maxSeconds * 1000;
  for (;;) {
    const response = await fetch(`${url}/health`).catch(() => undefined);
    await response?.body?.cancel();
    if (response?.ok) return;
    if (container.exitCode !== null) throw new Error(`It ended with ${container.exitCode} at its start.`);
    if (performance.now() > deadline) throw new Error(`Expected it to start within ${maxSeconds} s.`);
    await pause(100);
  }
}

/** Creates a job that takes about a second. */
async function createJob(service: Service) {
  const noise = { type: 'gaussian', mean: 128, sigma: 60 } as const;
  const picture = await sharp({ create: { width: 700, height: 500, channels: 3, background: '#000', noise } })
    .jpeg()
    .toBuffer();
  return service.createJob({
    import: {
      operation: 'import/base64',
      filename: 'noise.jpg',
      file: `data:image/jpeg;base64,${picture.toString('base64')}`,
    },
    convert: { operation: 'convert', input: 'import', output_format: 'avif' },
  });
}

async function statusAtEnd(service: Service, id: string): Promise<string> {
  for (;;) {
    const { status, endedAt } = await service.waitForJob(id);
    if (endedAt !== null) return status;
  }
}

/** Waits for the end of the container, and returns its exit code. */
async function ended({ process: container }: RunningImage): Promise<number | null> {
  if (container.exitCode === null && container.signalCode === null)
    await once(container, 'exit', { signal: AbortSignal.timeout(stopSeconds * 1000) });
  return container.exitCode;
}

async function judge(url: string, apiKey: string, otherKey: string): Promise<void> {
  const vitest = join(projectRoot, 'node_modules/vitest/vitest.mjs');
  const env = {
    ...process.env,
    LATHE_CONTRACT_URL: url,
    LATHE_CONTRACT_KEY: apiKey,
    LATHE_CONTRACT_OTHER_KEY: otherKey,
  };
  const child = spawn(process.execPath, [vitest, 'run', '--project', 'contract'], {
    cwd: projectRoot,
    stdio: ['ignore', 'pipe', 'inherit'],
    env,
  });
  const [output, [code]] = await Promise.all([text(child.stdout), once(child, 'exit')]);
  if (code !== 0) throw new Error(`The contract suite failed:\n${output.slice(-4_000)}`);
  console.log(`contract suite: ${output.trim().split('\n').at(-1)}`);
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  return Object(address).port;
}
