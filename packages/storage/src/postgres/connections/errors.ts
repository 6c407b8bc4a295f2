import { HostError } from '@weft/protocol';
import postgres from 'postgres';

/** Why a database could not be opened as a store. Shown to the person who started the host, never to a client. */

export class SchemaTooNewError extends Error {
  readonly found: number;
  readonly supported: number;

  constructor(schema: string, found: number, supported: number) {
    super(
      `The schema "${schema}" of the database has version ${found}, but this program knows versions up to ${supported}. ` +
        'Upgrade the program, or restore a backup made before the schema was upgraded.',
    );
    this.name = 'SchemaTooNewError';
    this.found = found;
    this.supported = supported;
  }
}

export class UnsafeDatabaseError extends Error {
  constructor(what: string, wayOut: string) {
    super(`${what}; an acknowledged write could be lost or changed. ${wayOut}`);
    this.name = 'UnsafeDatabaseError';
  }
}

const RETRY_AFTER_SECONDS = 2;

/**
 * The connection is gone, or none could be made. Pending statements ended without an answer. A client whose request only
 * reads is asked to retry, not answered with a failure of the host.
 */
export class ConnectionLostError extends HostError {
  /** For the person who runs the host. */
  readonly reason: string;

  constructor(reason: string, cause?: unknown) {
    super(
      'service_unavailable',
      'The database cannot be reached at the moment. Send the request again.',
      { cause: 'store_unavailable', retryAfter: RETRY_AFTER_SECONDS },
      { retryAfter: RETRY_AFTER_SECONDS, ...(cause !== undefined && { cause }) },
    );
    this.name = 'ConnectionLostError';
    this.reason = reason;
  }
}

/** What an error means for the group it happened to: whether it is known that nothing of it was written, and what to do. */
export type Meaning = 'full' | 'again' | 'lost' | 'mistake';

const FULL = '53100';

const UNIQUE_VIOLATION = '23505';

/** Unique violation (another process was faster), serialization, deadlock, lock and statement timeout. */
const AGAIN = new Set([UNIQUE_VIOLATION, '40001', '40P01', '55P03', '57014']);

export function meaningOf(error: unknown): Meaning {
  if (error instanceof ConnectionLostError) return 'lost';
  if (!isServerError(error)) return 'mistake';
  if (error.code === FULL) return 'full';
  return AGAIN.has(error.code) ? 'again' : 'mistake';
}

/** After every attempt: what the server does not take is in the units, not in what others do at the same time. */
export function isAboutUnits(error: unknown): boolean {
  if (isServerError(error) && error.code === UNIQUE_VIOLATION) return true;
  return meaningOf(error) === 'mistake';
}

/** An answer of the server that ends the transaction and nothing else; FATAL and PANIC end the connection. */
export function isServerError(error: unknown): error is postgres.PostgresError {
  return error instanceof postgres.PostgresError && error.severity === 'ERROR';
}

/** What the operating system, OpenSSL or Node call it; empty where they say nothing. */
export function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : '';
}

/** What OpenSSL calls the reasons for not trusting a certificate, and Node that of another name. */
export function isAboutTrust(error: unknown): boolean {
  return /CERT|CRL|LEAF_SIGNATURE|INVALID_(CA|PURPOSE)|PATH_LENGTH/.test(codeOf(error));
}
