import { isTerminalStatus, type RunStatus } from '../core/run-state.ts';
import type { RunRow } from '../store.ts';

/** A run whose cancel is accepted and not yet carried out is `cancelling`; that is never stored. */
export function shownStatus(status: RunStatus, pending: RunRow['pendingCommands']): RunStatus | 'cancelling' {
  return !isTerminalStatus(status) && pending.includes('cancel') ? 'cancelling' : status;
}
