import type { TaskError } from '@weft/protocol/plain';

export interface NodeErrorOptions {
  /** Whether another attempt may succeed; false when absent. The node's retry settings say how many there are. */
  readonly retryable?: boolean | undefined;
  /** The next attempt begins no sooner. */
  readonly retryAfterMs?: number | undefined;
  /** JSON; recorded in the run's events. */
  readonly details?: Readonly<Record<string, unknown>> | undefined;
  readonly cause?: unknown;
}

const CODE = /^[a-z][a-z0-9_]{0,63}$/;

/** Ends an attempt of a node with a code of the author's choice. Any other error ends it with the code `node_failed`. */
export class NodeError extends Error {
  readonly code: string;
  readonly retryable: boolean;
  readonly retryAfterMs: number | undefined;
  readonly details: Readonly<Record<string, unknown>> | undefined;

  constructor(code: string, message: string, options: NodeErrorOptions = {}) {
    if (!CODE.test(code)) {
      throw new TypeError(
        `The code of a NodeError is lower case letters, digits and underscores, such as card_declined, not "${code}" (${message}).`,
      );
    }
    const { retryAfterMs } = options;
    if (retryAfterMs !== undefined && !(Number.isSafeInteger(retryAfterMs) && retryAfterMs >= 0)) {
      throw new TypeError(
        `retryAfterMs of a NodeError is a whole number of milliseconds, not ${String(retryAfterMs)} (${message}).`,
      );
    }
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'NodeError';
    this.code = code;
    this.retryable = options.retryable ?? false;
    this.retryAfterMs = retryAfterMs;
    this.details = options.details;
  }
}

/** Also of another copy of this package: the author's project may have its own. */
export function isNodeError(error: unknown): error is NodeError {
  return (
    error instanceof Error && error.name === 'NodeError' && 'code' in error && typeof error.code === 'string'
  );
}

/** Why a function must stop, as the reason of its signal. */
export const STOP_REASONS = {
  cancelled: 'The run was cancelled.',
  timeout: 'The attempt has reached its timeout.',
  lease_lost: 'The worker has lost its lease; another one may have the task.',
  shutdown: 'The worker is stopping.',
} as const;

export type StopReason = keyof typeof STOP_REASONS;

export function stopError(reason: StopReason): NodeError {
  return new NodeError(reason, STOP_REASONS[reason], { retryable: reason !== 'cancelled' });
}

export const LONGEST_MESSAGE = 8_192;

/** What is reported of whatever a function has thrown. */
export function taskErrorOf(thrown: unknown): TaskError {
  if (isNodeError(thrown)) {
    const details = thrown.details === undefined ? undefined : plainObject(thrown.details);
    return {
      code: CODE.test(thrown.code) ? thrown.code : 'node_failed',
      message: messageOf(thrown.message, thrown.code),
      ...(thrown.retryable && { retryable: true }),
      ...(typeof thrown.retryAfterMs === 'number' && { retryAfterMs: thrown.retryAfterMs }),
      ...(details !== undefined && { details }),
    };
  }
  if (!(thrown instanceof Error)) {
    return { code: 'node_failed', message: messageOf(textOf(thrown), 'no message') };
  }
  const at = ownLine(thrown.stack);
  return {
    code: 'node_failed',
    message: messageOf(thrown.message, thrown.name),
    details: { name: thrown.name.slice(0, 128), ...(at !== undefined && { at }) },
  };
}

function messageOf(message: string, fallback: string): string {
  return (message === '' ? fallback : message).slice(0, LONGEST_MESSAGE);
}

function textOf(thrown: unknown): string {
  try {
    return String(thrown);
  } catch {
    return 'a value that cannot be shown';
  }
}

function plainObject(details: Readonly<Record<string, unknown>>): TaskError['details'] {
  try {
    return JSON.parse(JSON.stringify(details)) as TaskError['details'];
  } catch {
    return { unreadable: 'The details of this error are not JSON.' };
  }
}

/** Frames of Node, of packages and of this one say little to the author of a function. */
const NOT_OWN = /\bnode:|<anonymous>|[\\/]node_modules[\\/]|[\\/]packages[\\/]sdk[\\/](src|dist)[\\/]/;
const PLACE = /(?:file:\/\/)?((?:[A-Za-z]:)?[^\s()]*:\d+:\d+)\)?$/;
const MOST_FRAMES = 50;

/** FILE:LINE:COLUMN of the first frame in code of the author. */
export function ownLine(stack: string | undefined): string | undefined {
  for (const line of (stack ?? '').split('\n', MOST_FRAMES)) {
    const frame = /^\s+at (.*)$/.exec(line)?.[1];
    if (frame === undefined || NOT_OWN.test(frame)) continue;
    const place = PLACE.exec(frame)?.[1];
    if (place !== undefined) return place;
  }
  return undefined;
}
