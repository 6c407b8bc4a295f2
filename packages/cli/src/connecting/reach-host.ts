import { isJsonObject, pathOf } from '@weft/protocol/plain';
import { ApiError, type Fetch } from '@weft/sdk';

const PATIENCE_MS = 30_000;
const MISDIRECTED = 421;

/** No connection came about. Its message ends the sentence "No host answers at URL". */
export class NoAnswer extends Error {}

/** The same fetch, whose failed connections say what a person can do about them. */
export function advisedFetch(send: Fetch, advice: string): Fetch {
  return async (target, init) => {
    try {
      return await send(target, init);
    } catch (cause) {
      // What fetch throws when there is no answer.
      throw cause instanceof TypeError ? new NoAnswer(advice, { cause }) : cause;
    }
  };
}

/** Asks what listens there before the first request: a server that is no OpenWOP host gets neither the request nor the key. */
export function fetchFromHost(base: string, urlFrom: string): Fetch {
  let known: Promise<void> | undefined;
  return async (target, init) => {
    known ??= assertHost(base, urlFrom).catch((error: unknown) => {
      known = undefined;
      throw error;
    });
    await known;
    return fetch(target, init);
  };
}

async function assertHost(base: string, urlFrom: string): Promise<void> {
  const { status, text } = await discovery(base);
  if (isFromHost(status, text)) return;
  throw new ApiError({
    status: MISDIRECTED,
    code: 'not_a_host',
    message: `${base} is not an OpenWOP host: it has no discovery document. The address comes from ${urlFrom}; name another with --url or WEFT_URL.`,
  });
}

async function discovery(base: string): Promise<{ status: number; text: string }> {
  try {
    const signal = AbortSignal.timeout(PATIENCE_MS);
    const response = await fetch(base + pathOf('getCapabilities'), { signal });
    return { status: response.status, text: await response.text() };
  } catch (cause) {
    if (!(cause instanceof DOMException)) throw cause;
    throw Object.assign(new TypeError('fetch failed', { cause }), { code: 'ETIMEDOUT' });
  }
}

/** A host that is busy or stopping says so in an envelope, and the request will get the same. */
function isFromHost(status: number, text: string): boolean {
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    return false;
  }
  if (!isJsonObject(body)) return false;
  const isBusy = status === 429 || status >= 500;
  return isBusy ? typeof body['error'] === 'string' : typeof body['protocolVersion'] === 'string';
}
