/**
 * Compares runs by their logs: the protocol's strict comparison by sequence, and the pairing by node, type and occurrence.
 * Pure, and without schemas, so that it runs in a browser.
 */
export { canonicalText } from '../json/canonical-text.ts';
export {
  type AlignableEvent,
  type AlignedPair,
  alignByNode,
  pairByNode,
  payloadChanges,
  placeOf,
} from './align.ts';
export { type EventDifference, findDivergence, type LogPages } from './diff-events.ts';
export { type FieldChange, fieldChanges } from './field-changes.ts';
export type { LogEvent } from './same-event.ts';
export { stateDiff } from './state-diff.ts';
