import { docsHeaders, type OtherOrigins, pageHeaders } from './headers.ts';
import { pagePaths } from './pages.ts';

interface HtmlFile {
  name: string;
  /** The paths that serve it; `*` matches an id. */
  paths: readonly string[];
  headers(origins: OtherOrigins): Record<string, string>;
}

/** The HTML documents of the build, which load all its other files. */
export const htmlFiles: readonly HtmlFile[] = [
  { name: 'index.html', paths: pagePaths, headers: pageHeaders },
  { name: 'docs.html', paths: ['/docs'], headers: docsHeaders },
];

/** Paths of the other files of the build. Those in `assets` have a content hash in their names. */
export const assetPaths = ['/assets/*', '/favicon.svg', '/plain.css'] as const;
