import type { StoredEvent } from '../../ports/store.ts';

/**
 * The overlay of a stored event, which only the host reads: the letter of its unit's cause where it is the first event of a commit unit,
 * then the payload before masking, as JSON, where masking changed something.
 *
 * F-14. Every unit but a run's first has a cause, so an event with a cause is exactly where a unit begins. `run.started` needs none.
 * F-15. A cause is the input that recorded the unit's first event; what the input brought with it is read from the unit's events.
 */
const LETTERS = {
  continue: 't',
  recovered: 'r',
  forked: 'f',
  outcome: 'o',
  progress: 'p',
  'child-created': 'n',
  cancel: 'x',
  pause: 'h',
  resume: 'u',
  resolve: 'a',
  child: 'c',
  channel: 'w',
} as const;

export type CauseType = 'start' | keyof typeof LETTERS;

export interface Cause {
  readonly type: CauseType;
  /** Other commands waited, so timers were not looked at. */
  readonly commandsWait: boolean;
}

const WAITING = '+';

const TYPES: ReadonlyMap<string, CauseType> = new Map(
  (Object.keys(LETTERS) as (keyof typeof LETTERS)[]).map((type) => [LETTERS[type], type]),
);

export function causeText(type: CauseType, commandsWait = false): string {
  if (type === 'start') return '';
  return commandsWait ? LETTERS[type] + WAITING : LETTERS[type];
}

/** Undefined inside a unit. */
export function causeOf({ type, overlay }: StoredEvent): Cause | undefined {
  const text = overlay === undefined ? '' : overlay.slice(0, payloadAt(overlay));
  const commandsWait = text.endsWith(WAITING);
  const known = TYPES.get(commandsWait ? text.slice(0, -1) : text);
  if (known !== undefined) return { type: known, commandsWait };
  return type === 'run.started' ? { type: 'start', commandsWait } : undefined;
}

/** The payload before masking, as JSON; undefined where that is the public one. */
export function privatePayload({ overlay }: StoredEvent): string | undefined {
  if (overlay === undefined) return undefined;
  const at = payloadAt(overlay);
  return at === overlay.length ? undefined : overlay.slice(at);
}

/** The same event with another payload before masking, as JSON; with the cause it has. */
export function withPrivatePayload(event: StoredEvent, payload: string): StoredEvent {
  const { overlay = '' } = event;
  return { ...event, overlay: overlay.slice(0, payloadAt(overlay)) + payload };
}

/** No cause holds a brace. */
function payloadAt(overlay: string): number {
  const at = overlay.indexOf('{');
  return at === -1 ? overlay.length : at;
}
