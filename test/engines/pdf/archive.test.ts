import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, it } from 'vitest';
import { type Level, levels } from '../../../functions/engines/pdf/archive/problems.ts';
import { validatePdfa } from '../../../functions/engines/pdf/archive/validate.ts';
import { skipBecause } from '../../support/skip.ts';
import {
  byPdfLib,
  chapters,
  expectSound,
  folderOfFile,
  infoOf,
  objectsOf,
  only,
  pageTexts,
  render,
  runPdf,
} from './harness.ts';
import { mutate, mutations } from './pdfa-mutations.ts';

const run = promisify(execFile);
const place = folderOfFile();
const verapdf = process.env.LATHE_VERAPDF;
const made: Record<string, string> = {};
const archived = new Map<string, { path: string; method: unknown }>();

beforeAll(async () => {
  Object.assign(made, await chapters(place.path, 2));
  made['pdf-lib with a form'] = await byPdfLib(join(place.path, 'form.pdf'), async (document) => {
    const page = document.addPage([595, 842]);
    page.drawText('Chapter 1 is seen through', { x: 72, y: 700, size: 20, opacity: 0.5 });
    document.setTitle('Größe & <Form>');
    document.addJavaScript('hello', 'app.alert("hello")');
    const field = document.getForm().createTextField('name');
    field.setText('Value');
    field.addToPage(page, { x: 72, y: 500, width: 200, height: 24 });
    await document.attach(Buffer.from('hello'), 'note.txt', { mimeType: 'text/plain' });
  });
  for (const [producer, path] of Object.entries(made))
    for (const level of levels) {
      const result = await runPdf('pdf/a', path, { options: { level } });
      archived.set(`${producer} ${level}`, { path: only(result), method: result.details?.method });
    }
}, 120_000);

const of = (producer: string, level: Level) => archived.get(`${producer} ${level}`) ?? { path: '', method: '' };

describe('pdf/a', () => {
  it('keeps the text and the look of documents of several producers', async () => {
    for (const [producer, path] of Object.entries(made)) {
      const before = await render(path);
      const words = (texts: string[]) => texts.map((text) => text.split(/\s+/).join(' '));
      const texts = words(await pageTexts(path));
      for (const level of levels) {
        const output = of(producer, level).path;
        await expectSound(output);
        const isPicture = level === '1b' && producer.endsWith('form');
        expect(words(await pageTexts(output)), `${producer} ${level}`).toEqual(isPicture ? [''] : texts);
        expect((await render(output)).dark()).toBeCloseTo(before.dark(), -3);
      }
    }
  });

  it('keeps a document that needs no drawing, with its tags, bookmarks and links', async () => {
    for (const producer of ['LibreOffice', 'Chromium']) {
      const { path, method } = of(producer, '2b');
      expect(method).toBe('kept');
      const text = JSON.stringify(await objectsOf(path));
      expect(text).toContain('"/Link"');
      if (producer === 'Chromium') expect(text).toContain('"/StructTreeRoot"');
    }
  });

  it('embeds the fonts of a document without them', async () => {
    const { stdout } = await run('pdffonts', [of('pdf-lib', '1b').path]);
    expect(stdout).toMatch(/ yes yes /);
    expect(of('pdf-lib', '1b').method).toBe('redrawn');
  });

  it('keeps the information, drops scripts, and keeps attached files for level 3b alone', async () => {
    expect(await infoOf(of('pdf-lib with a form', '2b').path, 'Title')).toBe('Größe & <Form>');
    for (const level of levels) {
      const { path } = of('pdf-lib with a form', level);
      const text = JSON.stringify(await objectsOf(path));
      expect(text).not.toContain('/JavaScript');
      expect(text.includes('/AFRelationship')).toBe(level === '3b');
    }
  });

  it('attaches the files of the role attachments', async () => {
    const note = join(place.path, 'notes of today.txt');
    await writeFile(note, 'Notes');
    const result = await runPdf('pdf/a', made.Chromium ?? '', {
      options: { level: '3b' },
      others: { attachments: [note, note] },
    });
    const { stdout } = await run('pdfdetach', ['-list', only(result)]);
    expect(stdout).toContain('2 embedded files');
    expect(stdout).toContain('1: 2-notes of today.txt');
    expect(result.details).toMatchObject({ level: '3b', conforms: true });
    await expect(
      runPdf('pdf/a', made.Chromium ?? '', { options: { level: '2b' }, others: { attachments: [note] } }),
    ).rejects.toThrow('Set the option level to 3b');
  });

  it('fails for text whose characters are unknown at level 2u', async () => {
    const path = await byPdfLib(join(place.path, 'unknown.pdf'), async (document) => {
      const page = document.addPage([200, 200]);
      const { context } = document;
      const glyph = context.register(context.stream('500 0 d0 0 0 400 400 re f'));
      const font = context.register(
        context.obj({
          Type: 'Font',
          Subtype: 'Type3',
          FontBBox: [0, 0, 500, 500],
          FontMatrix: [0.001, 0, 0, 0.001, 0, 0],
          CharProcs: { square: glyph },
          Encoding: { Type: 'Encoding', Differences: [97, 'square'] },
          FirstChar: 97,
          LastChar: 97,
          Widths: [500],
          Resources: {},
        }),
      );
      page.node.setFontDictionary(page.node.newFontDictionary('F', font), font);
      const content = `BT ${page.node.newFontDictionary('G', font)} 20 Tf 20 20 Td (a) Tj ET`;
      page.node.addContentStream(context.register(context.stream(content)));
    });
    await expect(runPdf('pdf/a', path, { options: { level: '2u' } })).rejects.toThrow(
      /cannot be converted to PDF\/A-2u.*6\.2\.11\.7\.2/,
    );
    expect(only(await runPdf('pdf/a', path, { options: { level: '2b' } }))).toContain('.pdf');
  });

  it.each([
    ['a truncated file', (data: Buffer) => data.subarray(0, data.length / 2)],
    ['a file that is none', () => Buffer.from('%PDF-1.7\nnothing')],
  ])('fails for %s', async (name, change) => {
    const path = join(place.path, `${name}.pdf`);
    await writeFile(path, change(await readFile(made['pdf-lib'] ?? '')));
    await expect(runPdf('pdf/a', path)).rejects.toThrow(/damaged or incomplete|has no pages/);
  });
});

