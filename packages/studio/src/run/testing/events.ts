import type { Json } from '@weft/protocol/plain';
import type { RunEventDocument } from '@weft/sdk';

const START = Date.UTC(2026, 0, 1);

/** An event a tenth of a second after the one before it. */
export function event(sequence: number, type: string, nodeId?: string, payload: Json = {}): RunEventDocument {
  return {
    eventId: `r:${sequence}`,
    runId: 'r',
    sequence,
    type,
    payload,
    timestamp: new Date(START + sequence * 100).toISOString(),
    ...(nodeId !== undefined && { nodeId }),
  };
}

export function log(
  ...facts: readonly [type: string, nodeId?: string | undefined, payload?: Json][]
): RunEventDocument[] {
  return facts.map(([type, nodeId, payload], sequence) => event(sequence, type, nodeId, payload));
}

/** When the event with this sequence happened. */
export function timeOf(sequence: number): number {
  return START + sequence * 100;
}
