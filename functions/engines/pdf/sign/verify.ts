import { createHash, type Hash, type X509Certificate } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { copyFile, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { defined } from '../../../../shared/defined.ts';
import { withExtension } from '../../../../shared/files/names.ts';
import type { JsonObject } from '../../../../shared/tasks/task.ts';
import { EngineError } from '../../runtime/engine.ts';
import { openPdf, type Programs } from '../../runtime/pdf-file.ts';
import { runProgram } from '../../runtime/program.ts';
import type { Operation } from '../job.ts';
import { isReference, PdfObjects, textOf } from '../objects.ts';
import { oids } from './algorithms.ts';
import { type ChangeKind, changeKinds, changesBetween, type Revision } from './changes.ts';
import { type Permission, permissionOf, type SignedField, signedFields } from './fields.ts';
import { BadSignature, checkSignature, keyUsageOf, parseSignedData, type SignedData, signerOf } from './signed-data.ts';
import { checkToken, type Token } from './timestamp.ts';
import { distrustOf, readTrust } from './trust.ts';
import { findTail, readBytes } from './update.ts';

/** Verifies the signatures of a PDF. */
export const verify: Operation = async (job) => {
  const trusted = await readTrust(job.work.others?.filter(({ role }) => role === 'trust') ?? []);
  const report = await verifySignatures(job.input.path, { password: job.work.options.password, trusted }, job);
  const path = join(job.folder, 'verdict.json');
  await writeFile(path, `${JSON.stringify(report, undefined, 2)}\n`);
  return {
    outputs: [{ path, name: withExtension(job.input.name, 'json'), format: 'json' }],
    details: { verdict: report.verdict, signatures: report.signatures.length },
  };
};

/**
 * From the worst: what was signed is not what is shown, the signature is of a kind that is not supported, the signer is not
 * known, or all is well. `unsigned` is for documents only.
 */
const verdicts = ['invalid', 'unsupported', 'untrusted', 'valid'] as const;
type Verdict = (typeof verdicts)[number];

export interface Report extends JsonObject {
  verdict: Verdict | 'unsigned';
  signatures: SignatureReport[];
}

export interface SignatureReport extends JsonObject {
  field: string;
  verdict: Verdict;
  /** Why it is not valid. */
  reasons: string[];
}

interface Conditions {
  password?: unknown;
  trusted: X509Certificate[];
}

const maxSignatures = 50;
const maxContentBytes = 4 * 1024 * 1024;

export async function verifySignatures(path: string, conditions: Conditions, space: Programs): Promise<Report> {
  const passwordFile = await unlock(path, conditions.password, space);
  try {
    const document = { path, size: (await stat(path)).size, now: await readRevision(path, space, passwordFile) };
    const fields = signedFields(document.now.objects);
    if (fields.length > maxSignatures)
      throw new EngineError(`The PDF has ${fields.length} signatures; the maximum is ${maxSignatures}.`);
    const certification = certificationOf(fields, document.now.objects);
    const signatures: SignatureReport[] = [];
    for (const field of fields)
      signatures.push(await verifyField(field, { ...document, certification, passwordFile, ...conditions }, space));
    const verdict = verdicts.find((each) => signatures.some((signature) => signature.verdict === each)) ?? 'unsigned';
    return { verdict, signatures };
  } finally {
    if (passwordFile !== undefined) await rm(passwordFile, { force: true });
  }
}

/** Checks that the password opens an encrypted PDF, and returns the file that has it. */
async function unlock(path: string, password: unknown, space: Programs): Promise<string | undefined> {
  const opened = await openPdf(path, password === undefined ? {} : { password: String(password) }, space);
  if (opened.path === path) return undefined;
  await rm(opened.path);
  const file = join(space.folder, 'verify-password');
  await writeFile(file, String(password ?? ''), { mode: 0o600 });
  return file;
}

async function readRevision(path: string, space: Programs, passwordFile: string | undefined): Promise<Revision> {
  const objects = await PdfObjects.read(path, space, defined({ passwordFile }));
  const password = passwordFile === undefined ? [] : [`--password-file=${passwordFile}`];
  const listed = new Map<string, string>();
  await runProgram('qpdf', ['--show-xref', ...password, path], {
    cwd: space.folder,
    signal: space.signal,
    successCodes: [0, 3],
    onStdoutLine(line) {
      const [, number, generation, place] = /^(\d+)\/(\d+): (.+)$/.exec(line) ?? [];
      if (place !== undefined) listed.set(`${number} ${generation} R`, place);
    },
  });
  // An object in a stream moves with its stream.
  const container = (place: string) => /^compressed; stream = (\d+)/.exec(place)?.[1];
  const places = [...listed].map(([reference, place]): [string, string] => {
    const stream = container(place);
    return [reference, stream === undefined ? place : `${place} at ${listed.get(`${stream} 0 R`)}`];
  });
  return { objects, places: new Map(places) };
}

/** Returns what a certified document permits. */
function certificationOf(fields: SignedField[], pdf: PdfObjects): Permission | undefined {
  const found = fields.flatMap(({ signature }) => permissionOf(signature, pdf) ?? []).sort();
  return found[0];
}

interface Document extends Conditions {
  path: string;
  size: number;
  now: Revision;
  certification: Permission | undefined;
  passwordFile: string | undefined;
}

async function verifyField(field: SignedField, document: Document, space: Programs): Promise<SignatureReport> {
  const { objects } = document.now;
  const { signature } = field;
  const faults: Record<Exclude<Verdict, 'valid'>, string[]> = { invalid: [], unsupported: [], untrusted: [] };
  const text = (key: string) => textOf(objects.lookup(signature[key]));
  const subFilter = String(objects.lookup(signature['/SubFilter']) ?? '').slice(1);
  const permission = permissionOf(signature, objects);
  const facts: JsonObject = {
    type: subFilter === 'ETSI.RFC3161' ? 'timestamp' : permission === undefined ? 'approval' : 'certification',
    format: subFilter,
    ...present({ permits: permission && permissions[permission] }),
    ...present({ reason: text('/Reason'), location: text('/Location'), contact: text('/ContactInfo') }),
    ...present({ claimed_time: timeOf(text('/M')) }),
  };
  try {
    const covered = await coveredBy(field, document, space);
    const changes = changeKinds.filter((kind) => covered.changes.has(kind));
    Object.assign(facts, { covers: covered.isWhole ? 'document' : 'revision', changes });
    if (changes.length > 0) {
      const limit = document.certification ?? 2;
      const excess = changes.filter((kind) => changeKinds.indexOf(kind) >= limit);
      if (excess.length > 0)
        faults.invalid.push(
          `The document was changed after it was signed, which is not permitted: ${excess.join(', ')}.`,
        );
    }
    const checked = await checkContents(subFilter, covered, document, space);
    Object.assign(facts, checked.facts);
    for (const [verdict, reasons] of Object.entries(checked.faults))
      if (verdict === 'invalid' || verdict === 'unsupported' || verdict === 'untrusted')
        faults[verdict].push(...reasons);
  } catch (error) {
    if (!(error instanceof BadSignature)) throw error;
    faults.invalid.push(error.message);
  }
  const verdict = verdicts.find((each) => each === 'valid' || faults[each].length > 0) ?? 'valid';
  const reasons = [...faults.invalid, ...faults.unsupported, ...faults.untrusted];
  return { field: field.name, verdict, reasons, ...facts };
}

const permissions: Record<Permission, string> = { 1: 'none', 2: 'forms', 3: 'annotations' };

function present(values: Record<string, string | undefined>): JsonObject {
  return Object.fromEntries(
    Object.entries(values).flatMap(([key, value]) => (value === undefined ? [] : [[key, value]])),
  );
}

/** Returns the time of a date in a PDF. */
function timeOf(text: string | undefined): string | undefined {
  const [, year, ...rest] =
    /^D:(\d{4})(\d\d)?(\d\d)?(\d\d)?(\d\d)?(\d\d)?(?:([-+Z])(?:(\d\d)'?(\d\d)?)?)?/.exec(text ?? '') ?? [];
  if (year === undefined) return undefined;
  const [month = '01', day = '01', hour = '00', minute = '00', second = '00', sign, hours = '00', minutes = '00'] =
    rest;
  const zone = sign === '+' || sign === '-' ? `${sign}${hours}:${minutes}` : 'Z';
  const time = new Date(`${year}-${month}-${day}T${hour}:${minute}:${second}${zone}`);
  return Number.isNaN(time.getTime()) ? undefined : time.toISOString();
}

interface Covered {
  /** The signature as it is stored. */
  contents: Buffer;
  isWhole: boolean;
  changes: ReadonlySet<ChangeKind>;
  digest(algorithm: string): Promise<Buffer>;
}

const notExact = 'The signature does not cover all of the document but itself.';

/**
 * Checks which bytes a signature covers: a whole revision of the file, except for its own value. Attacks on signatures leave
 * gaps, or move what is signed to where it is not shown.
 */
async function coveredBy(field: SignedField, document: Document, space: Programs): Promise<Covered> {
  const { path, size, now } = document;
  const { signature, dict } = field;
  const range = now.objects.array(signature['/ByteRange']);
  const [start, before, after, rest] = range.map((each) => (Number.isSafeInteger(each) ? Number(each) : -1));
  if (range.length !== 4 || start !== 0 || before === undefined || after === undefined || rest === undefined)
    throw new BadSignature(notExact);
  const end = after + rest;
  if (before <= 0 || after <= before + 2 || rest <= 0 || end > size || after - before > 2 * maxContentBytes)
    throw new BadSignature(notExact);
  const gap = (await readBytes(path, before, after - before)).toString('latin1');
  const contents = Buffer.from(gap.slice(1, -1), 'hex');
  if (!/^<(?:[\da-fA-F]{2})+>$/.test(gap)) throw new BadSignature(notExact);
  const stored = now.objects.lookup(signature['/Contents']);
  if (typeof stored !== 'string' || !Buffer.from(stored.replace(/^b:/, ''), 'hex').equals(contents))
    throw new BadSignature('The signed bytes do not belong to this signature.');

  const isWhole = await isBlank(path, end, size);
  // Some readers search for objects in what no cross-reference section lists.
  if (!isWhole && ((await findTail(path))?.start ?? 0) < end)
    throw new BadSignature('Other data follows the document.');
  const old = isWhole ? now : await readPrefix(document, end, space);
  if (old.objects.isDamaged || now.objects.isDamaged)
    throw new BadSignature('The document is damaged, so readers may show something else than was signed.');
  const place = isReference(dict['/V']) ? old.places.get(dict['/V']) : undefined;
  const offset = offsetOf(place);
  // The gap must be in the object of the signature: no other object begins between them.
  const isOther = (each: string) => (offsetOf(each) ?? 0) > (offset ?? 0) && (offsetOf(each) ?? 0) < after;
  if (place === undefined || offset === undefined || offset >= before || [...old.places.values()].some(isOther))
    throw new BadSignature('The signed bytes do not belong to this signature.');
  if (now.places.get(String(dict['/V'])) !== place) throw new BadSignature('The signature was moved.');
  return {
    contents,
    isWhole,
    changes: isWhole ? new Set() : changesBetween(old, now, signature),
    async digest(algorithm) {
      const hash = createHash(algorithm);
      await addBytes(hash, path, 0, before);
      await addBytes(hash, path, after, end);
      return hash.digest();
    },
  };
}

function offsetOf(place: string | undefined): number | undefined {
  const [, offset] = /^uncompressed; offset = (\d+)$/.exec(place ?? '') ?? [];
  return offset === undefined ? undefined : Number(offset);
}

const maxBlankBytes = 16;

/** Returns whether only a few line breaks follow. */
async function isBlank(path: string, from: number, to: number): Promise<boolean> {
  if (to - from > maxBlankBytes) return false;
  return to === from || /^[\r\n ]*$/.test((await readBytes(path, from, to - from)).toString('latin1'));
}

/** Reads the document as it was when it ended at an offset. */
async function readPrefix({ path, passwordFile }: Document, end: number, space: Programs): Promise<Revision> {
  const tail = (await readBytes(path, Math.max(0, end - 64), Math.min(64, end))).toString('latin1');
  if (!/startxref\s+\d+\s+%%EOF\s*$/.test(tail)) throw new BadSignature(notExact);
  const prefix = join(space.folder, 'revision.pdf');
  await copyFile(path, prefix);
  await truncate(prefix, end);
  try {
    return await readRevision(prefix, space, passwordFile);
  } catch (error) {
    if (error instanceof EngineError) throw new BadSignature('The signed revision of the document could not be read.');
    throw error;
  } finally {
    await rm(prefix, { force: true });
  }
}

async function addBytes(hash: Hash, path: string, start: number, end: number): Promise<void> {
  if (end > start) for await (const chunk of createReadStream(path, { start, end: end - 1 })) hash.update(chunk);
}

interface Checked {
  facts: JsonObject;
  faults: Partial<Record<Exclude<Verdict, 'valid'>, string[]>>;
}

/** Checks a signature itself, and who made it. */
async function checkContents(
  subFilter: string,
  { contents, digest }: Covered,
  { trusted }: Document,
  space: Programs,
): Promise<Checked> {
  if (subFilter === 'ETSI.RFC3161') {
    const token = await checkToken(contents, digest, trusted, space);
    return {
      facts: { timestamp: factsOf(token) },
      faults: { untrusted: token.distrust === undefined ? [] : [token.distrust] },
    };
  }
  if (subFilter !== 'adbe.pkcs7.detached' && subFilter !== 'ETSI.CAdES.detached')
    return {
      facts: {},
      faults: { unsupported: [`Signatures of the format ${subFilter || 'none'} are not supported.`] },
    };
  const data = parseSignedData(contents);
  if (data.content !== undefined || data.contentType !== oids.data)
    throw new BadSignature('The signature has a content of its own.');
  const certificate = signerOf(data);
  if (!certificate) throw new BadSignature('The signature has no certificate of its signer.');
  await checkSignature(data, certificate, digest);
  const stamp = data.signer.unsigned.get(oids.signatureTimestamp);
  const token =
    stamp &&
    (await checkToken(
      stamp.bytes,
      (algorithm) => createHash(algorithm).update(data.signer.signature).digest(),
      trusted,
      space,
    ));
  const untrusted = await distrustsOf(data, certificate, token, trusted, space);
  return {
    facts: {
      signer: describe(certificate),
      digest: data.signer.digest,
      ...(token ? { timestamp: factsOf(token) } : {}),
      chain: untrusted.length === 0 ? 'trusted' : certificate.checkIssued(certificate) ? 'self-signed' : 'untrusted',
    },
    faults: { untrusted },
  };
}

/** Returns why the signer is not trusted. */
async function distrustsOf(
  { certificates, signer }: SignedData,
  certificate: X509Certificate,
  token: Token | undefined,
  trusted: X509Certificate[],
  space: Programs,
): Promise<string[]> {
  const reasons: string[] = [];
  if (signer.digest === 'sha1') reasons.push('The signature is by SHA-1, which is no longer secure.');
  if (keyUsageOf(certificate)?.canSign === false)
    reasons.push('The key usage of the certificate does not include signatures of documents.');
  // A claimed time proves nothing: without a trusted time stamp the signature may be from now.
  const isStamped = token !== undefined && token.distrust === undefined;
  if (token && !isStamped) reasons.push(`The time stamp is not trusted. ${token.distrust}`);
  const at = isStamped ? token.time : new Date();
  const others = certificates.filter((each) => each !== certificate);
  const distrust = await distrustOf({ certificate, others, trusted, at, purpose: 'any' }, space);
  return distrust === undefined ? reasons : [...reasons, distrust];
}

function factsOf({ time, authority, distrust }: Token): JsonObject {
  return { time: time.toISOString(), trusted: distrust === undefined, authority: describe(authority) };
}

function describe(certificate: X509Certificate): JsonObject {
  const { subject, issuer, serialNumber, validFromDate, validToDate, fingerprint256 } = certificate;
  return {
    name: commonNameOf(certificate),
    subject: oneLine(subject),
    issuer: oneLine(issuer),
    serial: serialNumber,
    valid_from: validFromDate.toISOString(),
    valid_until: validToDate.toISOString(),
    sha256: fingerprint256.replaceAll(':', '').toLowerCase(),
  };
}

function oneLine(name: string): string {
  return name.split('\n').join(', ').slice(0, 1_000);
}

export function commonNameOf({ subject }: X509Certificate): string {
  const lines = subject.split('\n');
  const named = lines.find((line) => line.startsWith('CN=')) ?? lines.find((line) => line.startsWith('O=')) ?? subject;
  return named.replace(/^[A-Z]+=/, '').slice(0, 200);
}
