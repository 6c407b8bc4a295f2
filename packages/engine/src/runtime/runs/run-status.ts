import { toIso } from '@weft/protocol';
import { isTerminalStatus, type RunStatus } from '../../model/run-state.ts';
import type { RunRow } from '../../ports/store.ts';

/** Since when, and why, no one works on the run; undefined for every other one. */
export function quarantineOf({ head, suspicion }: RunRow): { since: string; reason: string } | undefined {
  if (suspicion?.quarantinedAt === undefined || isTerminalStatus(head.status)) return undefined;
  return { since: toIso(suspicion.quarantinedAt), reason: suspicion.reason };
}

/** A run whose cancel is accepted and not yet carried out is `cancelling`; that is never stored. */
export function shownStatus(status: RunStatus, pending: RunRow['pendingCommands']): RunStatus | 'cancelling' {
  return !isTerminalStatus(status) && pending.includes('cancel') ? 'cancelling' : status;
}

/** Nothing more will happen to it: it has ended, or it was imported. */
export function isOver({ head, record }: RunRow): boolean {
  return isTerminalStatus(head.status) || record.imported !== undefined;
}
