import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vite';

const file = (name: string) => fileURLToPath(new URL(name, import.meta.url));

export default defineConfig({
  root: file('.'),
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  build: {
    target: 'es2023',
    emptyOutDir: true,
    // The Content-Security-Policy allows no data: URLs.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
  },
  environments: {
    client: { build: { rolldownOptions: { input: file('index.html') } } },
    // Built by itself: in one build with the page, what both use would be further files for the page to load.
    docs: {
      consumer: 'client',
      build: {
        emptyOutDir: false,
        rolldownOptions: {
          input: file('docs.html'),
          // Names without a dot, as those of the page.
          output: { chunkFileNames: ({ name }) => `assets/${name.replaceAll('.', '-')}-[hash].js` },
          // Its packages do not say that their modules only export: whatever is imported only by name would be loaded at once, the
          // editor among it, which is a quarter of the whole.
          treeshake: { moduleSideEffects: [{ test: /node_modules\/@scalar\/.+\.js$/, sideEffects: false }] },
        },
        // The scripts of the reference are what they are.
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
