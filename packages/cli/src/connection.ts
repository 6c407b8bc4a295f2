import { type Client, createClient } from '@weft/sdk';
import { DEFAULT_DATA, type DataFolder, dataFolder, readKeyFile, readUrlFile } from './data-folder.ts';
import { unusable, usageError } from './exit-code.ts';
import type { Io } from './io.ts';
import { reasonOf } from './key-values.ts';

export const DEFAULT_URL = 'http://127.0.0.1:7878';

/** Which host a command talks to, with which key, and where both came from. */
export interface Target {
  readonly url: string;
  readonly urlFrom: string;
  readonly key: string | undefined;
  readonly keyFrom: string | undefined;
  readonly folder: DataFolder;
}

export interface TargetArgs {
  readonly url?: string | undefined;
  readonly data?: string | undefined;
}

export async function findTarget(io: Io, args: TargetArgs): Promise<Target> {
  const folder = dataFolder(io.cwd, args.data ?? io.env['WEFT_DATA'] ?? DEFAULT_DATA);
  const { url, urlFrom } = await findUrl(io, args, folder);
  const fromEnv = io.env['WEFT_API_KEY'];
  if (fromEnv !== undefined && fromEnv !== '')
    return { url, urlFrom, key: fromEnv, keyFrom: 'WEFT_API_KEY', folder };
  // The local key must not travel to another machine because somebody set WEFT_URL.
  const key = isLoopback(url) ? await readOrExplain(folder.keyFile, () => readKeyFile(folder)) : undefined;
  return { url, urlFrom, key, keyFrom: key === undefined ? undefined : folder.keyFile, folder };
}

export async function connect(io: Io, args: TargetArgs): Promise<{ client: Client; target: Target }> {
  const target = await findTarget(io, args);
  try {
    return { client: createClient({ baseUrl: target.url, apiKey: target.key }), target };
  } catch (cause) {
    if (cause instanceof TypeError) throw usageError(`${target.urlFrom}: ${cause.message}`);
    throw cause;
  }
}

async function findUrl(
  io: Io,
  args: TargetArgs,
  folder: DataFolder,
): Promise<{ url: string; urlFrom: string }> {
  if (args.url !== undefined) return { url: args.url, urlFrom: '--url' };
  const fromEnv = io.env['WEFT_URL'];
  if (fromEnv !== undefined && fromEnv !== '') return { url: fromEnv, urlFrom: 'WEFT_URL' };
  const left = await readOrExplain(folder.urlFile, () => readUrlFile(folder));
  return left === undefined
    ? { url: DEFAULT_URL, urlFrom: 'default' }
    : { url: left, urlFrom: folder.urlFile };
}

async function readOrExplain<Value>(path: string, read: () => Promise<Value>): Promise<Value> {
  try {
    return await read();
  } catch (cause) {
    throw unusable('file_unreadable', `${path} cannot be read: ${reasonOf(cause)}.`, cause);
  }
}

export function isLoopback(url: string): boolean {
  const host = URL.canParse(url) ? new URL(url).hostname : '';
  return host === 'localhost' || host === '[::1]' || /^127(\.\d+){3}$/.test(host);
}
