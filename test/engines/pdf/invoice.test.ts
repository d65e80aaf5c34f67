import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, it } from 'vitest';
import { skipBecause } from '../../support/skip.ts';
import { chapters, expectSound, folderOfFile, infoOf, only, pageTexts, runPdf } from './harness.ts';
import { invoiceProfiles, invoiceXml } from './invoice-samples.ts';

const run = promisify(execFile);
const place = folderOfFile();
const mustang = process.env.LATHE_MUSTANG;
let made: Awaited<ReturnType<typeof chapters>>;

beforeAll(async () => {
  made = await chapters(place.path, 1);
}, 60_000);

/** Embeds an XML, which may be of a profile. */
async function embed(path: string, xml: string) {
  const file = place.at('given.xml');
  await writeFile(file, xml);
  return runPdf('invoice/embed', path, { others: { invoice: [file] } });
}

const extract = async (path: string) => readFile(only(await runPdf('invoice/extract', path)), 'utf8');

describe('invoice/embed', () => {
  it.each(['LibreOffice', 'Chromium', 'Ghostscript', 'pdf-lib'] as const)(
    'keeps the pages of %s, and the XML to the byte',
    async (producer) => {
      const xml = invoiceXml('EN 16931');
      const result = await embed(made[producer], xml);
      const path = only(result);

      await expectSound(path);
      expect(await pageTexts(path)).toEqual(await pageTexts(made[producer]));
      expect(await extract(path)).toBe(xml);
      expect(result.details).toEqual({
        profile: 'EN 16931',
        file: 'factur-x.xml',
        type: 'INVOICE',
        relationship: 'Alternative',
        level: '3b',
        conforms: true,
      });
    },
  );

  it('describes the invoice in the metadata', async () => {
    const path = only(await embed(made.Chromium, invoiceXml('BASIC WL')));
    const { stdout } = await run('pdfinfo', ['-meta', path]);
    expect(stdout).toContain('<fx:ConformanceLevel>BASIC WL</fx:ConformanceLevel>');
    expect(stdout).toContain('<pdfaid:part>3</pdfaid:part>');
    expect(await infoOf(path, 'Title')).toBe(await infoOf(made.Chromium, 'Title'));
  });

  it('replaces an invoice, and survives another conversion to PDF/A-3', async () => {
    const first = only(await embed(made.Chromium, invoiceXml('MINIMUM')));
    const again = await embed(first, invoiceXml('EXTENDED'));
    expect(again.warnings).toEqual(['The invoice that the PDF contained was replaced.']);
    const archived = only(await runPdf('pdf/a', only(again), { options: { level: '3b' } }));
    expect(await extract(archived)).toBe(invoiceXml('EXTENDED'));
    const { stdout } = await run('pdfinfo', ['-meta', archived]);
    expect(stdout).toContain('<fx:ConformanceLevel>EXTENDED</fx:ConformanceLevel>');
  });

  it.each([
    ['a document type', '<!DOCTYPE a [<!ENTITY b SYSTEM "file:///etc/passwd">]><a>&b;</a>', 'document type'],
    ['a document type after a comment', '<!-- a --><!DOCTYPE a><a/>', 'document type'],
    ['an element that does not end', '<a><b></a>', 'not well-formed in line 1'],
    ['an unknown entity', '<a>&b;</a>', 'unknown entity'],
    ['an attribute twice', '<a b="1" b="2"/>', 'attribute b twice'],
    ['an undeclared prefix', '<a:b/>', 'prefix of a:b'],
    ['two roots', '<a/><b/>', 'not well-formed'],
    ['another encoding', '<?xml version="1.0" encoding="UTF-16"?><a/>', 'expected UTF-8'],
    ['no XML', 'Invoice', 'not well-formed'],
    ['elements nested too deeply', `${'<a>'.repeat(1000)}${'</a>'.repeat(1000)}`, 'not well-formed'],
    [
      'UBL',
      '<Invoice xmlns="urn:oasis:names:specification:ubl:schema:xsd:Invoice-2"/>',
      'received Invoice. Invoices in UBL',
    ],
    ['another profile', invoiceXml('BASIC').replace(':basic', ':secret'), 'Expected a profile of Factur-X'],
  ])('fails for %s', async (_name, xml, message) => {
    await expect(embed(made['pdf-lib'], xml)).rejects.toThrow(message);
  });

  describe(
    'next to Mustang',
    skipBecause(mustang ? undefined : 'LATHE_MUSTANG does not name the jar of Mustang-CLI'),
    () => {
      it.each(invoiceProfiles)('is valid with profile %s', { timeout: 120_000 }, async (profile) => {
        const path = only(await embed(made.LibreOffice, invoiceXml(profile)));
        const args = ['-jar', mustang ?? '', '--disable-file-logging', '--action', 'validate', '--source', path];
        const { stdout } = await run('java', args, { maxBuffer: 2 ** 26 }).catch((error) => error);
        expect(stdout).toContain('<summary status="valid"/>');
        expect(stdout).not.toContain('<summary status="invalid"/>');
      });
    },
  );
});

describe('invoice/extract', () => {
  it('fails for a PDF without an invoice', async () => {
    await expect(runPdf('invoice/extract', made.Ghostscript)).rejects.toThrow(
      'The PDF contains no electronic invoice: no embedded file is named factur-x.xml, xrechnung.xml, zugferd-invoice.xml or order-x.xml.',
    );
  });

  it.each(['ZUGFeRD-invoice.xml', 'zugferd-invoice.xml', 'xrechnung.xml', 'order-x.xml'])('finds %s', async (name) => {
    const output = place.at('other.pdf');
    const file = place.at(name);
    await writeFile(file, '<order/>');
    await run('qpdf', [made['pdf-lib'], '--add-attachment', file, '--', output]);
    expect(await extract(output)).toBe('<order/>');
  });

  it('fails for an invoice that is no XML', async () => {
    const output = place.at('bad.pdf');
    const file = place.at('factur-x.xml');
    await writeFile(file, 'no XML');
    await run('qpdf', [made['pdf-lib'], '--add-attachment', file, '--', output]);
    await expect(extract(output)).rejects.toThrow('The XML of the invoice could not be read');
  });
});
