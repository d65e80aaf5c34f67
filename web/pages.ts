/** Paths that show the page; the service answers all others itself. `*` is the id of what is shown. */
export const pagePaths = [
  '/',
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

/** What an id looks like, as the source of a regular expression. */
export const idForm = '[0-9a-f]{24}';

const id = new RegExp(`^${idForm}$`);

/** Tells whether a path shows the page. */
export function isPagePath(path: string): boolean {
  return pagePaths.some((pattern) =>
    pattern.endsWith('/*')
      ? id.test(path.slice(pattern.length - 1)) && path.startsWith(pattern.slice(0, -1))
      : path === pattern,
  );
}
