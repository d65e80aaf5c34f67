import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { withExtension } from '../../../../shared/files/names.ts';
import { EngineError } from '../../runtime/engine.ts';
import { checkPdf } from '../../runtime/pdf-file.ts';
import { normalize } from '../archive/normalize.ts';
import { archivePdf, extrasOf, failureOf, finish, judge } from '../archive/pdfa.ts';
import { pdfDate } from '../archive/xmp.ts';
import type { Operation } from '../job.ts';
import { PdfObjects, type PdfValue, textOf } from '../objects.ts';
import { openInput } from '../pages/select.ts';
import { treeEntries } from '../pages/targets.ts';
import { type Invoice, invoiceNames, readInvoice } from './profile.ts';

const maxXmlBytes = 20 * 1024 ** 2;

/** Makes an electronic invoice of a PDF and its XML: PDF/A-3 first, then the XML in it. */
export const embedInvoice: Operation = async (job) => {
  const { work, input } = job;
  const [file, another] = (work.others ?? []).filter(({ role }) => role === 'invoice');
  if (!file || another) throw new EngineError('Expected one XML file as invoice.');
  if ((await stat(file.path)).size > maxXmlBytes) throw new EngineError('The XML of the invoice is larger than 20 MB.');
  const xml = await readFile(file.path);
  const invoice = readInvoice(xml);
  const { pdf, warnings } = await openInput(job);
  const archived = await archivePdf(pdf, '3b', job);
  const objects = await PdfObjects.read(archived.path, job);
  if (addXml(objects, xml, invoice)) warnings.push('The invoice that the PDF contained was replaced.');
  const { isUniversal } = await extrasOf(objects, job);
  const changed = new Set<string>();
  await normalize(objects, { level: '3b', extras: { isUniversal, invoice }, warnings: changed });
  const written = join(job.folder, 'invoice-changed.pdf');
  const path = join(job.folder, 'invoice.pdf');
  await objects.write(written, job);
  await finish(written, path, '3b', job);
  await checkPdf(path, job.folder, job, pdf.pages);
  const verdict = await judge(path, '3b');
  if (!verdict.conforms) throw new EngineError(failureOf(verdict, '3b'));
  const { profile, fileName, documentType, relationship } = invoice;
  return {
    outputs: [{ path, name: withExtension(input.name, 'pdf'), format: 'pdf' }],
    details: { profile, file: fileName, type: documentType, relationship, level: '3b', conforms: true },
    warnings: [...warnings, ...archived.warnings],
  };
};

/** Embeds the XML of an invoice. Returns whether it replaces another. */
function addXml(pdf: PdfObjects, xml: Buffer, { fileName, relationship, documentType }: Invoice): boolean {
  const date = `u:${pdfDate(`${new Date().toISOString().slice(0, 19)}Z`)}`;
  const stream = pdf.addStream(
    {
      '/Type': '/EmbeddedFile',
      '/Subtype': '/text/xml',
      '/Params': { '/ModDate': date, '/Size': xml.length },
    },
    xml.toString('latin1'),
  );
  const spec = pdf.add({
    '/Type': '/Filespec',
    '/F': `u:${fileName}`,
    '/UF': `u:${fileName}`,
    '/Desc': `u:${documentType === 'INVOICE' ? 'Invoice' : 'Order'} as XML`,
    '/AFRelationship': `/${relationship}`,
    '/EF': { '/F': stream, '/UF': stream },
  });
  const names = pdf.catalog['/Names'];
  const files = treeEntries(pdf, pdf.dict(names)?.['/EmbeddedFiles'], '/Names');
  const isInvoice = (value: PdfValue) => nameOf(pdf, value) !== undefined;
  const kept = files.filter(([, value]) => !isInvoice(value));
  const all: [PdfValue, PdfValue][] = [...kept, [`u:${fileName}`, spec]];
  all.sort(([one], [other]) => (String(one) < String(other) ? -1 : 1));
  pdf.updateCatalog({
    '/Names': pdf.changed(names, { '/EmbeddedFiles': pdf.add({ '/Names': all.flat() }) }),
    '/AF': [...pdf.array(pdf.catalog['/AF']).filter((value) => !isInvoice(value)), spec],
  });
  return kept.length < files.length;
}

/** Returns the name of an embedded file if it is that of an invoice. */
export function nameOf(pdf: PdfObjects, spec: PdfValue): string | undefined {
  const dict = pdf.dict(spec) ?? {};
  return [dict['/UF'], dict['/F']]
    .map((value) => textOf(pdf.lookup(value))?.toLowerCase())
    .find((name) => name !== undefined && invoiceNames.includes(name));
}
