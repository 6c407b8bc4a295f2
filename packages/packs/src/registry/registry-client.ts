/** Finds packs in registries of others. What they answer is not believed: the archive is held to its digest, and opened like any other. */
import { isHostError, isJsonObject, type Json, PACKS_PATH, parseStrictJson } from '@weft/protocol';
import { maxSatisfying, valid } from 'semver';
import { PACK_LIMITS } from '../archive/limits.ts';
import { PackError } from '../pack-error.ts';
import type { WantedPack } from './wanted-pack.ts';
import { hasIntegrity, INTEGRITY_PATTERN, integrityOf } from '../signing/integrity.ts';

export interface Registry {
  /** Without a slash at its end. */
  readonly url: string;
  /** Sent as `Authorization: Bearer`. */
  readonly key?: string | undefined;
}

export interface RegistryAnswer {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
}

/** How a registry is asked; rejects with what people can read. */
export type AskRegistry = (
  url: string,
  headers: Readonly<Record<string, string>>,
  maxBytes: number,
) => Promise<RegistryAnswer>;

export interface FetchedPack {
  readonly name: string;
  readonly version: string;
  readonly archive: Uint8Array;
  readonly signature: Uint8Array | undefined;
  readonly integrity: string;
  readonly registry: string;
  /** What the registry says about the version that its user should know. */
  readonly warnings: readonly string[];
}

/** The signature over the whole archive travels with it: the protocol's own covers the manifest alone. */
export const ARCHIVE_SIGNATURE_HEADER = 'x-pack-archive-signature';

const MOST_INDEX = 4 * 1024 * 1024;

/** From the first registry that has a version which fits. Throws PackError. */
export async function fetchPack(
  registries: readonly Registry[],
  wanted: WantedPack,
  ask: AskRegistry,
): Promise<FetchedPack> {
  let isKnown = false;
  for (const registry of registries) {
    const versions = await versionsIn(registry, wanted.name, ask);
    if (versions === undefined) continue;
    isKnown = true;
    const version = choose(versions, wanted.range);
    if (version !== undefined) return download(registry, wanted.name, version, versions[version] ?? {}, ask);
  }
  const places = registries.map(({ url }) => url).join(', ');
  if (isKnown)
    throw new PackError(
      'pack_version_not_found',
      `${wanted.name} has no version ${wanted.range} in ${places}.`,
    );
  throw new PackError('pack_not_found', `${wanted.name} is in none of the registries: ${places}.`);
}

type Versions = Readonly<Record<string, { readonly [field: string]: Json | undefined }>>;

async function versionsIn(registry: Registry, name: string, ask: AskRegistry): Promise<Versions | undefined> {
  const { url } = registry;
  const { status, body } = await get(registry, `${PACKS_PATH}/${name}`, MOST_INDEX, ask);
  if (status === 404) return undefined;
  if (status !== 200) throw failed(url, `it answered ${status} to a question about ${name}`);
  let index: Json;
  try {
    index = parseStrictJson(new TextDecoder('utf-8', { fatal: true }).decode(body));
  } catch (cause) {
    throw failed(
      url,
      `what it says about ${name} is no JSON${isHostError(cause) ? `: ${cause.message}` : ''}`,
    );
  }
  const versions = isJsonObject(index) ? index['versions'] : undefined;
  if (!isJsonObject(versions)) throw failed(url, `what it says about ${name} has no versions`);
  return Object.fromEntries(
    Object.entries(versions).filter(
      ([version, record]) => valid(version) === version && isJsonObject(record),
    ),
  ) as Versions;
}

/** Withdrawn versions are found by their own name alone. */
function choose(versions: Versions, range: string): string | undefined {
  if (Object.hasOwn(versions, range)) return range;
  const offered = Object.entries(versions).flatMap(([version, { yanked }]) =>
    yanked === undefined || yanked === null || yanked === false ? [version] : [],
  );
  return maxSatisfying(offered, range) ?? undefined;
}

async function download(
  registry: Registry,
  name: string,
  version: string,
  record: Versions[string],
  ask: AskRegistry,
): Promise<FetchedPack> {
  const { url } = registry;
  const integrity = record['tarballSha256'];
  if (typeof integrity !== 'string' || !new RegExp(INTEGRITY_PATTERN).test(integrity))
    throw failed(url, `it does not say which digest ${name} ${version} has`);
  const path = `${PACKS_PATH}/${name}/-/${encodeURIComponent(version)}.tgz`;
  const { status, headers, body } = await get(registry, path, PACK_LIMITS.compressed, ask);
  if (status !== 200) throw failed(url, `it answered ${status} when ${name} ${version} was to be fetched`);
  if (!hasIntegrity(body, integrity))
    throw new PackError(
      'pack_integrity_failure',
      `${url} sent an archive of ${name} ${version} that is ${integrityOf(body)}, and says that it is ${integrity}.`,
    );
  const signature = headers[ARCHIVE_SIGNATURE_HEADER];
  return {
    name,
    version,
    archive: body,
    integrity,
    registry: url,
    signature: signature === undefined ? undefined : Buffer.from(signature, 'base64'),
    warnings: [
      ...noteOf(record['deprecation'], `${name} ${version} is deprecated`),
      ...noteOf(record['yanked'], `${name} ${version} was withdrawn`),
    ],
  };
}

function noteOf(note: Json | undefined, text: string): string[] {
  if (!isJsonObject(note ?? null)) return [];
  const { reason, supersededBy } = note as { readonly reason?: Json; readonly supersededBy?: Json };
  const instead = typeof supersededBy === 'string' ? ` Use ${supersededBy.slice(0, 256)}.` : '';
  return [`${text}: ${String(reason ?? 'no reason is given').slice(0, 1_024)}.${instead}`];
}

async function get(
  { url, key }: Registry,
  path: string,
  maxBytes: number,
  ask: AskRegistry,
): Promise<RegistryAnswer> {
  try {
    return await ask(`${url}${path}`, key === undefined ? {} : { authorization: `Bearer ${key}` }, maxBytes);
  } catch (cause) {
    throw failed(url, cause instanceof Error ? cause.message : String(cause), cause);
  }
}

function failed(url: string, why: string, cause?: unknown): PackError {
  return new PackError('pack_fetch_failed', `${url}: ${why.replace(/\.$/, '')}.`, { cause });
}
