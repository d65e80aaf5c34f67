/** Where the page sends and fetches files and events, beside its own origin. */
export interface OtherOrigins {
  /** Of the bucket, which takes uploads and hands out files. */
  files: string;
  /** Of the WebSocket API. */
  sockets: string;
}

/**
 * Returns the headers of the page. Nothing is loaded from elsewhere, and no script or style is written into the document;
 * `blob:` is for previews of what the person chose or made.
 */
export function pageHeaders({ files, sockets }: OtherOrigins): Record<string, string> {
  const policy = {
    'default-src': "'none'",
    'script-src': "'self'",
    'style-src': "'self'",
    'img-src': `'self' blob: ${files}`,
    'media-src': `'self' blob: ${files}`,
    'frame-src': 'blob:',
    // Viewers of PDF within a page are plugins to some browsers.
    'object-src': 'blob:',
    'connect-src': `'self' ${files} ${sockets}`,
    'form-action': "'self'",
    'base-uri': "'none'",
    'frame-ancestors': "'none'",
  };
  return {
    'content-security-policy': Object.entries(policy)
      .map(([name, value]) => `${name} ${value}`)
      .join('; '),
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'same-origin',
    'cross-origin-opener-policy': 'same-origin',
  };
}
