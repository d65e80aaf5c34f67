import { LatheError } from './errors.ts';
import { chunksOf, type Source, streaming } from './source.ts';
import type { Transport } from './transport.ts';
import type { TransferOptions, UploadForm } from './types.ts';

/** Larger files are uploaded in parts, which are repeated alone and resumed. */
const maxFormBytes = 100_000_000;

/** Uploads a file to an upload task: in parts if it is large, and otherwise by the form. */
export async function uploadFile(
  transport: Transport,
  form: UploadForm,
  source: Source,
  options: TransferOptions,
): Promise<void> {
  const { endpoint } = form;
  if (endpoint === undefined || source.size <= maxFormBytes) return postFile(transport, form, source, options);
  // Loaded on demand: most uploads are small.
  const { uploadInParts } = await import('./parts.ts');
  const { signal, onProgress } = options;
  await uploadInParts(endpoint, source, {
    signal,
    onProgress,
    send: (url, init) =>
      transport.attempt(url, (own) => transport.fetch(url, { ...init(), signal: own }), {
        signal,
        timeoutMs: undefined,
      }),
  });
}

/** Posts a file to the form of an upload task. The store requires the file after all parameters. */
async function postFile(
  transport: Transport,
  { url, parameters }: UploadForm,
  source: Source,
  { signal, onProgress }: TransferOptions,
): Promise<void> {
  const report = (loaded: number) => onProgress?.({ loaded: Math.min(loaded, source.size), total: source.size });
  const isOnce = 'once' in source && source.once;
  await transport.attempt(
    url,
    (own) => {
      report(0);
      return 'blob' in source && XhrOfBrowser
        ? postFromBrowser(new XhrOfBrowser(), url, formOf(parameters, source), source.size, report, own)
        : transport.fetch(url, { ...multipart(parameters, source, report), signal: own });
    },
    // Uploads have no timeout, and a stream cannot be read again.
    { signal, timeoutMs: undefined, ...(isOnce ? { retries: 0 } : {}) },
  );
  report(source.size);
}

/** Encodes a form as a stream of known length, because FormData does not report progress. */
function multipart(parameters: Record<string, string>, source: Source, report: (loaded: number) => void) {
  const boundary = `lathe-${crypto.getRandomValues(new Uint32Array(4)).join('')}`;
  const encoder = new TextEncoder();
  const head = encoder.encode(
    [
      ...Object.entries(parameters).map(
        ([name, value]) =>
          `--${boundary}\r\ncontent-disposition: form-data; name="${escapeName(name)}"\r\n\r\n${value}\r\n`,
      ),
      `--${boundary}\r\ncontent-disposition: form-data; name="file"; filename="${escapeName(source.name)}"\r\n`,
      'content-type: application/octet-stream\r\n\r\n',
    ].join(''),
  );
  const tail = encoder.encode(`\r\n--${boundary}--\r\n`);
  async function* body(): AsyncGenerator<Uint8Array> {
    yield head;
    let loaded = 0;
    for await (const chunk of 'blob' in source ? chunksOf(source.blob.stream()) : source.chunks()) {
      loaded += chunk.length;
      if (loaded > source.size) throw sizeChanged(source);
      yield chunk;
      report(loaded);
    }
    if (loaded < source.size) throw sizeChanged(source);
    yield tail;
  }
  return {
    method: 'POST',
    headers: {
      'content-type': `multipart/form-data; boundary=${boundary}`,
      'content-length': String(head.length + source.size + tail.length),
    },
    body: ReadableStream.from(body()),
    ...streaming,
  };
}

function sizeChanged({ name, size }: Source): LatheError {
  return new LatheError('size_changed', `Expected ${size} bytes in ${name} but its size has changed.`);
}

/** Escapes a name like browsers do. */
function escapeName(name: string): string {
  return name.replace(/\r?\n|\r/g, '%0D%0A').replaceAll('"', '%22');
}

function formOf(parameters: Record<string, string>, { blob, name }: Source & { blob: Blob }) {
  const form = new FormData();
  for (const [field, value] of Object.entries(parameters)) form.append(field, value);
  form.append('file', blob, name);
  return form;
}

/** The used part of XMLHttpRequest, which reports upload progress, unlike `fetch`. */
interface ProgressRequest {
  readonly status: number;
  readonly responseText: string;
  readonly upload: { onprogress: ((event: { loaded: number; total: number }) => void) | null };
  onload: (() => void) | null;
  onerror: (() => void) | null;
  onabort: (() => void) | null;
  open(method: string, url: string): void;
  send(body: FormData): void;
  abort(): void;
}

const { XMLHttpRequest: XhrOfBrowser }: { fetch: unknown; XMLHttpRequest?: new () => ProgressRequest } = globalThis;

function postFromBrowser(
  request: ProgressRequest,
  url: string,
  form: FormData,
  size: number,
  report: (loaded: number) => void,
  signal: AbortSignal,
): Promise<Response> {
  return new Promise((resolve, reject) => {
    const abort = () => request.abort();
    const settle = (end: () => void) => () => {
      signal.removeEventListener('abort', abort);
      end();
    };
    request.upload.onprogress = ({ loaded, total }) => report(Math.max(0, loaded - (total - size)));
    request.onload = settle(() => {
      const { status, responseText } = request;
      resolve(new Response(status === 204 ? null : responseText, { status }));
    });
    request.onerror = settle(() => reject(new TypeError('The connection failed.')));
    request.onabort = settle(() => reject(signal.reason));
    request.open('POST', url);
    signal.throwIfAborted();
    signal.addEventListener('abort', abort, { once: true });
    request.send(form);
  });
}
