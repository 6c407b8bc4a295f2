import type { Json } from '@weft/protocol';
import type { StoredEvent } from '../../ports/store.ts';
import { checkLog, type LogEntry, type LogRuleId } from '../fold/log-checker.ts';
import { isTerminalEvent } from '../../model/run-event.ts';
import { isTerminalStatus } from '../../model/run-state.ts';
import type { CooperativeTask } from '../json/cooperative-task.ts';
import { refuseBundle } from './refuse.ts';

/** What no host can have written: gaps, facts after the end, nodes that end without having begun. */
const IMPOSSIBLE: ReadonlySet<LogRuleId> = new Set(['L1', 'L4', 'L5', 'L6', 'L7', 'L8', 'L16']);

/** What our own logs never hold. Other hosts may count attempts and keep clocks in their own way. */
const NOT_OURS: ReadonlySet<LogRuleId> = new Set(['L2', 'L3', 'L9', 'L10', 'L17', 'L20']);

export interface LogClaims {
  /** The log is one of ours, unchanged. */
  readonly isOurs: boolean;
  /** What the bundle says about the run as a whole. */
  readonly status: string;
  /** The bundle says that it holds only the first part of the log. */
  readonly isCut: boolean;
}

/** Throws HostError `bundle_invalid` with the first event that cannot be. */
export function* checkEvents(
  events: readonly StoredEvent[],
  { isOurs, status, isCut }: LogClaims,
): CooperativeTask<void> {
  const entries: LogEntry[] = [];
  for (const { seq, type, at, nodeId, payload } of events) {
    yield;
    const entry = { sequence: seq, type, at, payload: JSON.parse(payload) as Json };
    entries.push(nodeId === undefined ? entry : { ...entry, nodeId });
  }
  const hasEnd = events.some(({ type }) => isTerminalEvent(type));
  const violation = checkLog(entries, { terminal: hasEnd }).find(
    ({ rule }) => IMPOSSIBLE.has(rule) || (isOurs && NOT_OURS.has(rule)),
  );
  if (violation !== undefined)
    throw refuseBundle(`/events/${violation.sequence}`, `${violation.message} (rule ${violation.rule}).`);
  if (!hasEnd && !isCut && isTerminalStatus(status))
    throw refuseBundle('/events', `the run is ${status}, but its log has no end and is not said to be cut.`);
}
