import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { convertWithOffice } from '../../../functions/engines/document/office/office.ts';
import { loading, storing } from '../../../functions/engines/document/office/office-filters.ts';
import { EngineError } from '../../../functions/engines/runtime/engine.ts';
import { runProgram } from '../../../functions/engines/runtime/program.ts';
import { isBroad, onlyInBreadth } from '../../support/breadth.ts';
import { layCanaries, placeOfFile, secret } from './harness.ts';
import { type HostileDocument, hostileDocuments } from './hostile-documents.ts';
import { nestedDocuments } from './hostile-nested.ts';
import { hostilePackages } from './hostile-packages.ts';
import { hostilePages } from './hostile-pages.ts';
import { canariesIn, findReached, makeOnce } from './reach.ts';

// The engine runs in this process, without the barriers of its sandbox, as on a platform that grants none: what it does itself must hold.
const place = placeOfFile();
let canaries: Awaited<ReturnType<typeof layCanaries>>;

beforeAll(async () => {
  canaries = await layCanaries(place.folder);
});

beforeEach(() => {
  canaries.hits.length = 0;
});

afterAll(() => canaries.close());

const documents = [...hostileDocuments, ...hostilePackages, ...hostilePages, ...nestedDocuments]
  // LibreOffice is started anew between documents that may hold drawings and those that may not.
  .toSorted((left, right) => Number(left.name.includes('SVG')) - Number(right.name.includes('SVG')));

/** Returns the outputs of a document in addition to PDF: every kind, or one of them in turn. */
function otherOutputs(document: HostileDocument): string[] {
  const all = outputsOf(document).filter((name) => name !== document.format);
  if (process.env.LATHE_TEST_ALL_OUTPUTS) return all;
  return all.slice(documents.indexOf(document) % all.length).slice(0, 1);
}

const conversions = documents.flatMap((document, index) => {
  const others = otherOutputs(document);
  // A PDF shows what was loaded, and another format keeps it: `npm test` tries the one or the other of each document.
  const isUsual = (isPdf: boolean) => isBroad || isPdf === (index % 2 === 0 || others.length === 0);
  return [
    { document, outputs: ['pdf'], usual: isUsual(true) },
    { document, outputs: others, usual: isUsual(false) },
  ].filter(({ outputs }) => outputs.length > 0);
});

function outputsOf(document: HostileDocument): string[] {
  const { format } = document;
  // One that lays out and one that keeps what was loaded: the pages differ in their spelling only.
  if (hostilePages.includes(document)) return ['odt'];
  if (['fods', 'ods', 'csv', 'xlsx', 'xls', 'slk'].includes(format)) return ['xlsx', 'html'];
  if (['fodp', 'odp', 'pptx', 'ppt'].includes(format)) return ['pptx', 'odp'];
  if (format === 'emf') return ['svg'];
  if (format === 'fb2') return ['odt', 'html', 'docx'];
  return format === 'odg' ? ['fodg', 'svg'] : ['odt', 'html', 'epub', 'docx'];
}

it('runs programs that could reach what no document may', async () => {
  const { stdout } = await runProgram('cat', [canaries.canary.text], { cwd: tmpdir() });

  expect(stdout).toContain(secret);
});

describe('references of documents, with the network and all files in reach', () => {
  for (const usual of [true, false])
    it.each(conversions.filter((conversion) => conversion.usual === usual))(
      'reaches no file and no address from $document.name, as $outputs',
      { timeout: 60_000, ...(usual ? {} : onlyInBreadth) },
      async ({ document, outputs }) => {
        const reached = await findReached(document, place.folder, canaries, outputs);

        expect(reached).toEqual([]);
        expect(canaries.hits).toEqual([]);
      },
    );
});

describe('LibreOffice by its own settings, given documents that nothing was removed from', () => {
  const raw = [
    'a docx with linked pictures',
    'flat text with linked pictures',
    'flat text with a section from a file',
    'flat text with linked objects and frames',
    'a flat sheet with linked tables, services and DDE',
    'a web page with a semicolon before an attribute',
    'rich text with an SVG as picture',
    'rich text with fields in other spellings',
    'a docx with an SVG inside an SVG as data',
    'an EMF with an SVG inside',
    'a doc with an SVG called a png',
    'a ppt with an SVG called a png',
    'a doc with linked pictures and sections',
    'an xls with links and services',
  ].map((name) => {
    const document = documents.find((candidate) => candidate.name === name);
    if (!document) throw new Error(`No document is called ${name}.`);
    return document;
  });

  it.each(raw)(
    'reaches no file and no address from $name',
    async (document) => {
      const { format } = document;
      const input = await makeOnce(document, place.folder, canaries.canary);
      canaries.hits.length = 0;
      const path = join(place.folder, 'raw.pdf');
      const other =
        format === 'emf' ? 'wmf' : format === 'fods' || format === 'xls' ? 'ods' : format === 'ppt' ? 'odp' : 'odt';
      const outputs = [path, join(place.folder, `raw-out.${other}`)];
      const stores = ['pdf', other].map((to) => storing(format, to, {}));
      await Promise.all(outputs.map((output) => rm(output, { force: true })));

      try {
        await convertWithOffice({
          input,
          load: loading(format, {}),
          outputs: outputs.map((output, index) => ({ path: output, store: stores[index] ?? {} })),
        });
        expect(await canariesIn(path, 'pdf')).toEqual([]);
        expect(await canariesIn(outputs[1] ?? '', other)).toEqual([]);
      } catch (error) {
        // Without its picture a document may be unreadable to LibreOffice.
        if (!(error instanceof EngineError)) throw error;
      }

      expect(canaries.hits).toEqual([]);
    },
    60_000,
  );
});
