import postgres from 'postgres';
import { ConnectionUrlError } from './connection-url.ts';
import {
  codeOf,
  ConnectionLostError,
  isAboutTrust,
  SchemaTooNewError,
  UnsafeDatabaseError,
} from './errors.ts';

/** What the server says, and what the person can do about it. By SQLSTATE. */
const REASONS: Readonly<Record<string, string>> = {
  '28P01': 'The server refuses the user name or the password. Correct them in the URL.',
  '28000':
    'The server does not let this user in from here. See pg_hba.conf, and in the URL the user name, sslmode and sslcert.',
  '3D000': 'The server has no database of this name. Create it, or name another one in the URL.',
  '42501':
    'The user may not create what the store needs. Create the schema for it (CREATE SCHEMA weft AUTHORIZATION …), or grant CREATE on the database.',
  '53300': 'The server has no connection left. Raise max_connections, or lower the host’s store-connections.',
  '57P03': 'The server is starting up or shutting down.',
};

/** Their messages are written for the person who starts the host. */
const SELF_EXPLAINING = [SchemaTooNewError, UnsafeDatabaseError, ConnectionUrlError];

/** Those that pass by themselves. */
const PASSING = new Set(['53300', '57P01', '57P02', '57P03']);

/** True when opening the store failed for something that may be over in a moment. */
export function isRetryable(error: unknown): boolean {
  if (!(error instanceof ConnectionLostError)) return false;
  const code = sqlState(error);
  return code === undefined || PASSING.has(code);
}

/** Why the store could not be opened, in sentences for the person who started the host; never with anything of the URL. */
export function reasonNotOpened(error: unknown): string {
  const known = REASONS[sqlState(error) ?? ''];
  if (known !== undefined) return known;
  if (SELF_EXPLAINING.some((kind) => error instanceof kind)) return (error as Error).message;
  if (error instanceof ConnectionLostError) return withWayOut(error);
  const code = codeOf(error);
  if (code === OTHER_NAME)
    return 'The server’s certificate is for another name. Name the host in the URL as the certificate does, or say sslmode=verify-ca.';
  if (isAboutTrust(error))
    return `The server’s certificate is not trusted (${code}). Name the authority’s file with sslrootcert in the URL, or see sslmode.`;
  if (error instanceof postgres.PostgresError) return sentence(error.message);
  if (code === 'ERR_INVALID_URL' || error instanceof TypeError) return 'The URL is not one of a database.';
  return sentence(error instanceof Error ? error.message : String(error));
}

function withWayOut(lost: ConnectionLostError): string {
  const reason = sentence(lost.reason);
  const state = sqlState(lost);
  // What the server does not know of in a URL it takes for one of its settings.
  if (state === '42704') return `${reason} Take it out of the URL.`;
  const isUnanswered = lost.cause !== undefined && state === undefined;
  return isUnanswered ? `${reason} Is the server running there?` : reason;
}

const OTHER_NAME = 'ERR_TLS_CERT_ALTNAME_INVALID';

function sqlState(error: unknown): string | undefined {
  const server = error instanceof ConnectionLostError ? error.cause : error;
  return server instanceof postgres.PostgresError ? server.code : undefined;
}

function sentence(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`;
}
