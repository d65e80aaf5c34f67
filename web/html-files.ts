import { docsHeaders, type OtherOrigins, pageHeaders } from './headers.ts';
import { pagePaths } from './pages.ts';

/** A document of the build. */
interface HtmlFile {
  name: string;
  /** The paths that show it; `*` is the id of what is shown. */
  paths: readonly string[];
  headers(origins: OtherOrigins): Record<string, string>;
}

/** The documents of the build. Every other file of it is loaded by one of them. */
export const htmlFiles: readonly HtmlFile[] = [
  { name: 'index.html', paths: pagePaths, headers: pageHeaders },
  { name: 'docs.html', paths: ['/docs'], headers: docsHeaders },
];

/** Paths of the other files of the build. Those in `assets` have a hash of their content in their names. */
export const assetPaths = ['/assets/*', '/favicon.svg'] as const;
