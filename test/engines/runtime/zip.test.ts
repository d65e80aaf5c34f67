import { describe, expect, it } from 'vitest';
import { TamperedError } from '../../../functions/engines/runtime/checks.ts';
import { type Content, readContent } from '../../../functions/engines/runtime/remote-files.ts';
import { zipOf } from '../../../functions/engines/runtime/zip.ts';
import { readZip } from '../../support/zip.ts';

function contentOf(text: string, fail?: () => void): Content & { reads: number } {
  return {
    size: Buffer.byteLength(text),
    reads: 0,
    isUnchanged: () => true,
    async *chunks() {
      this.reads += 1;
      fail?.();
      yield Buffer.from(text);
    },
  };
}

describe('A ZIP of outputs', () => {
  it('has a known size before any file is read', async () => {
    const content = contentOf('one');
    const zip = await zipOf([
      { name: 'a.txt', content },
      { name: 'b.txt', content: contentOf('two') },
    ]);
    await new Promise(setImmediate);

    expect(content.reads).toBe(0);
    const bytes = await readContent(zip);
    expect(bytes.length).toBe(zip.size);
    expect([...(await readZip(bytes)).keys()]).toEqual(['a.txt', 'b.txt']);
  });

  it('fails as tampered if a file changes while it is read, and the process goes on', async () => {
    const changing = contentOf('one', () => {
      throw new TamperedError('The file changed.');
    });
    const zip = await zipOf([
      { name: 'a.txt', content: changing },
      { name: 'b.txt', content: contentOf('two') },
    ]);
    await new Promise(setImmediate);

    await expect(readContent(zip)).rejects.toThrow(TamperedError);
  });
});
