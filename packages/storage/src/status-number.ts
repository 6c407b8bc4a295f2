import type { RunStatus } from '@weft/engine';

/** A status is stored as its place here; those from FIRST_TERMINAL on are the end of a run. The order is frozen. */
const STATUSES: readonly RunStatus[] = [
  'pending',
  'running',
  'paused',
  'waiting-approval',
  'waiting-input',
  'waiting-external',
  'completed',
  'failed',
  'cancelled',
];
export const FIRST_TERMINAL = STATUSES.indexOf('completed');

const STATUS_NUMBERS = new Map(STATUSES.map((status, number) => [status, number]));

export function statusNumber(status: RunStatus): number {
  const number = STATUS_NUMBERS.get(status);
  if (number === undefined) throw new TypeError(`There is no run status ${status}.`);
  return number;
}

/** An invalid number, which only damage can cause, is shown as what the store's own searches take it for. */
export function statusOf(number: number): RunStatus {
  return STATUSES[number] ?? (number < FIRST_TERMINAL ? 'pending' : 'failed');
}

export function isStatus(number: number): boolean {
  return STATUSES[number] !== undefined;
}
