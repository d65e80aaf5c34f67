import { createPrivateKey } from 'node:crypto';
import type { Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { type Bucket, type File, Storage } from '@google-cloud/storage';
import { JWT } from 'google-auth-library';
import type { JsonObject } from '../../shared/tasks/task.ts';
import type { Run, RunResult } from '../worker/worker.ts';
import type { Announced } from './decode.ts';
import { type Destination, deliver, type Outgoing } from './deliver.ts';
import {
  CannotResume,
  explainConnection,
  explainOverload,
  failed,
  insufficientPermission,
  invalidCredentials,
  isExplained,
  Transient,
} from './failures.ts';
import { checkEndpoint, type Taken } from './outbound.ts';
import { deploymentSettings, type Incoming, receive, type TransferSettings } from './receive.ts';
import { type RetryPolicy, retryTransient, withResponseTimeout } from './retry-policy.ts';

const host = 'Google Cloud Storage';

/** Imports an object from Google Cloud Storage. */
export async function importObjstoreB(run: Run, settings: TransferSettings = deploymentSettings()): Promise<RunResult> {
  const bucket = connect(run.parameters, settings);
  const file = await receive(run, 0, new StoreObject(bucket, String(run.parameters.file), settings), settings);
  return { files: [file] };
}

/** Exports files to Google Cloud Storage. */
export async function exportObjstoreB(run: Run, settings: TransferSettings = deploymentSettings()): Promise<RunResult> {
  const bucket = connect(run.parameters, settings);
  const taken: Taken = { bytes: 0 };
  const destination: Destination = {
    one: 'file',
    several: 'file_prefix',
    locate: (place) => `gs://${bucket.name}/${place}`,
    send: (file) => put(bucket, file, settings, taken),
    taken,
  };
  return deliver(run, destination, settings);
}

function connect(parameters: JsonObject, settings: TransferSettings): Bucket {
  const privateKey = String(parameters.private_key).replaceAll('\\n', '\n');
  try {
    createPrivateKey(privateKey);
  } catch {
    throw invalidCredentials('Expected a PEM private key for private_key. Copy it completely, from BEGIN to END.');
  }
  const storage = new Storage({
    projectId: String(parameters.project_id),
    authClient: new JWT({
      email: String(parameters.client_email),
      key: privateKey,
      scopes: ['https://www.googleapis.com/auth/devstorage.read_write'],
    }),
    // By default the library retries on its own and discards the errors.
    retryOptions: { autoRetry: false, maxRetries: 0, retryableErrorFn: () => false },
    ...standIn(settings),
  });
  return storage.bucket(String(parameters.bucket));
}

/** Returns the endpoint of a stand-in that tests set; the outbound policy applies to it too. */
function standIn({ outbound }: TransferSettings) {
  const { LATHE_STANDIN_GCS: endpoint } = process.env;
  if (!endpoint) return {};
  checkEndpoint(new URL(endpoint), outbound);
  return { apiEndpoint: endpoint };
}

/** An object, pinned to the generation at the first open. */
class StoreObject implements Incoming {
  readonly #bucket: Bucket;
  readonly #name: string;
  readonly #retryPolicy: RetryPolicy;
  #file: File | undefined;
  #announced: Announced = { name: '' };

  constructor(bucket: Bucket, name: string, { retryPolicy }: TransferSettings) {
    this.#bucket = bucket;
    this.#name = name;
    this.#retryPolicy = retryPolicy;
  }

  announced(): Announced {
    return this.#announced;
  }

  explain(error: unknown): Error {
    const status = statusOf(error);
    if (status === 404 && this.#file) {
      this.#file = undefined;
      return new CannotResume('The object changed while it was being read.');
    }
    if (status === 404)
      return failed(
        `There is no object ${JSON.stringify(this.#name)} in the bucket ${JSON.stringify(this.#bucket.name)}.`,
        error,
      );
    return explain(error, this.#bucket.name);
  }

  async open(offset: number, signal: AbortSignal) {
    if (offset === 0 || !this.#file) {
      this.#file = undefined;
      const [metadata] = await withResponseTimeout(this.#retryPolicy, signal, () =>
        this.#bucket.file(this.#name).getMetadata(),
      );
      signal.throwIfAborted();
      this.#announced = {
        name: this.#name.replace(/\/+$/, ''),
        mediaType: metadata.contentType,
        encoding: metadata.contentEncoding,
        size: Number(metadata.size),
      };
      this.#file = this.#bucket.file(
        this.#name,
        metadata.generation === undefined ? {} : { generation: metadata.generation },
      );
    }
    const { size } = this.#announced;
    // Read without decompression, which is limited later. The library can only validate whole files.
    const stream = this.#file.createReadStream(
      offset > 0
        ? { start: offset, decompress: false, validation: false }
        : { decompress: false, validation: 'crc32c' },
    );
    return { stream, size };
  }
}

