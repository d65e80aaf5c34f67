import { fileURLToPath } from 'node:url';
import scalar from '@scalar/fastify-api-reference';
import { fastify } from 'fastify';
import { defineConfig, type Plugin } from 'vite';

const file = (name: string) => fileURLToPath(new URL(name, import.meta.url));

/**
 * Returns the prebuilt script of the API reference. The package of its modules depends on 250 others. This one, a plugin
 * for the Fastify server, only has the script and a route that serves it.
 */
async function referenceScript(): Promise<string> {
  const server = fastify();
  await server.register(scalar, { configuration: { url: '/v1/openapi.json' } });
  const { statusCode, body } = await server.inject('/reference/js/scalar.js');
  if (statusCode !== 200)
    throw new Error(`Expected the script of the API reference but received status ${statusCode}.`);
  return body.replace(/\n\/\/# sourceMappingURL=.*\s*$/, '');
}

/** Serves that script as it is: to bundle it again would take most of the time of the build. */
const reference: Plugin = {
  name: 'reference',
  applyToEnvironment: ({ name }) => name === 'docs',
  async buildStart() {
    this.emitFile({ type: 'asset', name: 'reference.js', source: await referenceScript() });
  },
  transformIndexHtml: {
    order: 'post',
    handler(html, { bundle = {} }) {
      const script = Object.values(bundle).find((each) => each.type === 'asset' && each.names.includes('reference.js'));
      // Before the style sheet, whose variables replace those of the script.
      return script && html.replace('<script', `<script src="/${script.fileName}"></script>\n    $&`);
    },
  },
};

export default defineConfig({
  root: file('.'),
  plugins: [reference],
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  build: {
    target: 'es2023',
    emptyOutDir: true,
    // The Content-Security-Policy does not allow data: URLs.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
  },
  environments: {
    client: { build: { rolldownOptions: { input: file('index.html') } } },
    // A separate build: in one build, shared code would become extra files for the page to load.
    docs: {
      consumer: 'client',
      build: {
        emptyOutDir: false,
        rolldownOptions: { input: file('docs.html') },
      },
    },
  },
  builder: {
    async buildApp({ build, environments: { client, docs } }) {
      if (client) await build(client);
      if (docs) await build(docs);
    },
  },
});
