import { existsSync } from 'node:fs';
import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { Sandbox } from '../../functions/engines/runtime/sandbox/sandbox.ts';
import { giveInput } from '../support/sandboxed.ts';

/** What the test asks of this process, which stands for the function of an engine. */
export interface HostRequest {
  module: string;
  network: boolean;
  input: { path: string; format: string };
  outputFormat: string;
  /** The program that is replaced by one that looks for the secret. */
  planted: string;
  secret: string;
  /** Arguments of the planted program after the secret and this process, and before the files it is to read. */
  ports: number[];
  name: string;
  dataFile: string;
}

const request: HostRequest = JSON.parse(process.argv[2] ?? '');
const { module, network } = request;
const sandboxOf = () => new Sandbox({ module: new URL(module), memoryBytes: 2 * 1024 ** 3, network });
const [sandbox, other] = [sandboxOf(), sandboxOf()];
const context = { signal: AbortSignal.timeout(60_000), progress: () => {}, log: () => {} };
try {
  // A task that ended, and one that another process of an engine has at the same time.
  const files = [join(sandbox.prepare('ann').folder, 'earlier'), join(other.prepare('bob').folder, 'concurrent')];
  for (const file of files) await writeFile(file, request.secret);
  files.unshift(request.dataFile);
  await plant(files);
  const task = sandbox.prepare('ann');
  const { folder } = task;
  const path = await giveInput(task, request.input.path, basename(request.input.path));
  const input = { path, name: basename(path), format: request.input.format, size: (await stat(path)).size };
  const { outputFormat, secret, ports } = request;
  // For the planted engine; others know no such option.
  const options = { look: JSON.stringify({ secret, host: process.pid, ports, files }) };
  const outcome = await sandbox
    .run({ operation: 'convert', inputs: [input], outputFormat, options, folder }, context, 'ann')
    .then(
      () => 'it ended well',
      (error: unknown) => String(error),
    );
  const found = await reports(sandbox.folder);
  process.stdout.write(`${JSON.stringify({ outcome, found, barriers: await sandbox.barriers() })}\n`);
} finally {
  sandbox.stop();
  other.stop();
}

async function plant(files: string[]): Promise<void> {
  const { planted, secret, ports, name } = request;
  const script = join(dirname(planted), 'snoop.pl');
  const command = ['/usr/bin/perl', script, secret, process.pid, ...ports, name, ...files];
  await writeFile(planted, `#!/bin/sh\nexec ${command.join(' ')}\n`, { mode: 0o755 });
}

/** Reads what planted programs wrote, wherever the engine had them put their temporary files. */
async function reports(folder: string): Promise<string[]> {
  const names = await readdir(folder, { recursive: true });
  const texts = names
    .filter((name) => basename(name) === 'found' && existsSync(join(folder, name)))
    .map((name) => readFile(join(folder, name), 'utf8'));
  return (await Promise.all(texts)).flatMap((text) => text.split('\n').filter((line) => line !== ''));
}
