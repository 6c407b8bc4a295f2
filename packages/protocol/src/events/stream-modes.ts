import { HostError } from '../errors/errors.ts';
import { eventType } from './event-catalogue.ts';
import { STREAM_MODES, type StreamMode } from './stream-mode-names.ts';

export const DEFAULT_STREAM_MODE: StreamMode = 'updates';

/** `values` replaces events by snapshots, so it stands alone. */
export function parseStreamModes(text: string | undefined): readonly StreamMode[] {
  if (text === undefined) return [DEFAULT_STREAM_MODE];
  const modes = new Set<StreamMode>();
  for (const name of text.split(',')) {
    const mode = STREAM_MODES.find((known) => known === name);
    if (mode === undefined) throw unsupported('streamMode holds a mode this host does not know');
    modes.add(mode);
  }
  if (modes.has('values') && modes.size > 1)
    throw unsupported('streamMode "values" cannot be mixed with others');
  return [...modes];
}

/** True when an event of this type is shown in one of the modes. Types outside the catalogue are for `debug` only. */
export function admits(modes: readonly StreamMode[], type: string): boolean {
  const known = eventType(type);
  return modes.some((mode) => (known === undefined ? mode === 'debug' : known.modes.includes(mode)));
}

/** True when a `values` stream sends a snapshot after an event of this type. */
export function triggersSnapshot(type: string): boolean {
  return eventType(type)?.modes.includes('values') ?? false;
}

function unsupported(problem: string): HostError {
  return new HostError('unsupported_stream_mode', `${problem}; use one of ${STREAM_MODES.join(', ')}.`, {
    supported: [...STREAM_MODES],
  });
}
