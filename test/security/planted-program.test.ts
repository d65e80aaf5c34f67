import { spawn } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { closeSync, openSync, statSync } from 'node:fs';
import { chmod, chown, copyFile, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type ListenOptions } from 'node:net';
import { homedir, networkInterfaces, release, tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Barriers } from '../../functions/engines/runtime/barriers.ts';
import type { ProcessingOperation } from '../../shared/operations/operations.ts';
import { onlyInBreadth } from '../support/breadth.ts';
import { compileCache } from '../support/compile-cache.ts';
import { skipBecause } from '../support/skip.ts';
import type { HostRequest } from './host.ts';

const here = (name: string) => fileURLToPath(new URL(name, import.meta.url));
const isRoot = process.getuid?.() === 0;
/** Neither root nor the user of the sandbox. */
const ordinaryUser = 12_345;

interface Plant {
  engine: string;
  /** Defaults to `convert`. */
  operation?: ProcessingOperation;
  /** The engine's module, if that is replaced. */
  module?: string;
  /** The replaced program, by PATH or by a variable that names it. */
  program: string;
  variable?: string;
  network?: boolean;
  from: string;
  to: string;
  content: string;
  /** Open descriptors, in addition to every program's input and output. */
  descriptors?: string[];
  /** Its input. Defaults to none. */
  input?: string;
  /** Environment variables, in addition to those of every program. */
  variables?: string[];
}

/** Input and output of every program. Node uses sockets for them. */
const descriptorsOfAll = ['1 socket', '2 socket'];
/** Variables of the system and the sandbox: paths of programs and files. */
const variablesOfAll = ['HOME', 'MALLOC_ARENA_MAX', 'PATH', 'TMPDIR'];

const plants: Plant[] = [
  {
    engine: 'whose own process a file has taken over',
    module: 'fixtures/planted-engine.ts',
    program: 'none',
    from: 'png',
    to: 'webp',
    content: 'a picture',
    // The channel for its work; the host checks its output.
    input: '0 socket',
    // Node itself waits for events on it.
    descriptors: ['3 anon_inode'],
    variables: ['LATHE_WARM', ...Object.keys(compileCache)],
  },
  {
    engine: 'image',
    program: 'gs',
    from: 'eps',
    to: 'png',
    content: '%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n',
    variables: ['TEMP'],
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
    // The pipes by which the engine controls the browser.
    descriptors: ['3 socket', '4 socket'],
    variables: ['DBUS_SESSION_BUS_ADDRESS', 'XDG_CACHE_HOME', 'XDG_CONFIG_HOME'],
  },
  {
    engine: 'mail',
    program: 'chromium',
    variable: 'LATHE_CHROMIUM',
    network: true,
    from: 'eml',
    to: 'pdf',
    content: 'From: a@example.com\nSubject: A message\n\nWords\n',
    descriptors: ['3 socket', '4 socket'],
    variables: ['DBUS_SESSION_BUS_ADDRESS', 'XDG_CACHE_HOME', 'XDG_CONFIG_HOME'],
  },
  { engine: 'markdown', program: 'pdfinfo', from: 'pdf', to: 'md', content: '%PDF-1.4\n' },
  { engine: 'pdf', operation: 'pdf/optimize', program: 'pdfinfo', from: 'pdf', to: 'pdf', content: '%PDF-1.4\n' },
  { engine: 'archive', program: '7zz', from: 'zip', to: '7z', content: 'PK\u0005\u0006'.padEnd(22, '\0') },
  {
    engine: 'ebook',
    program: 'ebook-convert',
    from: 'txt',
    to: 'mobi',
    content: 'A book',
    variables: ['CALIBRE_CONFIG_DIRECTORY', 'CALIBRE_TEMP_DIR', 'LANG', 'QT_QPA_PLATFORM', 'XDG_RUNTIME_DIR'],
  },
];

/** What a sandboxed program can reach, by the names of the probes. */
interface Reach {
  reads?: string[];
  writes?: string[];
  reaches?: string[];
  /** What it can do with other processes and the kernel. */
  does?: string[];
  /** Folders in which the program's files stay on the host until the sandbox's next task. */
  leaves?: string[];
}

/** How the host is started: by what the kernel grants, and what the test takes away. */
interface Mode {
  name: string;
  mask?: string[];
  /** Whether its Node can be executed but not read, as in the engines' images. */
  sealed?: boolean;
  /** Whether this test process can start it. */
  possible: boolean;
  /** What is open, in addition to `openToAll`. */
  open: Reach;
  /** What is open to engines with network access, in addition to the host's addresses. */
  openWithNetwork?: Reach;
  /** Barriers that must be absent, which proves that the mask works. */
  absent: (keyof Barriers)[];
}

