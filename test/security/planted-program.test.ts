import { spawn } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { chmod, chown, copyFile, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Barriers } from '../../functions/engines/runtime/sandbox/barriers.ts';
import { onlyInBreadth } from '../support/breadth.ts';
import { compileCache } from '../support/compile-cache.ts';
import { skipBecause } from '../support/skip.ts';
import type { HostRequest } from './host.ts';

const here = (name: string) => fileURLToPath(new URL(name, import.meta.url));
const isRoot = process.getuid?.() === 0;
/** Neither root nor the user that the sandbox takes. */
const ordinaryUser = 12_345;

interface Plant {
  engine: string;
  /** The engine's module, if it is itself replaced. */
  module?: string;
  /** The program that is replaced, by PATH or by a variable that names it. */
  program: string;
  variable?: string;
  network?: boolean;
  from: string;
  to: string;
  content: string;
}

const plants: Plant[] = [
  {
    engine: 'whose own process a file has taken over',
    module: 'fixtures/planted-engine.ts',
    program: 'none',
    from: 'png',
    to: 'webp',
    content: 'a picture',
  },
  {
    engine: 'image',
    program: 'gs',
    from: 'eps',
    to: 'png',
    content: '%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n',
  },
  { engine: 'media', program: 'ffprobe', variable: 'LATHE_FFPROBE', from: 'mp4', to: 'webm', content: 'a film' },
  { engine: 'document', program: 'pandoc', from: 'md', to: 'html', content: '# A title\n' },
  {
    engine: 'webpage',
    program: 'chromium',
    variable: 'LATHE_CHROMIUM',
    network: true,
    from: 'html',
    to: 'pdf',
    content: '<p>A page</p>',
  },
  { engine: 'archive', program: '7zz', from: 'zip', to: '7z', content: 'PK\u0005\u0006'.padEnd(22, '\0') },
  { engine: 'ebook', program: 'ebook-convert', from: 'txt', to: 'mobi', content: 'A book' },
];

/** How the host is started: by what the kernel grants, and by what the test takes away. */
interface Mode {
  name: string;
  mask?: string[];
  /** Whether this process of the test can start it. */
  possible: boolean;
  /** What a planted program can reach there: file 0 is in the data folder, 1 of an earlier task, 2 of a concurrent one. */
  open: string[];
  /** Barriers that must not stand, which shows that the mask works. */
  absent: (keyof Barriers)[];
}

const modes: Mode[] = [
  { name: 'with what this kernel grants', possible: true, open: [], absent: [] },
  {
    name: 'without namespaces and Landlock, started by root',
    mask: [],
    possible: isRoot,
    // It sees that other processes exist, as any user does, and nothing of them.
    open: ['sees the host'],
    absent: ['processes', 'mounts', 'files', 'network'],
  },
  {
    name: 'without namespaces and Landlock, as one user for all, as on Lambda',
    mask: isRoot ? ['--user', String(ordinaryUser)] : [],
    possible: true,
    // The system tells processes of one user apart by namespaces and Landlock only. What lies open is the host: on
    // Lambda the function of an engine, whose role allows nothing, whose environment is started without credentials,
    // and which holds no more than the presigned URLs of the task that the program is working on anyway. There is one
    // task in an execution environment, so files of a concurrent one exist in this test only.
    open: ['environment of a process', 'file 2', 'opens the memory of the host', 'sees the host', 'signals the host'],
    absent: ['user', 'processes', 'mounts', 'files', 'network'],
  },
];

const reason = process.platform === 'linux' ? undefined : 'The barriers are those of Linux.';

let folder: string;
const connections: string[] = [];
const tcp = createServer((socket) => {
  connections.push('TCP');
  socket.destroy();
});
const udp = createSocket('udp4', () => connections.push('UDP'));

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'planted-'));
  await chmod(folder, 0o755);
  await once(tcp.listen(0, '127.0.0.1'), 'listening');
  await once(udp.bind(0, '127.0.0.1'), 'listening');
});

afterAll(async () => {
  tcp.close();
  udp.close();
  await rm(folder, { recursive: true, force: true });
});

function portOf(address: ReturnType<typeof tcp.address>): number {
  if (address === null || typeof address === 'string') throw new Error('The server does not listen.');
  return address.port;
}

