import { stat, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { catalogue } from '../../../functions/engines/document/catalogue.ts';
import { EngineError, type WorkResult } from '../../../functions/engines/runtime/engine.ts';
import { Sandbox } from '../../../functions/engines/runtime/sandbox/sandbox.ts';
import { checkOptions } from '../../../shared/catalogue/options.ts';
import type { ProcessingOperation } from '../../../shared/operations/operations.ts';
import { maxProcessorSeconds } from '../../../shared/tasks/limits.ts';
import { onlyInBreadth } from '../../support/breadth.ts';
import { measureProcesses } from '../../support/processor-time.ts';
import { runSandboxed } from '../../support/sandboxed.ts';
import { known, placeOfFile } from './harness.ts';
import {
  endlessContent,
  endlessPages,
  faxPicture,
  hiddenPicture,
  hugePage,
  manyPages,
  nestedForms,
  onePage,
  tinyTiles,
  twiceDeflatedPicture,
} from './heavy-files.ts';

/** What a refusal may take. LibreOffice, which may have to start first, is given the most. */
const refusalSeconds = 15;

const place = placeOfFile();
const sandbox = new Sandbox({
  module: new URL('../../../functions/engines/document/run.ts', import.meta.url),
  memoryBytes: 3 * 1024 ** 3,
  network: false,
});
afterAll(() => sandbox.stop());

interface Case {
  file: Buffer | string;
  format?: string;
  to: string;
  options?: Record<string, unknown>;
  operation?: ProcessingOperation;
}

/** Runs the engine behind its sandbox, as its function does, and returns the outcome with the processor time it took. */
async function run({ file, format = 'pdf', to, options = {}, operation = 'convert' }: Case) {
  const match = known.find(operation, format, to);
  if (!match) throw new Error(`${operation} ${format} to ${to} is not advertised.`);
  const path = join(place.folder, `heavy.${format}`);
  await writeFile(path, file);
  const { values } = checkOptions(match.capability.options, options);
  const input = { path, name: basename(path), format, size: (await stat(path)).size };
  await sandbox.settled();
  await sandbox.barriers();
  let outcome: WorkResult | Error = new Error('It did not run.');
  const seconds = await measureProcesses(async () => {
    const ceiling = maxProcessorSeconds(catalogue.resources, [input]) ?? 0;
    const work = { operation, inputs: [input], outputFormat: to, options: values, maxProcessorSeconds: ceiling };
    outcome = await runSandboxed(sandbox, work).catch((error: Error) => error);
  });
  return { outcome, seconds };
}

async function expectRefusal(given: Case, message: RegExp): Promise<void> {
  const { outcome, seconds } = await run(given);

  expect(outcome).toBeInstanceOf(EngineError);
  expect(outcome).toHaveProperty('message', expect.stringMatching(message));
  expect(seconds).toBeLessThan(refusalSeconds);
}

const tooLong =
  /^The file takes more processor time than a file of its size and pages may: over \d+ seconds\. Simplify it/;
const tooLarge =
  /^The PDF contains a picture of \d+ × \d+ pixels; the maximum is 300 million pixels\. Scale it down\.$/;

describe('a small PDF that would hold the engine for minutes', { timeout: 120_000 }, () => {
  it.each(['png', 'docx'])('is refused within seconds: nested forms to %s', (to) =>
    expectRefusal({ file: nestedForms(), to }, tooLong),
  );

  it.each(['png', 'jpg', 'webp', 'tiff'])(
    'is refused at once, and not repeated: a page of a billion points to %s',
    (to) =>
      expectRefusal(
        { file: hugePage(), to },
        /^Page 1, of 1000000000 × 1000000000 points at 150 dpi, has more than 120 million pixels\. Choose/,
      ),
  );

  it.each([
    ['30,000 × 30,000 pixels behind two filters', twiceDeflatedPicture],
    ['a fax of 60,000 × 60,000 pixels', faxPicture],
  ])('is refused at once: %s to docx', (_what, make) => expectRefusal({ file: make(), to: 'docx' }, tooLarge));

  it('leaves an engine that works', async () => {
    const { outcome } = await run({ file: onePage({}), to: 'png' });

    expect(outcome).toHaveProperty('outputs.length', 1);
  });
});

describe('a PDF of many pages', () => {
  it('is converted, however small they are', async () => {
    const { outcome } = await run({ file: manyPages(5_000), to: 'txt' });

    expect(outcome).toHaveProperty('outputs.length', 1);
  });
});

describe('all that a small file may be made into', { ...onlyInBreadth, timeout: 300_000 }, () => {
  const canonical = (formats: string[]) => [...new Set(formats.map((format) => known.canonical(format)))];
  const pdfOutputs = canonical(known.outputs('convert', 'pdf')).filter((to) => to !== 'pdf' && to !== 'eps');
  const drawn = pdfOutputs.filter((to) => to !== 'txt');

  it.each(pdfOutputs)('nested forms to %s', (to) => expectRefusal({ file: nestedForms(), to }, tooLong));

  it.each(drawn)('a picture of 900 million pixels to %s', (to) =>
    expectRefusal({ file: twiceDeflatedPicture(), to }, tooLarge),
  );

  it.each<[string, Case]>([
    ['nested forms to PDF/A', { file: nestedForms(), to: 'pdf', options: { pdf_a: '2b' } }],
    ['nested forms, compressed', { file: nestedForms(), to: 'pdf', operation: 'compress' }],
    ['nested forms on a page of 108 million pixels', { file: nestedForms({ page: '0 0 5000 5000' }), to: 'png' }],
    ['a picture whose size is in another object, to png', { file: hiddenPicture(), to: 'png' }],
    ['a picture whose size is in another object, to docx', { file: hiddenPicture(), to: 'docx' }],
    ['a gigabyte of operators to png', { file: endlessContent(), to: 'png' }],
    ['a gigabyte of operators to txt', { file: endlessContent(), to: 'txt' }],
    ['tiles of a thousandth of a point to png', { file: tinyTiles(), to: 'png' }],
    ['tiles of a thousandth of a point to svg', { file: tinyTiles(), to: 'svg' }],
    ['PostScript that never stops making pages', { file: endlessPages, format: 'ps', to: 'pdf' }],
    ['PostScript that never stops', { file: '%!PS\n{ } loop\n', format: 'ps', to: 'png' }],
    [
      'PostScript that doubles an array for ever',
      { file: '%!PS\n/a [] def { /a [ a a ] def } loop\n', format: 'ps', to: 'txt' },
    ],
  ])('%s', (_what, given) => expectRefusal(given, tooLong));

  it('a page that is huge in one direction, or infinite', async () => {
    for (const box of ['0 0 100 1000000000', `0 0 1${'0'.repeat(320)} 100`, '-1000000000 -1000000000 0 0'])
      await expectRefusal({ file: hugePage(box), to: 'tiff' }, /has more than 120 million pixels/);
  });

  it('a page that is large on paper only, because of its unit', async () => {
    const { outcome } = await run({ file: hugePage('0 0 200 200', '/UserUnit 75000'), to: 'png' });

    expect(outcome).toHaveProperty('outputs.length', 1);
  });
});
