import { readFile } from 'node:fs/promises';
import type { LoadHook } from 'node:module';
import { fileURLToPath } from 'node:url';
import { transform } from 'esbuild';

/** Hooks of Node's loader: a `.ts` or `.mts` file is loaded as the JavaScript that is in it. */
export const load: LoadHook = async (url, context, next) => {
  if (!/^file:.*\.m?ts$/.test(url) || url.includes('/node_modules/')) return next(url, context);
  const file = fileURLToPath(url);
  const { code } = await transform(await readFile(file, 'utf8'), {
    loader: 'ts',
    format: 'esm',
    target: 'node20',
    sourcefile: file,
    sourcemap: 'inline',
  });
  return { format: 'module', source: code, shortCircuit: true };
};
