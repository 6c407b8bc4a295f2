import { DIFF_EXCLUDED_NAMES, isJsonObject, type Json } from '@weft/protocol/plain';
import { type FieldChange, fieldChanges } from './field-changes.ts';

/** What pairing reads of an event, on whichever side. */
export interface AlignableEvent {
  readonly type: string;
  readonly payload: Json;
  readonly nodeId?: string;
}

/** Events that belong together by what they are about; alone where the other side has no counterpart. */
export interface AlignedPair<Event extends AlignableEvent> {
  readonly aEvent?: Event;
  readonly bEvent?: Event;
}

/**
 * Pairs events by node (and iteration), type and occurrence, whatever their sequence, and gives all pairs. An event too many
 * shifts nothing here. This is not the protocol's comparison, which goes by sequence alone.
 *
 * Order: that of a, with the events that only b has in between, where b has them.
 */
export function pairByNode<Event extends AlignableEvent>(
  a: readonly Event[],
  b: readonly Event[],
): AlignedPair<Event>[] {
  const byIdentity = new Map(named(b));
  const pairs: AlignedPair<Event>[] = [];
  const partners = new Set<Event>();
  const partnerOf = new Map<Event, Event>();
  for (const [identity, aEvent] of named(a)) {
    const bEvent = byIdentity.get(identity);
    if (bEvent === undefined) continue;
    partnerOf.set(aEvent, bEvent);
    partners.add(bEvent);
  }

  let next = 0;
  const takeLonely = (until: Event | undefined): void => {
    for (; next < b.length && b[next] !== until; next += 1) {
      const bEvent = b[next];
      if (bEvent !== undefined && !partners.has(bEvent)) pairs.push({ bEvent });
    }
  };
  const placeInB = new Map(b.map((event, index) => [event, index]));
  for (const aEvent of a) {
    const bEvent = partnerOf.get(aEvent);
    if (bEvent === undefined) {
      pairs.push({ aEvent });
      continue;
    }
    // A partner that lies behind was passed already; one ahead brings what stands before it.
    if ((placeInB.get(bEvent) ?? 0) >= next) takeLonely(bEvent);
    pairs.push({ aEvent, bEvent });
  }
  takeLonely(undefined);
  return pairs;
}

/** The pairs that differ. */
export function alignByNode<Event extends AlignableEvent>(
  a: readonly Event[],
  b: readonly Event[],
): AlignedPair<Event>[] {
  return pairByNode(a, b).filter(
    ({ aEvent, bEvent }) =>
      aEvent === undefined || bEvent === undefined || payloadChanges(aEvent, bEvent).length > 0,
  );
}

/** The fields in which two payloads differ, without those that do not count. */
export function payloadChanges(a: AlignableEvent, b: AlignableEvent): readonly FieldChange[] {
  return fieldChanges(compared(a.payload), compared(b.payload));
}

function compared(payload: Json): Json {
  if (!isJsonObject(payload)) return payload;
  const members = Object.entries(payload).filter(([name]) => !DIFF_EXCLUDED_NAMES.has(name));
  return Object.fromEntries(members);
}

/** `work`, or `work[2][0]` inside loops; undefined for what is of the run itself. */
export function placeOf({ nodeId, payload }: AlignableEvent): string | undefined {
  const { nodeId: named, iteration } = isJsonObject(payload) ? payload : {};
  const node = nodeId ?? (typeof named === 'string' ? named : undefined);
  if (node === undefined) return undefined;
  return node + (Array.isArray(iteration) ? iteration.map((index) => `[${String(index)}]`).join('') : '');
}

/** Each event under a name that it shares with its counterpart in another run. */
function named<Event extends AlignableEvent>(events: readonly Event[]): [string, Event][] {
  const seen = new Map<string, number>();
  return events.map((event) => {
    const kind = `${placeOf(event)} ${event.type}`;
    const occurrence = seen.get(kind) ?? 0;
    seen.set(kind, occurrence + 1);
    return [`${kind}#${occurrence}`, event];
  });
}
