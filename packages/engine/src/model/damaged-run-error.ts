import { HostError } from '@weft/protocol';

/**
 * What the store holds of a run is not what was written: its checksum does not match. Thrown by whoever reads the row; the run is
 * quarantined, and nothing else is affected.
 */
export class DamagedRunError extends HostError {
  readonly runId: string;
  /** The damaged event; undefined when it is the creation record, or what waits for the run. */
  readonly sequence: number | undefined;

  constructor(runId: string, sequence: number | undefined) {
    const what = sequence === undefined ? 'The record' : `Event ${sequence}`;
    super(
      'run_damaged',
      `${what} of run ${runId} is damaged in the store. Restore a backup, or cancel the run; "weft doctor --deep" lists all damage.`,
      { runId, ...(sequence !== undefined && { sequence }) },
    );
    this.name = 'DamagedRunError';
    this.runId = runId;
    this.sequence = sequence;
  }
}
