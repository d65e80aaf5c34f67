import { Readable } from 'node:stream';
import {
  GetObjectCommand,
  ListObjectsV2Command,
  S3Client,
  type S3ClientConfig,
  S3ServiceException,
} from '@aws-sdk/client-s3';
import { mapAtOnce } from '../../shared/concurrency.ts';
import { maxParts } from '../../shared/files/limits.ts';
import { uniqueNames } from '../../shared/files/names.ts';
import { totalBytes } from '../../shared/files/total-bytes.ts';
import { s3Endpoint } from '../../shared/net/s3-endpoint.ts';
import { required } from '../../shared/settings.ts';
import { filesAtOnce, maxFilesPerTask } from '../../shared/tasks/limits.ts';
import type { JsonObject, StoredFile } from '../../shared/tasks/task.ts';
import type { Run, RunResult } from '../worker/worker.ts';
import { type Destination, deliver, type Outgoing, sendInParts } from './deliver.ts';
import {
  CannotResume,
  explainConnection,
  explainOverload,
  failed,
  insufficientPermission,
  invalidCredentials,
} from './failures.ts';
import { multipartUpload } from './multipart.ts';
import { agentsFor, type Taken } from './outbound.ts';
import { anyPace } from './pace.ts';
import { deploymentSettings, type Incoming, receive, type TransferSettings } from './receive.ts';
import { retryTransient } from './retry-policy.ts';

const maxListPages = 100;

/** Imports an object, or all objects under a prefix, from S3 or a compatible store. */
export async function importObjstoreA(run: Run, settings: TransferSettings = deploymentSettings()): Promise<RunResult> {
  const store = connect(run.parameters, settings, 1);
  try {
    const { key, key_prefix } = run.parameters;
    if (typeof key === 'string') {
      const file = await receive(run, 0, storeObject(store, key), settings);
      return { files: [file] };
    }
    return { files: await importPrefix(run, store, String(key_prefix), settings) };
  } finally {
    store.client.destroy();
  }
}

/** Exports files to S3 or a compatible store. */
export async function exportObjstoreA(run: Run, settings: TransferSettings = deploymentSettings()): Promise<RunResult> {
  const taken: Taken = { bytes: 0 };
  const store = connect(run.parameters, settings, settings.retryPolicy.maxAttempts, taken);
  const destination: Destination = {
    one: 'key',
    several: 'key_prefix',
    locate: (place) => `s3://${store.bucket}/${place}`,
    send: (file) => put(store, file),
    explain: store.explain,
    taken,
  };
  try {
    // Uploads to AWS with the role of the deployment are not counted and need no minimum pace.
    return await deliver(run, destination, store.isOwn ? { ...settings, pace: anyPace } : settings);
  } finally {
    store.client.destroy();
  }
}

type Store = ReturnType<typeof connect>;

function connect(parameters: JsonObject, settings: TransferSettings, maxAttempts: number, taken?: Taken) {
  const bucket = String(parameters.bucket);
  // With an ARN instead of a name, the client would connect to other hosts.
  if (!/^[A-Za-z0-9][A-Za-z0-9._-]{1,254}$/.test(bucket))
    throw failed(`Expected the name of a bucket but received ${JSON.stringify(bucket)}.`);
  const region = String(parameters.region).toLowerCase();
  const own = parameters.access_key_id === undefined;
  const endpoint = endpointOf(parameters, region, own);
  // Few stores other than AWS support virtual hosts, and even fewer the newer checksums.
  const compatibility: S3ClientConfig = {
    forcePathStyle: true,
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
  };
  const config: S3ClientConfig = {
    region,
    maxAttempts,
    ...(endpoint && { endpoint: endpoint.href.replace(/\/$/, '') }),
    ...(own ? {} : { credentials: credentialsOf(parameters) }),
    ...(parameters.endpoint === undefined ? {} : compatibility),
    requestHandler: {
      ...(endpoint && agentsFor(endpoint, settings.outbound, { taken })),
      connectionTimeout: settings.retryPolicy.idleTimeoutMs,
      // The library has no timeouts by default, and its limit for a whole request would fail slow stores.
      socketTimeout: settings.retryPolicy.idleTimeoutMs,
    },
  };
  if (own && bucket === required('LATHE_BUCKET'))
    throw insufficientPermission(`The bucket ${JSON.stringify(bucket)} is not open to imports and exports.`);
  const host = endpoint?.host ?? 'S3';
  return {
    client: new S3Client(config),
    /** Whether it is accessed with the role of the deployment. */
    isOwn: own,
    bucket,
    host,
    explain: (error: unknown) => explain(error, host, bucket, region),
  };
}

