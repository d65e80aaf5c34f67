import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { PDFDocument } from '@cantoo/pdf-lib';
import { beforeAll, describe, expect, it } from 'vitest';
import { pdfOf } from '../document/heavy-files.ts';
import { gsForm, handForm, libForm, officeForm } from './form-samples.ts';
import { folderOfFile, only, runPdf } from './harness.ts';

const run = promisify(execFile);
const place = folderOfFile();

beforeAll(async () => {
  await Promise.all([gsForm(place.at('gs.pdf')), libForm(place.at('lib.pdf')), handForm(place.at('hand.pdf'))]);
});

interface Listed {
  xfa: boolean;
  fields: { name: string; type: string; value: unknown; widgets: { page: number }[] }[];
}

async function list(name: string, options = {}): Promise<Listed> {
  return JSON.parse(await readFile(only(await runPdf('pdf/forms', place.at(name), { options })), 'utf8'));
}

const field = ({ fields }: Listed, name: string) => fields.find((each) => each.name === name);

describe('the list of the fields of a form', () => {
  it('has what pdf-lib reads, with the places on pages as displayed', async () => {
    const listed = await list('lib.pdf');
    const form = (await PDFDocument.load(await readFile(place.at('lib.pdf')))).getForm();

    expect(listed.fields.map(({ name }) => name)).toEqual(form.getFields().map((each) => each.getName()));
    expect(field(listed, 'person.name')).toMatchObject({ type: 'text', value: null, required: true, multiline: false });
    expect(field(listed, 'person.name')?.widgets).toEqual([
      { page: 1, left: 49.5, top: 29.5, width: 201, height: 21 },
      { page: 2, left: 49.5, top: 329.5, width: 201, height: 21 },
    ]);
    expect(field(listed, 'person.notes')).toMatchObject({ multiline: true });
    expect(field(listed, 'code')).toMatchObject({ max_length: 6, comb: true });
    expect(field(listed, 'total')).toMatchObject({ value: '0.00', read_only: true });
    expect(field(listed, 'agree')).toMatchObject({ type: 'checkbox', options: [{ value: 'Yes', label: 'Yes' }] });
    expect(field(listed, 'size')).toMatchObject({ type: 'radio', options: [{ value: 'small' }, { value: 'large' }] });
    expect(field(listed, 'color')).toMatchObject({ type: 'choice', value: 'red', editable: false });
    expect(field(listed, 'tags')).toMatchObject({ type: 'list', value: [], multiple: true });
    expect(field(listed, 'send')).toMatchObject({ type: 'button' });
  });

  it('has what fields inherit, fields on several pages, and those that only their page refers to', async () => {
    const listed = await list('hand.pdf');

    expect(listed.fields.map(({ name, type, value }) => [name, type, value])).toEqual([
      ['all.shared', 'text', 'before'],
      ['all.own', 'text', null],
      ['sex', 'radio', null],
      ['land', 'choice', 'F'],
      ['stray', 'text', null],
    ]);
    expect(field(listed, 'all.shared')?.widgets.map(({ page }) => page)).toEqual([1, 2]);
    expect(field(listed, 'all.own')).toMatchObject({ multiline: false });
    expect(field(listed, 'sex')).toMatchObject({ options: [{ value: 'male' }, { value: 'female' }] });
    expect(field(listed, 'land')).toMatchObject({
      default: 'D',
      options: [
        { value: 'D', label: 'Deutschland' },
        { value: 'F', label: 'Frankreich' },
      ],
    });
    expect((await list('gs.pdf')).fields.map(({ name, value }) => [name, value])).toEqual([
      ['name', 'old'],
      ['land', null],
    ]);
  });

  it('has the fields of a form by LibreOffice, and reads names of states by LaTeX', async () => {
    await officeForm(place.at('office.pdf'));
    await handForm(place.at('latex.pdf'), { byLatex: true });
    const listed = await list('office.pdf');
    const form = (await PDFDocument.load(await readFile(place.at('office.pdf')))).getForm();

    expect(listed.fields.map(({ name }) => name)).toEqual(form.getFields().map((each) => each.getName()));
    expect(listed.fields.map(({ name, type, value }) => [name, type, value])).toEqual([
      ['person', 'text', ''],
      ['notes', 'text', ''],
      ['agree', 'checkbox', null],
      ['color', 'choice', 'red'],
      ['size', 'radio', 'S'],
    ]);
    expect(field(listed, 'person')).toMatchObject({ max_length: 40 });
    expect(field(listed, 'notes')).toMatchObject({ multiline: true });
    expect(field(listed, 'size')).toMatchObject({ options: [{ value: 'S' }, { value: 'M' }] });
    expect(field(await list('latex.pdf'), 'sex')).toMatchObject({ options: [{}, { value: 'Fē' }] });
  });

  it('says whether there is XFA, and takes a password', async () => {
    await handForm(place.at('xfa.pdf'), { form: '/XFA [(template) 5 0 R]' });
    await run('qpdf', ['--encrypt', 'secret', 'owner', '256', '--', place.at('lib.pdf'), place.at('locked.pdf')]);

    expect([(await list('hand.pdf')).xfa, (await list('xfa.pdf')).xfa]).toEqual([false, true]);
    expect((await list('locked.pdf', { password: 'secret' })).fields).toHaveLength(10);
    await expect(list('locked.pdf')).rejects.toThrow('Set the option password');
  });

  it('ends for fields that are their own kids, deep trees, and entries of the wrong type', async () => {
    const depth = 3_000;
    await writeFile(
      place.at('loop.pdf'),
      pdfOf([
        '<< /Type /Catalog /Pages 2 0 R /AcroForm << /Fields [4 0 R 4 0 R 5 0 R (x) 99 0 R 6 0 R] >> >>',
        '<< /Type /Pages /Kids [3 0 R] /Count 1 >>',
        '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 99 99] /Annots [4 0 R 5 0 R 3 0 R] >>',
        '<< /T (loop) /FT /Tx /Subtype /Widget /Kids [4 0 R 5 0 R] /Parent 5 0 R >>',
        `<< /T (${'long'.repeat(2_000)}) /FT /Tx /Subtype /Widget /Rect [(a) 1 1e99 null] /V << >> /MaxLen -4 /Ff (x) /Parent 4 0 R >>`,
        ...Array.from({ length: depth }, (_, index) => `<< /T (d) /FT /Tx /Kids [${index + 7} 0 R] >>`),
        '<< /T (end) /FT /Tx >>',
      ]),
    );
    const { fields } = await list('loop.pdf');

    expect(fields).toHaveLength(1);
    expect(fields[0]?.name).toHaveLength(1_000);
    expect(fields[0]?.value).toBeNull();
  });

  it('is empty for a document without a form', async () => {
    await writeFile(
      place.at('plain.pdf'),
      pdfOf([
        '<< /Type /Catalog /Pages 2 0 R /AcroForm 7 >>',
        '<< /Type /Pages /Kids [3 0 R] /Count 1 >>',
        '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 99 99] >>',
      ]),
    );
    expect(await list('plain.pdf')).toEqual({ pages: 1, xfa: false, fields: [] });
  });
});
