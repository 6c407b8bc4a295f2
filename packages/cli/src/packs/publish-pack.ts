import { resolve } from 'node:path';
import { ARCHIVE_SIGNATURE_HEADER, integrityOf, PACK_LIMITS, readPack } from '@weft/packs';
import { isJsonObject, type Json, PACKS_PATH } from '@weft/protocol/plain';
import { ApiError } from '@weft/sdk';
import type { Target } from '../connecting/connection.ts';
import { NoAnswer, advisedFetch, fetchFromHost } from '../connecting/reach-host.ts';
import { unusable } from '../exit-code.ts';
import { parseJsonText } from '../parsing/key-values.ts';
import { readIfThere, readLimited } from './pack-files.ts';

export interface PublishedPack {
  readonly name: string;
  readonly version: string;
  readonly integrity: string;
  readonly signed: boolean;
  /** False when the registry has these bytes already. */
  readonly isNew: boolean;
}

const MOST_SIGNATURE = 1_024;

/** Sends an archive and its signature to a host that is a registry. Throws PackError, ApiError. */
export async function publishPack(cwd: string, given: string, target: Target): Promise<PublishedPack> {
  const file = resolve(cwd, given);
  const archive = await readLimited(file, PACK_LIMITS.compressed);
  const signature = await readIfThere(`${file}.sig`, MOST_SIGNATURE);
  const { manifest } = await readPack(archive);
  const { name, version } = manifest;
  const base = target.url.replace(/\/+$/, '');
  const send = advisedFetch(target.fetch ?? fetchFromHost(base, target.urlFrom), '');
  const response = await send(`${base}${PACKS_PATH}/${name}/-/${encodeURIComponent(version)}.tgz`, {
    method: 'PUT',
    body: Uint8Array.from(archive),
    headers: {
      'content-type': 'application/gzip',
      'x-pack-sha256': integrityOf(archive),
      'x-pack-signing-method': manifest.signing?.method ?? 'none',
      ...(target.key !== undefined && { authorization: `Bearer ${target.key}` }),
      ...(signature !== undefined && { [ARCHIVE_SIGNATURE_HEADER]: signature.toString('base64') }),
    },
  }).catch((cause: unknown) => {
    if (cause instanceof NoAnswer) throw unusable('host_unreachable', `No host answers at ${base}.`, cause);
    throw cause;
  });
  const text = await response.text();
  if (!response.ok) throw refusal(response.status, text, base);
  const isJson = /^application\/json\b/.test(response.headers.get('content-type') ?? '');
  if (!isJson || !isRecord(parseJsonText(base, text))) throw noRegistry(base);
  return {
    name,
    version,
    integrity: integrityOf(archive),
    signed: signature !== undefined,
    isNew: response.status === 201,
  };
}

function isRecord(body: Json): boolean {
  return isJsonObject(body) && typeof body['tarballSha256'] === 'string';
}

function refusal(status: number, text: string, base: string): Error {
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    return noRegistry(base);
  }
  if (!isJsonObject(body) || typeof body['error'] !== 'string') return noRegistry(base);
  const { error: code, message, details } = body;
  return new ApiError({
    status,
    code,
    message: typeof message === 'string' ? message : code,
    ...(isJsonObject(details ?? null) && { details: details as { readonly [name: string]: Json } }),
  });
}

function noRegistry(base: string): Error {
  return unusable(
    'no_registry',
    `${base} is no registry of packs. Its operator makes it one with: weft serve --registry`,
  );
}
