import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, chown, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import busboy from 'busboy';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TamperedError } from '../../functions/engines/runtime/checks.ts';
import { parseMessage } from '../../functions/engines/runtime/sandbox/messages.ts';
import { onlyInBreadth } from '../support/breadth.ts';
import { compileCache } from '../support/compile-cache.ts';
import { skipBecause } from '../support/skip.ts';
import { attacks, folders, forged, paths } from './fixtures/hostile-engine.ts';
import type { HostOutcome, HostTask } from './hostile-host.ts';

/** `npm run test:hostile` takes an hour for it. */
const steps = process.env.LATHE_TEST_ALL_OUTPUTS ? 1_000 : 100;

/**
 * The function of an engine whose sandboxed process has been taken over: by every forged message, renamed folder, link,
 * endless output and output after the end. In each case, the trusted side reads, writes and deletes nothing outside the
 * task, the task ends, and the next account's task is unharmed.
 */

const here = (name: string) => fileURLToPath(new URL(name, import.meta.url));
const isRoot = process.getuid?.() === 0;
const ordinaryUser = 12_345;
const secret = `secret-${crypto.randomUUID()}`;
const linux = process.platform === 'linux' ? undefined : 'The barriers require Linux.';

interface Mode {
  name: string;
  mask?: string[];
  possible: boolean;
  /** Whether `npm test` runs it. */
  isUsual?: boolean;
}

const modes: Mode[] = [
  { name: 'with what this kernel grants', possible: true, isUsual: true },
  { name: 'without namespaces and Landlock, started by root', mask: [], possible: isRoot },
  {
    name: 'without namespaces and Landlock, as one user for all',
    mask: isRoot ? ['--user', String(ordinaryUser)] : [],
    possible: true,
    isUsual: true,
  },
  { name: 'with what Lambda grants', mask: ['--user', String(ordinaryUser), '--lambda'], possible: isRoot },
];

/** Attacks that do not fail the task: they leave an honest output, or end by the deadline. */
const harmless = [
  ...Object.keys(folders),
  ...['reports progress without an end', 'swaps its output while it is stored', 'leaves a program that goes on'],
  ...['says that it is done twice, and goes on', 'lets its output grow while it is stored'],
];
const repeatable = [
  'kills itself',
  'never ends',
  'holds its thread',
  'closes its channel',
  'forges metrics and escapes',
];
const [nextOfHostile, nextOfHonest] = ['the next task of the same account', 'the next task of another account'];
const acts = [...Object.keys(attacks), ...Object.keys(forged).map((name) => `message: ${name}`)];

let server: Server;
let url: string;
let folder: string;
const stored = new Map<string, Buffer>();

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'hostile-'));
  await chmod(folder, 0o755);
  server = createServer((req, res) => {
    if (req.method === 'HEAD') return void res.writeHead(404).end();
    if (req.method === 'GET') return void res.end(`input ${req.url}`);
    const form = busboy({ headers: req.headers });
    let key = '';
    form.on('field', (name, value) => {
      if (name === 'key') key = value;
    });
    form.on('file', async (_, file) => {
      const chunks: Buffer[] = [];
      for await (const chunk of file) chunks.push(chunk);
      stored.set(key, Buffer.concat(chunks));
      res.writeHead(204, { etag: '"0"' }).end();
    });
    req.pipe(form).on('error', () => res.destroy());
    return undefined;
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});

afterAll(async () => {
  server.closeAllConnections();
  server.close();
  await rm(folder, { recursive: true, force: true });
});

/** Creates a folder on the host that only the trusted side may use. */
async function plantVictim(mode: Mode): Promise<string> {
  const victim = await mkdtemp(join(folder, 'victim-'));
  await writeFile(join(victim, 'secret'), secret, { mode: 0o600 });
  await mkdir(join(victim, 'in'), { mode: 0o700 });
  await writeFile(join(victim, 'in', 'kept'), 'kept', { mode: 0o600 });
  if (mode.mask?.length)
    for (const path of ['secret', 'in/kept', 'in', '.']) await chown(join(victim, path), ordinaryUser, ordinaryUser);
  return victim;
}

/** Returns the contents of a folder, with owners and modes. */
async function contentOf(victim: string): Promise<string[]> {
  const names = ['.', ...(await readdir(victim, { recursive: true }))].sort();
  return Promise.all(
    names.map(async (name) => {
      const stats = await stat(join(victim, name));
      const content = stats.isFile() ? await readFile(join(victim, name), 'utf8') : '';
      return [name, stats.uid, stats.gid, stats.mode.toString(8), content].join(' ');
    }),
  );
}

/** How the files of a run reach the engine and leave it: by signed URLs, or with the request and the response. */
type Way = 'a task' | 'a chunk' | 'an instant request';

interface Performed {
  outcomes: (HostOutcome & { stored: Map<string, Buffer> })[];
  log: string[];
  victim: { before: string[]; after: string[] };
  mounts: { before: string; after: string };
}

