import { AuditAnchorError } from '@weft/engine';
import { isHostError } from '@weft/protocol/plain';
import { CliError, EXIT, unusable } from '../exit-code.ts';

/** A store that fails while the host starts is no defect of the host: its supervisor starts it again. */
export function startFailure(error: unknown, place: string): unknown {
  if (error instanceof AuditAnchorError) return notAnchored(error, place);
  if (!isHostError(error, 'service_unavailable')) return error;
  const why = error.details?.['cause'] === 'store_full' ? 'it has no room left' : 'it did not answer';
  return unusable(
    'store_unusable',
    `${place} could not be used at the start: ${why}. Start the host again.`,
    error,
  );
}

function notAnchored(error: AuditAnchorError, place: string): CliError {
  const ways = [
    `Put the right database back into ${place}`,
    'or, if this database is the right one: weft audit reanchor --reason TEXT',
  ].join('; ');
  return new CliError(EXIT.unmet, 'audit_log_not_anchored', `${error.message} ${ways}`, { cause: error });
}