/** Open to every program in all modes: public code, and its own task. */
const openToAll: Reach = {
  reads: ['its input', "its task's folder", 'the code'],
  writes: ["its task's folder"],
};

/** Files of the user who runs the tests. Root's are closed to the user that single-user tests run as. */
const ofSameUser = isRoot ? [] : ['the data of the service', 'the home folder'];
const ownsCode = !isRoot && statSync(here('host.ts')).uid === process.getuid?.();
const [major = 0, minor = 0] = release().split('.').map(Number);

const reason = process.platform === 'linux' ? undefined : 'The barriers require Linux.';

/** The metadata service of cloud machines. */
const metadataAddress = '169.254.169.254';
const hasIpv6 = Object.values(networkInterfaces()).some((each) => each?.some(({ address }) => address === '::1'));
/**
 * Addresses open to engines with network access, which use the host's network: a page may load from anywhere. The
 * engine refuses private addresses to pages, but a program that replaces the browser is not restricted.
 */
const ofNetwork = [
  ...['TCP over IPv4', 'UDP over IPv4'],
  ...(hasIpv6 ? ['TCP over IPv6', 'UDP over IPv6'] : []),
  ...((await hasRoute()) ? ['a route to the metadata service'] : []),
];

const modes: Mode[] = [
  {
    name: 'with what this kernel grants',
    possible: true,
    // Has the same path, and holds the mounted files.
    open: { reads: ["its sandbox's folder"] },
    // An engine with network access shares the namespace of abstract sockets, which Landlock closes as of Linux 6.12.
    openWithNetwork: major > 6 || (major === 6 && minor >= 12) ? {} : { reaches: ['an abstract UNIX socket'] },
    absent: [],
  },
  {
    name: 'without namespaces and Landlock, started by root',
    mask: [],
    possible: isRoot,
    open: {
      // What any user of the machine may do: its user has no rights.
      reads: ['a file that everyone may read'],
      // LibreOffice uses UNIX sockets internally, so engines can create them.
      reaches: ['a UNIX socket by its path', 'an abstract UNIX socket'],
      // It sees that other processes exist, as any user does, but nothing of them.
      does: ['see the host'],
      leaves: ['/tmp', '/var/tmp', '/dev/shm'],
    },
    absent: ['processes', 'mounts', 'files', 'network'],
  },
  {
    name: 'without namespaces and Landlock, as one user for all',
    mask: isRoot ? ['--user', String(ordinaryUser)] : [],
    possible: true,
    // The system separates processes of one user only by namespaces and Landlock. An execution environment has one
    // task, so files of a concurrent one exist only in this test.
    open: {
      reads: [
        "its sandbox's folder",
        'a concurrent task',
        'a file of the host',
        'a file that everyone may read',
        'the descriptors of the host',
        'the environment of the host',
        'the memory of the host',
        ...ofSameUser,
      ],
      writes: [
        'its input',
        "its sandbox's folder",
        'a concurrent task',
        'a file of the host',
        'the memory of the host',
        ...ofSameUser,
        ...(isRoot ? [] : ['a file that everyone may read']),
        ...(ownsCode ? ['the code'] : []),
      ],
      // On Lambda, only the task's own processes listen there.
      reaches: ['a UNIX socket by its path', 'an abstract UNIX socket'],
      does: ['find the secret in an environment', 'see the host', 'signal the host'],
      leaves: ['/tmp', '/var/tmp', '/dev/shm'],
    },
    absent: ['user', 'processes', 'mounts', 'files', 'network'],
  },
  {
    name: 'with what Lambda grants an image, whose Node its user cannot read',
    mask: ['--user', String(ordinaryUser), '--lambda'],
    sealed: true,
    possible: isRoot,
    // The kernel protects the environment, memory and descriptors of a process whose program its user may not read.
    // Without that, programs can copy and trace the host. What is exposed is the function of an engine: its role allows
    // nothing, it starts without credentials, and its environment never serves another account.
    open: {
      reads: ["its sandbox's folder", 'a concurrent task', 'a file of the host', 'a file that everyone may read'],
      writes: ['its input', "its sandbox's folder", 'a concurrent task', 'a file of the host'],
      reaches: ['a UNIX socket by its path', 'an abstract UNIX socket', ...ofNetwork],
      does: ['see the host', 'signal the host', 'use keys of the kernel'],
      leaves: ['/tmp', '/var/tmp', '/dev/shm'],
    },
    absent: ['user', 'processes', 'mounts', 'files', 'network', 'calls', 'privileges', 'orphans'],
  },
];

