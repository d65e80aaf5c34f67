import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vite';

const file = (name: string) => fileURLToPath(new URL(name, import.meta.url));

export default defineConfig({
  root: file('.'),
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
        rolldownOptions: {
          input: file('docs.html'),
          // Names without a dot, like those of the page.
          output: { chunkFileNames: ({ name }) => `assets/${name.replaceAll('.', '-')}-[hash].js` },
          // Its packages do not declare sideEffects, so unused modules would load at once, including the editor, a quarter
          // of the total size.
          treeshake: { moduleSideEffects: [{ test: /node_modules\/@scalar\/.+\.js$/, sideEffects: false }] },
        },
        // The size of the reference's scripts cannot be changed here.
        chunkSizeWarningLimit: 2_000,
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
