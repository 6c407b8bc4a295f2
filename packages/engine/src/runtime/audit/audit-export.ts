import type { KeyObject } from 'node:crypto';
import { HostError, type Json, type JsonObject } from '@weft/protocol';
import { publicKeyText } from '../../crypto/ed25519.ts';
import type { Audit, AuditExportPage } from '../../host/host.ts';
import { type AuditCollection, type AuditLog, CHECKPOINTS, LINKS } from './audit-log.ts';

const EXPORTED_ENTRIES = 500;
const EXPORTED_DOCUMENTS = 20;

/** The audit log as lines, page by page, to be verified elsewhere. */
export function createAuditExport(auditLog: AuditLog, publicKey: KeyObject | undefined): Audit['export'] {
  /** Checkpoints first, then links, then entries: what comes later covers all that came before it. */
  async function page(cursor: string | undefined): Promise<AuditExportPage> {
    const { phase, from } = cursorOf(cursor);
    switch (phase) {
      case 'checkpoint': {
        const first = await documents('checkpoint', CHECKPOINTS, from);
        if (cursor !== undefined) return first;
        const head = {
          kind: 'head',
          format: 'weft-audit',
          version: 2,
          publicKey: publicKey ? publicKeyText(publicKey) : null,
        };
        return { ...first, lines: [head, ...first.lines] };
      }
      case 'batch':
        return documents('batch', LINKS, from);
      case 'entry': {
        const entries = await auditLog.entries(from, EXPORTED_ENTRIES);
        const newest = entries.at(-1);
        return {
          lines: entries.map((entry) => ({ kind: 'entry', ...entry })),
          ...(newest !== undefined && { nextCursor: `entry.${newest.id + 1}` }),
        };
      }
    }
  }

  async function documents(
    kind: 'checkpoint' | 'batch',
    collection: AuditCollection,
    from: number,
  ): Promise<AuditExportPage> {
    const last = await auditLog.last(collection);
    const until = Math.min(last + 1, from + EXPORTED_DOCUMENTS);
    const lines: JsonObject[] = [];
    for (let number = from; number < until; number += 1) {
      const found = await auditLog[kind](number);
      lines.push(
        found === undefined
          ? { kind: 'unreadable', collection, number }
          : { kind, ...(found as unknown as Record<string, Json>) },
      );
    }
    const next = kind === 'checkpoint' ? 'batch.0' : `entry.${Number.MIN_SAFE_INTEGER}`;
    return { lines, nextCursor: until > last ? next : `${kind}.${until}` };
  }

  return page;
}

function cursorOf(cursor: string | undefined): { phase: 'checkpoint' | 'batch' | 'entry'; from: number } {
  const [, phase, from] = /^(checkpoint|batch|entry)\.(-?\d{1,16})$/.exec(cursor ?? 'checkpoint.0') ?? [];
  if (phase === 'checkpoint' || phase === 'batch' || phase === 'entry') return { phase, from: Number(from) };
  throw new HostError(
    'validation_error',
    'The parameter "cursor" must be the nextCursor of the page before.',
    {
      field: 'cursor',
    },
  );
}
