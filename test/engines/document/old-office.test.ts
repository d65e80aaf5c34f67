import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { convertWithOffice } from '../../../functions/engines/document/office/office.ts';
import { CompoundFile } from '../../../functions/engines/runtime/compound-file.ts';
import { detectFormat, detectionBytes } from '../../../shared/catalogue/detect.ts';
import { known, only, placeOfFile, runEngine } from './harness.ts';
import { compoundFile, oldWord } from './old-office.ts';
import { asciiWords, makeSample } from './samples.ts';

const place = placeOfFile();

async function made(name: string, bytes: Buffer): Promise<string> {
  const path = join(place.folder, name);
  await writeFile(path, bytes);
  return path;
}

const textOf = async (path: string, format: string, to = 'txt', options = {}) =>
  readFile(only(await runEngine(path, format, to, options)), 'utf8');

async function detected(path: string, name = 'file'): Promise<string> {
  return detectFormat(known, (await readFile(path)).subarray(0, detectionBytes), name);
}

describe('documents of old versions of Office', () => {
  it.each([
    ['6', 101],
    ['95', 104],
  ] as const)('of Word %s are converted', async (_name, version) => {
    const path = await made(`word-${version}.doc`, oldWord('Lathe turns old documents, too.', version));

    expect(await detected(path)).toBe('doc');
    expect(await textOf(path, 'doc')).toContain('Lathe turns old documents, too.');
  });

  it('with an embedded document are told by their own streams, and converted', async () => {
    const workbook = CompoundFile.read(await readFile(await makeSample('xls', place.folder)))?.start(
      'Workbook',
      50_000,
    );
    const embedded = Buffer.alloc(100);
    const path = await made(
      'embedding.xls',
      compoundFile({
        Workbook: workbook ?? Buffer.alloc(0),
        'MBD001/WordDocument': embedded,
        'MBD001/1Table': embedded,
      }),
    );

    expect(await detected(path)).toBe('xls');
    expect(await textOf(path, 'xls', 'csv')).toContain('42.5');
  });

  it('of Excel 95 are told by their stream', async () => {
    expect(await detected(await made('old.xls', compoundFile({ Book: Buffer.alloc(100) })))).toBe('xls');
  });
});

describe('binary documents with a password', () => {
  const protect = async (format: string, FilterName: string) => {
    const output = join(place.folder, `locked.${format}`);
    const input = await makeSample(format, place.folder);
    await convertWithOffice({
      input,
      load: { FilterName },
      outputs: [{ path: output, store: { FilterName, Password: 'secret' } }],
    });
    return output;
  };

  it.each([
    ['doc', 'MS Word 97', 'txt', asciiWords],
    ['xls', 'MS Excel 97', 'csv', ['42.5']],
  ] as const)('say that they are protected, and open with the option: %s', async (format, filter, to, words) => {
    const path = await protect(format, filter);

    await expect(runEngine(path, format, to)).rejects.toThrow(
      'The document is password-protected. Set the option password.',
    );
    await expect(runEngine(path, format, to, { password: 'wrong' })).rejects.toThrow(
      'The option password does not open the document.',
    );
    const text = await textOf(path, format, to, { password: 'secret' });
    for (const word of words) expect(text).toContain(word);
  });

  it('are told from damaged ones', async () => {
    const broken = await made(
      'broken.doc',
      compoundFile({ WordDocument: Buffer.alloc(100), '1Table': Buffer.alloc(9) }),
    );
    await expect(runEngine(broken, 'doc', 'txt')).rejects.toThrow(/damaged, incomplete or does not match/);
  });
});

describe('the directory of a compound file', () => {
  const file = compoundFile({ Workbook: Buffer.from('own'), 'MBD001/Workbook': Buffer.from('embedded') });

  it('is read as far as it is there', () => {
    expect(CompoundFile.read(file)?.start('Workbook', 3)?.toString()).toBe('own');
    expect(CompoundFile.read(file)?.has('MBD001')).toBe(true);
    for (let length = 0; length < file.length; length += 97)
      expect(() => CompoundFile.read(file.subarray(0, length))?.start('Workbook', 5_000)).not.toThrow();
    expect(CompoundFile.read(Buffer.from('PK'))).toBeUndefined();
  });

  it('is read in bounded time if its chains and trees are endless', () => {
    for (const value of [0, 1, 2, 0xfffffff9]) {
      const endless = Buffer.from(file);
      // Every number of the allocation table and every link of the directory.
      for (let at = 512; at < 1024; at += 4) endless.writeUInt32LE(value, at);
      for (let at = 1024; at < 2048; at += 128)
        for (const link of [68, 72, 76, 116, 120]) endless.writeUInt32LE(value, at + link);
      for (const at of [44, 60, 68, 72]) endless.writeUInt32LE(value, at);
      const before = process.cpuUsage();
      CompoundFile.read(endless)?.start('Workbook', 1_000_000);
      // Processor time, because other programs run too.
      expect(process.cpuUsage(before).user / 1_000).toBeLessThan(1_000);
    }
  });
});
