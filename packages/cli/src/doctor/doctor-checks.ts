import { existsSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { pathOf } from '@weft/protocol/plain';
import { ApiError, type Client, ConnectionError } from '@weft/sdk';
import { clientOf, type Target } from '../connecting/connection.ts';
import { toCliError } from '../exit-code.ts';
import { reasonOf } from '../parsing/key-values.ts';
import { LOST_DATA_WAYS_OUT } from '../serve/store/lost-data.ts';

export interface Finding {
  readonly check: string;
  readonly state: 'ok' | 'warning' | 'wrong';
  readonly text: string;
  /** What to do about it. */
  readonly advice?: string;
}

const MAX_SKEW_MS = 5_000;

export function checkNodeVersion(version: string): Finding {
  const [major = 0, minor = 0] = version.replace(/^v/, '').split('.').map(Number);
  const isRecent = major > 20 || (major === 20 && minor >= 19);
  if (isRecent) return { check: 'node', state: 'ok', text: version };
  return {
    check: 'node',
    state: 'wrong',
    text: `${version} is too old`,
    advice: 'Install Node 20.19 or newer.',
  };
}

/** How packs in JavaScript are kept in here. Having no walls is no fault: it decides what `weft pack install` takes. */
export async function checkPackWalls(): Promise<Finding> {
  const { findWalls } = await import('@weft/packs');
  const { isWalled, text } = await findWalls();
  const check = 'packs in JavaScript';
  if (isWalled) return { check, state: 'ok', text: `run ${text}` };
  return {
    check,
    state: 'ok',
    text: `run behind Node's permissions alone, and only in the trust modes pinned and allowlist: ${text}`,
  };
}

export async function checkDataFolder({ folder }: Target): Promise<Finding> {
  const check = 'data folder';
  const found = await statOrReason(folder.root);
  if (typeof found === 'string') {
    return {
      check,
      state: 'wrong',
      text: `${folder.root}: ${found}`,
      advice: 'Start a host (weft serve), or name the folder with --data.',
    };
  }
  if (!found.isDirectory())
    return {
      check,
      state: 'wrong',
      text: `${folder.root} is not a folder`,
      advice: 'Name another one with --data.',
    };
  if ((found.mode & 0o077) !== 0) {
    return {
      check,
      state: 'warning',
      text: `${folder.root} can be read by others`,
      advice: `chmod 700 ${folder.root}`,
    };
  }
  return { check, state: 'ok', text: folder.root };
}

export async function checkKeyFile({ folder, keyFrom }: Target): Promise<Finding> {
  const check = 'key file';
  const found = await statOrReason(folder.keyFile);
  if (typeof found === 'string') {
    if (keyFrom !== undefined)
      return { check, state: 'ok', text: `not needed: the key comes from ${keyFrom}` };
    return {
      check,
      state: 'wrong',
      text: `${folder.keyFile}: ${found}`,
      advice: 'Set WEFT_API_KEY, or start a host on this folder.',
    };
  }
  if ((found.mode & 0o077) !== 0) {
    return {
      check,
      state: 'wrong',
      text: `${folder.keyFile} can be read by others`,
      advice: `chmod 600 ${folder.keyFile}`,
    };
  }
  return { check, state: 'ok', text: folder.keyFile };
}

/** Whether `weft serve` would open it; --deep reads every page. */
export async function checkDatabaseFile({ folder }: Target): Promise<Finding> {
  const check = 'database';
  const isExpected = existsSync(folder.identityFile);
  if (!isExpected && !existsSync(folder.database)) {
    const advice = 'Start a host once; it creates the file.';
    return { check, state: 'wrong', text: `${folder.database} does not exist`, advice };
  }
  const { sqliteRejection, StoreBehindError } = await import('@weft/storage');
  const rejection = sqliteRejection(folder.database, isExpected);
  if (rejection === undefined) return { check, state: 'ok', text: folder.database };
  const advice =
    rejection instanceof StoreBehindError ? LOST_DATA_WAYS_OUT : 'weft serve will not open this database.';
  return { check, state: 'wrong', text: rejection.message, advice };
}

/** Whether a host answers, whether it takes the key, and whether its clock agrees with ours. */
export async function checkHost(target: Target): Promise<readonly Finding[]> {
  const client = clientOf(target);
  try {
    await client.discovery();
  } catch (error) {
    const advice = toCliError(error)?.message ?? 'See the host’s log.';
    const problem = error instanceof ConnectionError ? 'does not answer' : 'cannot be used';
    return [{ check: 'host', state: 'wrong', text: `${target.url} ${problem}`, advice }];
  }
  return [
    { check: 'host', state: 'ok', text: `${target.url} (from ${target.urlFrom})` },
    await checkKey(client, target),
    await checkClock(target.url),
  ];
}

async function checkKey(client: Client, target: Target): Promise<Finding> {
  const check = 'key';
  if (target.key === undefined)
    return { check, state: 'wrong', text: 'no key was found', advice: 'Set WEFT_API_KEY.' };
  try {
    await client.runs.list({ limit: 1 });
    return { check, state: 'ok', text: `accepted (from ${target.keyFrom ?? ''})` };
  } catch (error) {
    if (error instanceof ApiError && error.status === 403) {
      return { check, state: 'ok', text: `accepted (from ${target.keyFrom ?? ''}), without runs:read` };
    }
    const text = error instanceof Error ? error.message : String(error);
    return {
      check,
      state: 'wrong',
      text,
      advice: `The key comes from ${target.keyFrom ?? 'nowhere'}; use another one.`,
    };
  }
}

async function checkClock(url: string): Promise<Finding> {
  const check = 'clock';
  const response = await fetch(url.replace(/\/+$/, '') + pathOf('getCapabilities'));
  await response.body?.cancel();
  const theirs = Date.parse(response.headers.get('date') ?? '');
  if (Number.isNaN(theirs)) return { check, state: 'warning', text: 'the host does not say what time it is' };
  const skew = Math.abs(Date.now() - theirs);
  if (skew <= MAX_SKEW_MS) return { check, state: 'ok', text: 'this machine and the host agree' };
  return {
    check,
    state: 'wrong',
    text: `${Math.round(skew / 1000)} s apart from the host`,
    advice: 'Set the clocks by NTP.',
  };
}

async function statOrReason(
  path: string,
): Promise<(Awaited<ReturnType<typeof stat>> & { mode: number }) | string> {
  try {
    return await stat(path);
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'ENOENT'
      ? 'does not exist'
      : reasonOf(error);
  }
}
