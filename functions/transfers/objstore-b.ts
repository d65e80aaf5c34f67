import { createPrivateKey } from 'node:crypto';
import type { Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { type Bucket, type File, Storage } from '@google-cloud/storage';
import { JWT } from 'google-auth-library';
import { defined } from '../../shared/defined.ts';
import type { JsonObject } from '../../shared/tasks/task.ts';
import type { Run, RunResult } from '../worker/worker.ts';
import { type Destination, deliver, type Outgoing } from './deliver.ts';
import {
  CannotResume,
  explainConnection,
  explainOverload,
  failed,
  insufficientPermission,
  invalidCredentials,
  Transient,
} from './failures.ts';
import { checkEndpoint, type Taken } from './outbound.ts';
import { deploymentSettings, type Incoming, receive, type TransferSettings } from './receive.ts';
import { type RetryPolicy, retryTransient, withResponseTimeout } from './retry-policy.ts';

const host = 'Google Cloud Storage';

/** Imports an object from Google Cloud Storage. */
export async function importObjstoreB(run: Run, settings: TransferSettings = deploymentSettings()): Promise<RunResult> {
  const bucket = connect(run.parameters, settings);
  const object = storeObject(bucket, String(run.parameters.file), settings.retryPolicy);
  const file = await receive(run, 0, object, settings);
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

/** Returns an object, pinned to the generation at the first open. */
function storeObject(bucket: Bucket, name: string, retryPolicy: RetryPolicy): Incoming {
  let file: File | undefined;
  return {
    announced: { name: '' },
    explain(error) {
      if (statusOf(error) !== 404) return explain(error, bucket.name);
      if (!file)
        return failed(
          `There is no object ${JSON.stringify(name)} in the bucket ${JSON.stringify(bucket.name)}.`,
          error,
        );
      file = undefined;
      return new CannotResume('The object changed while it was being read.');
    },
    async open(offset, signal) {
      if (offset === 0 || !file) {
        file = undefined;
        const [metadata] = await withResponseTimeout(retryPolicy, signal, () => bucket.file(name).getMetadata());
        signal.throwIfAborted();
        this.announced = {
          name: name.replace(/\/+$/, ''),
          mediaType: metadata.contentType,
          encoding: metadata.contentEncoding,
          size: Number(metadata.size),
        };
        file = bucket.file(name, defined({ generation: metadata.generation }));
      }
      // Read without decompression, which is limited later. The library can only validate whole files.
      const part = offset > 0 ? ({ start: offset, validation: false } as const) : ({ validation: 'crc32c' } as const);
      return { stream: file.createReadStream({ decompress: false, ...part }), size: this.announced.size };
    },
  };
}

/**
 * Sends a file in one request, because each chunk would wait for the response to the previous one. The declared size keeps
 * the store from accepting an incomplete file, so a dropped upload can start over.
 */
async function put(bucket: Bucket, file: Outgoing, { retryPolicy }: TransferSettings, taken: Taken): Promise<void> {
  await retryTransient(retryPolicy, file.signal, async () => {
    const { contentType, contentDisposition } = file;
    const target = bucket.file(file.place).createWriteStream({
      resumable: true,
      validation: 'crc32c',
      metadata: defined({ contentLength: file.size, contentType, contentDisposition }),
    });
    try {
      await send(file, target, retryPolicy, taken);
    } catch (error) {
      file.signal.throwIfAborted();
      throw explain(error, bucket.name);
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
  const { code, status } = Object(error);
  const found: unknown = code ?? status;
  const number = typeof found === 'string' && /^\d{3}$/.test(found) ? Number(found) : found;
  return typeof number === 'number' && number >= 300 ? number : undefined;
}

/** Returns whether the token endpoint rejected the account or its key. */
function isUnknownAccount(error: unknown): boolean {
  return ['invalid_grant', 'invalid_client'].includes(Object(error).response?.data?.error);
}
