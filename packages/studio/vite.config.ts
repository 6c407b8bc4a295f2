import { defineConfig } from 'vite';

// Relative addresses, so that the page works under any path. Nothing inline: the host's policy allows neither scripts nor styles in the page.
// oxlint-disable-next-line import/no-default-export -- Vite reads the default export.
export default defineConfig({
  base: './',
  resolve: { conditions: ['@weft/source', 'module', 'browser'] },
  build: {
    outDir: 'dist',
    emptyOutDir: true,
    assetsInlineLimit: 0,
    target: 'es2023',
    reportCompressedSize: false,
    chunkSizeWarningLimit: 2_000,
    modulePreload: { polyfill: false },
  },
});
