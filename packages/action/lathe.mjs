// Calls the service: instantly for small files, and by a job otherwise.
import { randomUUID } from 'node:crypto';
import { openAsBlob } from 'node:fs';
import { basename } from 'node:path';
import { setTimeout } from 'node:timers/promises';

/** The maximum of the service for the file of an instant request. */
const maxInstantBytes = 4_400_000;
/** Statuses of an instant request after which a job may succeed: too large, too many, busy, too slow. */
const jobStatuses = new Set([404, 405, 413, 429, 500, 502, 503, 504]);
const transientStatuses = new Set([429, 500, 502, 503, 504]);
const maxAttempts = 5;
const maxPauseMs = 60_000;

/** Performs an operation on a file and returns its results, each with a filename and a body. */
export async function perform(service, path, { operation, to, options }) {
  const file = await openAsBlob(path);
  const parameters = { ...(to && { output_format: to }), options };
  const instant =
    file.size <= maxInstantBytes ? await instantly(service, operation, parameters, file, path) : undefined;
  if (Array.isArray(instant)) return instant;
  return resultsOf(service, instant ?? (await createJob(service, operation, parameters, file, path)));
}

/** Sends an instant request. Returns its results, a job, or undefined if it takes a new job. */
async function instantly(service, operation, { options, ...parameters }, file, path) {
  const body = new FormData();
  for (const [name, value] of Object.entries(parameters)) body.set(name, value);
  body.set('options', JSON.stringify(options));
  body.set('file', file, basename(path));
  const response = await request(service, `/v1/instant/${operation}`, { method: 'POST', body, redirect: 'manual' });
  if (jobStatuses.has(response.status)) return undefined;
  const isArchive = response.headers.has('lathe-archive');
  if (response.status === 303) {
    // The link to a large result may lead to another host, which must not receive the key.
    const location = new URL(response.headers.get('location'), service.url);
    return resultsIn(await checked(await send(location)), isArchive);
  }
  await checked(response);
  return response.status === 202 ? response.json() : resultsIn(response, isArchive);
}

/** Reads the results in a response. Several files come as a ZIP. */
async function resultsIn(response, isArchive) {
  if (!isArchive) return [{ filename: filenameOf(response), body: response.body }];
  return entriesOf(Buffer.from(await response.arrayBuffer()));
}

/** Creates a job and uploads the file to its form. */
async function createJob(service, operation, parameters, file, path) {
  const tasks = {
    file: { operation: 'import/upload' },
    result: { operation, input: 'file', ...parameters },
    link: { operation: 'export/url', input: 'result' },
  };
  const job = await json(service, '/v1/process/jobs', {
    method: 'POST',
    body: JSON.stringify({ tasks }),
    headers: { 'content-type': 'application/json', 'idempotency-key': randomUUID() },
  });
  const { url, parameters: fields } = job.tasks.find(({ name }) => name === 'file').result.form;
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.set(name, value);
  form.set('file', file, basename(path));
  await checked(await send(url, { method: 'POST', body: form }));
  return job;
}

/** Waits for the end of a job and returns its exported files. */
async function resultsOf(service, { id }) {
  for (;;) {
    const { endedAt, status, result, tasks = [] } = await json(service, `/v1/process/jobs/${id}/wait`);
    if (endedAt === null) {
      await setTimeout(1_000);
      continue;
    }
    const failed = tasks.find((task) => task.status === 'failed');
    if (status !== 'completed')
      throw new Error(failed?.result?.msg ?? result?.msg ?? `The job ${id} ended as ${status}.`);
    const files = tasks.flatMap((task) => (task.operation === 'export/url' ? task.result.files : []));
    const download = async ({ url, filename }) => ({ filename, body: (await checked(await send(url))).body });
    return Promise.all(files.map(download));
  }
}

async function json(service, path, init) {
  return (await checked(await request(service, path, init))).json();
}

function request({ url, key }, path, { headers, ...init } = {}) {
  return send(`${url}${path}`, { ...init, headers: { ...headers, authorization: `Bearer ${key}` } });
}

/** Sends a request, again after a lost connection or a transient status. An instant request becomes a job instead. */
async function send(url, init = {}) {
  const isInstant = init.redirect === 'manual';
  for (let attempt = 1; ; attempt++) {
    const response = await fetch(url, init).catch((error) => error);
    const isLost = response instanceof Error;
    if (!isLost && (isInstant || !transientStatuses.has(response.status))) return response;
    if (attempt === maxAttempts) {
      if (!isLost) return response;
      throw new Error(`${new URL(url).origin} cannot be reached: ${response.cause?.message ?? response.message}`);
    }
    const seconds = isLost ? Number.NaN : Number(response.headers.get('retry-after') ?? Number.NaN);
    await setTimeout(Math.min(Number.isNaN(seconds) ? 500 * 2 ** attempt : seconds * 1000, maxPauseMs));
  }
}

/** Returns a successful response, and throws the message of any other. */
async function checked(response) {
  if (response.ok) return response;
  const text = await response.text();
  let body = {};
  try {
    body = JSON.parse(text) ?? {};
  } catch {
    // API Gateway and stores respond with other types.
  }
  const fields = Object.entries(body.errors ?? {}).map(
    ([field, problems]) => `${field}: ${[problems].flat().join(' ')}`,
  );
  const message = [body.msg ?? body.message ?? 'The service refused the request.', ...fields].join(' ');
  throw new Error(`${message} (status ${response.status})`);
}

/** Returns the filename in a Content-Disposition header (RFC 6266). */
function filenameOf({ headers }) {
  const header = headers.get('content-disposition') ?? '';
  const encoded = /filename\*=UTF-8''([^;]+)/.exec(header)?.[1];
  return encoded === undefined ? (/filename="([^"]+)"/.exec(header)?.[1] ?? 'file') : decodeURIComponent(encoded);
}

/** Signatures and sizes of ZIP records (APPNOTE 4.3). */
const endRecord = { signature: 0x06054b50, bytes: 22 };
const centralRecord = { signature: 0x02014b50, bytes: 46 };
const localRecordBytes = 30;

/** Returns the files in a ZIP of the service, which stores them uncompressed and in order. */
function entriesOf(zip) {
  const end = zip.length - endRecord.bytes;
  if (end < 0 || zip.readUInt32LE(end) !== endRecord.signature) throw new Error('The ZIP has no end record.');
  const entries = [];
  let at = zip.readUInt32LE(end + 16);
  for (let left = zip.readUInt16LE(end + 10); left > 0; left -= 1) {
    if (zip.readUInt32LE(at) !== centralRecord.signature) throw new Error('The ZIP is damaged.');
    const size = zip.readUInt32LE(at + 20);
    const nameBytes = zip.readUInt16LE(at + 28);
    const local = zip.readUInt32LE(at + 42);
    const start = local + localRecordBytes + zip.readUInt16LE(local + 26) + zip.readUInt16LE(local + 28);
    const filename = zip.toString('utf8', at + centralRecord.bytes, at + centralRecord.bytes + nameBytes);
    entries.push({ filename, body: zip.subarray(start, start + size) });
    at += centralRecord.bytes + nameBytes + zip.readUInt16LE(at + 30) + zip.readUInt16LE(at + 32);
  }
  return entries;
}
