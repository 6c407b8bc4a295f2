import { randomUUID } from 'node:crypto';
import { isJsonObject, type JsonObject } from '@weft/protocol';
import { createHostClient, REQUEST_TIMEOUT_MS } from './host-client.ts';
import { HostFault } from './host-fault.ts';
import { createTrace } from './trace.ts';

/** No host to test, or none that takes the key. The message is for the person who gave the address. */
export class NoHost extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, { cause });
    this.name = 'NoHost';
  }
}

export interface FindOptions {
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
}

/** Looks before anything else runs: is this a host, and does it take the key? Returns its discovery document. */
export async function findHost(
  url: string,
  key: string | undefined,
  { timeoutMs = REQUEST_TIMEOUT_MS, signal }: FindOptions = {},
): Promise<JsonObject> {
  const limits = { timeoutMs, ...(signal === undefined ? {} : { signal }) };
  const host = createHostClient({ url, key, trace: createTrace(), ...limits });
  const discovery = await host
    .request('GET', '/.well-known/openwop', { key: null })
    .catch((error: unknown) => notFound(url, error));
  if (discovery.status !== 200 || !isJsonObject(discovery.json))
    throw new NoHost(
      `${url} answers, but not as an OpenWOP host: GET /.well-known/openwop gave ${discovery.status}` +
        `${isJsonObject(discovery.json) ? '' : ' and no JSON object'}.`,
    );
  await tryKey(url, key, limits);
  return discovery.json;
}

async function tryKey(url: string, key: string | undefined, limits: FindOptions): Promise<void> {
  if (key === undefined)
    throw new NoHost('No key: give --key-file FILE, or set WEFT_API_KEY (or OPENWOP_API_KEY).');
  const host = createHostClient({ url, key, trace: createTrace(), ...limits });
  const probe = await host
    .request('GET', `/v1/runs/${randomUUID()}`)
    .catch((error: unknown) => notFound(url, error));
  if (probe.status === 401)
    throw new NoHost(`The host at ${url} refuses the key (401). Give one that may create and read runs.`);
}

function notFound(url: string, error: unknown): never {
  const reason = error instanceof HostFault ? error.message : String(error);
  throw new NoHost(`No OpenWOP host at ${url}: ${reason}.`, error);
}
