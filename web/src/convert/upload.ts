export interface UploadForm {
  url: string;
  parameters: Record<string, string>;
}

/** Posts a file to a presigned form. Uses XMLHttpRequest because fetch does not report upload progress. */
export function upload(
  form: UploadForm,
  file: File,
  onProgress: (share: number) => void,
  signal: AbortSignal,
): Promise<void> {
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
