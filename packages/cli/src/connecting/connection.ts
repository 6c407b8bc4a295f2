import { type Client, createClient, type Fetch } from '@weft/sdk';
import { DEFAULT_DATA, type DataFolder, dataFolder, readKeyFile, readUrlFile } from './data-folder.ts';
import { CliError, unusable, usageError } from '../exit-code.ts';
import { fetchFromKnown, parseIdentity, refusingFetch } from './identity.ts';
import type { Io } from '../io.ts';
import { reasonOf } from '../parsing/key-values.ts';
import { shellCommand } from '../output/shell-command.ts';
import { shellWord } from '../output/shell-word.ts';
import { readPrivateFile } from './private-file.ts';
import { advisedFetch, fetchFromHost } from './reach-host.ts';

export const DEFAULT_URL = 'http://127.0.0.1:7878';

/** Which host a command talks to, with which key, and where both came from. */
export interface Target {
  readonly url: string;
  readonly urlFrom: string;
  readonly key: string | undefined;
  readonly keyFrom: string | undefined;
  readonly folder: DataFolder;
  /** How to send to it; absent: as usual. The key of a folder goes to no host but the folder's own. */
  readonly fetch?: Fetch;
}

export interface TargetArgs {
  readonly url?: string | undefined;
  readonly data?: string | undefined;
}

export async function findTarget(
  io: Io,
  args: TargetArgs,
  readKey: typeof readKeyFile = readKeyFile,
): Promise<Target> {
  const folder = dataFolder(io.cwd, args.data ?? io.env['WEFT_DATA'] ?? DEFAULT_DATA);
  const { url, urlFrom } = await findUrl(io, args, folder);
  const fromEnv = io.env['WEFT_API_KEY'];
  if (fromEnv !== undefined && fromEnv !== '')
    return { url, urlFrom, key: fromEnv, keyFrom: 'WEFT_API_KEY', folder };
  // The local key must not travel to another machine because WEFT_URL is set.
  const key = isLoopback(url) ? await readOrExplain(folder.keyFile, () => readKey(folder)) : undefined;
  if (key === undefined) return { url, urlFrom, key, keyFrom: undefined, folder };
  return { url, urlFrom, key, keyFrom: folder.keyFile, folder, fetch: await fetchFor(folder, url) };
}

/** What is wrong with the identity is said when something is to be sent, so that `doctor` can say the rest. */
async function fetchFor({ root, identityFile, keyFile }: DataFolder, url: string): Promise<Fetch> {
  const byHand = `or give the key yourself: WEFT_API_KEY=$(cat ${shellWord(keyFile)})`;
  const unknown =
    `${url} did not prove that it is the host of ${root}, so it was not sent the key in ${keyFile}: ` +
    `another program may listen there. Start the host of this folder, ${byHand}`;
  try {
    const text = await readOrExplain(identityFile, () => readPrivateFile(identityFile, 'identity'));
    const secret = parseIdentity(text ?? '');
    if (secret !== undefined) return fetchFromKnown(secret, unknown);
  } catch (error) {
    if (error instanceof CliError) return refusingFetch(error.code, error.message);
    throw error;
  }
  const missing = `${identityFile} is missing or invalid: the host of this folder cannot be identified. Start it again, ${byHand}`;
  return refusingFetch('identity_missing', missing);
}

export async function connect(io: Io, args: TargetArgs): Promise<{ client: Client; target: Target }> {
  const target = await findTarget(io, args);
  return { client: clientOf(target), target };
}

/** What a client needs of a target. */
export type Reachable = Pick<Target, 'url' | 'urlFrom' | 'key' | 'fetch'> & Partial<Pick<Target, 'folder'>>;

export function clientOf(target: Reachable): Client {
  const { url, urlFrom, key } = target;
  const send = target.fetch ?? fetchFromHost(url.replace(/\/+$/, ''), urlFrom);
  try {
    return createClient({
      baseUrl: url,
      apiKey: key ?? null,
      fetch: advisedFetch(send, adviceFor(target)),
      // A person waits: what is wrong is said at once, what takes long is theirs to end.
      maxRetries: 0,
      timeoutMs: 0,
    });
  } catch (cause) {
    if (cause instanceof TypeError) throw usageError(`${target.urlFrom}: ${cause.message}`);
    throw cause;
  }
}

/** Ends the sentence that no host answers at the URL. */
function adviceFor({ urlFrom, folder }: Reachable): string {
  const elsewhere =
    'For a host elsewhere use --url or WEFT_URL; for another data folder use --data or WEFT_DATA.';
  // A host that stops in order removes its file.
  const start =
    folder !== undefined && urlFrom === folder.urlFile
      ? `: the host of ${folder.root} was killed or has crashed. Start it again: ${shellCommand('serve', [], `--data ${shellWord(folder.root)}`)}`
      : `. Start one with: ${shellCommand('serve', [])}`;
  return ` (from ${urlFrom})${start}\n${elsewhere}`;
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
    if (cause instanceof CliError) throw cause;
    throw unusable('file_unreadable', `${path} cannot be read: ${reasonOf(cause)}.`, cause);
  }
}

export function isLoopback(url: string): boolean {
  const host = URL.canParse(url) ? new URL(url).hostname : '';
  return host === 'localhost' || host === '[::1]' || /^127(\.\d+){3}$/.test(host);
}
