import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { skipBecause } from '../../support/skip.ts';
import { layCanaries, placeOfFile, secret } from '../document/harness.ts';
import { unzip, zip } from '../document/samples.ts';
import { off, runEngine } from './harness.ts';
import { matrix } from './matrix.ts';

const place = placeOfFile();
let canaries: Awaited<ReturnType<typeof layCanaries>>;

beforeAll(async () => {
  canaries = await layCanaries(place.folder);
});

afterAll(() => canaries.close());

const at = (name: string) => join(place.folder, name);

describe('books that cannot be converted', skipBecause(off), () => {
  it('says that an empty book is empty', async () => {
    await writeFile(at('empty.mobi'), '');

    await expect(runEngine(at('empty.mobi'), 'mobi', 'epub')).rejects.toThrow('The file is empty.');
  });

  it.each(['epub', 'mobi', 'lit'])(
    'says that half a %s is damaged',
    async (format) => {
      const bytes = await readFile(await matrix.sample(format, place.folder));
      await writeFile(at(`half.${format}`), bytes.subarray(0, bytes.length / 3));

      await expect(runEngine(at(`half.${format}`), format, 'txt')).rejects.toThrow(/damaged/);
    },
    60_000,
  );

  it('refuses letters that pdb cannot hold', async () => {
    await expect(runEngine(await matrix.sample('epub', place.folder), 'epub', 'pdb')).rejects.toThrow(
      /pdb format does not support/,
    );
  }, 60_000);
});

describe('books that reach out', skipBecause(off), () => {
  it('reaches no file and no address from an epub', async () => {
    const parts = await unzip(await matrix.sample('epub', place.folder));
    const { text, picture, url } = canaries.canary;
    const evil = [`file://${text}`, text, `../../../../../../../../${text}`, picture, `${url}/p.png`]
      .map(
        (target) =>
          `<img src="${target}"/><a href="${target}">x</a><object data="${target}"></object><iframe src="${target}"></iframe>`,
      )
      .join('');
    for (const name of Object.keys(parts).filter((part) => part.endsWith('ch001.xhtml')))
      parts[name] = Buffer.from(String(parts[name]).replace('</body>', `${evil}</body>`));
    await zip(at('evil.epub'), parts);

    for (const to of ['htmlz', 'docx', 'txt']) {
      const { outputs } = await runEngine(at('evil.epub'), 'epub', to);
      const path = outputs[0]?.path ?? '';
      const made = to === 'txt' ? { txt: await readFile(path) } : await unzip(path);
      expect(Object.values(made).some((content) => content.includes(secret))).toBe(false);
      expect(Object.keys(made).filter((name) => /canary/.test(name))).toEqual([]);
    }
    expect(canaries.hits).toEqual([]);
  }, 120_000);
});
