import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { withExtension } from '../../../../shared/files/names.ts';
import { EngineError } from '../../runtime/engine.ts';
import { limitByPages, openPdf, runTool } from '../../runtime/pdf-file.ts';
import type { Job, Operation } from '../job.ts';
import { isReference, PdfObjects, type PdfValue } from '../objects.ts';
import { treeEntries } from '../pages/targets.ts';
import { nameOf } from './embed.ts';
import { invoiceNames } from './profile.ts';
import { readXml } from './xml.ts';

const maxXmlBytes = 20 * 1024 ** 2;

/** Extracts the XML of an electronic invoice. */
export const extractInvoice: Operation = async (job) => {
  const pdf = await openPdf(job.input.path, job.work.options, job);
  await limitByPages(pdf, job);
  const objects = await PdfObjects.read(pdf.path, job);
  const named = treeEntries(objects, objects.dict(objects.catalog['/Names'])?.['/EmbeddedFiles'], '/Names');
  const specs = [...named.map(([, value]) => value), ...objects.array(objects.catalog['/AF'])];
  const found = specs
    .flatMap((spec) => {
      const name = nameOf(objects, spec);
      return name === undefined ? [] : [{ spec, name }];
    })
    .toSorted((one, other) => invoiceNames.indexOf(one.name) - invoiceNames.indexOf(other.name));
  const [invoice] = found;
  if (!invoice)
    throw new EngineError(
      `The PDF contains no electronic invoice: no embedded file is named ${invoiceNames.slice(0, -1).join(', ')} or ${invoiceNames.at(-1)}.`,
    );
  const xml = await readStream(objects, invoice.spec, job);
  const [root] = readXml(xml);
  const path = join(job.folder, 'invoice.xml');
  await writeFile(path, xml);
  return {
    outputs: [{ path, name: withExtension(job.input.name, 'xml'), format: 'xml' }],
    details: { file: invoice.name, root: root?.name.slice(0, 100) ?? '' },
  };
};

/** Returns the data of an embedded file. */
async function readStream(pdf: PdfObjects, spec: PdfValue, job: Job): Promise<Buffer> {
  const files = pdf.dict(pdf.dict(spec)?.['/EF']) ?? {};
  const reference = [files['/UF'], files['/F']].find(isReference);
  if (!reference || !pdf.isStream(reference))
    throw new EngineError('The PDF names an electronic invoice, but does not contain it.');
  const [id = ''] = reference.split(' ');
  const prefix = join(job.folder, 'stream');
  await runTool(
    'qpdf',
    [
      '--json=2',
      '--json-key=qpdf',
      `--json-object=${id}`,
      '--json-stream-data=file',
      `--json-stream-prefix=${prefix}`,
      '--decode-level=generalized',
      '--warning-exit-0',
      pdf.path,
      join(job.folder, 'invoice.json'),
    ],
    job,
  );
  const { qpdf } = JSON.parse(await readFile(join(job.folder, 'invoice.json'), 'utf8'));
  const file: unknown = qpdf?.[1]?.[`obj:${reference}`]?.stream?.datafile;
  if (typeof file !== 'string' || !file.startsWith(prefix)) throw new Error('qpdf wrote no stream.');
  if ((await stat(file)).size > maxXmlBytes) throw new EngineError('The XML of the invoice is larger than 20 MB.');
  return readFile(file);
}
