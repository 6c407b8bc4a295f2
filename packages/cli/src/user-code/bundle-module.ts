import { readFile } from 'node:fs/promises';
import { dirname, extname, join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { BuildFailure, Loader, Message, Plugin } from 'esbuild';
import { UserCodeError, type UserCodeProblem } from './user-code-error.ts';

export interface BundledModule {
  /** ECMAScript, with its source map; packages stay where they are and are imported by their address. */
  readonly code: string;
  /** The files that it was made of: when one of them changes, so does the module. */
  readonly files: readonly string[];
}

/** Makes one module of a user's file and what it imports by path. Throws UserCodeError with file and line. */
export async function bundleModule(file: string): Promise<BundledModule> {
  // Only commands that take code of users pay for it.
  const { build } = await import('esbuild');
  const entry = resolve(file);
  const root = dirname(entry);
  return buildProblems(root, entry, async () => {
    const { outputFiles, metafile } = await build({
      entryPoints: [entry],
      absWorkingDir: root,
      outfile: join(root, 'out.mjs'),
      bundle: true,
      write: false,
      metafile: true,
      format: 'esm',
      platform: 'node',
      target: 'node20',
      sourcemap: 'inline',
      sourceRoot: join(root, '/'),
      logLevel: 'silent',
      define: {
        'import.meta.url': '__weft_url',
        'import.meta.filename': '__weft_filename',
        'import.meta.dirname': '__weft_dirname',
      },
      plugins: [packagesStay(), placesStay()],
    });
    return {
      code: outputFiles[0]?.text ?? '',
      files: Object.keys(metafile.inputs).map((input) => resolve(root, input)),
    };
  });
}

/** What a build says is wrong, as UserCodeError with file and line. */
export async function buildProblems<Built>(
  root: string,
  entry: string,
  build: () => Promise<Built>,
): Promise<Built> {
  try {
    return await build();
  } catch (error) {
    if (!isBuildFailure(error)) throw error;
    throw new UserCodeError(
      error.errors.map((message) => problemOf(message, root, entry)),
      error,
    );
  }
}

function isBuildFailure(error: unknown): error is BuildFailure {
  return error instanceof Error && Array.isArray((error as Partial<BuildFailure>).errors);
}

function problemOf({ location, text }: Message, root: string, entry: string): UserCodeProblem {
  if (location === null) return { file: entry, message: text };
  return {
    file: resolve(root, location.file),
    line: location.line,
    column: location.column + 1,
    message: text,
    source: location.lineText,
  };
}

/** Packages that the command line brings along, for folders that have not installed them. */
export const BROUGHT_ALONG = /^(?:@weft\/sdk|typebox)(?:\/|$)/;

/** Node 20 does not run it: what comes by such a name is built like what comes by a path. */
const TYPESCRIPT = /\.[cm]?tsx?$/;

/**
 * A package is imported from where it stands, so that the module may stand anywhere, and shares the package with others who
 * import it.
 */
function packagesStay(): Plugin {
  return {
    name: 'packages-stay',
    setup(building) {
      building.onResolve({ filter: /^[^./]/ }, async ({ path, kind, resolveDir, pluginData }) => {
        if (pluginData === packagesStay || kind === 'entry-point' || path.startsWith('node:'))
          return undefined;
        const found = await building.resolve(path, { kind, resolveDir, pluginData: packagesStay });
        if (found.errors.length === 0)
          return found.external || TYPESCRIPT.test(found.path)
            ? found
            : { path: pathToFileURL(found.path).href, external: true };
        const ours = BROUGHT_ALONG.test(path) ? addressOf(path) : undefined;
        return ours === undefined ? undefined : { path: ours, external: true };
      });
    },
  };
}

export function addressOf(name: string): string | undefined {
  try {
    return import.meta.resolve(name);
  } catch {
    return undefined;
  }
}

const LOADERS: Readonly<Record<string, Loader>> = {
  '.ts': 'ts',
  '.mts': 'ts',
  '.cts': 'ts',
  '.tsx': 'tsx',
  '.jsx': 'jsx',
};

/** `import.meta.url` and its like tell of the file as it was written, not of the module that is made of all of them. */
function placesStay(): Plugin {
  return {
    name: 'places-stay',
    setup(building) {
      building.onLoad({ filter: /\.[cm]?[jt]sx?$/ }, async ({ path }) => {
        const contents = await readFile(path, 'utf8');
        if (!contents.includes('import.meta')) return undefined;
        const url = pathToFileURL(path).href;
        const places = {
          __weft_url: url,
          __weft_filename: fileURLToPath(url),
          __weft_dirname: dirname(path),
        };
        // On the first line, so that the numbers of the lines stay.
        const words = Object.entries(places).map(
          ([name, value]) => `const ${name}=${JSON.stringify(value)};`,
        );
        return { contents: `${words.join('')}${contents}`, loader: LOADERS[extname(path)] ?? 'js' };
      });
    },
  };
}
