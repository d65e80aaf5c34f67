import { Readable } from 'node:stream';
import {
  AnonymousCredential,
  BlobServiceClient,
  type BlockBlobClient,
  newPipeline,
  RestError,
  StorageSharedKeyCredential,
} from '@azure/storage-blob';
import { defined } from '../../shared/defined.ts';
import { maxBlocks } from '../../shared/files/limits.ts';
import type { JsonObject } from '../../shared/tasks/task.ts';
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
import { agentsFor, type Taken } from './outbound.ts';
import type { PartStore } from './parts.ts';
import { deploymentSettings, type Incoming, receive, type TransferSettings } from './receive.ts';
import { withResponseTimeout } from './retry-policy.ts';

/** Imports a blob from Azure. */
export async function importBlobstore(run: Run, settings: TransferSettings = deploymentSettings()): Promise<RunResult> {
  const store = connect(run.parameters, settings);
  const file = await receive(run, 0, storeBlob(store, String(run.parameters.blob)), settings);
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
    send: (file) => sendInParts(blockUpload(store.container.getBlockBlobClient(file.place), file), file, maxBlocks),
    explain: store.explain,
    taken,
  };
  return deliver(run, destination, settings);
}

type Store = ReturnType<typeof connect>;

/** Connects to a container; the library retries exports, while imports are resumed. */
function connect(parameters: JsonObject, settings: TransferSettings, taken?: Taken) {
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
    /** URL of the container without a token. */
    address: `${endpoint.href.replace(/\/$/, '')}/${container}`,
    explain: (error: unknown) => explain(error, endpoint.host, container),
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

/** Returns a blob, pinned to the version at the first open. */
function storeBlob(store: Store, name: string): Incoming {
  let etag: string | undefined;
  return {
    announced: { name: '' },
    explain(error) {
      if (error instanceof RestError && (error.statusCode === 412 || error.statusCode === 416) && etag) {
        etag = undefined;
        return new CannotResume('The blob changed while it was being read.');
      }
      if (error instanceof RestError && error.statusCode === 404 && codeOf(error) !== 'ContainerNotFound')
        return failed(`There is no blob ${JSON.stringify(name)} in the container.`, error);
      return store.explain(error);
    },
    async open(offset, signal) {
      const conditions = offset > 0 && etag ? { ifMatch: etag } : {};
      const response = await withResponseTimeout(store.retryPolicy, signal, (abortSignal) =>
        store.container
          .getBlobClient(name)
          .download(offset, undefined, { abortSignal, maxRetryRequests: 0, conditions }),
      );
      if (!(response.readableStreamBody instanceof Readable)) throw failed('Azure responded without the blob.');
      if (offset === 0) {
        etag = response.etag;
        this.announced = {
          name: name.replace(/\/+$/, ''),
          mediaType: response.contentType,
          encoding: response.contentEncoding,
          size: response.contentLength,
        };
      }
      return { stream: response.readableStreamBody, size: this.announced.size };
    },
  };
}

/** Returns the upload of a block blob. Azure discards blocks that are never committed. */
function blockUpload(blob: BlockBlobClient, { contentType, contentDisposition, signal }: Outgoing): PartStore {
  const options = { abortSignal: signal };
  const headers = defined({ blobContentType: contentType, blobContentDisposition: contentDisposition });
  const blocks: string[] = [];
  return {
    putWhole: (body) => blob.upload(body, body.length, { ...options, blobHTTPHeaders: headers }),
    async putPart(number, body) {
      // Azure requires ids of equal length.
      const id = Buffer.from(String(number).padStart(8, '0')).toString('base64');
      blocks[number - 1] = id;
      await blob.stageBlock(id, body, body.length, options);
    },
    async complete() {
      await blob.commitBlockList(blocks, { ...options, blobHTTPHeaders: headers });
    },
    async abort() {},
  };
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
    const temporary = explainOverload(status, host) ?? explainConnection(error, host);
    if (temporary) return temporary;
    if (code === 'REQUEST_SEND_ERROR') return failed(`${host} could not be reached.`, error);
    return failed(`${host} refused the request${status === undefined ? '' : ` (status ${status})`}.`, error);
  }
  return explainConnection(error, host) ?? failed(`${host} returned an invalid response.`, error);
}