/** Returns the endpoint of the store. Only the role of the deployment uses the endpoint of the environment. */
function endpointOf(parameters: JsonObject, region: string, own: boolean): URL | undefined {
  if (typeof parameters.endpoint === 'string') {
    // Another host could replay the role's signature.
    if (own) throw invalidCredentials('A custom endpoint requires access_key_id and secret_access_key.');
    const url = new URL(parameters.endpoint);
    if (url.search !== '' || url.hash !== '') throw failed('Expected a URL without a query or fragment for endpoint.');
    return url;
  }
  if (own) return undefined;
  if (!/^[a-z0-9-]{1,40}$/.test(region))
    throw failed(`Expected a region such as us-east-1 but received ${JSON.stringify(region)}.`);
  return s3Endpoint(region);
}

function credentialsOf({ access_key_id, secret_access_key, session_token }: JsonObject) {
  return {
    accessKeyId: String(access_key_id),
    secretAccessKey: String(secret_access_key),
    ...(typeof session_token === 'string' ? { sessionToken: session_token } : {}),
  };
}

/** Returns an object of a store, pinned to the version at the first open. */
function storeObject(store: Store, key: string): Incoming {
  let etag: string | undefined;
  return {
    announced: { name: '' },
    explain(error) {
      if (error instanceof S3ServiceException && [412, 416].includes(error.$metadata.httpStatusCode ?? 0)) {
        etag = undefined;
        return new CannotResume('The object changed while it was being read.');
      }
      if (error instanceof S3ServiceException && (error.name === 'NoSuchKey' || error.name === 'NotFound'))
        return failed(`There is no object ${JSON.stringify(key)} in the bucket ${JSON.stringify(store.bucket)}.`);
      return store.explain(error);
    },
    async open(offset, signal) {
      const range = offset > 0 ? { Range: `bytes=${offset}-`, IfMatch: etag } : {};
      const response = await store.client.send(new GetObjectCommand({ Bucket: store.bucket, Key: key, ...range }), {
        abortSignal: signal,
      });
      if (!(response.Body instanceof Readable)) throw failed(`${store.host} responded without the object.`);
      if (offset === 0) {
        etag = response.ETag;
        this.announced = {
          name: key.replace(/\/+$/, ''),
          mediaType: response.ContentType,
          encoding: response.ContentEncoding,
          size: response.ContentLength,
        };
      } else if (!response.ContentRange?.startsWith(`bytes ${offset}-`)) {
        response.Body.on('error', () => undefined).destroy();
        throw new CannotResume(`The transfer from ${store.host} was interrupted and cannot be resumed.`);
      }
      return { stream: response.Body, size: this.announced.size };
    },
  };
}

async function importPrefix(run: Run, store: Store, prefix: string, settings: TransferSettings): Promise<StoredFile[]> {
  const objects = await listObjects(run, store, prefix, settings);
  const total = totalBytes(objects);
  let done = 0;
  const count = (bytes: number) => {
    done += bytes;
    run.progress((done / Math.max(1, total)) * 100);
  };
  // For small files, latency matters more than bandwidth.
  const files = await mapAtOnce(objects, filesAtOnce, ({ key }, index) =>
    receive(run, index, storeObject(store, key), settings, count, 1),
  );
  const names = uniqueNames(files.map((file) => file.name));
  return files.map((file, index) => ({ ...file, name: names[index] ?? file.name }));
}