/** Runs an engine whose program is replaced by one that looks around, and returns what that found. */
async function snoop(plant: Plant, mode: Mode, variables: Record<string, string> = {}) {
  const name = `left-${plant.program}-${modes.indexOf(mode)}-${process.pid}`;
  const secret = `secret-${crypto.randomUUID()}`;
  const own = await mkdtemp(join(folder, `${plant.program}-`));
  await chmod(own, 0o755);
  const data = join(own, 'data');
  await mkdir(data, { mode: 0o700 });
  await writeFile(join(data, 'records'), secret);
  const input = join(own, `sample.${plant.from}`);
  await writeFile(input, plant.content, 'latin1');
  const programs = join(own, 'programs');
  await mkdir(programs);
  await copyFile(here('snoop.pl'), join(programs, 'snoop.pl'));
  // The host puts the program there, which is told the number of the host and the files of other tasks.
  if (isRoot) await chown(programs, ordinaryUser, ordinaryUser);
  const planted = join(programs, plant.program);
  const request: HostRequest = {
    module: new URL(plant.module ?? `../../functions/engines/${plant.engine}/run.ts`, import.meta.url).href,
    network: plant.network ?? false,
    input: { path: input, format: plant.from },
    outputFormat: plant.to,
    planted,
    secret,
    ports: [portOf(tcp.address()), udp.address().port],
    name,
    dataFile: join(data, 'records'),
  };
  const command = [process.execPath, here('host.ts'), JSON.stringify(request)];
  const [first = '', ...rest] = mode.mask ? ['/usr/bin/perl', here('mask.pl'), ...mode.mask, ...command] : command;
  const host = spawn(first, rest, {
    env: {
      PATH: [programs, process.env.PATH].join(delimiter),
      TMPDIR: tmpdir(),
      AWS_SECRET_ACCESS_KEY: secret,
      ...compileCache,
      ...variables,
      ...(plant.variable ? { [plant.variable]: planted } : {}),
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const output = await text(host.stdout);
  const lines = output.trim().split('\n');
  const result: { outcome: string; found: string[]; barriers: Barriers } = JSON.parse(lines.at(-1) ?? '');
  return { ...result, left: await processesNaming(name), leftFiles: await filesNamed(name) };
}

async function processesNaming(name: string): Promise<string[]> {
  const pids = (await readdir('/proc')).filter((entry) => /^\d+$/.test(entry));
  const commands = await Promise.all(pids.map((pid) => readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')));
  return commands.filter((command) => command.includes(name) && !command.includes('snoop.pl'));
}

async function filesNamed(name: string): Promise<string[]> {
  const found: string[] = [];
  for (const place of ['/tmp', '/var/tmp', '/dev/shm']) {
    if (!(await readdir(place)).includes(name)) continue;
    found.push(place);
    await rm(join(place, name));
  }
  return found;
}

const reached = ['a TCP server', 'a UDP server'];

/** Engines differ in the programs that they start, and not in what a mode takes away: two of them show each mode. */
const inEveryMode = plants.slice(0, 2);

describe.each(plants)('A program planted in the engine $engine', skipBecause(reason), (plant) => {
  const isUsual = (mode: Mode) => mode.mask === undefined || inEveryMode.includes(plant);
  const possible = modes.filter((mode) => mode.possible);
  it.each(possible.filter(isUsual))("finds nothing that is not its task's, $name", findsNothing);
  it.each(possible.filter((mode) => !isUsual(mode)))(
    "finds nothing that is not its task's, $name",
    onlyInBreadth,
    findsNothing,
  );

  async function findsNothing(mode: Mode): Promise<void> {
    connections.length = 0;

    const { found, outcome, barriers, left, leftFiles } = await snoop(plant, mode);

    expect(outcome).not.toBe('it ended well');
    for (const barrier of mode.absent) expect(barriers[barrier]).toMatchObject({ stands: false });
    const expected = ['ran', ...mode.open, ...(plant.network ? reached : [])];
    expect(new Set(found)).toEqual(new Set(expected));
    if (!plant.network) expect(connections).toEqual([]);
    expect(left).toEqual([]);
    if (!mode.mask) expect(leftFiles).toEqual([]);
  }
});

it(
  'does not run at all where isolation is required and the kernel grants too little',
  skipBecause(reason),
  async () => {
    const plant = plants.find(({ engine }) => engine === 'image');
    const mode = modes.at(-1);
    if (!plant || !mode) throw new Error('There is nothing to plant.');

    const { found, outcome } = await snoop(plant, mode, { LATHE_ISOLATION: 'required' });

    expect(outcome).toContain('The engine is off: this instance requires isolation that its system does not have.');
    expect(found).toEqual([]);
  },
);
