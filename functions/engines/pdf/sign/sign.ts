import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { copyFile, open, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { withExtension } from '../../../../shared/files/names.ts';
import { EngineError } from '../../runtime/engine.ts';
import { openPdf, runTool } from '../../runtime/pdf-file.ts';
import type { Job, Operation } from '../job.ts';
import { displayedPage, type Layout, type Matrix, placeMark, type Size } from '../marks/geometry.ts';
import { isReference, type PdfDict, PdfObjects, type PdfValue } from '../objects.ts';
import type { Digest } from './algorithms.ts';
import { drawAppearance } from './appearance.ts';
import { type Identity, signDetached } from './cms.ts';
import { type Field, fieldsOf, type Permission, permissionOf, signedFields, storedPages } from './fields.ts';
import { readIdentity } from './identity.ts';
import { tokenIn } from './timestamp.ts';
import { appendChanges, findTail, type Tail } from './update.ts';
import { commonNameOf, type SignatureReport, verifySignatures } from './verify.ts';

/** Room for a signature in addition to its certificates, and for its time stamp. */
const signatureBytes = 2_048;
const timestampBytes = 16 * 1024;
/** Replaced by the offsets, which have at most as many digits. */
const placeholder = 9_999_999_999;

/** Signs a PDF. The signature is appended, so that earlier ones stay valid. */
export const sign: Operation = async (job) => {
  const { options } = job.work;
  const identity = await readIdentity(job);
  const { path, tail, objects, warnings } = await openForUpdate(job);
  const signed = signedFields(objects);
  checkPermission(
    signed.map(({ signature }) => permissionOf(signature, objects)),
    options.certify !== undefined,
  );
  const field = findField(objects, options.field);
  const value = objects.add(signatureDict(identity, job));
  const widget = await placeField(field, value, { name: nameOf(identity, job), objects, job, warnings });
  registerField(field, widget, objects);
  if (options.certify !== undefined) objects.updateCatalog({ '/Perms': { '/DocMDP': value } });
  job.progress(40);

  const offsets = await appendChanges(path, objects, tail, { plain: value });
  await fillIn(path, offsets.get(value) ?? 0, identity, job);
  job.progress(80);
  await checkResult(path, field, job);
  return { outputs: [{ path, name: withExtension(job.input.name, 'pdf'), format: 'pdf' }], warnings };
};

interface Opened {
  path: string;
  tail: Tail;
  objects: PdfObjects;
  warnings: string[];
}

/** Opens a copy of the input. One that cannot be added to is written anew, unless it is signed. */
async function openForUpdate(job: Job): Promise<Opened> {
  const path = join(job.folder, 'signed.pdf');
  const pdf = await openPdf(job.input.path, job.work.options, job);
  await copyFile(pdf.path, path);
  const warnings = pdf.path === job.input.path ? [] : ['The output is not password-protected.'];
  const [tail, objects] = [await findTail(path), await PdfObjects.read(path, job)];
  const isSigned = signedFields(objects).length > 0;
  if (tail && !objects.isDamaged && !(isSigned && warnings.length > 0)) return { path, tail, objects, warnings };
  if (isSigned)
    throw new EngineError(
      warnings.length > 0
        ? 'The PDF is encrypted and signed. It cannot be signed again without losing its signatures.'
        : 'The PDF is damaged and signed. It cannot be signed again without losing its signatures.',
    );
  await runTool('qpdf', ['--warning-exit-0', pdf.path, path], job);
  const written = { path, tail: await findTail(path), objects: await PdfObjects.read(path, job) };
  const { tail: found } = written;
  if (!found) throw new Error('The PDF that qpdf wrote has no cross-reference section.');
  return { ...written, tail: found, warnings: [...warnings, 'The PDF was damaged and has been repaired.'] };
}

function checkPermission(earlier: (Permission | undefined)[], certifies: boolean): void {
  if (earlier.includes(1))
    throw new EngineError('The PDF is certified and does not permit further changes, so it cannot be signed.');
  if (certifies && earlier.length > 0)
    throw new EngineError('The PDF is signed already. Only its first signature can certify it; leave out certify.');
}

/** Returns the field to sign: an empty one, or the name of a new one. */
function findField(objects: PdfObjects, given: unknown): Field | string {
  const fields = fieldsOf(objects);
  if (given === undefined) {
    let number = 1;
    while (fields.some(({ name }) => name === `Signature${number}`)) number++;
    return `Signature${number}`;
  }
  const field = fields.find(({ name }) => name === given);
  if (!field) return String(given);
  if (field.type !== '/Sig') throw new EngineError(`The field ${given} is not a signature field.`);
  if (objects.lookup(field.dict['/V']) !== null) throw new EngineError(`The field ${given} is signed already.`);
  return field;
}

function nameOf(identity: Identity, { work }: Job): string {
  return String(work.options.name ?? commonNameOf(identity.certificates[0]));
}

function signatureDict(identity: Identity, job: Job): PdfDict {
  const { certify, reason, location, contact, timestamp } = job.work.options;
  const certificates = identity.certificates.reduce((sum, { raw }) => sum + raw.length, 0);
  const bytes = signatureBytes + certificates + (timestamp === undefined ? 0 : timestampBytes);
  const permission = Object.entries(certifications).find(([name]) => name === certify)?.[1];
  const text = (key: string, value: unknown) => (value === undefined ? {} : { [key]: `u:${value}` });
  return {
    // First, so that no text can be taken for them.
    '/ByteRange': [0, placeholder, placeholder, placeholder],
    '/Contents': `b:${'00'.repeat(bytes)}`,
    '/Type': '/Sig',
    '/Filter': '/Adobe.PPKLite',
    '/SubFilter': '/ETSI.CAdES.detached',
    '/M': `u:D:${new Date().toISOString().slice(0, 19).replace(/[-:T]/g, '')}Z`,
    '/Name': `u:${nameOf(identity, job)}`,
    ...text('/Reason', reason),
    ...text('/Location', location),
    ...text('/ContactInfo', contact),
    ...(permission === undefined
      ? {}
      : {
          '/Reference': [
            {
              '/Type': '/SigRef',
              '/TransformMethod': '/DocMDP',
              '/TransformParams': { '/Type': '/TransformParams', '/P': permission, '/V': '/1.2' },
            },
          ],
        }),
  };
}

/** Values of the option `certify`. */
export const certifications: Record<string, Permission> = { no_changes: 1, forms: 2, annotations: 3 };

interface Placing {
  name: string;
  objects: PdfObjects;
  job: Job;
  warnings: string[];
}

/** Puts a signature into its field, and returns the reference of the field. */
async function placeField(field: Field | string, value: string, placing: Placing): Promise<string> {
  const { objects, job } = placing;
  const { options } = job.work;
  const pages = storedPages(objects);
  if (typeof field !== 'string') {
    const [kid] = objects.array(field.dict['/Kids']);
    const widget = isReference(kid) ? kid : field.reference;
    objects.update(field.reference, { '/V': value });
    const dict = objects.dict(widget) ?? {};
    const page = pages.find(({ dict: each }) => objects.array(each['/Annots']).includes(widget));
    const [left = 0, bottom = 0, right = 0, top = 0] = objects
      .array(dict['/Rect'])
      .map((each) => Number(objects.lookup(each)));
    const [width, height] = [Math.abs(right - left), Math.abs(top - bottom)];
    if (page && width > 0 && height > 0)
      objects.update(widget, { '/AP': await appearance({ width, height }, page.dict, placing) });
    return field.reference;
  }
  const given = Number(options.page ?? 1);
  const page = options.visible ? pages.at(given < 0 ? given : given - 1) : pages[0];
  if (!page || given === 0) throw new EngineError(`The PDF has no page ${given}; it has ${pages.length}.`);
  const widget: PdfDict = {
    '/Type': '/Annot',
    '/Subtype': '/Widget',
    '/FT': '/Sig',
    '/T': `u:${field}`,
    '/V': value,
    // Printed and locked.
    '/F': 132,
    '/P': page.reference,
    '/Rect': [0, 0, 0, 0],
  };
  if (options.visible) {
    const box = { width: Number(options.width), height: Number(options.height) };
    const rectangle = rectangleOf(box, page.dict, placing);
    Object.assign(widget, { '/Rect': rectangle, '/AP': await appearance(box, page.dict, placing) });
  }
  const reference = objects.add(widget);
  const { '/Annots': annotations } = objects.dict(page.reference) ?? {};
  const list = [...objects.array(annotations), reference];
  if (isReference(annotations)) objects.set(annotations, list);
  else objects.update(page.reference, { '/Annots': list });
  return reference;
}

/** Returns where a box is in the coordinates of a page that may be turned. */
function rectangleOf(box: Size, page: PdfDict, { objects, job }: Placing): number[] {
  const { options } = job.work;
  const shown = displayedPage(page, objects);
  if (box.width > shown.width || box.height > shown.height)
    throw new EngineError(
      `The signature does not fit: the page is ${Math.floor(shown.width)} pt wide and ${Math.floor(shown.height)} pt high.`,
    );
  const layout: Layout = {
    position: String(options.position),
    margin: Number(options.margin),
    rotation: 0,
    scale: () => 1,
  };
  const [, , , , x = 0, y = 0] = placeMark(box, shown, layout)[0] ?? [];
  const left = options.left === undefined ? x : Number(options.left);
  const bottom = options.top === undefined ? y : shown.height - Number(options.top) - box.height;
  const corners = [
    [left, bottom],
    [left + box.width, bottom + box.height],
  ].map(([each = 0, other = 0]) => mapped(shown.matrix, each, other));
  const [[x1 = 0, y1 = 0] = [], [x2 = 0, y2 = 0] = []] = corners;
  return [Math.min(x1, x2), Math.min(y1, y2), Math.max(x1, x2), Math.max(y1, y2)];
}

function mapped([a, b, c, d, e, f]: Matrix, x: number, y: number): number[] {
  return [a * x + c * y + e, b * x + d * y + f];
}

/** Draws the appearance of the signature in a box. */
async function appearance(box: Size, page: PdfDict, { name, objects, job, warnings }: Placing): Promise<PdfDict> {
  const { options, others } = job.work;
  const [picture, another] = others?.filter(({ role }) => role === 'picture') ?? [];
  if (another) throw new EngineError('Expected one picture but received several.');
  const date = `${new Date().toISOString().slice(0, 16).replace('T', ' ')} UTC`;
  const template = options.text ?? (picture ? '' : defaultText(options.reason, options.location));
  const values: Record<string, string> = {
    name,
    date,
    reason: String(options.reason ?? ''),
    location: String(options.location ?? ''),
  };
  const text = String(template).replace(/\{(name|date|reason|location)\}/g, (written, key) => values[key] ?? written);
  const drawn = await drawAppearance({ text, picture }, box, displayedPage(page, objects), objects, job);
  warnings.push(...drawn.warnings);
  return { '/N': drawn.reference };
}

function defaultText(reason: unknown, location: unknown): string {
  const lines = ['Digitally signed by', '{name}', 'Date: {date}'];
  return [
    ...lines,
    ...(reason === undefined ? [] : ['Reason: {reason}']),
    ...(location === undefined ? [] : ['Location: {location}']),
  ].join('\n');
}

/** Lists a new field in the form, and tells readers that the document is signed and only to be added to. */
function registerField(field: Field | string, reference: string, objects: PdfObjects): void {
  const given = objects.catalog['/AcroForm'];
  const form = objects.dict(given);
  const fields: PdfValue | undefined = form?.['/Fields'];
  const isNew = typeof field === 'string';
  const list = [...objects.array(fields), reference];
  if (isNew && isReference(fields)) objects.set(fields, list);
  const entries = { '/SigFlags': 3, ...(isNew && !isReference(fields) ? { '/Fields': list } : {}) };
  const isChanged = objects.lookup(form?.['/SigFlags']) !== 3 || '/Fields' in entries;
  if (!isChanged) return;
  if (isReference(given)) objects.update(given, entries);
  else objects.updateCatalog({ '/AcroForm': { ...form, ...entries } });
}

/** Returns what asks for the time stamp of a signature, if the options name an authority. */
function timestampFor({ work, timestamp }: Job): ((digest: Buffer) => Promise<Uint8Array>) | undefined {
  if (work.options.timestamp === undefined) return undefined;
  if (!timestamp) throw new Error('The handler offers no time stamps.');
  return async (digest) => tokenIn(await timestamp(digest));
}

/** Computes the signature of a file and puts it into its place, which starts after an offset. */
async function fillIn(path: string, offset: number, identity: Identity, job: Job): Promise<void> {
  const { options } = job.work;
  const digest: Digest = options.digest === 'sha384' || options.digest === 'sha512' ? options.digest : 'sha256';
  const { size } = await stat(path);
  const file = await open(path, 'r+');
  try {
    const { buffer } = await file.read(Buffer.alloc(Math.min(size - offset, 1_000_000)), 0, undefined, offset);
    const rangeAt = buffer.indexOf('[0 ');
    const rangeEnd = buffer.indexOf(']', rangeAt) + 1;
    const from = buffer.indexOf('/Contents <') + '/Contents '.length;
    const to = buffer.indexOf('>', from) + 1;
    const range = `[0 ${offset + from} ${offset + to} ${size - offset - to}]`;
    await file.write(range.padEnd(rangeEnd - rangeAt), offset + rangeAt, 'latin1');
    const hash = createHash(digest);
    for await (const chunk of createReadStream(path, { end: offset + from - 1 })) hash.update(chunk);
    for await (const chunk of createReadStream(path, { start: offset + to })) hash.update(chunk);
    const signature = await signDetached({ identity, digest, content: hash.digest(), timestamp: timestampFor(job) });
    if (signature.length * 2 > to - from - 2) throw new Error('The signature is larger than its place.');
    await file.write(signature.toString('hex'), offset + from + 1, 'latin1');
  } finally {
    await file.close();
  }
}

/** Verifies the result as any reader would, so that no signature is claimed that is not there. */
async function checkResult(path: string, field: Field | string, job: Job): Promise<void> {
  const { signatures } = await verifySignatures(path, { trusted: [] }, job);
  const name = typeof field === 'string' ? field : field.name;
  const own = signatures.find((signature) => signature.field === name);
  const earlier = signatures.filter((signature) => signature !== own);
  if (earlier.some(({ verdict }) => verdict === 'invalid')) {
    const before = await verifySignatures(job.input.path, { password: job.work.options.password, trusted: [] }, job);
    const isBroken = (now: SignatureReport) =>
      now.verdict === 'invalid' && before.signatures.find((was) => was.field === now.field)?.verdict !== 'invalid';
    const broken = earlier.find(isBroken);
    if (broken)
      throw new EngineError(
        `The document does not permit this: the signature ${broken.field} would become invalid. A certified document only takes signatures that are not visible, or in fields that it has.`,
      );
  }
  if (own?.verdict !== 'untrusted' || own.covers !== 'document')
    throw new EngineError('The signature could not be verified, so the PDF is not signed.', {
      detail: JSON.stringify(signatures.map(({ verdict, reasons }) => ({ verdict, reasons }))),
    });
}
