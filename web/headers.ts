/** Where the page sends and fetches files and events, beside its own origin. */
export interface OtherOrigins {
  /** Of the bucket, which takes uploads and hands out files. */
  files: string;
  /** Of the WebSocket API. */
  sockets: string;
}

type Policy = Record<string, string>;

/**
 * Returns the headers of the page. Nothing is loaded from elsewhere, and no script or style is written into the document;
 * `blob:` is for previews of what the person chose or made.
 */
export function pageHeaders({ files, sockets }: OtherOrigins): Record<string, string> {
  return headersWith({
    ...strict,
    'img-src': `'self' blob: ${files}`,
    'media-src': `'self' blob: ${files}`,
    'frame-src': 'blob:',
    // Viewers of PDF within a page are plugins to some browsers.
    'object-src': 'blob:',
    'connect-src': `'self' ${files} ${sockets}`,
    'form-action': "'self'",
  });
}

/**
 * Returns the headers of the API reference. Its theme and its editor are style elements that its scripts make, which have no
 * file of their own and, in a document that is the same for everybody, no nonce. Requests that are tried may lead to files.
 */
export function docsHeaders({ files }: OtherOrigins): Record<string, string> {
  return headersWith({
    ...strict,
    'style-src': "'self' 'unsafe-inline'",
    'img-src': "'self' data: blob:",
    'connect-src': `'self' ${files}`,
  });
}

const strict: Policy = {
  'default-src': "'none'",
  'script-src': "'self'",
  'style-src': "'self'",
  'base-uri': "'none'",
  'form-action': "'none'",
  'frame-ancestors': "'none'",
};

function headersWith(policy: Policy): Record<string, string> {
  return {
    'content-security-policy': Object.entries(policy)
      .map(([name, value]) => `${name} ${value}`)
      .join('; '),
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'same-origin',
    'cross-origin-opener-policy': 'same-origin',
  };
}
