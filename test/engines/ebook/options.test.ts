import { describe, expect, it } from 'vitest';
import { skipBecause } from '../../support/skip.ts';
import { placeOfFile } from '../document/harness.ts';
import { unzip } from '../document/samples.ts';
import { off, runEngine } from './harness.ts';
import { matrix } from './matrix.ts';

const place = placeOfFile();

describe('a book', skipBecause(off), () => {
  it('gets the title and author that are given', async () => {
    const path = await matrix.sample('fb2', place.folder);

    const { outputs } = await runEngine(path, 'fb2', 'epub', {
      book_title: '--help & Größe',
      book_author: 'A. Turner',
    });

    const parts = await unzip(outputs[0]?.path ?? '');
    const opf = Object.entries(parts)
      .find(([name]) => name.endsWith('.opf'))?.[1]
      .toString();
    expect(opf).toContain('--help &amp; Größe');
    expect(opf).toContain('A. Turner');
  }, 60_000);
});
