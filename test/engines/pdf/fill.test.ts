import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { PDFDocument } from '@cantoo/pdf-lib';
import sharp from 'sharp';
import { beforeAll, describe, expect, it } from 'vitest';
import { gsForm, handForm, libForm, officeForm } from './form-samples.ts';
import { expectSound, folderOfFile, objectsOf, only, type PdfRun, pageTexts, render, runPdf } from './harness.ts';

const run = promisify(execFile);
const place = folderOfFile();

beforeAll(async () => {
  const { at } = place;
  await Promise.all([
    gsForm(at('gs.pdf')),
    libForm(at('lib.pdf')),
    handForm(at('hand.pdf')),
    officeForm(at('office.pdf')),
  ]);
});

const fill = (name: string, values: unknown, options: Record<string, unknown> = {}) =>
  runPdf('pdf/fill', place.at(name), { options: { form_data: JSON.stringify(values), ...options } });

async function fillFrom(name: string, data: string | Buffer, settings: PdfRun = {}) {
  const path = place.at(typeof data === 'string' && /^\s*[[{]/.test(data) ? 'data.json' : 'data.csv');
  await writeFile(path, data);
  return runPdf('pdf/fill', place.at(name), { ...settings, others: { data: [path] } });
}

const formOf = async (path: string) => (await PDFDocument.load(await readFile(path))).getForm();

/** Counts the dark pixels of an area of a page, given in points from the top left corner, as Ghostscript draws it. */
async function darkByGhostscript(path: string, page: number, area: [number, number, number, number]): Promise<number> {
  const [left, top, width, height] = area;
  const args = ['-q', '-dSAFER', '-dPrinted=false', '-sDEVICE=pnggray', '-r72', `-sPageList=${page}`, '-o', '-', path];
  const { stdout } = await run('gs', args, { encoding: 'buffer', maxBuffer: 2 ** 26 });
  const data = await sharp(stdout).extract({ left, top, width, height }).greyscale().raw().toBuffer();
  return data.filter((value) => value < 128).length;
}

const person = {
  person: { name: 'Jürgen Groß 日本 😀', notes: 'Many words that do not fit into one line of this field.\nहिन्दी' },
  code: 'AB12',
  total: 99.5,
  rotated: 'Turned',
  agree: true,
  size: 'large',
  color: 'blue',
  tags: ['b', 'd'],
};

describe('a filled form', () => {
  it('of pdf-lib has its values for other readers, and appearances of its own', async () => {
    const result = await fill('lib.pdf', person);
    const path = only(result);
    const form = await formOf(path);

    await expectSound(path);
    expect(result.warnings).toBeUndefined();
    expect(form.getTextField('person.name').getText()).toBe('Jürgen Groß 日本 😀');
    expect(form.getTextField('total').getText()).toBe('99.5');
    expect(form.getCheckBox('agree').isChecked()).toBe(true);
    expect(form.getRadioGroup('size').getSelected()).toBe('large');
    expect(form.getDropdown('color').getSelected()).toEqual(['blue']);
    expect(form.getOptionList('tags').getSelected()).toEqual(['b', 'd']);
    expect(JSON.stringify(await objectsOf(path))).not.toContain('NeedAppearances');
    const [first = '', second = ''] = await pageTexts(path);
    expect(first).toMatch(/Jürgen Groß\s+日本.*A\s+B\s+1\s+2.*Turned.*99\.5.*blue/s);
    expect(second).toMatch(/Jürgen Groß\s+日本/);
    // The second page is turned, and so is its field.
    expect(await darkByGhostscript(path, 1, [52, 32, 190, 16])).toBeGreaterThan(100);
    expect(await darkByGhostscript(path, 1, [328, 100, 18, 95])).toBeGreaterThan(40);
    expect(await darkByGhostscript(path, 2, [52, 332, 190, 16])).toBeGreaterThan(100);
  });

  it('of LibreOffice has its values for other readers', async () => {
    const values = { person: 'Zoë Müller', notes: 'First line\nsecond', agree: true, color: 'green', size: 'M' };
    const path = only(await fill('office.pdf', values));
    const form = await formOf(path);

    await expectSound(path);
    expect(form.getTextField('person').getText()).toBe('Zoë Müller');
    expect(form.getCheckBox('agree').isChecked()).toBe(true);
    expect(form.getDropdown('color').getSelected()).toEqual(['green']);
    expect(form.getRadioGroup('size').getSelected()).toBe('M');
    expect((await pageTexts(path)).join()).toMatch(/Zoë Müller.*First line\s+second.*green/s);
  });

  it('by hand has what fields inherit, the value on each page, and the names of states as they are', async () => {
    const values = {
      'all.shared': 'Words in two widgets',
      'all.own': 'عربي',
      sex: 'male',
      land: 'Deutschland',
      stray: 'abcde',
    };
    const path = only(await fill('hand.pdf', values));
    const [first = '', second = ''] = await pageTexts(path);
    const picture = await render(path);

    await expectSound(path);
    expect(first).toMatch(/Words in two widgets.*abcde.*Deutschland/s);
    expect(second).toMatch(/Words in/);
    expect(second).toMatch(/عربي/);
    expect((await readFile(path)).includes('/M#e4nn')).toBe(true);
    // In the color of its default appearance, chosen to fit; the first radio button is on.
    expect(picture.at(25, 125)).toEqual([0, 0, 0]);
    expect(picture.at(70, 125)).toEqual([255, 255, 255]);
    const { fields } = JSON.parse(await readFile(only(await runPdf('pdf/forms', path)), 'utf8'));
    expect(fields.map(({ value }: { value: unknown }) => value)).toEqual([
      'Words in two widgets',
      'عربي',
      'male',
      'D',
      'abcde',
    ]);
  });

  it.each(['lib.pdf', 'hand.pdf', 'gs.pdf', 'office.pdf'])(
    'is flattened without fields or their values, of %s',
    async (name) => {
      const values = {
        'lib.pdf': { 'person.name': 'Flat words', agree: 'Yes' },
        'hand.pdf': { 'all.shared': 'Flat words', sex: 'female' },
        'gs.pdf': { name: 'Flat words', land: 'FR' },
        'office.pdf': { person: 'Flat words', agree: true, size: 'M' },
      }[name];
      const open = only(await fill(name, values));
      const path = only(await fill(name, values, { flatten: true }));
      const objects = JSON.stringify(await objectsOf(path));

      await expectSound(path);
      expect(objects).not.toMatch(/Widget|AcroForm|u:Flat words/);
      const page = (await pageTexts(path)).findIndex((text) => text.includes('Flat words')) + 1;
      const [before, after] = [await render(open, page, 100), await render(path, page, 100)];
      expect(after.inked()).toEqual(before.inked());
      expect(Math.abs(after.dark() - before.dark())).toBeLessThan(30);
    },
  );

  it('by LaTeX, whose buttons have no appearances, shows what is on', async () => {
    await handForm(place.at('latex.pdf'), { byLatex: true });
    const path = only(await fill('latex.pdf', { sex: 'Fē' }));

    expect((await render(path)).at(70, 130)).not.toEqual([255, 255, 255]);
    expect(JSON.stringify(await objectsOf(path))).toContain('"/V":"/\\\\376\\\\377\\\\000F\\\\001\\\\023"');
  });

  it('is flattened as it is without values, and a checkbox without appearances is drawn', async () => {
    await handForm(place.at('bare.pdf'), { bare: true });
    const checked = only(await fill('bare.pdf', { tick: true }));
    const path = only(await runPdf('pdf/fill', checked, { options: { flatten: true } }));

    expect((await render(path)).at(110, 130)).not.toEqual([255, 255, 255]);
    expect((await pageTexts(path))[0]).toContain('before');
  });

  it('has no XFA, signatures or usage rights, says so, and opens with a password', async () => {
    await handForm(place.at('xfa.pdf'), { form: '/XFA [(template) 5 0 R]', catalog: '/Perms << /UR3 5 0 R >>' });
    await run('qpdf', ['--encrypt', 'secret', 'owner', '256', '--', place.at('xfa.pdf'), place.at('locked.pdf')]);
    const result = await fill('locked.pdf', { stray: 'abc' }, { password: 'secret' });

    expect(JSON.stringify(await objectsOf(only(result)))).not.toMatch(/XFA|Perms/);
    expect(result.warnings).toEqual([
      'The output is not password-protected.',
      expect.stringContaining('The XFA form was removed'),
    ]);
  });
});

describe('several records', () => {
  const csv = '\ufeffname;land\r\n"Ann; ""A"" / Müller";DE\r\nБорис;Fr\r\n'.replace('Fr', 'FR');

  it('give a file each, named by their values, without anything of each other', async () => {
    const { outputs } = await fillFrom('gs.pdf', csv, { options: { name_pattern: '{land}-{n}-{name}' } });

    expect(outputs.map(({ name }) => name)).toEqual(['DE-1-Ann; _A_ _ Müller.pdf', 'FR-2-Борис.pdf']);
    const texts = await Promise.all(outputs.map(async ({ path }) => (await pageTexts(path))[0]));
    expect(texts[0]).toContain('Ann; "A" / Müller');
    expect(texts[1]).toContain('Борис');
    const [first = '', second = ''] = await Promise.all(
      outputs.map(async ({ path }) => (await run('qpdf', ['--qdf', path, '-'])).stdout),
    );
    // Characters of the other record are in no font either: ToUnicode of Б.
    expect([/<0411>/i.test(first), /<0411>/i.test(second)]).toEqual([false, true]);
  });

  it('are merged with their own values, flattened or as fields of their own', async () => {
    const flat = await fillFrom('hand.pdf', JSON.stringify([{ stray: 'one' }, { stray: 'two' }, { sex: 'male' }]), {
      options: { merge: true, flatten: true },
    });
    const fields = await fillFrom('gs.pdf', csv, { options: { merge: true } });

    await expectSound(only(flat));
    await expectSound(only(fields));
    const texts = await pageTexts(only(flat));
    expect(texts.map((text) => /one|two/.exec(text)?.[0])).toEqual([
      'one',
      undefined,
      'two',
      undefined,
      undefined,
      undefined,
    ]);
    expect((await render(only(flat), 5)).at(25, 125)).toEqual([0, 0, 0]);
    const form = await formOf(only(fields));
    expect(form.getFields().map((field) => field.getName())).toEqual(['1.name', '1.land', '2.name', '2.land']);
    expect(form.getTextField('2.name').getText()).toBe('Борис');
  });
});

describe('values that do not fit', () => {
  it.each([
    [{ 'person.nmae': 'secret' }, 'The form has no field "person.nmae". Did you mean person.name?'],
    [{ code: 'secret7' }, 'The text for the field "code" has 7 characters; its maximum is 6.'],
    [{ color: 'secret' }, 'The value for the field "color" is none of its options: "red", "green", "blue".'],
    [{ agree: 'secret' }, 'The value for the field "agree" is none of its options: "Yes".'],
    [{ color: ['red', 'blue'] }, 'The field "color" takes one value, not 2.'],
    [{ send: 'secret' }, 'The field "send" is a button'],
    [{ agree: [{ a: 'secret' }] }, 'Expected a text, number, boolean, null or array of texts for the field "agree".'],
  ])('%j fail with the name of the field and without the value', async (values, message) => {
    const error: Error = await fill('lib.pdf', values).catch((reason) => reason);

    expect(error.message).toContain(message);
    expect(error.message).not.toContain('secret');
  });

  it('are left out with a warning on request', async () => {
    const result = await fill('lib.pdf', { nmae: 'x', code: 'AB' }, { on_mismatch: 'warn' });

    expect(result.warnings).toContain('The form has no field "nmae".');
    expect((await formOf(only(result))).getTextField('code').getText()).toBe('AB');
  });

  it.each([
    ['{"a": ', 'The file data is not valid JSON.'],
    ['[1]', 'expected an object of field names to values'],
    ['[]', 'The data has no records.'],
    ['name,land\nAnn,DE,FR\n', 'Row 2 of data has 3 columns but the header row has 2.'],
    ['name,name\nAnn,DE\n', 'has the column "name" twice'],
    ['name\n"Ann\n', 'quotation mark'],
    [Buffer.from('name\nJ\xfcrgen\n', 'latin1'), 'is not UTF-8'],
  ])('data such as %j is refused', async (data, message) => {
    await expect(fillFrom('gs.pdf', data)).rejects.toThrow(message);
  });

  it('are no values at all, or a document without fields', async () => {
    await expect(runPdf('pdf/fill', place.at('gs.pdf'))).rejects.toThrow('Set the option form_data');
    const flat = only(await fill('gs.pdf', {}, { flatten: true }));
    await expect(runPdf('pdf/fill', flat, { options: { form_data: '{}' } })).rejects.toThrow('no form fields');
  });
});
