import type { RunEventDocument } from '@weft/sdk';
import { payloadChanges, placeOf } from './event-text.ts';

/** Events that belong together by what they are about; alone where the other side has no counterpart. */
export interface AlignedPair {
  readonly aEvent?: RunEventDocument;
  readonly bEvent?: RunEventDocument;
}

/**
 * Pairs events by node (and iteration), type and occurrence, whatever their sequence, and gives the pairs that differ. An event
 * too many shifts nothing here. This is not the protocol's comparison, which goes by sequence alone.
 *
 * Order: that of a, with the events that only b has in between, where b has them.
 */
export function alignByNode(a: readonly RunEventDocument[], b: readonly RunEventDocument[]): AlignedPair[] {
  const byIdentity = new Map(named(b));
  const pairs: AlignedPair[] = [];
  const partners = new Set<RunEventDocument>();
  const partnerOf = new Map<RunEventDocument, RunEventDocument>();
  for (const [identity, aEvent] of named(a)) {
    const bEvent = byIdentity.get(identity);
    if (bEvent === undefined) continue;
    partnerOf.set(aEvent, bEvent);
    partners.add(bEvent);
  }

  let next = 0;
  const takeLonely = (until: RunEventDocument | undefined): void => {
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
    if (payloadChanges(aEvent, bEvent).length > 0) pairs.push({ aEvent, bEvent });
  }
  takeLonely(undefined);
  return pairs;
}

/** Each event under a name that it shares with its counterpart in another run. */
function named(events: readonly RunEventDocument[]): [string, RunEventDocument][] {
  const seen = new Map<string, number>();
  return events.map((event) => {
    const kind = `${placeOf({ aEvent: event })} ${event.type}`;
    const occurrence = seen.get(kind) ?? 0;
    seen.set(kind, occurrence + 1);
    return [`${kind}#${occurrence}`, event];
  });
}
