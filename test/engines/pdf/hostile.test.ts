import { execFile } from 'node:child_process';
import { chmod, readFile, stat, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { catalogue } from '../../../functions/engines/pdf/catalogue.ts';
import type { Work } from '../../../functions/engines/runtime/engine.ts';
import { checkOptions } from '../../../shared/catalogue/options.ts';
import {
  type FileRole,
  outputFormatOf,
  type ProcessingOperation,
  processingOf,
} from '../../../shared/operations/operations.ts';
import { isBroad } from '../../support/breadth.ts';
import { layCanaries, secret } from '../document/harness.ts';
import { issue, makeAuthority, pemOf } from './certificates.ts';
import { byGhostscript, folderOfFile, known } from './harness.ts';
import type { HostOutcome, HostRequest } from './hostile-host.ts';
import { type HostilePdf, hostilePdfs } from './hostile-pdfs.ts';
import { invoiceXml } from './invoice-samples.ts';

const run = promisify(execFile);

/** What an operation is run with, if it requires options; several if they lead to different code. */
const settings: Partial<Record<ProcessingOperation, Record<string, unknown>[]>> = {
  'pdf/split': [{}, { mode: 'bookmarks' }, { mode: 'size', max_size: 100_000 }],
  'pdf/extract': [{ page_range: '1,-1' }],
  'pdf/watermark': [{ text: 'Draft' }, { text: 'Draft', tile: true, layer: 'behind' }],
  'pdf/fill': [{ flatten: true }, { form_data: '{"name": "Words"}', on_mismatch: 'warn' }],
  'pdf/redact': [{ text: 'words', if_nothing_found: 'warn', if_unreadable: 'warn' }, { areas: '1:0,0,300,300' }],
  'pdf/encrypt': [{ user_password: 'user', owner_password: 'owner', print: 'none' }],
};

/** Files for the roles that an operation requires. */
const files: Partial<Record<FileRole, string>> = { invoice: invoiceXml('MINIMUM') };

/** What an operation rightly says of the sound file. */
const refusals: Partial<Record<ProcessingOperation, RegExp>> = {
  'pdf/ua': /has no tags/,
  'invoice/extract': /contains no electronic invoice/,
};

const cases = catalogue.capabilities
  .filter(({ from }) => from.includes('pdf'))
  .flatMap(({ operation }) => (settings[operation] ?? [{}]).map((options) => ({ operation, options })))
  .map((each) => ({ ...each, title: `${each.operation} ${JSON.stringify(each.options)}` }));

const modes = {
  'with isolation': [],
  // A kernel that grants neither namespaces nor mounts nor Landlock.
  'without isolation': [
    '/usr/bin/perl',
    fileURLToPath(new URL('../../security/mask.pl', import.meta.url)),
    '--user',
    '65534',
  ],
};

/** Seconds that a file may keep an operation busy on a machine with other work. */
const maxSeconds = 60;
/** A bomb may be inflated, as far as the limits on outputs and processor time allow. */
const maxOutputBytes = 50_000_000;

const place = folderOfFile();
let canaries: Awaited<ReturnType<typeof layCanaries>>;
let sound: string;
let certificate: string;
const made: (Omit<HostilePdf, 'make'> & { path: string })[] = [];

beforeAll(async () => {
  await chmod(place.path, 0o777);
  canaries = await layCanaries(place.path);
  sound = await byGhostscript(
    place.at('sound.pdf'),
    '[ /Subtype /Widget /FT /Tx /T (name) /F 4 /Rect [72 500 300 520] /ANN pdfmark /Helvetica 20 selectfont [/Page 2 /View [/Fit] /Title (Two) /OUT pdfmark 3 { 72 600 moveto (Some words) show showpage } repeat',
  );
  certificate = await pemOf(await issue(await makeAuthority(place.path), place.path, { name: 'Ada' }));
  for (const [index, { name, make, ...rest }] of hostilePdfs.entries()) {
    const path = place.at(`${index}.pdf`);
    await writeFile(path, await make({ folder: place.path, sound, canary: canaries.canary }));
    made.push({ name, path, ...rest });
  }
});

afterAll(() => canaries.close());

/** Returns the options of a case, with those that are only known when the tests run. */
function optionsOf({ operation, options }: (typeof cases)[number]): Record<string, unknown> {
  return operation === 'pdf/sign' ? { ...options, certificate } : options;
}

async function othersOf(operation: ProcessingOperation): Promise<Work['others']> {
  const roles = Object.entries(processingOf(operation).roles ?? {}).filter(([, need]) => need === 'required');
  return Promise.all(
    roles.map(async ([name]) => {
      const role = name as FileRole;
      const content = files[role];
      if (content === undefined) return { path: sound, name: 'other.pdf', format: 'pdf', size: 0, role };
      const path = place.at(`${role}.xml`);
      await writeFile(path, content);
      return { path, name: 'other.xml', format: 'xml', size: 0, role };
    }),
  );
}

/** Runs an operation on files one after the other, in a process that simulates its function. */
async function perform(each: (typeof cases)[number], paths: string[], mask: string[]): Promise<HostOutcome[]> {
  const { operation } = each;
  const outputFormat = outputFormatOf(operation, undefined, 'pdf');
  const match = known.find(operation, 'pdf', outputFormat);
  const checked = checkOptions(match?.capability.options ?? [], optionsOf(each));
  if (Object.keys(checked.errors).length > 0) throw new Error(JSON.stringify(checked.errors));
  const others = (await othersOf(operation)) ?? [];
  const request: HostRequest = {
    works: paths.map((path) => ({
      operation,
      inputs: [{ path, name: 'hostile.pdf', format: 'pdf', size: 0 }],
      outputFormat,
      options: checked.values,
      ...(others.length > 0 ? { others } : {}),
    })),
    folder: place.path,
  };
  const host = fileURLToPath(new URL('hostile-host.ts', import.meta.url));
  const [program = '', ...args] = [...mask, process.execPath, host];
  const running = run(program, args, { maxBuffer: 2 ** 26 });
  running.child.stdin?.end(JSON.stringify(request));
  const { stdout } = await running;
  return stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
}

/** Returns what is wrong with the outcome of a hostile file. */
async function wrongWith(
  { failure, refusal: refused, outputs = [], seconds }: HostOutcome,
  { refusal }: (typeof made)[number],
): Promise<string[]> {
  const wrong: string[] = [];
  if (failure !== undefined) wrong.push(failure);
  if (refused === '') wrong.push('no message');
  if (refusal && !refusal.test(refused ?? '')) wrong.push(`expected ${refusal} but received ${refused}`);
  if (seconds > maxSeconds) wrong.push(`${Math.round(seconds)} s`);
  for (const path of outputs) {
    const { size } = await stat(path);
    if (size > maxOutputBytes) wrong.push(`${size} bytes`);
    else if ((await readFile(path)).includes(secret)) wrong.push('the content of another file');
    if (!path.endsWith('.pdf')) continue;
    const { stdout } = await run('pdfinfo', ['-upw', 'user', path], { maxBuffer: 2 ** 26 }).catch((error) => ({
      stdout: String(error),
    }));
    if (!/^Pages:\s+[1-9]/m.test(stdout)) wrong.push(`an output that does not open: ${stdout}`);
    const { stdout: text } = await run('pdftotext', ['-upw', 'user', '-l', '3', path, '-'], {
      timeout: 10_000,
      maxBuffer: 2 ** 26,
    }).catch(() => ({ stdout: '' }));
    if (text.includes(secret)) wrong.push('the text of another file');
  }
  return wrong;
}

describe.each(cases)('hostile PDFs in $title', { timeout: 300_000 }, (each) => {
  const survives = async (files: typeof made, mask: string[]) => {
    const outcomes = await perform(each, [...files.map(({ path }) => path), sound], mask);

    const wrong = await Promise.all(
      files.map(async (file, index) => {
        const outcome = outcomes[index] ?? { seconds: 0, failure: 'it did not run' };
        return (await wrongWith(outcome, file)).map((text) => `${file.name}: ${text}`);
      }),
    );
    expect(wrong.flat()).toEqual([]);
    expect(canaries.hits).toEqual([]);
    // It still works, and did not refuse the others for its options.
    const refusal = refusals[each.operation];
    expect(outcomes.at(-1)).toMatchObject(
      refusal ? { refusal: expect.stringMatching(refusal) } : { outputs: expect.anything() },
    );
  };

  it('do no harm with isolation', () => survives(made, modes['with isolation']));
  it('do no harm without isolation', () =>
    survives(
      made.filter(({ reaches }) => isBroad || reaches),
      modes['without isolation'],
    ));
});
