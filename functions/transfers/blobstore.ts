import { Readable } from 'node:stream';
import {
  AnonymousCredential,
  type BlobHTTPHeaders,
  BlobServiceClient,
  type BlockBlobClient,
  type ContainerClient,
  newPipeline,
  RestError,
  StorageSharedKeyCredential,
} from '@azure/storage-blob';
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
} from './failures.ts';
import { agentsFor, type Taken } from './outbound.ts';
import { type PartStore, storeInParts } from './parts.ts';
import { deploymentSettings, type Incoming, receive, type TransferSettings } from './receive.ts';
import { type RetryPolicy, withResponseTimeout } from './retry-policy.ts';

const blockBytes = 5 * 1024 * 1024;
const blocksAtOnce = 4;

/** Imports a blob from Azure. */
export async function importBlobstore(run: Run, settings: TransferSettings = deploymentSettings()): Promise<RunResult> {
  const store = connect(run.parameters, settings);
  const file = await receive(run, 0, new StoreBlob(store, String(run.parameters.blob)), settings);
  return { files: [file] };
}

/** Exports files to Azure as block blobs. */
export async function exportBlobstore(run: Run, settings: TransferSettings = deploymentSettings()): Promise<RunResult> {
  const taken: Taken = { bytes: 0 };
  const store = connect(run.parameters, settings, taken);
  const destination: Destination = {
    one: 'blob',
    several: 'blob_prefix',
    locate: (place) => `${store.address}/${place.split('/').map(encodeURIComponent).join('/')}`,
    send: (file) => put(store, file),
    taken,
  };
  return deliver(run, destination, settings);
}

interface Store {
  container: ContainerClient;
  /** URL of the container without a token. */
  address: string;
  retryPolicy: RetryPolicy;
  explain(error: unknown): Error;
}

/** Connects to a container; the library retries exports, while imports are resumed. */
function connect(parameters: JsonObject, settings: TransferSettings, taken?: Taken): Store {
  const isExport = taken !== undefined;
  const account = String(parameters.storage_account);
  // It becomes part of the host name.
  if (!/^[a-z0-9]{3,24}$/.test(account))
    throw failed('Expected 3 to 24 lower-case letters and digits for storage_account.');
  const container = String(parameters.container);
  if (!/^[A-Za-z0-9$][A-Za-z0-9-]{1,62}$/.test(container) && container !== '$root' && container !== '$web')
    throw failed('Expected 3 to 63 letters, digits and hyphens for container.');
  const endpoint = endpointOf(account);
  const { idleTimeoutMs, maxAttempts, backoffMs } = settings.retryPolicy;
  const { httpAgent, httpsAgent } = agentsFor(endpoint, settings.outbound, isExport ? { idleTimeoutMs, taken } : {});
  const token = tokenOf(parameters);
  const pipeline = newPipeline(
    token === undefined
      ? new StorageSharedKeyCredential(account, String(parameters.storage_access_key))
      : new AnonymousCredential(),
    { retryOptions: { maxTries: isExport ? maxAttempts : 1, retryDelayInMs: backoffMs } },
  );
  pipeline.factories.push({
    create: (next) => ({
      sendRequest(request) {
        request.agent = request.url.startsWith('https:') ? httpsAgent : httpAgent;
        return next.sendRequest(request);
      },
    }),
  });
  const service = new BlobServiceClient(token === undefined ? endpoint.href : `${endpoint.href}?${token}`, pipeline);
  return {
    container: service.getContainerClient(container),
    retryPolicy: settings.retryPolicy,
    address: `${endpoint.href.replace(/\/$/, '')}/${container}`,
    explain: (error) => explain(error, endpoint.host, container),
  };
}

/** Returns the URL of an account. Tests set the variable to a stand-in for Azure; the outbound policy applies to it too. */
function endpointOf(account: string): URL {
  const { LATHE_STANDIN_AZURE: standIn } = process.env;
  return new URL(standIn ? `${standIn.replace(/\/$/, '')}/${account}` : `https://${account}.blob.core.windows.net`);
}

