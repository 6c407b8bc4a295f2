import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { OUTSIDE_DATA } from './scripts/outside-data.mjs';

// Sources run as they are: the "@weft/source" export condition leads every package name to its src folder.
export default defineConfig({
  resolve: { conditions: ['@weft/source'] },
  ssr: { resolve: { conditions: ['@weft/source'] } },
  test: {
    env: OUTSIDE_DATA,
    // Process tests mostly wait for other processes, so that two files at a time keep two cores busy.
    maxWorkers: Math.max(2, availableParallelism() - 1),
    projects: [
      {
        extends: true,
        test: {
          name: 'unit',
          include: ['packages/*/src/**/*.test.ts'],
          exclude: ['**/*.int.test.ts', '**/node_modules/**'],
          // These tests leave nothing behind, so modules are loaded once per worker and not once per file.
          isolate: false,
          // None takes more than a second or two, but a machine may be busy with something else.
          testTimeout: 30_000,
        },
      },
      {
        extends: true,
        test: {
          name: 'int',
          include: [
            'packages/*/src/**/*.int.test.ts',
            'examples/**/*.int.test.ts',
            'scripts/**/*.int.test.mjs',
          ],
          exclude: ['**/node_modules/**'],
          testTimeout: 60_000,
          hookTimeout: 60_000,
        },
      },
    ],
  },
});
