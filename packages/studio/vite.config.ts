import { defineConfig } from 'vite';
import { packedFiles, thirdPartyNotices } from './vite-plugins.ts';

// Relative addresses, so that the page works under any path. Nothing inline: the host's policy allows neither scripts nor styles in the page.
// oxlint-disable-next-line import/no-default-export -- Vite reads the default export.
export default defineConfig({
  base: './',
  // Whatever the environment says: a build for developers is twice as large and slower.
  define: { 'process.env.NODE_ENV': JSON.stringify('production') },
  plugins: [thirdPartyNotices(), packedFiles()],
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
