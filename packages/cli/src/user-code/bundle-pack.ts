import { fileURLToPath } from 'node:url';
import type { Plugin } from 'esbuild';
import { addressOf, BROUGHT_ALONG, buildProblems } from './bundle-module.ts';

/**
 * One module of several files of node types and all that they import: it must run where nothing else is installed. It exports `nodes`.
 * Throws UserCodeError with file and line.
 */
export async function bundlePack(files: readonly string[], root: string): Promise<string> {
  const { build } = await import('esbuild');
  const imports = files.map((file, index) => `import * as m${index} from ${JSON.stringify(file)};`);
  const all = files.map((_, index) => `...Object.values(m${index})`);
  const contents = [
    ...imports,
    'const isNode = (value) => typeof value?.typeId === "string" && typeof value.run === "function";',
    `export const nodes = [...new Set([${all.join(', ')}])].filter(isNode);`,
  ].join('\n');
  return buildProblems(root, files[0] ?? root, async () => {
    const { outputFiles } = await build({
      stdin: { contents, resolveDir: root, sourcefile: 'pack.mjs' },
      absWorkingDir: root,
      bundle: true,
      write: false,
      format: 'esm',
      platform: 'node',
      target: 'node20',
      legalComments: 'eof',
      logLevel: 'silent',
      plugins: [broughtAlong()],
    });
    return outputFiles[0]?.text ?? '';
  });
}

/** The SDK is taken from the command line where the folder has not installed it. */
function broughtAlong(): Plugin {
  return {
    name: 'brought-along',
    setup(building) {
      building.onResolve({ filter: BROUGHT_ALONG }, async ({ path, kind, resolveDir, pluginData }) => {
        if (pluginData === broughtAlong) return undefined;
        const found = await building.resolve(path, { kind, resolveDir, pluginData: broughtAlong });
        if (found.errors.length === 0) return found;
        const address = addressOf(path);
        return address === undefined ? undefined : { path: fileURLToPath(address) };
      });
    },
  };
}
