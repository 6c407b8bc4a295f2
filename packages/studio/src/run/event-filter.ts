import { placeOf } from '@weft/engine/compare';
import type { RunEventDocument } from '@weft/sdk';

export interface EventFilter {
  /** Part of a type, such as `node.` or `failed`. */
  readonly type: string;
  /** Part of a node's name. */
  readonly node: string;
}

/** Places in the log of the events that match, up to a place. */
export function matchingEvents(
  events: readonly RunEventDocument[],
  filter: EventFilter,
  upTo: number,
): number[] {
  const type = filter.type.trim().toLowerCase();
  const node = filter.node.trim().toLowerCase();
  const found: number[] = [];
  for (let index = 0; index <= Math.min(upTo, events.length - 1); index += 1) {
    const event = events[index];
    if (event === undefined) continue;
    if (type !== '' && !event.type.toLowerCase().includes(type)) continue;
    if (node !== '' && !(placeOf(event) ?? '').toLowerCase().includes(node)) continue;
    found.push(index);
  }
  return found;
}

/** The request that reads this event, for a shell. The key is a variable of the shell: it is never copied. */
export function curlOf(
  host: string,
  { runId, sequence }: Pick<RunEventDocument, 'runId' | 'sequence'>,
): string {
  const after = sequence === 0 ? '' : `lastSequence=${sequence - 1}&`;
  const address = `${host}/v1/runs/${encodeURIComponent(runId)}/events/poll?${after}limit=1&timeout=1`;
  return `curl -H "Authorization: Bearer $WEFT_API_KEY" '${address}'`;
}
