/** Paths that serve the page; the API handles all others. `*` matches an id. */
export const pagePaths = [
  '/',
  '/documents',
  '/builder',
  '/jobs',
  '/jobs/*',
  '/keys',
  '/webhooks',
  '/webhooks/*',
  '/usage',
  '/members',
  '/audit',
] as const;

/** The pattern of an id. */
export const idForm = '[0-9a-f]{24}';

const id = new RegExp(`^${idForm}$`);

/** Returns whether a path serves the page. */
export function isPagePath(path: string): boolean {
  return pagePaths.some((pattern) =>
    pattern.endsWith('/*')
      ? id.test(path.slice(pattern.length - 1)) && path.startsWith(pattern.slice(0, -1))
      : path === pattern,
  );
}
