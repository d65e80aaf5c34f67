import { writeFile } from 'node:fs/promises';
import { degrees, PDFName, type PDFTextField, TextAlignment } from '@cantoo/pdf-lib';
import { pdfOf, stream } from '../document/heavy-files.ts';
import { byGhostscript, byLibreOffice, byPdfLib } from './harness.ts';

/** Makes a form by Ghostscript, which lists none of the fields: only their page refers to them. */
export function gsForm(path: string): Promise<string> {
  const field = (entries: string, y: number) =>
    `[ /Subtype /Widget /DA (/Helv 0 Tf 0 g) /F 4 /Rect [72 ${y} 300 ${y + 20}] ${entries} /ANN pdfmark`;
  return byGhostscript(
    path,
    `${field('/FT /Tx /T (name) /V (old)', 700)} ${field('/FT /Ch /Ff 131072 /T (land) /Opt [(DE) (FR)]', 660)}
    [ {Catalog} << /AcroForm << /Fields [] >> >> /PUT pdfmark
    /Helvetica 20 selectfont 72 740 moveto (A form) show showpage`,
  );
}

/** Makes a form by LibreOffice, which exports fields of HTML. */
export function officeForm(path: string): Promise<string> {
  const html = `<html><body><p>A form</p><form><p>Name <input type="text" name="person" maxlength="40"></p>
    <p><textarea name="notes" rows="4" cols="30"></textarea></p><p><input type="checkbox" name="agree" value="yes"> I agree</p>
    <p><select name="color"><option value="r" selected>red<option value="g">green</select></p>
    <p><input type="radio" name="size" value="S" checked>S<input type="radio" name="size" value="M">M</p></form></body></html>`;
  return byLibreOffice(path, html, 'html', '{"ExportFormFields":{"type":"boolean","value":"true"}}');
}

/** Makes a form by pdf-lib with every type of field, on a page that is turned. */
export function libForm(path: string): Promise<string> {
  return byPdfLib(path, (document) => {
    const form = document.getForm();
    const page = document.addPage([400, 600]);
    const place = (y: number, height = 20, width = 200) => ({ x: 50, y, width, height });
    const texts: Record<string, [y: number, height: number, change?: (field: PDFTextField) => void]> = {
      'person.name': [550, 20, (field) => field.enableRequired()],
      'person.notes': [
        470,
        60,
        (field) => {
          field.enableMultiline();
          field.setFontSize(9);
        },
      ],
      code: [
        440,
        20,
        (field) => {
          field.setMaxLength(6);
          field.enableCombing();
        },
      ],
      total: [
        410,
        20,
        (field) => {
          field.setAlignment(TextAlignment.Right);
          field.enableReadOnly();
          field.setText('0.00');
        },
      ],
    };
    for (const [name, [y, height, change]] of Object.entries(texts)) {
      const field = form.createTextField(name);
      field.addToPage(page, place(y, height));
      change?.(field);
    }
    form.createTextField('rotated').addToPage(page, { x: 350, y: 400, width: 150, height: 24, rotate: degrees(90) });
    form.createCheckBox('agree').addToPage(page, place(370, 20, 20));
    const size = form.createRadioGroup('size');
    for (const [index, name] of ['small', 'large'].entries())
      size.addOptionToPage(name, page, { ...place(340, 20, 20), x: 50 + 40 * index });
    const color = form.createDropdown('color');
    color.addOptions(['red', 'green', 'blue']);
    color.select('red');
    color.addToPage(page, place(310));
    const tags = form.createOptionList('tags');
    tags.addOptions(['a', 'b', 'c', 'd']);
    tags.enableMultiselect();
    tags.addToPage(page, place(230, 60));
    form.createButton('send').addToPage('Send', page, place(200));
    const turned = document.addPage([400, 600]);
    turned.setRotation(degrees(90));
    form.getTextField('person.name').addToPage(turned, { x: 350, y: 50, width: 200, height: 20, rotate: degrees(90) });
    document.catalog.getOrCreateAcroForm().dict.set(PDFName.of('NeedAppearances'), document.context.obj(true));
  });
}