let folder: string;
/** The probes of every planted program. */
let probes: string[];
const connections = new Set<string>();
const opened: { close(): unknown }[] = [];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'planted-'));
  await chmod(folder, 0o755);
  const [path, abstract] = [join(folder, 'socket'), `planted-${crypto.randomUUID()}`];
  await listen('a UNIX socket by its path', { path, readableAll: true, writableAll: true });
  await listen('an abstract UNIX socket', { path: `\0${abstract}` });
  const port = 0;
  probes = [
    `tcp4:TCP over IPv4=${await listen('TCP over IPv4', { port, host: '127.0.0.1' })}`,
    `udp4:UDP over IPv4=${await receive('UDP over IPv4', 'udp4', '127.0.0.1')}`,
    ...(hasIpv6 ? [`tcp6:TCP over IPv6=${await listen('TCP over IPv6', { port, host: '::1' })}`] : []),
    ...(hasIpv6 ? [`udp6:UDP over IPv6=${await receive('UDP over IPv6', 'udp6', '::1')}`] : []),
    `socket:a UNIX socket by its path=${path}`,
    `abstract:an abstract UNIX socket=${abstract}`,
    `route:a route to the metadata service=${metadataAddress}`,
    ...['/etc/shadow', '/root', '/proc/1/environ'].map((each) => `path:${each}=${each}`),
    `path:the home folder=${homedir()}`,
  ];
  await mkdir(join(folder, 'sealed/bin'), { recursive: true });
  if (isRoot) await copyFile(process.execPath, sealedNode());
  if (isRoot) await chmod(sealedNode(), 0o711);
});

afterAll(async () => {
  for (const each of opened) each.close();
  await rm(folder, { recursive: true, force: true });
});

const sealedNode = () => join(folder, 'sealed/bin/node');

/** Starts a server that records its connections, and returns its port, if any. */
async function listen(label: string, options: ListenOptions): Promise<number | undefined> {
  const server = createServer((socket) => {
    connections.add(label);
    socket.destroy();
  });
  opened.push(server);
  await once(server.listen(options), 'listening');
  const address = server.address();
  return typeof address === 'object' ? address?.port : undefined;
}

/** Records datagrams, and returns the port that receives them. */
async function receive(label: string, type: 'udp4' | 'udp6', address: string): Promise<number> {
  const socket = createSocket(type, () => connections.add(label));
  opened.push(socket);
  await once(socket.bind(0, address), 'listening');
  return socket.address().port;
}

/** Returns whether this machine has a route to a metadata service. Sends nothing. */
function hasRoute(): Promise<boolean> {
  const socket = createSocket('udp4');
  return new Promise<boolean>((resolve) => {
    socket.once('error', () => resolve(false)).connect(9, metadataAddress, () => resolve(true));
  }).finally(() => socket.close());
}

/** Runs an engine whose program is replaced by a probing one, and returns its findings. */
async function snoop(plant: Plant, mode: Mode, variables: Record<string, string> = {}) {
  const name = `left-${plant.program}-${modes.indexOf(mode)}-${process.pid}`;
  const secret = `secret-${crypto.randomUUID()}`;
  const own = await mkdtemp(join(folder, `${plant.program}-`));
  await chmod(own, 0o755);
  const data = join(own, 'data');
  await mkdir(data, { mode: 0o700 });
  const records = join(data, 'records');
  await writeFile(records, secret);
  const shared = join(folder, 'for-everyone');
  await writeFile(shared, secret);
  const input = join(own, `sample.${plant.from}`);
  await writeFile(input, plant.content, 'latin1');
  const programs = join(own, 'programs');
  await mkdir(programs);
  await copyFile(here('snoop.pl'), join(programs, 'snoop.pl'));
  // The host writes the program, which is given the host's process id and the files of other tasks.
  if (isRoot) await chown(programs, ordinaryUser, ordinaryUser);
  const planted = join(programs, plant.program);
  const request: HostRequest = {
    module: new URL(plant.module ?? `../../functions/engines/${plant.engine}/run.ts`, import.meta.url).href,
    network: plant.network ?? false,
    operation: plant.operation ?? 'convert',
    input: { path: input, format: plant.from },
    outputFormat: plant.to,
    planted,
    secret,
    name,
    probes: [...probes, `path:the data of the service=${records}`, `path:a file that everyone may read=${shared}`],
  };
  // Like the embedded database in the process that starts functions. This host leaves closing it to the sandbox.
  const database = openSync(records, 'r+');
  const command = [mode.sealed ? sealedNode() : process.execPath, here('host.ts'), JSON.stringify(request)];
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
    stdio: Array<'ignore' | 'pipe' | 'inherit' | number>(31)
      .fill('ignore')
      .with(1, 'pipe')
      .with(2, 'inherit')
      .with(30, database),
  });
  closeSync(database);
  const output = host.stdout ? await text(host.stdout) : '';
  const lines = output.trim().split('\n');
  const result: { outcome: string; found: string[]; barriers: Barriers } = JSON.parse(lines.at(-1) ?? '');
  return { ...result, left: await processesNaming(name), leftFiles: await filesNamed(name) };
}