/** Lists the objects under a prefix, sorted by key. */
async function listObjects(
  run: Run,
  store: Store,
  prefix: string,
  settings: TransferSettings,
): Promise<{ key: string; size: number }[]> {
  const found: { key: string; size: number }[] = [];
  let token: string | undefined;
  for (let pages = 0; ; pages++) {
    // A store may return endless pages without objects.
    if (pages >= maxListPages)
      throw failed(
        `The listing of the prefix ${JSON.stringify(prefix)} has more than ${maxListPages} pages. Use a longer prefix.`,
      );
    const page = await retryTransient(settings.retryPolicy, run.signal, async () => {
      try {
        return await store.client.send(
          new ListObjectsV2Command({ Bucket: store.bucket, Prefix: prefix, ContinuationToken: token }),
          { abortSignal: AbortSignal.any([run.signal, AbortSignal.timeout(settings.pace.windowMs)]) },
        );
      } catch (error) {
        throw store.explain(error);
      }
    });
    // Consoles represent folders as empty objects that end with a slash.
    for (const { Key, Size } of page.Contents ?? [])
      if (Key && !(Key.endsWith('/') && Size === 0)) found.push({ key: Key, size: Size ?? 0 });
    if (found.length > maxFilesPerTask)
      throw failed(
        `More than ${maxFilesPerTask} objects, the maximum per task, have the prefix ${JSON.stringify(prefix)}. Use a longer prefix.`,
      );
    token = page.NextContinuationToken;
    if (!page.IsTruncated || !token) break;
  }
  if (found.length === 0)
    throw failed(`No object in the bucket ${JSON.stringify(store.bucket)} has the prefix ${JSON.stringify(prefix)}.`);
  // Not every store lists in this order.
  return found.sort((left, right) => Buffer.compare(Buffer.from(left.key), Buffer.from(right.key)));
}

function put({ client, bucket }: Store, { place, contentType, contentDisposition, ...file }: Outgoing): Promise<void> {
  const target = { Bucket: bucket, Key: place, ContentType: contentType, ContentDisposition: contentDisposition };
  return sendInParts(multipartUpload(client, target, file.signal), file, maxParts);
}

const unknownKeys = new Set([
  'InvalidAccessKeyId',
  'SignatureDoesNotMatch',
  'InvalidToken',
  'ExpiredToken',
  'TokenRefreshRequired',
  'InvalidSecurity',
  'NotSignedUp',
]);

const otherRegion = new Set([
  'AuthorizationHeaderMalformed',
  'PermanentRedirect',
  'IllegalLocationConstraintException',
]);

function explain(error: unknown, host: string, bucket: string, region: string): Error {
  const connection = explainConnection(error, host);
  if (connection) return connection;
  if (error instanceof Error && error.name === 'TimeoutError')
    return explainConnection({ code: 'ETIMEDOUT', cause: error }, host) ?? error;
  if (error instanceof Error && error.name === 'CredentialsProviderError')
    return invalidCredentials('This instance has no AWS role. Set access_key_id and secret_access_key.', error);
  if (!(error instanceof S3ServiceException)) return failed(`${host} returned an invalid response.`, error);
  const status = error.$metadata.httpStatusCode;
  if (unknownKeys.has(error.name))
    return invalidCredentials(
      `${host} rejected the access key (${error.name}). Check access_key_id and secret_access_key.`,
      error,
    );
  if (error.name === 'RequestTimeTooSkewed') return failed(`The clock of ${host} differs too much from ours.`, error);
  if (otherRegion.has(error.name) || status === 301 || status === 307)
    return failed(`The bucket ${JSON.stringify(bucket)} is not in the region ${region}. Check region.`, error);
  const overload = explainOverload(error.name === 'SlowDown' || error.name === 'RequestTimeout' ? 503 : status, host);
  if (overload) return overload;
  if (error.name === 'NoSuchBucket') return failed(`There is no bucket ${JSON.stringify(bucket)}.`, error);
  if (status === 401) return invalidCredentials(`${host} rejected the access key (status 401).`, error);
  if (status === 403)
    return insufficientPermission(
      `The access key has no permission for this in the bucket ${JSON.stringify(bucket)}.`,
      error,
    );
  return failed(`${host} refused the request${/^\w{1,60}$/.test(error.name) ? ` (${error.name})` : ''}.`, error);
}