describe('the validator', () => {
  const bases = levels.map((level) => ({ level, producer: 'Chromium' }));

  it('approves what it is given by the converter', async () => {
    for (const { path } of archived.values()) expect(path).not.toBe('');
    for (const { level, producer } of bases)
      expect(validatePdfa(await readFile(of(producer, level).path), level).problems).toEqual([]);
  });

  it(`approves none of ${mutations.length} broken files`, { timeout: 120_000 }, async () => {
    const approved: string[] = [];
    for (const { file, level, mutation } of await brokenFiles())
      if (validatePdfa(await readFile(file), level).conforms) approved.push(`${mutation} at ${level}`);
    expect(approved).toEqual([]);
  });

  let broken: Promise<{ file: string; level: Level; mutation: string }[]> | undefined;
  function brokenFiles() {
    broken ??= (async () => {
      const files = [];
      for (const mutation of mutations)
        for (const level of mutation.levels) {
          const file = join(place.path, `${mutations.indexOf(mutation)}-${level}.pdf`);
          await mutate(of('Chromium', level).path, file, mutation, level, place.path);
          files.push({ file, level, mutation: mutation.name });
        }
      return files;
    })();
    return broken;
  }

  describe(
    'next to veraPDF',
    skipBecause(verapdf ? undefined : 'LATHE_VERAPDF does not name the jar of org.verapdf.apps:greenfield-apps'),
    () => {
      it('agrees on the outputs of all producers', { timeout: 300_000 }, async () => {
        for (const level of levels) {
          const paths = Object.keys(made).map((producer) => of(producer, level).path);
          expect(await judgedBy(paths, level)).toEqual(paths.map(() => true));
        }
      });

      it('approves nothing that veraPDF rejects', { timeout: 600_000 }, async () => {
        const files = await brokenFiles();
        const rejected: string[] = [];
        for (const level of levels) {
          const some = files.filter((each) => each.level === level);
          const verdicts = await judgedBy(
            some.map(({ file }) => file),
            level,
          );
          for (const [index, { mutation }] of some.entries())
            rejected.push(...(verdicts[index] ? [] : [`${mutation} at ${level}`]));
        }
        expect(rejected.length).toBeGreaterThan(80);
      });
    },
  );
});

/** Returns whether veraPDF approves each file. */
async function judgedBy(paths: string[], level: Level): Promise<boolean[]> {
  const args = [
    '-cp',
    verapdf ?? '',
    'org.verapdf.apps.GreenfieldCliWrapper',
    '-f',
    level,
    '--format',
    'text',
    ...paths,
  ];
  const { stdout } = await run('java', args, { maxBuffer: 2 ** 27 }).catch((error) => error);
  return paths.map((path) => new RegExp(`^PASS .*${basename(path)}`, 'm').test(stdout));
}
