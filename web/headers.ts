/** Other origins that the page connects to. */
export interface OtherOrigins {
  /** The bucket, for uploads and downloads. */
  files: string;
  /** The WebSocket API. */
  sockets: string;
}

type Policy = Record<string, string>;

/** Returns the headers of the page: no other origins, inline scripts or inline styles. `blob:` is for previews. */
export function pageHeaders({ files, sockets }: OtherOrigins): Record<string, string> {
  return headersWith({
    ...strict,
    'img-src': `'self' blob: ${files}`,
    'media-src': `'self' blob: ${files}`,
    'frame-src': 'blob:',
    // Some browsers treat embedded PDF viewers as plugins.
    'object-src': 'blob:',
    'connect-src': `'self' ${files} ${sockets}`,
    'form-action': "'self'",
  });
}

/**
 * Returns the headers of the API reference. Its scripts add inline style elements, and a static document cannot have a
 * nonce. Test requests may be redirected to files in the bucket.
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
