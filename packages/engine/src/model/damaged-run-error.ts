import { HostError } from '@weft/protocol';

/**
 * What the store holds of a run is not what was written: its checksum does not match. Thrown to the reader of the row; the run is
 * quarantined, and nothing else is affected.
 */
export class DamagedRunError extends HostError {
  readonly runId: string;
  /** The damaged event; undefined when it is the creation record, or what waits for the run. */
  readonly sequence: number | undefined;

  constructor(runId: string, sequence: number | undefined, message?: string) {
    const what = sequence === undefined ? 'The record' : `Event ${sequence}`;
    super(
      'run_damaged',
      message ??
        `${what} of run ${runId} is damaged in the store. Restore a backup, or cancel the run; "weft doctor --deep" lists all damage.`,
      { runId, ...(sequence !== undefined && { sequence }) },
    );
    this.name = 'DamagedRunError';
    this.runId = runId;
    this.sequence = sequence;
  }
}

/** The event was written by a program that knows more of its type. The run is quarantined here, and can be read there. */
export class LogFormatError extends DamagedRunError {
  constructor(runId: string, sequence: number, type: string, format: unknown) {
    super(
      runId,
      sequence,
      `Event ${sequence} of run ${runId} is a ${type} of format ${String(format)}, which this version cannot read. Use the version that wrote it, or a newer one.`,
    );
    this.name = 'LogFormatError';
  }
}
