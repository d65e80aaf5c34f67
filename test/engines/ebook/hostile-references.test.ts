import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { EngineError } from '../../../functions/engines/runtime/engine.ts';
import { runProgram } from '../../../functions/engines/runtime/program.ts';
import { skipBecause } from '../../support/skip.ts';
import { layCanaries, placeOfFile, secret } from '../document/harness.ts';
import { hostileDocuments } from '../document/hostile-documents.ts';
import { nestedDocuments } from '../document/hostile-nested.ts';
import { hostilePackages } from '../document/hostile-packages.ts';
import { canariesIn } from '../document/reach.ts';
import { off, runEngine } from './harness.ts';

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

/** Books are written to pages by way of LibreOffice, and documents to a book. */
const outputs: Record<string, string> = { epub: 'pdf', fb2: 'pdf', docx: 'htmlz', odt: 'htmlz', rtf: 'htmlz' };
const books = [...hostileDocuments, ...hostilePackages, ...nestedDocuments].filter(({ name }) =>
  [
    'a book with an SVG that names others',
    'a book with remote style sheets and pictures',
    'a FictionBook with an SVG as picture',
    'a docx with linked pictures',
    'a text with linked pictures, objects, frames and sections',
    'rich text with fields, objects and a template',
  ].includes(name),
);

it('looks at every book that is named', () => {
  expect(books).toHaveLength(6);
});

describe('references of books, with the network and all files in reach', skipBecause(off), () => {
  it('runs programs that could reach what no book may', async () => {
    const { stdout } = await runProgram('cat', [canaries.canary.text], { cwd: tmpdir() });

    expect(stdout).toContain(secret);
  });

  it.each(books)(
    'reaches no file and no address from $name',
    async (book) => {
      const path = join(place.folder, `hostile.${book.format}`);
      await book.make(path, canaries.canary);
      canaries.hits.length = 0;
      const reached: string[] = [];
      const to = outputs[book.format] ?? '';
      try {
        for (const made of (await runEngine(path, book.format, to)).outputs)
          reached.push(...(await canariesIn(made.path, to)));
      } catch (error) {
        // To be refused is to reach nothing; any other failure is one of ours.
        if (!(error instanceof EngineError)) throw error;
      }

      expect(reached).toEqual([]);
      expect(canaries.hits).toEqual([]);
    },
    120_000,
  );
});
