import postgres from 'postgres';
import { ConnectionLostError, SchemaTooNewError, UnsafeDatabaseError } from './errors.ts';

/** What the server says, and what the person can do about it. By SQLSTATE. */
const REASONS: Readonly<Record<string, string>> = {
  '28P01': 'The server refuses the user name or the password. Correct them in the URL.',
  '28000':
    'The server does not let this user in from here. See pg_hba.conf, the user name, and sslmode in the URL.',
  '3D000': 'The server has no database of this name. Create it, or name another one in the URL.',
  '42501':
    'The user may not create what the store needs. Create the schema for it (CREATE SCHEMA weft AUTHORIZATION …), or grant CREATE on the database.',
  '53300': 'The server has no connection left. Raise max_connections, or lower --store-connections.',
  '57P03': 'The server is starting up or shutting down.',
};

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
  if (error instanceof SchemaTooNewError || error instanceof UnsafeDatabaseError) return error.message;
  if (error instanceof ConnectionLostError) return `${sentence(error.reason)} Is the server running there?`;
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  if (/CERT|SSL|TLS/.test(code)) {
    return `The server's certificate is not trusted (${code}). Name the authority with NODE_EXTRA_CA_CERTS, or see sslmode.`;
  }
  if (error instanceof postgres.PostgresError) return sentence(error.message);
  if (code === 'ERR_INVALID_URL' || error instanceof TypeError) return 'The URL is not one of a database.';
  return sentence(error instanceof Error ? error.message : String(error));
}

function sqlState(error: unknown): string | undefined {
  const server = error instanceof ConnectionLostError ? error.cause : error;
  return server instanceof postgres.PostgresError ? server.code : undefined;
}

function sentence(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`;
}
