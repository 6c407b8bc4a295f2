import type { Json, JsonObject } from '@weft/protocol';
import { LogFormatError } from '../../model/damaged-run-error.ts';
import { asRunEvent, type EventType, type RunEvent } from '../../model/run-event.ts';
import type { StoredEvent } from '../../ports/store.ts';
import { privatePayload } from './overlay.ts';

/**
 * The one place where stored text becomes a typed event. It is taken at its word: this host wrote it (the store's checksums say so), or
 * an import let it in; of the latter the fold reads with care what decides anything, and types it does not know pass through.
 *
 * F-11. Every type has a format, which is 1 unless `FORMATS` says otherwise. It grows when a member that the fold reads changes its
 *       meaning or its name; new members do not make a new format.
 * F-12. An event of a format other than 1 carries it in its private payload, under `FORMAT`.
 * F-13. An older format is brought up to the present one here, so that nothing else knows of it. A newer one is refused: a host that
 *       does not know what an event means must not decide anything by it.
 */
const FORMAT = '@format';

interface Format {
  readonly newest: number;
  /** From any older format, which may be the same for logs that say nothing of it. */
  readonly upcast: (payload: JsonObject, format: number) => JsonObject;
}

const FORMATS: { readonly [Type in EventType]?: Format } & { readonly [type: string]: Format | undefined } = {
  'variable.changed': {
    newest: 1,
    // Version 0 had it only for variables set by child runs.
    upcast: (payload) =>
      payload['isInheritedSecret'] === undefined
        ? payload
        : { sensitive: payload['isInheritedSecret'], ...payload },
  },
};

export function fromStored(stored: StoredEvent, runId = ''): RunEvent {
  const { seq, at, type, nodeId, causeSeq } = stored;
  const text = privatePayload(stored);
  const overlay = text === undefined ? undefined : wholeOf(stored, text, runId);
  return asRunEvent({
    seq,
    at,
    type,
    payload: JSON.parse(stored.payload) as Json,
    ...(overlay !== undefined && { overlay }),
    ...(nodeId !== undefined && { nodeId }),
    ...(causeSeq !== undefined && { causeSeq }),
  });
}

function wholeOf({ seq, type }: StoredEvent, text: string, runId: string): JsonObject {
  const overlay = JSON.parse(text) as JsonObject;
  const known = FORMATS[type];
  const format = overlay[FORMAT] ?? 1;
  if (typeof format !== 'number' || format > (known?.newest ?? 1))
    throw new LogFormatError(runId, seq, type, format);
  return known === undefined ? overlay : known.upcast(overlay, format);
}
