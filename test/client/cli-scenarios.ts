import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { chmod, cp, mkdir, mkdtemp, readdir, readFile, realpath, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { projectRoot } from '../../infra/bundling.ts';
import { main } from '../../packages/client/src/cli/main.ts';
import { type Job, Lathe } from '../../packages/client/src/index.ts';
import { skipBecause } from '../support/skip.ts';
import { until } from '../support/until.ts';
import { type CliOptions, executable, olderNode, runCli } from './run-cli.ts';
import { picture, site, stack } from './running-service.ts';
import { silence } from './silence.ts';

let lathe: Lathe;
/** Has pictures, a document and what cannot be converted; each test works in a copy. */
let samples: string;
let env: Record<string, string>;

beforeAll(async () => {
  lathe = new Lathe({ url: stack.url, key: stack.apiKey });
  env = { LATHE_URL: stack.url, LATHE_API_KEY: stack.apiKey };
  samples = await mkdtemp(join(tmpdir(), 'lathe-samples-'));
  await mkdir(join(samples, 'photos/deep'), { recursive: true });
  for (const name of ['a.png', 'b.png', 'deep/c.png', '.hidden.png'])
    await writeFile(join(samples, 'photos', name), picture);
  await mkdir(join(samples, 'same'));
  for (const name of ['a.png', 'A.png']) await writeFile(join(samples, 'same', name), picture);
  await writeFile(join(samples, 'photos/list.xyz'), 'Not a picture.');
  await writeFile(join(samples, 'broken.png'), 'Not a picture either.');
  await writeFile(join(samples, 'letter.txt'), 'Dear reader,\n\nall is well.\n');
});

afterAll(async () => {
  await rm(samples, { recursive: true, force: true });
});

/** A copy of the samples as the working directory of commands. */
async function workspace() {
  const folder = await mkdtemp(join(tmpdir(), 'lathe-cli-'));
  await cp(samples, folder, { recursive: true });
  return {
    folder,
    run: (args: string[], options: Partial<CliOptions> = {}) => runCli(args, { cwd: folder, env, ...options }),
    read: (path: string) => readFile(join(folder, path)),
    list: async () => (await readdir(folder, { recursive: true })).filter((name) => !name.includes('png')).sort(),
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
  };
}

function linesOf(text: string): Record<string, unknown>[] {
  return text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
}

const terminalIsThere = process.platform === 'linux' && spawnSync('script', ['--version']).status === 0;

describe('lathe convert', () => {
  test('converts one file to another, and replaces it only with --force', async () => {
    await using place = await workspace();
    const args = ['convert', 'photos/a.png', 'new/a.webp', '--option', 'quality=70'];
    const first = await place.run(args);
    expect([first.code, first.err]).toEqual([0, '']);
    expect(first.out).toMatch(/^photos\/a\.png -> new\/a\.webp \(\d+ bytes, \d+\.\d s\)\n$/);
    const made = await place.read('new/a.webp');
    expect(await sharp(made).metadata()).toMatchObject({ format: 'webp', width: 48, height: 24 });
    await writeFile(join(place.folder, 'new/a.webp'), 'mine');
    const again = [
      'convert',
      ...['photos/a.png', 'new/a.webp'].map((path) => join(place.folder, path)),
      ...args.slice(3),
    ];
    const second = await runHere(again);
    expect(second.code).toBe(1);
    expect(second.written).toMatch(/a\.png: .*new\/a\.webp already exists\. Use --force to overwrite it\.\n$/);
    expect((await place.read('new/a.webp')).toString()).toBe('mine');
    expect(await runHere([...again, '--force', '--quiet'])).toEqual({ code: 0, written: '' });
    expect((await place.read('new/a.webp')).equals(made)).toBe(true);
    expect(await readdir(join(place.folder, 'new'))).toEqual(['a.webp']);
  });

  test('sends one request for a small file, and one for a job', async () => {
    await using place = await workspace();
    const sent = await requestsDuring(async () => {
      const inputs = [join(place.folder, 'photos/a.png'), `${site.url}/remote.png`];
      for (const [index, input] of inputs.entries())
        expect(await runHere(['convert', input, join(place.folder, `${index}.webp`)])).toMatchObject({ code: 0 });
    });
    expect(sent).toEqual([
      ...['GET /health', 'POST /v1/instant/convert'],
      ...['GET /health', 'POST /v1/process/jobs', expect.stringMatching(/^GET \/v1\/files\//)],
    ]);
  });

  test('converts folders, patterns, documents and URLs at once, and says which failed', async () => {
    await using place = await workspace();
    const args = [
      'convert',
      'photos',
      '*.txt',
      'broken.png',
      `${site.url}/remote.png`,
      '--to',
      'pdf',
      '--out',
      'out',
      '--json',
    ];
    const { code, out } = await place.run(args);
    const lines = linesOf(out);
    expect(code).toBe(1);
    expect(lines.filter(({ type }) => type === 'failed')).toMatchObject([
      { input: 'broken.png', errorCode: 'processing_failed' },
    ]);
    expect(lines.filter(({ type }) => type === 'skipped')).toEqual([
      { type: 'skipped', input: 'photos/.hidden.png', reason: 'it is hidden' },
      { type: 'skipped', input: 'photos/list.xyz', reason: 'xyz cannot be converted to pdf' },
    ]);
    expect(lines.flatMap(({ outputs }) => outputs ?? []).sort()).toEqual([
      'out/a.pdf',
      'out/b.pdf',
      'out/deep/c.pdf',
      'out/letter.pdf',
      'out/remote.pdf',
    ]);
    for (const path of ['out/letter.pdf', 'out/deep/c.pdf'])
      expect((await place.read(path)).subarray(0, 5).toString()).toBe('%PDF-');
  });

  test('numbers the files of an output that has several', async () => {
    await using place = await workspace();
    expect((await place.run(['merge', 'photos/a.png', 'photos/b.png', 'both.pdf'])).code).toBe(0);
    const { code, out } = await place.run(['convert', 'both.pdf', 'page.jpg', '--json']);
    expect([code, linesOf(out)[0]?.outputs]).toEqual([0, ['page-1.jpg', 'page-2.jpg']]);
    expect(await place.list()).toEqual(expect.arrayContaining(['both.pdf', 'page-1.jpg', 'page-2.jpg']));
  });

  test('gives every input an output of its own, and says which', async () => {
    await using place = await workspace();
    const { code, out } = await place.run([
      ...['convert', 'photos/a.png', 'photos/deep/c.png', 'same/a.png', 'same/A.png', './photos/a.png'],
      ...['--to', 'webp', '--out', 'all', '--force'],
    ]);
    const named = [...out.matchAll(/^(\S+) -> (\S+) /gm)].map(([, input, output]) => `${input} ${output}`).sort();
    expect(named).toEqual([
      'photos/a.png all/a.webp',
      'photos/deep/c.png all/c.webp',
      'same/A.png all/A-3.webp',
      'same/a.png all/a-2.webp',
    ]);
    expect([code, out.trimEnd().split('\n').at(-1)]).toEqual([0, '4 of 4 converted']);
    expect((await readdir(join(place.folder, 'all'))).sort()).toEqual(['A-3.webp', 'a-2.webp', 'a.webp', 'c.webp']);
  });

  test('reports that a folder cannot be created if a file has its name', async () => {
    await using place = await workspace();
    const { code, err } = await place.run(['convert', 'photos/a.png', 'letter.txt/a.webp']);
    expect([code, err]).toEqual([
      1,
      'photos/a.png: The folder letter.txt cannot be created: a file with that name exists.\n',
    ]);
  });

  test('cancels its jobs when it is interrupted', async () => {
    await using place = await workspace();
    let child: ChildProcess | undefined;
    const running = place.run(['convert', `${site.url}/never.png`, 'never.webp'], {
      onStart: (started) => {
        child = started;
      },
    });
    const job = await until('its file is being imported', () => importing('/never.png'));
    child?.kill('SIGINT');
    expect(await running).toMatchObject({ code: 130, out: '', err: 'lathe: Interrupted.\n' });
    expect(await lathe.job(job.id)).toMatchObject({ status: 'failed', result: { errorCode: 'task_canceled' } });
  });

  test(
    'draws bars on a terminal',
    skipBecause(terminalIsThere ? undefined : 'the script command of Linux is not there'),
    async () => {
      await using place = await workspace();
      const { out, code } = await place.run(['convert', 'photos/a.png', 'broken.png', '--to', 'gif'], {
        terminal: true,
      });
      expect(code).toBe(1);
      expect(out).toMatch(/[█░]{24} +~?\d+% +\w+ +photos\/a\.png/);
      expect(out).not.toMatch(/[█░]{24} +[a-z]/);
      expect(out).toContain('\x1b[32m✓\x1b[0m photos/a.png -> photos/a.gif');
      expect(out).toContain('\x1b[31m✗\x1b[0m broken.png: ');
      expect(out.trimEnd().split('\n').at(-1)).toBe('1 of 2 converted');
    },
  );
});

/** Returns the requests that this process sends meanwhile. */
async function requestsDuring(act: () => Promise<void>): Promise<string[]> {
  const real = fetch;
  const sent: string[] = [];
  vi.stubGlobal('fetch', (input: string | URL, init?: RequestInit) => {
    sent.push(`${init?.method ?? 'GET'} ${new URL(input).pathname}`);
    return real(input, init);
  });
  try {
    await act();
  } finally {
    vi.unstubAllGlobals();
  }
  return sent;
}

test(
  'the built package converts files and URLs with Node 20',
  skipBecause(olderNode === undefined ? 'no Node 20 is installed' : undefined),
  async () => {
    await using place = await workspace();
    const built = join(place.folder, 'built');
    const source = join(projectRoot, 'packages/client');
    const compiler = join(projectRoot, 'node_modules/.bin/tsc');
    expect(spawnSync(compiler, ['-p', source, '--outDir', join(built, 'dist')]).status).toBe(0);
    for (const name of ['package.json', 'bin']) await cp(join(source, name), join(built, name), { recursive: true });
    const options = { node: olderNode ?? '', bin: join(built, 'bin/lathe.js') };
    // A terminal shows the progress of jobs, which Node 20 has no WebSocket for.
    for (const [input, terminal] of [
      ['photos/a.png', false],
      [`${site.url}/remote.png`, terminalIsThere],
    ] as const) {
      const args = ['convert', input, 'out.webp', '--force'];
      expect(await place.run(args, { ...options, terminal }), input).toMatchObject({ code: 0 });
      expect((await sharp(await place.read('out.webp')).metadata()).format).toBe('webp');
    }
  },
);

async function importing(path: string): Promise<Job | undefined> {
  for await (const job of lathe.jobs({ status: 'processing', include: 'tasks' }))
    if (job.tasks?.some(({ payload }) => payload.url === `${site.url}${path}`)) return job;
  return undefined;
}

test.each([
  ['compress', 'a-compressed.png', [48, 24], []],
  ['crop', 'a-cropped.png', [20, 10], ['--x', '4', '--y', '2', '--width', '20', '--height', '10']],
])('lathe %s keeps the format of a file', async (operation, name, [width, height], flags) => {
  await using place = await workspace();
  const { code, out } = await place.run([operation, 'photos/a.png', ...flags, '--json']);
  expect([code, linesOf(out)[0]?.outputs]).toEqual([0, [`photos/${name}`]]);
  const made = await sharp(await place.read(`photos/${name}`)).metadata();
  expect(made).toMatchObject({ format: 'png', width, height });
});

test('lathe crop changes the format to that of its output', async () => {
  await using place = await workspace();
  expect(await place.run(['crop', 'photos/a.png', 'part.jpg', '--width', '20'])).toMatchObject({ code: 0, err: '' });
  expect(await sharp(await place.read('part.jpg')).metadata()).toMatchObject({ format: 'jpeg', width: 20 });
});

test('lathe pdf works on documents, with other files by their roles', async () => {
  await using place = await workspace();
  await place.run(['merge', 'photos/a.png', 'photos/b.png', 'two.pdf']);
  const turned = await place.run(['pdf', 'rotate', 'two.pdf', '--option', 'angle=90', '--json']);
  expect([turned.code, linesOf(turned.out)[0]?.outputs]).toEqual([0, ['two-rotate.pdf']]);
  const marked = await place.run(['pdf', 'watermark', 'two.pdf', 'marked.pdf', '--with', 'picture=photos/a.png']);
  expect(marked).toMatchObject({ code: 0, err: '' });
  expect((await place.read('marked.pdf')).toString('latin1', 0, 5)).toBe('%PDF-');
  const listed = await place.run(['pdf', 'forms', 'two.pdf', '--json']);
  expect([listed.code, linesOf(listed.out)[0]?.outputs]).toEqual([0, ['two-forms.json']]);
  const { code, err } = await place.run(['pdf', 'fold', 'two.pdf']);
  expect([code, err]).toEqual([1, expect.stringContaining('There is no operation "pdf/fold"')]);
});

test('lathe trim keeps a part of a sound', async () => {
  await using place = await workspace();
  const rate = 8_000;
  await writeFile(join(place.folder, 'tone.wav'), silence(rate * 3, rate));
  const { code, out, err } = await place.run(['trim', 'tone.wav', '--start', '1', '--end', '2']);
  expect([code, err]).toEqual([0, '']);
  expect(out).toMatch(/^tone\.wav -> tone-trimmed\.wav /);
  const seconds = (await place.read('tone-trimmed.wav')).length / (2 * rate);
  expect(seconds).toBeGreaterThan(0.9);
  expect(seconds).toBeLessThan(1.2);
});

describe('standard input and output', () => {
  test('a file goes through as a filter, and only its content is on standard output', async () => {
    await using place = await workspace();
    for (const args of [
      ['-', '-t', 'webp'],
      ['-', '-', '-t', 'webp'],
      ['-', '--to', 'webp', '-o', '-'],
    ]) {
      const { code, content, err } = await place.run(['convert', ...args], { input: picture });
      expect([code, err], args.join(' ')).toEqual([0, expect.stringMatching(/^- -> - \(\d+ bytes, .* s\)\n$/)]);
      expect(await sharp(content).metadata()).toMatchObject({ format: 'webp', width: 48 });
    }
  });

  test('standard input is written to a file, and a file to standard output', async () => {
    await using place = await workspace();
    expect(await place.run(['convert', '-', 'in.webp', '-q'], { input: picture })).toMatchObject({ code: 0, out: '' });
    expect((await sharp(await place.read('in.webp')).metadata()).format).toBe('webp');
    const { code, content } = await place.run(['convert', 'in.webp', '-', '-t', 'jpg', '-q']);
    expect([code, (await sharp(content).metadata()).format]).toEqual([0, 'jpeg']);
    const merged = await place.run(['merge', 'photos/a.png', '-', '-o', '-', '-t', 'pdf', '-q'], { input: picture });
    expect([merged.code, merged.content.subarray(0, 5).toString()]).toEqual([0, '%PDF-']);
  });

  test('refuses empty input, several files, and an output without a format', async () => {
    await using place = await workspace();
    expect(await place.run(['convert', '-', '-t', 'webp'])).toMatchObject({
      code: 1,
      err: expect.stringContaining('standard input, which is empty'),
    });
    expect(await place.run(['convert', 'photos/a.png', '-'])).toMatchObject({
      code: 2,
      err: expect.stringContaining('Expected --to FORMAT'),
    });
    await place.run(['merge', 'photos/a.png', 'photos/b.png', 'both.pdf']);
    expect(await place.run(['convert', 'both.pdf', '-', '-t', 'jpg'])).toMatchObject({
      code: 1,
      err: expect.stringContaining('Standard output takes one file but the result has 2.'),
    });
  });
});

test('-o names a file for one input and a folder for several', async () => {
  await using place = await workspace();
  expect(await place.run(['convert', 'photos/a.png', '-o', 'one.webp'])).toMatchObject({ code: 0 });
  expect(await place.run(['convert', 'photos', '-t', 'webp', '-o', 'all.2'])).toMatchObject({ code: 0 });
  expect(await place.list()).toEqual(expect.arrayContaining(['all.2/a.webp', 'all.2/deep/c.webp', 'one.webp']));
});

test('a folder says what it skips, and why', async () => {
  await using place = await workspace();
  await writeFile(join(place.folder, 'photos/notes'), 'No extension.');
  await writeFile(join(place.folder, 'photos/done.webp'), picture);
  await symlink('a.png', join(place.folder, 'photos/link.png'));
  const { code, out, err } = await place.run(['convert', 'photos', '-t', 'webp']);
  expect(code).toBe(0);
  expect(err.trimEnd().split('\n').sort()).toEqual([
    'photos/.hidden.png: skipped, it is hidden',
    'photos/done.webp: skipped, it is a webp file already',
    'photos/link.png: skipped, it is a link',
    'photos/list.xyz: skipped, xyz cannot be converted to webp',
    'photos/notes: skipped, its name has no extension',
  ]);
  expect(out.trimEnd().split('\n').at(-1)).toBe('3 of 3 converted, 5 skipped');
});

test('a misspelled option is found before anything is sent', async () => {
  const paths = await requestsDuring(async () => {
    const { code, written } = await runHere(['convert', 'photos/a.png', 'a.webp', '--option', 'qualty=80']);
    expect([code, written]).toEqual([
      2,
      'lathe: --option qualty: convert has no such option for png to webp. Did you mean quality?\n',
    ]);
  });
  expect(paths).toEqual(['GET /health', 'GET /v1/query/options/convert']);
});

test('messages name flags, not fields of requests', async () => {
  const url = `${site.url}/remote.png`;
  const { code, written } = await runHere(['convert', url, '/tmp/never.nonsense']);
  expect(code).toBe(1);
  expect(written).toMatch(/remote\.png: --to: Cannot convert/);
  expect(written).not.toMatch(/tasks\.|output_format/);
});

describe('lathe job', () => {
  test('shows, cancels and downloads a job', async () => {
    await using place = await workspace();
    const [line] = linesOf((await place.run(['convert', `${site.url}/remote.png`, 'a.webp', '--json'])).out);
    const id = String(line?.job);
    expect(id).toMatch(/^[0-9a-f]{24}$/);
    const shown = await place.run(['job', 'show', id]);
    expect(shown.out).toMatch(new RegExp(`^${id} completed, created `));
    expect(shown.out).toMatch(/process +convert +completed/);
    expect(shown.out).toMatch(/^remote\.webp \(\d+ bytes\) {2}http/m);
    expect(linesOf((await place.run(['job', 'show', id, '--json'])).out)).toMatchObject([{ id, status: 'completed' }]);

    const fetched = await place.run(['job', 'download', id, '-o', 'new/folder']);
    expect([fetched.code, fetched.out]).toEqual([0, expect.stringMatching(/^new\/folder\/remote\.webp \(/)]);
    expect((await place.read('new/folder/remote.webp')).equals(await place.read('a.webp'))).toBe(true);
    expect(await place.run(['job', 'download', id, '-o', 'new/folder'])).toMatchObject({
      code: 1,
      err: expect.stringContaining('already exists. Use --force'),
    });
    const piped = await place.run(['job', 'download', id, '-o', '-']);
    expect(piped.content.equals(await place.read('a.webp'))).toBe(true);

    const { id: open } = await lathe.createJob({ tasks: { import: { operation: 'import/upload' } } });
    expect((await place.run(['job', 'cancel', open])).out).toMatch(new RegExp(`^${open} failed`));
    expect(await place.run(['job', 'download', open])).toMatchObject({ code: 1 });
    expect(await place.run(['job', 'show', '0'.repeat(24)])).toMatchObject({ code: 1 });
    expect((await runHere(['jobs', '--limit', '3'])).written).toMatch(/remote\.png +convert webp/);
  });
});

describe('lathe login', () => {
  test('checks the key and stores it in a file that only its owner may read', async () => {
    await using place = await workspace();
    const file = join(place.folder, 'config/lathe/config.json');
    const own = { LATHE_URL: '', LATHE_API_KEY: '', XDG_CONFIG_HOME: join(place.folder, 'config') };
    const args = ['login', '--url', stack.url];
    const refused = await place.run(args, { env: own, input: 'wrong\n' });
    expect([refused.code, existsSync(file)]).toEqual([3, false]);
    expect(await place.run(args, { env: own })).toMatchObject({ code: 2 });
    const done = await place.run(args, { env: own, input: `${stack.apiKey}\n` });
    expect(done).toMatchObject({ code: 0, out: '', err: `The key for ${stack.url} is in ${file}.\n` });
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect(await place.run(['jobs', '--limit', '1'], { env: own })).toMatchObject({ code: 0 });
    await chmod(file, 0o644);
    expect((await place.run([...args, '--key', stack.apiKey], { env: own })).code).toBe(0);
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect(JSON.parse(await readFile(file, 'utf8'))).toEqual({ url: stack.url, key: stack.apiKey });
  });
});

test('lathe watch converts what is put into a folder until it is interrupted', async () => {
  await using place = await workspace();
  const watched = join(place.folder, 'photos/deep');
  let child: ChildProcess | undefined;
  const running = place.run(['watch', 'photos/deep', '--to', 'webp', '--out', 'out', '--json'], {
    onStart: (started) => {
      child = started;
    },
  });
  const made = (name: string) =>
    until(`${name} is there`, () => existsSync(join(place.folder, 'out', name)) || undefined);
  await made('c.webp');
  await cp(join(watched, 'c.png'), join(watched, 'late.png'));
  await made('late.webp');
  child?.kill('SIGINT');
  const { code, out } = await running;
  expect(code).toBe(0);
  expect(linesOf(out).map(({ input }) => input)).toEqual(['photos/deep/c.png', 'photos/deep/late.png']);
});

test('lathe formats, options and jobs list what the service has', async () => {
  const formats = await runHere(['formats', 'HEIC']);
  const options = await runHere(['options', 'jpg', '.pdf']);
  const jobs = await runHere(['jobs', '--limit', '2', '--json']);
  expect(formats.written).toMatch(/^Images\n(?: {2}.+\n)*? {2}.*\bjpg \(.*jpeg.*\).*\n/);
  expect(formats.written).toMatch(/^Documents\n(?: {2}.+\n)*? {2}.*\bpdf\b/m);
  const listed = JSON.parse((await runHere(['formats', 'HEIC', '--json'])).written);
  expect(listed).toEqual(expect.arrayContaining(['jpeg', 'jpg', 'webp']));
  expect((await runHere(['options', 'mp3', '--operation', 'trim'])).written).toMatch(/^trim_start /m);
  expect(options.written).toMatch(/^strip +boolean +\(true\) +Strips/m);
  expect(linesOf(jobs.written).map(({ id }) => id)).toHaveLength(2);
});

describe('exit codes', () => {
  test.each([
    [[], 0, /^lathe converts files/],
    [['help', 'watch'], 0, /^lathe watch DIR --to FORMAT/],
    [['--version'], 0, /^\d+\.\d+\.\d+\n$/],
    [['-v'], 0, /^\d+\.\d+\.\d+\n$/],
    [['completion', 'csh'], 2, /Expected bash, zsh or fish/],
    [['job', 'explode', 'x'], 2, /Expected show, cancel, download and the id of a job/],
    [['crop', 'a.png'], 2, /Expected the part to keep: --x, --y, --width, --height/],
    [['trim', 'a.mp3'], 2, /Expected the part to keep: --start TIME/],
    [['jobs', '--url', 'ftp://x'], 2, /Expected a service URL/],
    [['jobs', '--key', 'wrong'], 3, /Set LATHE_API_KEY to your API key/],
    [['bogus'], 2, /Unknown command bogus. Run lathe help/],
    [['covert', 'a.png', 'b.webp'], 2, /Unknown command covert. Did you mean convert\?/],
    [['--key'], 2, /Expected a command before --key, such as lathe convert/],
    [['convert', 'one'], 2, /Expected an input and an output/],
    [['convert', 'a', 'b'], 2, /Expected an output with an extension, such as b\.pdf, or --to FORMAT/],
    [['convert', 'a', 'b.jpg', '--option', 'quality=1', '--option', 'quality=2'], 2, /received quality twice/],
    [['convert', 'a', 'b.pdf', '--bogus'], 2, /Unknown option '--bogus'/],
    [['convert', 'photos/a.png', '--to', 'webp', '--option', 'quality'], 2, /Expected NAME=VALUE for --option/],
    [['convert', 'missing.png', 'a.webp'], 1, /missing\.png: The file .*missing\.png does not exist\./],
    [['convert', 'photos/a.png', 'a.webp', '--option', 'quality=800'], 1, /between 1 and 100 for quality/],
    [['convert', 'photos/a.png', './photos/a.png', '--force'], 1, /would overwrite its input/],
  ])('%j exits with %d', async (args, expected, text) => {
    const { code, written } = await runHere(args);
    expect(written).toMatch(text);
    expect(code).toBe(expected);
  });

  test.each([
    [
      'a service that is not there',
      { LATHE_URL: 'http://127.0.0.1:6' },
      /cannot be reached .* Start the service with npm start/,
    ],
    ['a wrong key', { LATHE_API_KEY: 'wrong' }, /Set LATHE_API_KEY to your API key/],
    ['no key', { LATHE_API_KEY: '' }, /No API key is set\. Set LATHE_API_KEY/],
  ])('%s exits with 3 and gives advice', async (_name, changed, text) => {
    const { code, written } = await runHere(['convert', 'photos/a.png', 'never.webp'], changed);
    expect(written).toMatch(text);
    expect(code).toBe(3);
  });
});

/** Runs the command line in this process, which takes a tenth of the time; names of samples become paths. */
async function runHere(args: string[], changed: Record<string, string> = {}) {
  const variables = { ...env, LATHE_CONFIG: join(samples, 'none.json'), ...changed };
  for (const [name, value] of Object.entries(variables)) vi.stubEnv(name, value);
  let written = '';
  const stream = {
    write: (text: string) => {
      written += text;
    },
  };
  const paths = args.map((arg) => (/^[./\w]+\.(?:png|webp)$/.test(arg) && !isAbsolute(arg) ? join(samples, arg) : arg));
  try {
    return { code: await main(paths, { out: stream, err: stream }), written };
  } finally {
    vi.unstubAllEnvs();
  }
}

test('the address and the key are read from the config file', async () => {
  await using place = await workspace();
  const file = join(place.folder, 'config.json');
  await writeFile(file, JSON.stringify({ url: stack.url, key: stack.apiKey }));
  const absent = { LATHE_URL: '', LATHE_API_KEY: '' };
  expect(await runHere(['jobs', '--limit', '1'], { ...absent, LATHE_CONFIG: file })).toMatchObject({ code: 0 });
  await writeFile(file, '[');
  expect(await runHere(['jobs'], { LATHE_CONFIG: file })).toEqual({
    code: 2,
    written: `lathe: Expected {"url": "…", "key": "…"} in ${file}.\n`,
  });
});

describe('lathe mcp', () => {
  /** Connects the client of the protocol's own package to a server of the folder. */
  async function connect(folder: string) {
    const client = new Client({ name: 'test', version: '1' });
    const transport = new StdioClientTransport({
      command: process.execPath,
      args: [executable, 'mcp', '--root', folder],
      env: { PATH: process.env.PATH ?? '', HOME: folder, ...env },
    });
    await client.connect(transport);
    const call = async (name: string, args: Record<string, unknown>, onprogress?: (progress: unknown) => void) => {
      const { content, isError = false } = await client.callTool(
        { name, arguments: args },
        undefined,
        onprogress ? { onprogress } : {},
      );
      const text = Array.isArray(content) ? content[0]?.text : undefined;
      return { isError, ...JSON.parse(String(text)) };
    };
    return { client, call, [Symbol.asyncDispose]: () => client.close() };
  }

  test('finds formats and options, converts, says what is wrong, and fetches the results of jobs', async () => {
    await using place = await workspace();
    await using server = await connect(place.folder);
    const { tools } = await server.client.listTools();
    expect(tools.map(({ name }) => name).sort()).toEqual([
      ...['cancel', 'compress', 'convert', 'crop', 'document', 'estimate', 'fetch_result', 'job_status'],
      ...['list_formats', 'list_options', 'merge', 'trim'],
    ]);
    const remote = new Client({ name: 'test', version: '1' });
    await remote.connect(
      new StreamableHTTPClientTransport(new URL('/mcp', stack.url), {
        requestInit: { headers: { authorization: `Bearer ${stack.apiKey}` } },
      }),
    );
    const schemas = new Map((await remote.listTools()).tools.map(({ name, inputSchema }) => [name, inputSchema]));
    await remote.close();
    for (const { name, inputSchema } of tools) expect(inputSchema, name).toEqual(schemas.get(name));
    expect(JSON.stringify(tools).length, 'what an agent pays before it has called any').toBeLessThan(7_500);
    expect((await server.call('list_formats', { from: 'png' })).formats).toContain('webp');
    expect((await server.call('list_options', { from: 'jpg', to: 'pdf' })).options[0]).toMatchObject({ name: 'strip' });

    const progress: unknown[] = [];
    const input = { input: 'photos/a.png', to: 'webp', options: { quality: 60 } };
    const converted = await server.call('convert', input, (one) => progress.push(one));
    const path = join(await realpath(place.folder), 'photos/a.webp');
    expect(converted).toMatchObject({ isError: false, outputs: [{ path, format: 'webp' }] });
    expect((await sharp(await readFile(path)).metadata()).width).toBe(48);
    expect(progress.at(-1)).toMatchObject({ total: 100 });
    expect(await server.call('convert', input)).toMatchObject({ isError: true, errorCode: 'exists' });

    const problem = await server.call('convert', { ...input, output: 'b.webp', options: { quality: 800 } });
    expect(problem).toMatchObject({ isError: true, msg: expect.stringContaining('between 1 and 100') });
    const estimate = await server.call('estimate', { input: 'photos/a.png', to: 'webp' });
    expect(estimate).toMatchObject({ valid: true, tasks: [{ operation: 'convert' }] });

    const begun = await server.call('convert', { input: `${site.url}/remote.png`, to: 'jpg', wait: false });
    expect(begun).toMatchObject({ isError: false });
    const fetched = await server.call('fetch_result', { job: begun.job, folder: 'fetched' });
    expect(fetched.outputs).toMatchObject([{ format: 'jpg' }]);
    expect(await readdir(join(place.folder, 'fetched'))).toEqual(['remote.jpg']);
    const status = await server.call('job_status', { job: begun.job });
    expect(status).toMatchObject({ status: 'completed', files: [{ filename: 'remote.jpg' }] });
  });

  test('compresses, crops, trims and merges', async () => {
    await using place = await workspace();
    await using server = await connect(place.folder);
    const input = 'photos/a.png';
    const folder = await realpath(place.folder);
    const written = async (name: string, args: Record<string, unknown>) => {
      const { isError, outputs, msg } = await server.call(name, args);
      expect([isError, msg]).toEqual([false, undefined]);
      return outputs.map(({ path }: { path: string }) => path.slice(folder.length + 1));
    };
    expect(await written('compress', { input })).toEqual(['photos/a-compressed.png']);
    expect(await written('crop', { input, width: 20, height: 10 })).toEqual(['photos/a-cropped.png']);
    expect((await sharp(await place.read('photos/a-cropped.png')).metadata()).width).toBe(20);
    expect(await written('merge', { inputs: [input, 'photos/b.png'] })).toEqual(['photos/a-merged.pdf']);
    const marks = { operation: 'pdf/watermark', input: 'photos/a-merged.pdf', files: { picture: input } };
    expect(await written('document', marks)).toEqual(['photos/a-merged-watermark.pdf']);
    await writeFile(join(folder, 'tone.wav'), silence(24_000, 8_000));
    expect(await written('trim', { input: 'tone.wav', start: 1, output: 'end.wav' })).toEqual(['end.wav']);
    const content = `data:image/png;base64,${picture.toString('base64')}`;
    expect(await written('convert', { input: content, to: 'webp', output: 'new.webp' })).toEqual(['new.webp']);
    expect(await server.call('merge', { inputs: [input, '../x.png'] })).toMatchObject({ errorCode: 'forbidden_path' });
    const begun = await server.call('merge', { inputs: [input, 'photos/b.png'], wait: false });
    const fetched = await server.call('fetch_result', { job: begun.job, link: true });
    expect(fetched).toMatchObject({ status: 'completed', files: [{ format: 'pdf', url: expect.any(String) }] });
  });

  test('reads and writes only below its roots', async () => {
    await using place = await workspace();
    await using outside = await workspace();
    await symlink(join(outside.folder, 'photos/a.png'), join(place.folder, 'link.png'));
    await symlink(outside.folder, join(place.folder, 'linked'));
    await using server = await connect(place.folder);
    const refused = { isError: true, errorCode: 'forbidden_path' };
    const inputs = [
      join(outside.folder, 'photos/a.png'),
      '../x.png',
      '/etc/passwd',
      'link.png',
      'linked/photos/a.png',
      `${place.folder}-x`,
    ];
    for (const input of inputs)
      expect(await server.call('convert', { input, to: 'webp' }), input).toMatchObject(refused);
    const outputs = [join(outside.folder, 'new.webp'), '../new.webp', 'linked/new.webp', 'photos/../../new.webp'];
    for (const output of outputs)
      expect(await server.call('convert', { input: 'photos/a.png', to: 'webp', output }), output).toMatchObject(
        refused,
      );
    const before = await outside.list();
    const job = '0123456789abcdef01234567';
    expect(await server.call('fetch_result', { job, folder: '..' })).toMatchObject({ isError: true });
    expect(await outside.list()).toEqual(before);
    expect(await server.call('convert', { input: 'absent.png', to: 'webp' })).toMatchObject({
      errorCode: 'no_such_file',
    });
  });
});

const python = '/usr/bin/python3';
const hasPython = spawnSync(python, ['--version']).status === 0;

test(
  'the Python client passes its tests against the service',
  skipBecause(hasPython ? undefined : `${python} is not installed`),
  async () => {
    const child = spawn(python, ['-m', 'unittest', 'discover', '-s', 'tests'], {
      cwd: join(projectRoot, 'packages/python'),
      env: {
        PATH: process.env.PATH,
        PYTHONPATH: 'src',
        PYTHONDONTWRITEBYTECODE: '1',
        LATHE_REMOTE_FILE: `${site.url}/remote.png`,
        ...env,
      },
    });
    let report = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      report += text;
    });
    const [code] = await once(child, 'close');
    expect(report).toMatch(/^Ran \d+ tests in .*\n\nOK\n$/m);
    expect(code).toBe(0);
  },
);

const hasMypy = spawnSync('python3', ['-m', 'mypy', '--version']).status === 0;

test(
  'the types of the Python client are strict',
  skipBecause(hasMypy ? undefined : 'mypy is not installed: pip install mypy'),
  async () => {
    await using place = await workspace();
    const use = join(place.folder, 'use.py');
    await writeFile(
      use,
      `from lathe_client import AsyncLathe, Lathe

def sizes(lathe: Lathe) -> list[int]:
    return [file["size"] for file in lathe.convert("in.png", to="webp").files]

async def status(lathe: AsyncLathe) -> str:
    return (await lathe.wait("a"))["status"]

def wrong(lathe: Lathe) -> None:
    lathe.convert("in.png", to="webp", nonsense=1)  # type: ignore[call-arg]
    print(lathe.convert("in.png", to="webp").files[0]["filname"])  # type: ignore[typeddict-item]
`,
    );
    const source = join(projectRoot, 'packages/python/src');
    const args = ['-m', 'mypy', '--strict', '--cache-dir', join(place.folder, 'cache'), source, use];
    const { stdout, status } = spawnSync('python3', args, {
      env: { ...process.env, MYPYPATH: source },
      encoding: 'utf8',
    });
    expect([status, stdout]).toEqual([0, expect.stringContaining('Success: no issues found')]);
  },
);
