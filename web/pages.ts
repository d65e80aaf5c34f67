/** Paths that show the page; the service answers all others itself. `*` is the id of what is shown. */
export const pagePaths = [
  '/',
  '/jobs',
  '/jobs/*',
  '/keys',
  '/webhooks',
  '/webhooks/*',
  '/usage',
  '/members',
  '/audit',
] as const;

/** Tells whether a path shows the page. */
export function isPagePath(path: string): boolean {
  return isOneOf(pagePaths, path);
}

/** Tells whether a path matches one of these. */
export function isOneOf(paths: readonly string[], path: string): boolean {
  return paths.some((pattern) =>
    pattern.endsWith('/*')
      ? /^[0-9a-f]{24}$/.test(path.slice(pattern.length - 1)) && path.startsWith(pattern.slice(0, -1))
      : path === pattern,
  );
}
