import { isHostError } from '@weft/protocol/plain';
import { unusable } from '../exit-code.ts';

/** A store that fails while the host starts is no defect of the host: whoever looks after it starts it again. */
export function startFailure(error: unknown, place: string): unknown {
  if (!isHostError(error, 'service_unavailable')) return error;
  const why = error.details?.['cause'] === 'store_full' ? 'it has no room left' : 'it did not answer';
  return unusable(
    'store_unusable',
    `${place} could not be used at the start: ${why}. Start the host again.`,
    error,
  );
}