/** Has one process perform tasks of hostile and honest accounts in turn. */
async function perform(mode: Mode, chosen: string[], way: Way = 'a task'): Promise<Performed> {
  const victim = await plantVictim(mode);
  const run = crypto.randomUUID();
  const tasks = chosen.flatMap((act, index): HostTask[] =>
    // A process that stays warm also gets the next task of the hostile account.
    [act, ...(harmless.includes(act) ? [nextOfHostile] : []), nextOfHonest].map((each) => ({
      act: each,
      tenant: each === nextOfHonest ? 'honest' : 'hostile',
      input: `${url}/${run}/${index}/${each}`,
      ...(way === 'an instant request' ? { content: `input /${run}/${index}/${encodeURIComponent(each)}` } : {}),
      ...(way === 'a chunk' ? { part: { kind: 'chunk', index: 0, from: 0 } } : {}),
      store: url,
      prefix: `${run}/${index}/${each}/`,
      seconds: ['never ends', 'holds its thread', 'closes its channel'].includes(each) ? 3 : 20,
    })),
  );
  const before = await contentOf(victim);
  const mountsBefore = await readFile('/proc/self/mountinfo', 'utf8');
  const command = [process.execPath, here('hostile-host.ts'), JSON.stringify({ tasks, victim })];
  const [first = '', ...rest] = mode.mask ? ['/usr/bin/perl', here('mask.pl'), ...mode.mask, ...command] : command;
  const host = spawn(first, rest, {
    env: { PATH: process.env.PATH, TMPDIR: tmpdir(), ...compileCache },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const [output, errors] = await Promise.all([text(host.stdout), text(host.stderr)]);
  const lines = output.split('\n').filter((line) => line !== '');
  const outcomes = lines
    .filter((line) => line.startsWith('outcome '))
    .map((line, index) => {
      const prefix = tasks[index]?.prefix ?? '';
      const own = [...stored].filter(([key]) => key.startsWith(prefix));
      const outcome: HostOutcome = JSON.parse(line.slice('outcome '.length));
      const returned = outcome.responses.flatMap(({ outputs = [] }) => outputs.map(({ content }) => content));
      const inline = returned.flatMap((content, output) =>
        content === undefined ? [] : ([[`${prefix}returned ${output}`, Buffer.from(content, 'base64')]] as const),
      );
      return { ...outcome, stored: new Map([...own, ...inline]) };
    });
  expect(outcomes, errors.slice(-2_000)).toHaveLength(tasks.length);
  return {
    outcomes,
    log: [...lines.filter((line) => !line.startsWith('outcome ')), ...errors.split('\n').filter((line) => line !== '')],
    victim: { before, after: await contentOf(victim) },
    mounts: { before: mountsBefore, after: await readFile('/proc/self/mountinfo', 'utf8') },
  };
}

function expectUnharmed({ outcomes, log, victim, mounts }: Performed): void {
  expect(victim.after).toEqual(victim.before);
  expect(mounts.after).toBe(mounts.before);
  for (const { act, ms, responses, stored: files } of outcomes) {
    for (const content of files.values()) expect(content.includes(secret), act).toBe(false);
    expect(ms, `${act} took ${ms} ms`).toBeLessThan(15_000);
    const last = responses.at(-1);
    const summary = `${act}: ${JSON.stringify(responses).slice(0, 300)}`;
    if (act === nextOfHonest) {
      expect(last?.type, summary).toBe('done');
      expect([...files.values()].map(String)).toEqual([expect.stringMatching(/^input .*another%20account$/)]);
    } else if (act === nextOfHostile) {
      // Its own process may spoil it.
      expect(['done', 'broken', 'refused'], summary).toContain(last?.type);
    } else if (repeatable.includes(act)) expect(last?.type, summary).toBe('broken');
    else if (!harmless.includes(act)) expect(last?.type, summary).toBe('refused');
    // Thousands of progress lines would be useless.
    expect(responses.length, act).toBeLessThan(100);
  }
  for (const line of log) {
    expect(line.length).toBeLessThan(200_000);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: terminals act on them
    expect(line).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f]/);
    // A foreign line would become part of the function's log.
    const parsed: Record<string, unknown> = JSON.parse(line);
    expect(parsed).not.toHaveProperty('_aws');
    expect(parsed).not.toHaveProperty('forged');
  }
}

describe.each(modes.filter(({ possible }) => possible))('A compromised engine, $name,', skipBecause(linux), (mode) => {
  const isMessage = (act: string) => act.startsWith('message: ');
  // A mode affects paths and folders; two of the modes cover the rest.
  const usual = acts.filter((act) => (mode.mask ? act in paths || act in folders : !isMessage(act)));

  it('harms nobody by the paths, folders, messages and floods of each kind', {
    ...(mode.isUsual ? {} : onlyInBreadth),
    timeout: 300_000,
  }, async () => {
    expectUnharmed(await perform(mode, [...usual, ...acts.filter(isMessage).slice(0, 2)]));
  });

  it('harms nobody by them in instant requests', {
    ...(mode.mask ? onlyInBreadth : {}),
    timeout: 300_000,
  }, async () => {
    expectUnharmed(await perform(mode, [...usual, ...acts.filter(isMessage).slice(0, 2)], 'an instant request'));
  });

  it('harms nobody by them in parts of split runs', {
    ...(mode.mask ? onlyInBreadth : {}),
    timeout: 300_000,
  }, async () => {
    expectUnharmed(await perform(mode, [...usual, ...acts.filter(isMessage).slice(0, 2)], 'a chunk'));
  });

  it('harms nobody by any of them', { ...onlyInBreadth, timeout: 600_000 }, async () => {
    expectUnharmed(await perform(mode, acts));
  });

  it(`harms nobody in ${steps} random steps`, { ...onlyInBreadth, timeout: 3_600_000 }, async () => {
    const random = Array.from({ length: steps }, () => acts[Math.floor(Math.random() * acts.length)] ?? '');
    for (let start = 0; start < random.length; start += 50)
      expectUnharmed(await perform(mode, random.slice(start, start + 50)));
  });
});

describe('A message that the code of an engine would not send', () => {
  it.each(Object.entries(forged))('is refused: %s', (_, line) => {
    expect(() => parseMessage(line)).toThrow(TamperedError);
  });
});
