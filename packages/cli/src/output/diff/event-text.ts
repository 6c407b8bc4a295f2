import { type FieldChange, fieldChanges } from '@weft/engine/compare';
import { type Json, type JsonObject, isJsonObject } from '@weft/protocol/plain';
import type { EventDifferenceDocument, RunEventDocument } from '@weft/sdk';
import { nodeKeyOf } from '../run-progress.ts';
import { visibleText } from '../terminal-text.ts';

/** A value in one line of at most this many characters. */
export function valueText(value: Json | undefined, width: number): string {
  if (value === undefined) return '(absent)';
  const text = visibleText(JSON.stringify(value));
  return text.length <= width ? text : `${text.slice(0, Math.max(1, width - 1))}…`;
}

/** What the events of a difference belong to; both names where the sides do not agree. */
export function placeOf({ aEvent, bEvent }: Pick<EventDifferenceDocument, 'aEvent' | 'bEvent'>): string {
  const names = [aEvent, bEvent].flatMap((event) => (event === undefined ? [] : [nodeOf(event)]));
  return [...new Set(names)].join(' | ');
}

const THE_RUN = 'the run itself';

function nodeOf(event: RunEventDocument): string {
  const payload = isJsonObject(event.payload) ? event.payload : {};
  const hasNode = event.nodeId !== undefined || Object.hasOwn(payload, 'nodeId');
  return hasNode ? `node ${visibleText(nodeKeyOf(event, payload))}` : THE_RUN;
}

export function typeText({ aEvent, bEvent }: Pick<EventDifferenceDocument, 'aEvent' | 'bEvent'>): string {
  const types = [aEvent, bEvent].flatMap((event) => (event === undefined ? [] : [visibleText(event.type)]));
  return [...new Set(types)].join(' → ');
}

/** A state difference is given as whole values of both sides; what a person wants to see are the fields in which they differ. */
export function stateChanges(stateDiff: JsonObject): readonly FieldChange[] {
  return Object.entries(stateDiff).flatMap(([name, sides]) => {
    if (!isJsonObject(sides)) return [];
    return fieldChanges(sides['a'], sides['b'], name);
  });
}
