import { HostError, type JsonObject } from '@weft/protocol';
import type { DeadLetter } from '../../host/host.ts';
import type { HostLimits } from '../../host/limits.ts';
import type { Documents, DocumentWrite, Listed, Page, StoredDocument } from '../../ports/store.ts';

/**
 * What a schedule or a trigger should have started and did not, with the reason, for a person to look at and to replay. The letter
 * is small; what was delivered stands next to it, so that a list reads only what it shows.
 */
export interface DeadLetters {
  /** The documents to write for a new one. Throws `dead_letters_full` when its source has as many as are kept. */
  write(tenant: string, letter: DeadLetter, content?: JsonObject): Promise<readonly DocumentWrite[]>;
  /** The documents to write when it is gone, replayed or given up. */
  removal(tenant: string, found: FoundLetter): readonly DocumentWrite[];
  find(tenant: string, source: string, id: string): Promise<FoundLetter | undefined>;
  list(tenant: string, source: string, page: Page): Promise<Listed<DeadLetter>>;
  isFull(tenant: string, source: string): Promise<boolean>;
}

export interface FoundLetter {
  readonly letter: DeadLetter;
  readonly version: string;
  readonly content?: JsonObject;
}

export interface DeadLetterDependencies {
  readonly store: Documents;
  readonly limits: Pick<HostLimits, 'maxDeadLetters' | 'deadLettersKeptMs'>;
}

export const LETTERS = 'dead-letter';
const CONTENTS = 'dead-letter-content';

export function createDeadLetters({ store, limits }: DeadLetterDependencies): DeadLetters {
  const place = (collection: string, tenant: string, scope: string, id: string) => ({
    tenant,
    collection,
    scope,
    id,
  });

  async function isFull(tenant: string, source: string): Promise<boolean> {
    const { rows } = await store.listDocuments(tenant, LETTERS, source, { limit: limits.maxDeadLetters });
    return rows.length >= limits.maxDeadLetters;
  }

  return {
    isFull,
    async write(tenant, letter, content) {
      const { source, id, at } = letter;
      if (await isFull(tenant, source)) {
        throw new HostError(
          'dead_letters_full',
          `${source} has ${limits.maxDeadLetters} dead letters. Replay or remove them.`,
          { limit: limits.maxDeadLetters, source },
        );
      }
      const kept = { at, expiresAt: at + limits.deadLettersKeptMs };
      const body = JSON.stringify(letter);
      return [
        { ...place(LETTERS, tenant, source, id), body, ...kept },
        ...(content === undefined
          ? []
          : [{ ...place(CONTENTS, tenant, source, id), body: JSON.stringify(content), ...kept }]),
      ];
    },
    removal(tenant, { letter: { source, id, at }, version, content }) {
      return [
        { ...place(LETTERS, tenant, source, id), at, replaces: version },
        ...(content === undefined ? [] : [{ ...place(CONTENTS, tenant, source, id), at }]),
      ];
    },
    async find(tenant, source, id) {
      const found = await store.readDocument(place(LETTERS, tenant, source, id));
      if (found === undefined) return undefined;
      const content = await store.readDocument(place(CONTENTS, tenant, source, id));
      return {
        letter: letterFrom(found),
        version: found.version,
        ...(content !== undefined && { content: JSON.parse(content.body) as JsonObject }),
      };
    },
    async list(tenant, source, page) {
      const { rows, nextCursor } = await store.listDocuments(tenant, LETTERS, source, page);
      return { rows: rows.map(letterFrom), ...(nextCursor !== undefined && { nextCursor }) };
    },
  };
}

function letterFrom({ body }: StoredDocument): DeadLetter {
  return JSON.parse(body) as DeadLetter;
}