const widget = '/Type /Annot /Subtype /Widget';
const mark = stream('/Type /XObject /Subtype /Form /BBox [0 0 20 20]', '2 2 16 16 re f');
const blank = stream('/Type /XObject /Subtype /Form /BBox [0 0 20 20]', '');

/**
 * Writes a form as by hand: attributes that fields inherit, kids without a name, a field on two pages, one that only its
 * page refers to, a widget without an object of its own, names of states that are not UTF-8, and no appearances of texts. LaTeX escapes names of
 * states, and gives them empty appearances.
 */
export function handForm(path: string, { catalog = '', form = '', bare = false, byLatex = false } = {}): Promise<void> {
  const exported = byLatex ? '' : '/Opt [(male) (female)]';
  const states = byLatex ? '/\\376\\377\\000F\\001\\023 20 0 R' : '/Frau 19 0 R /Off 20 0 R';
  const text = `q BT /F 12 Tf 20 280 Td (By hand) Tj ET Q`;
  const page = (annotations: string) => `<< /Type /Page /Parent 2 0 R /Annots [${annotations}] /Contents 5 0 R >>`;
  return writeFile(
    path,
    pdfOf([
      `<< /Type /Catalog /Pages 2 0 R /AcroForm 6 0 R ${catalog} >>`,
      '<< /Type /Pages /Kids [3 0 R 4 0 R] /Count 2 /MediaBox [0 0 300 300] /Resources << /Font << /F << /Type /Font /Subtype /Type1 /BaseFont /Helvetica >> >> >> >>',
      page(
        `9 0 R 12 0 R 14 0 R 15 0 R 18 0 R ${bare ? `<< ${widget} /T (tick) /FT /Btn /MK << /BC [0] >> /Rect [100 160 120 180] >>` : ''}`,
      ),
      page('10 0 R 11 0 R'),
      stream('', text),
      `<< /Fields [7 0 R 13 0 R 16 0 R] /DA (/TiBo 0 Tf 0 0 1 rg) /DR << /Font << /TiBo << /Type /Font /Subtype /Type1 /BaseFont /Times-Bold >> >> >> ${form} >>`,
      // The field `all` with two fields below it that inherit type and appearance.
      '<< /T (all) /FT /Tx /Ff 4096 /DA (/TiBo 0 Tf 1 0 0 rg) /Kids [8 0 R 11 0 R] >>',
      '<< /T (shared) /Parent 7 0 R /V (before) /Kids [9 0 R 10 0 R] >>',
      `<< ${widget} /Parent 8 0 R /Rect [20 200 220 260] >>`,
      `<< ${widget} /Parent 8 0 R /Rect [20 20 120 80] /MK << /BC [0 0 0] /BG [1 1 0.8] >> /BS << /W 2 >> >>`,
      `<< ${widget} /T (own) /Parent 7 0 R /Ff 0 /Q 2 /Rect [20 120 220 140] >>`,
      `<< ${widget} /Parent 13 0 R /Rect [20 160 40 180] /AS /Off /AP << /N << /M#e4nn 19 0 R /Off 20 0 R >> >> >>`,
      `<< /T (sex) /FT /Btn /Ff 32768 ${exported} /Kids [12 0 R 14 0 R] >>`,
      `<< ${widget} /Parent 13 0 R /Rect [60 160 80 180] /AS /Off /AP << /N << ${states} >> >> >>`,
      `<< ${widget} /T (stray) /FT /Tx /MaxLen 5 /DA (/Cour 10 Tf 0 g) /Rect [20 100 220 120] >>`,
      // A choice with export values, and a kid that is no object of its own.
      `<< /T (land) /FT /Ch /Ff 131072 /Opt [[(D) (Deutschland)] [(F) (Frankreich)]] /V (F) /DV (D) /Kids [18 0 R] >>`,
      '<< >>',
      `<< ${widget} /Parent 16 0 R /Rect [20 60 220 80] >>`,
      mark,
      blank,
    ]),
  );
}