/**
 * Sends a file in one request, because each chunk would wait for the response to the previous one. The declared size keeps
 * the store from accepting an incomplete file, so a dropped upload can start over.
 */
async function put(bucket: Bucket, file: Outgoing, { retryPolicy }: TransferSettings, taken: Taken): Promise<void> {
  await retryTransient(retryPolicy, file.signal, async () => {
    const target = bucket.file(file.place).createWriteStream({
      resumable: true,
      validation: 'crc32c',
      metadata: {
        contentLength: file.size,
        contentType: file.contentType,
        ...(file.contentDisposition === undefined ? {} : { contentDisposition: file.contentDisposition }),
      },
    });
    try {
      await send(file, target, retryPolicy, taken);
    } catch (error) {
      file.signal.throwIfAborted();
      throw isExplained(error) ? error : explain(error, bucket.name);
    }
  });
}

/** Sends content completely, and aborts when the other side accepts nothing for too long. */
async function send(file: Outgoing, target: Writable, { idleTimeoutMs }: RetryPolicy, taken: Taken): Promise<void> {
  const stalled = () => target.destroy(new Transient(`${host} did not respond in time.`));
  let timer = setTimeout(stalled, idleTimeoutMs);
  let written = 0;
  target.on('progress', ({ bytesWritten }: { bytesWritten: number }) => {
    taken.bytes += Math.max(0, bytesWritten - written);
    written = bytesWritten;
    clearTimeout(timer);
    timer = setTimeout(stalled, idleTimeoutMs);
  });
  try {
    await pipeline(file.open(), target, { signal: file.signal });
  } finally {
    clearTimeout(timer);
  }
}

function explain(error: unknown, bucket: string): Error {
  const status = statusOf(error);
  if (status === 401 || isUnknownAccount(error))
    return invalidCredentials(`${host} rejected the service account. Check client_email and private_key.`, error);
  if (status === 403)
    return insufficientPermission(
      `The service account has no permission for this in the bucket ${JSON.stringify(bucket)}.`,
      error,
    );
  if (status === 404) return failed(`There is no bucket ${JSON.stringify(bucket)}.`, error);
  return (
    explainOverload(status, host) ??
    explainConnection(error, host) ??
    failed(`${host} refused the request${status === undefined ? '' : ` (status ${status})`}.`, error)
  );
}

function statusOf(error: unknown): number | undefined {
  if (typeof error !== 'object' || error === null) return undefined;
  const status =
    'code' in error && error.code !== undefined ? error.code : 'status' in error ? error.status : undefined;
  const number = typeof status === 'string' && /^\d{3}$/.test(status) ? Number(status) : status;
  return typeof number === 'number' && number >= 300 ? number : undefined;
}

/** Returns whether the token endpoint rejected the account or its key. */
function isUnknownAccount(error: unknown): boolean {
  if (typeof error !== 'object' || error === null || !('response' in error)) return false;
  const { response } = error;
  if (typeof response !== 'object' || response === null || !('data' in response)) return false;
  const { data } = response;
  return (
    typeof data === 'object' &&
    data !== null &&
    'error' in data &&
    (data.error === 'invalid_grant' || data.error === 'invalid_client')
  );
}
