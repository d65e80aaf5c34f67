import { existsSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Sandbox } from '../../functions/engines/runtime/sandbox/sandbox.ts';
import type { ProcessingOperation } from '../../shared/operations/operations.ts';
import { giveInput } from '../support/sandboxed.ts';

/** A request of the test to this process, which simulates the function of an engine. */
export interface HostRequest {
  module: string;
  network: boolean;
  operation: ProcessingOperation;
  input: { path: string; format: string };
  outputFormat: string;
  /** The program that is replaced by a probing one, `snoop.pl` next to it. */
  planted: string;
  secret: string;
  /** A name for what the planted program leaves behind. */
  name: string;
  /** Probes in the format of `snoop.pl`, in addition to those of this process. */
  probes: string[];
}

const request: HostRequest = JSON.parse(process.argv[2] ?? '');
const { module, network } = request;
const sandboxOf = () => new Sandbox({ module: new URL(module), memoryBytes: 2 * 1024 ** 3, network });
const [sandbox, other] = [sandboxOf(), sandboxOf()];
const ownFolder = await mkdtemp(join(tmpdir(), 'host-'));
const context = { signal: AbortSignal.timeout(60_000), progress: () => {}, log: () => {} };
try {
  // A task that ended, and one that another engine process runs concurrently.
  const earlier = join(sandbox.prepare('ann').folder, 'earlier');
  const concurrent = join(other.prepare('bob').folder, 'concurrent');
  for (const file of [earlier, concurrent, join(ownFolder, 'file')])
    await writeFile(file, request.secret, { mode: 0o600 });
  const task = sandbox.prepare('ann');
  const { folder } = task;
  const path = await giveInput(task, request.input.path, basename(request.input.path));
  const paths = {
    'a file of the host': join(ownFolder, 'file'),
    'the environment of the host': `/proc/${process.pid}/environ`,
    'the memory of the host': `/proc/${process.pid}/mem`,
    'the descriptors of the host': `/proc/${process.pid}/fd`,
    'an earlier task': earlier,
    'a concurrent task': concurrent,
    'the code': fileURLToPath(new URL('../../functions/engines/runtime/engine.ts', import.meta.url)),
    'its input': path,
    "its task's folder": folder,
    "its sandbox's folder": sandbox.folder,
  };
  const probes = Object.entries(paths).map(([label, target]) => `path:${label}=${target}`);
  const snoop = [request.secret, String(process.pid), request.name, ...request.probes, ...probes];
  const script = join(dirname(request.planted), 'snoop.pl');
  await plant(script, snoop);
  const input = { path, name: basename(path), format: request.input.format, size: (await stat(path)).size };
  const { operation, outputFormat } = request;
  // For the planted engine; others have no such option.
  const options = { snoop: JSON.stringify([script, ...snoop]) };
  const outcome = await sandbox.run({ operation, inputs: [input], outputFormat, options, folder }, context, 'ann').then(
    () => 'it ended well',
    (error: unknown) => String(error),
  );
  const found = await reports(sandbox.folder);
  process.stdout.write(`${JSON.stringify({ outcome, found, barriers: await sandbox.barriers() })}\n`);
} finally {
  sandbox.stop();
  other.stop();
  await rm(ownFolder, { recursive: true });
}

/** Writes the program in Perl: a shell would add to its environment. */
async function plant(script: string, args: string[]): Promise<void> {
  const quoted = [script, ...args].map((text) => `'${text.replaceAll(/['\\]/g, '\\$&')}'`);
  const text = `#!/usr/bin/perl\n(my $script, @ARGV) = (${quoted.join(', ')});\ndo $script or die "$script: $@$!";\n`;
  await writeFile(request.planted, text, { mode: 0o755 });
}

/** Reads the reports of planted programs from all their temporary folders. */
async function reports(folder: string): Promise<string[]> {
  const names = await readdir(folder, { recursive: true });
  const texts = names
    .filter((name) => basename(name) === 'found' && existsSync(join(folder, name)))
    .map((name) => readFile(join(folder, name), 'utf8'));
  return (await Promise.all(texts)).flatMap((text) => text.split('\n').filter((line) => line !== ''));
}
