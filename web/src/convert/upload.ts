export interface UploadForm {
  url: string;
  parameters: Record<string, string>;
  endpoint?: string | undefined;
}

/** Larger files are uploaded in parts, and resumed. */
const maxFormBytes = 100_000_000;

/** Returns whether the upload of a file can be resumed. */
export function isResumable({ endpoint }: UploadForm, { size }: File): boolean {
  return endpoint !== undefined && size > maxFormBytes;
}

/** Uploads a file: in parts if it is large, and otherwise by the form. */
export async function upload(
  form: UploadForm,
  file: File,
  onProgress: (share: number) => void,
  signal: AbortSignal,
): Promise<void> {
  if (form.endpoint === undefined || !isResumable(form, file)) return post(form, file, onProgress, signal);
  // Loaded on demand: most files are small.
  const { uploadParts } = await import('./upload-parts.ts');
  await uploadParts(form.endpoint, file, onProgress, signal);
}

/** Posts a file to a presigned form. Uses XMLHttpRequest because fetch does not report upload progress. */
function post(form: UploadForm, file: File, onProgress: (share: number) => void, signal: AbortSignal): Promise<void> {
  const data = new FormData();
  for (const [name, value] of Object.entries(form.parameters)) data.append(name, value);
  data.append('file', file);
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const sender = new XMLHttpRequest();
  sender.upload.addEventListener('progress', ({ loaded, total }) => onProgress(total > 0 ? loaded / total : 0));
  sender.addEventListener('load', () => {
    if (sender.status < 300) resolve();
    else reject(new Error(`The upload failed with status ${sender.status}. ${reasonIn(sender.responseText)}`.trim()));
  });
  sender.addEventListener('error', () =>
    reject(new Error('The upload was interrupted. Check the connection, then try again.')),
  );
  sender.addEventListener('abort', () => reject(new DOMException('Canceled.', 'AbortError')));
  signal.addEventListener('abort', () => sender.abort());
  sender.open('POST', form.url);
  sender.send(data);
  return promise;
}

function reasonIn(xml: string): string {
  return new DOMParser().parseFromString(xml, 'text/xml').querySelector('Message')?.textContent ?? '';
}
