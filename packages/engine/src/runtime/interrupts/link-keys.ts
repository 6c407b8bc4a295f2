import { HostError } from '@weft/protocol';
import type { Documents } from '../../ports/store.ts';
import type { Caller, Keys, LinkKey } from '../../host/host.ts';
import { auditOf } from '../audit/audit-entry.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Committer } from '../commits/committer.ts';
import { type RandomBytes, randomId } from '../runs/ids.ts';
import { errorFields, type Log } from '../../ports/log.ts';
import { HOST_TENANT } from '../outbox/subscriptions.ts';
import { deriveKey } from '../secrets/derived-keys.ts';
import { writeFailure } from '../commits/write-failure.ts';

/**
 * The keys that sign interrupt links. The store holds their ids, numbered without gap; the keys themselves are derived from
 * the secrets key, so a copy of the store signs nothing.
 *
 * Ids are random, not the numbers: after a restore the numbers begin again where the copy stood, and a key that was rotated
 * away must not come back with its number.
 */
export interface LinkKeys extends Pick<Keys, 'rotateLinks'> {
  readonly areOn: boolean;
  /** What to sign with; undefined where links are off. */
  current(): SigningKey | undefined;
  /** The secret of any id, valid or not; undefined when it is no id, or links are off. */
  secretOf(keyId: string): Uint8Array | undefined;
  /** Whether it is the current key or the one before it, as the store knows it now. */
  isValid(keyId: string): Promise<boolean>;
  start(): Promise<void>;
  stop(): void;
}

export interface SigningKey {
  readonly keyId: string;
  readonly secret: Uint8Array;
}

export interface LinkKeyDependencies {
  readonly store: Documents;
  readonly committer: Pick<Committer, 'submit'>;
  readonly clock: Clock;
  readonly random: RandomBytes;
  readonly log: Log;
  readonly secretsKey: Uint8Array | undefined;
  readonly refreshMs: number;
}

const COLLECTION = 'link-key';
const KEY_ID = /^[A-Za-z0-9_-]{22}$/;

interface NumberedKey extends LinkKey {
  readonly number: number;
}

export function createLinkKeys(dependencies: LinkKeyDependencies): LinkKeys {
  const { store, committer, clock, random, log, secretsKey, refreshMs } = dependencies;
  let signing: SigningKey | undefined;
  let timer: NodeJS.Timeout | undefined;

  /** The two that are valid, newest first. */
  async function read(): Promise<readonly NumberedKey[]> {
    const { rows } = await store.listDocuments(HOST_TENANT, COLLECTION, '', { limit: 2 });
    const keys = rows.map(({ id, body }) => ({ ...(JSON.parse(body) as LinkKey), number: Number(id) }));
    const [current] = keys;
    if (current !== undefined && current.keyId !== signing?.keyId) use(current.keyId);
    return keys;
  }

  function use(keyId: string): void {
    const secret = secretOf(keyId);
    signing = secret && { keyId, secret };
  }

  /** Written only where there is none of this number yet, so that of two processes one is first. */
  async function write(number: number, caller?: Caller): Promise<LinkKey | undefined> {
    const now = clock.now();
    const key: LinkKey = { keyId: randomId(random), since: now };
    const result = await committer.submit({
      kind: 'document',
      batchId: randomId(random),
      tenant: HOST_TENANT,
      collection: COLLECTION,
      scope: '',
      id: String(number),
      // Lists are ordered by it; a clock that steps back must not change which is the newest.
      at: number,
      body: JSON.stringify(key),
      onlyNew: true,
      ...(caller !== undefined && {
        audit: [auditOf(caller, { at: now, action: 'keys.links.rotate', target: key.keyId })],
      }),
    });
    if (result.state === 'refused' && result.reason === 'document_exists') return undefined;
    if (result.state !== 'committed') throw writeFailure(result);
    use(key.keyId);
    return key;
  }

  function secretOf(keyId: string): Uint8Array | undefined {
    return secretsKey === undefined || !KEY_ID.test(keyId)
      ? undefined
      : deriveKey(secretsKey, `weft/links/${keyId}`);
  }

  return {
    areOn: secretsKey !== undefined,
    current: () => signing,
    secretOf,
    isValid: async (keyId) => (await read()).some((key) => key.keyId === keyId),
    async rotateLinks(caller) {
      if (secretsKey === undefined) throw linksAreOff();
      const [current] = await read();
      const key = await write((current?.number ?? 0) + 1, caller);
      if (key === undefined)
        throw new HostError(
          'conflict',
          'The link key was rotated at the same moment. Rotate again if needed.',
        );
      return { ...key, ...(current !== undefined && { previousKeyId: current.keyId }) };
    },
    async start() {
      if (secretsKey === undefined) return;
      if ((await read()).length === 0 && (await write(1)) === undefined) await read();
      timer = setInterval(() => {
        read().catch((error: unknown) => log('warn', errorFields(error), 'reading the link keys failed'));
      }, refreshMs);
      timer.unref();
    },
    stop: () => clearInterval(timer),
  };
}

export function linksAreOff(): HostError {
  return new HostError(
    'capability_not_provided',
    'This host has no secrets key to sign interrupt links with. Start it with WEFT_SECRETS_KEY or a key file.',
    { capability: 'links' },
  );
}
