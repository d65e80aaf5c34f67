import { dirname } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Plugin } from 'esbuild';

const filter = /\/functions\/api\/service\/openapi-document\.ts$/;
const source = '?source';

/**
 * Bundles the OpenAPI document as data for instances without missing components, as in AWS: building it takes twice as
 * long as starting Node. If something is missing, the original module builds it.
 */
export const readyOpenapi: Plugin = {
  name: 'ready-openapi',
  setup({ onLoad, onResolve }) {
    onResolve({ filter: /\?source$/ }, ({ path, resolveDir }) => ({
      path: `${resolveDir}/${path.slice(2, -source.length)}`,
      suffix: source,
    }));
    onResolve({ filter: /^openapi:/ }, ({ path }) => ({
      path: 'openapi.json',
      namespace: 'openapi',
      pluginData: path.slice(8),
    }));
    onLoad({ filter }, ({ path, suffix }) =>
      suffix === source ? undefined : { contents: moduleFor(path), loader: 'js', resolveDir: dirname(path) },
    );
    onLoad({ filter: /./, namespace: 'openapi' }, async ({ pluginData }) => ({
      contents: await documentOf(pluginData),
      loader: 'file',
    }));
  },
};

function moduleFor(path: string): string {
  return `
    import path from 'openapi:${path}';
    import { missingComponents } from '../../catalogue/catalogues.ts';
    import { required } from '../../../shared/settings.ts';
    export function openapiDocument() {
      const isWhole = Object.values(missingComponents().engines).every((missing) => Object.keys(missing).length === 0);
      if (!isWhole) return require('./openapi-document.ts${source}').openapiDocument();
      const text = process.getBuiltinModule('node:fs').readFileSync(new URL(path, import.meta.url), 'utf8');
      return { ...JSON.parse(text), servers: [{ url: required('LATHE_URL') }] };
    }
  `;
}

let made: Promise<string> | undefined;

/** Returns the document as JSON, cached: building it takes a second. */
function documentOf(path: string): Promise<string> {
  made ??= import(pathToFileURL(path).href).then(({ openapiDocument }) => JSON.stringify(openapiDocument('')));
  return made;
}