async function processesNaming(name: string): Promise<string[]> {
  const pids = (await readdir('/proc')).filter((entry) => /^\d+$/.test(entry));
  const commands = await Promise.all(pids.map((pid) => readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')));
  return commands.filter((command) => command.includes(name));
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

/** Returns everything that an engine's program has and can reach in a mode. */
function tableOf({ network = false, input = '0 /dev/null', descriptors = [], variables = [] }: Plant, mode: Mode) {
  const withNetwork = network ? [{ reaches: ofNetwork }, mode.openWithNetwork ?? {}] : [];
  const open = (kind: keyof Reach) =>
    [...new Set([openToAll, mode.open, ...withNetwork].flatMap((each) => each[kind] ?? []))].sort();
  return {
    descriptors: [input, ...descriptorsOfAll, ...descriptors].sort(),
    variables: [...variablesOfAll, ...variables].sort(),
    reads: open('reads'),
    writes: open('writes'),
    reaches: open('reaches'),
    does: open('does'),
    leaves: open('leaves'),
  };
}

/** Groups the lines of reports by subject: an engine may start its program more than once. */
function byKind(lines: string[]) {
  const of = (kind: string) => {
    const texts = lines.filter((line) => line.startsWith(`${kind} `)).map((line) => line.slice(kind.length + 1));
    return [...new Set(texts)].sort();
  };
  return {
    descriptors: of('descriptor'),
    variables: of('variable'),
    reads: of('reads'),
    writes: of('writes'),
    reaches: of('reaches'),
    does: of('does'),
  };
}

/** Engines differ in their programs, not in the effect of a mode: two of them cover each mode. */
const inEveryMode = plants.slice(0, 2);

describe.each(plants)('A program planted in the engine $engine', skipBecause(reason), (plant) => {
  const isUsual = (mode: Mode) => mode.mask === undefined || inEveryMode.includes(plant);
  const possible = modes.filter((mode) => mode.possible);
  it.each(possible.filter(isUsual))('reaches what the table says and nothing else, $name', reachesWhatIsOpen);
  it.each(possible.filter((mode) => !isUsual(mode)))(
    'reaches what the table says and nothing else, $name',
    onlyInBreadth,
    reachesWhatIsOpen,
  );

  async function reachesWhatIsOpen(mode: Mode): Promise<void> {
    connections.clear();

    const { found, outcome, barriers, left, leftFiles } = await snoop(plant, mode);

    expect(outcome).not.toBe('it ended well');
    for (const barrier of mode.absent) expect(barriers[barrier]).toMatchObject({ stands: false });
    const expected = tableOf(plant, mode);
    expect({ ...byKind(found), leaves: leftFiles.sort() }).toEqual(expected);
    for (const address of connections) expect(expected.reaches).toContain(address);
    // Unknown descendants end with their environment.
    if (!mode.absent.includes('orphans')) expect(left).toEqual([]);
  }
});

it('does not run at all if isolation is required and the kernel grants too little', skipBecause(reason), async () => {
  const plant = plants.find(({ engine }) => engine === 'image');
  const mode = modes.findLast(({ possible }) => possible);
  if (!plant || !mode) throw new Error('There is nothing to plant.');

  const { found, outcome } = await snoop(plant, mode, { LATHE_ISOLATION: 'required' });

  expect(outcome).toContain('The engine is off: this instance requires isolation that its system does not have.');
  expect(found).toEqual([]);
});