function tokenOf({ sas_token }: JsonObject): string | undefined {
  if (typeof sas_token !== 'string') return undefined;
  const token = sas_token.trim().replace(/^\?/, '');
  if (!/^[\w%&=+.,:;/~*'()!@$-]+$/.test(token) || !/(?:^|&)sig=/.test(token))
    throw invalidCredentials('Expected a query string with the parameter sig for sas_token.');
  return token;
}

/** A blob, pinned to the version at the first open. */
class StoreBlob implements Incoming {
  readonly #store: Store;
  readonly #name: string;
  #announced: Announced = { name: '' };
  #etag: string | undefined;

  constructor(store: Store, name: string) {
    this.#store = store;
    this.#name = name;
  }

  announced(): Announced {
    return this.#announced;
  }

  explain(error: unknown): Error {
    if (error instanceof RestError && (error.statusCode === 412 || error.statusCode === 416) && this.#etag) {
      this.#etag = undefined;
      return new CannotResume('The blob changed while it was being read.');
    }
    if (error instanceof RestError && error.statusCode === 404 && codeOf(error) !== 'ContainerNotFound')
      return failed(`There is no blob ${JSON.stringify(this.#name)} in the container.`, error);
    return this.#store.explain(error);
  }

  async open(offset: number, signal: AbortSignal) {
    const blob = this.#store.container.getBlobClient(this.#name);
    const response = await withResponseTimeout(this.#store.retryPolicy, signal, (abortSignal) =>
      blob.download(offset, undefined, {
        abortSignal,
        maxRetryRequests: 0,
        ...(offset > 0 && this.#etag ? { conditions: { ifMatch: this.#etag } } : {}),
      }),
    );
    if (!(response.readableStreamBody instanceof Readable)) throw failed('Azure responded without the blob.');
    if (offset === 0) {
      this.#etag = response.etag;
      this.#announced = {
        name: this.#name.replace(/\/+$/, ''),
        mediaType: response.contentType,
        encoding: response.contentEncoding,
        size: response.contentLength,
      };
    }
    return { stream: response.readableStreamBody, size: this.#announced.size };
  }
}

async function put(store: Store, file: Outgoing): Promise<void> {
  const body = file.open();
  try {
    await storeInParts(new BlockUpload(store.container.getBlockBlobClient(file.place), file, file.signal), body, {
      // Azure accepts at most 50,000 blocks.
      partBytes: Math.max(blockBytes, Math.ceil(file.size / 45_000)),
      partsAtOnce: blocksAtOnce,
      signal: file.signal,
    });
  } catch (error) {
    file.signal.throwIfAborted();
    throw isExplained(error) ? error : store.explain(error);
  } finally {
    body.destroy();
  }
}

/** A block blob. Azure discards blocks that are never committed. */
class BlockUpload implements PartStore {
  readonly #blob: BlockBlobClient;
  readonly #options: { abortSignal: AbortSignal };
  readonly #headers: BlobHTTPHeaders;
  readonly #blocks: string[] = [];

  constructor(blob: BlockBlobClient, { contentType, contentDisposition }: Outgoing, abortSignal: AbortSignal) {
    this.#blob = blob;
    this.#options = { abortSignal };
    this.#headers = {
      blobContentType: contentType,
      ...(contentDisposition === undefined ? {} : { blobContentDisposition: contentDisposition }),
    };
  }

  putWhole(body: Buffer): Promise<unknown> {
    return this.#blob.upload(body, body.length, { ...this.#options, blobHTTPHeaders: this.#headers });
  }

  async putPart(number: number, body: Buffer): Promise<void> {
    // Azure requires ids of equal length.
    const id = Buffer.from(String(number).padStart(8, '0')).toString('base64');
    this.#blocks[number - 1] = id;
    await this.#blob.stageBlock(id, body, body.length, this.#options);
  }

  async complete(): Promise<void> {
    await this.#blob.commitBlockList(this.#blocks, { ...this.#options, blobHTTPHeaders: this.#headers });
  }

  async abort(): Promise<void> {}
}

const unknownKeys = new Set(['AuthenticationFailed', 'InvalidAuthenticationInfo', 'NoAuthenticationInformation']);

/** Returns the error code of Azure, which is only in a header if the response has no body. */
function codeOf({ code, details }: RestError): string | undefined {
  if (code !== undefined) return code;
  if (typeof details !== 'object' || details === null || !('errorCode' in details)) return undefined;
  return typeof details.errorCode === 'string' ? details.errorCode : undefined;
}

function explain(error: unknown, host: string, container: string): Error {
  if (error instanceof RestError) {
    const { statusCode: status } = error;
    const code = codeOf(error);
    if (status === 401 || (code !== undefined && unknownKeys.has(code)))
      return invalidCredentials(`${host} rejected the credentials. Check storage_access_key or sas_token.`, error);
    if (status === 403)
      return insufficientPermission(
        `The credentials do not allow this in the container ${JSON.stringify(container)}.`,
        error,
      );
    if (status === 404) return failed(`There is no container ${JSON.stringify(container)}.`, error);
    const overload = explainOverload(status, host);
    if (overload) return overload;
    const connection = explainConnection(error, host);
    if (connection) return connection;
    if (code === 'REQUEST_SEND_ERROR') return failed(`${host} could not be reached.`, error);
    return failed(`${host} refused the request${status === undefined ? '' : ` (status ${status})`}.`, error);
  }
  return explainConnection(error, host) ?? failed(`${host} returned an invalid response.`, error);
}
