import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Connection, openConnection } from './connections/connection.ts';
import { type TestServer, testServers } from './testing/postgres-test-server.ts';
import { newAuthority } from './testing/test-certificate.ts';
import { isRetryable, reasonNotOpened } from './connections/connect-errors.ts';

/** A server that takes TLS and nothing else, except from `plain`; `carol` must show a certificate. */
const HBA = `
hostnossl all plain 127.0.0.1/32 trust
hostssl   all carol 127.0.0.1/32 cert
hostssl   all all   127.0.0.1/32 trust
`;

const authority = newAuthority();
const stranger = newAuthority('Another authority');
const files = mkdtempSync(join(tmpdir(), 'weft-tls-'));
const start = testServers();
let server: TestServer;
let withoutTls: TestServer;

function file(name: string, content: string): string {
  const path = join(files, name);
  writeFileSync(path, content, { mode: 0o600 });
  return path;
}

const ca = file('ca.pem', authority.certificate);
const otherCa = file('other-ca.pem', stranger.certificate);

beforeAll(async () => {
  const own = authority.issue('localhost', ['localhost']);
  [server, withoutTls] = await Promise.all([
    start({
      files: {
        'server.crt': own.certificate,
        'server.key': own.key,
        'ca.crt': authority.certificate,
        'hba.conf': HBA,
      },
      settings: [
        'ssl=on',
        'ssl_cert_file={folder}/server.crt',
        'ssl_key_file={folder}/server.key',
        'ssl_ca_file={folder}/ca.crt',
        'hba_file={folder}/hba.conf',
      ],
    }),
    start(),
  ]);
  const admin = await open('sslmode=require');
  await admin.query('CREATE ROLE plain LOGIN');
  await admin.query('CREATE ROLE carol LOGIN');
  admin.destroy(new Error('done'));
});

afterAll(() => rmSync(files, { recursive: true, force: true }));

interface Where {
  readonly host?: string;
  readonly user?: string;
  readonly at?: TestServer;
}

function open(
  query: string,
  { host = 'localhost', user = 'weft', at = server }: Where = {},
): Promise<Connection> {
  const { port } = new URL(at.url);
  return openConnection({
    url: `postgres://${user}@${host}:${port}/postgres?${query}`,
    schema: 'public',
    statementTimeoutMs: 5_000,
    connectTimeoutMs: 5_000,
  });
}

async function isEncrypted(query: string, where?: Where): Promise<boolean> {
  const connection = await open(query, where);
  const [row] = await connection.query<{ ssl: boolean }>(
    'SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()',
  );
  connection.destroy(new Error('seen'));
  return row?.ssl === true;
}

async function failure(query: string, where?: Where): Promise<unknown> {
  return open(query, where).then(
    (connection) => connection.destroy(new Error('not expected')),
    (error: unknown) => error,
  );
}

/** The sentence for the person, who is not kept waiting for what only they can put right. */
async function refusal(query: string, where?: Where): Promise<string> {
  const error = await failure(query, where);
  expect(isRetryable(error)).toBe(false);
  return reasonNotOpened(error);
}

describe('a connection over TLS', () => {
  it.each([
    'sslmode=require',
    `sslmode=verify-ca&sslrootcert=${ca}`,
    `sslmode=verify-full&sslrootcert=${ca}`,
    'sslmode=prefer',
  ])('is encrypted with %s', async (query) => {
    expect(await isEncrypted(query)).toBe(true);
  });

  it('is not where the URL says so, or says nothing on this machine', async () => {
    expect(await isEncrypted('sslmode=disable', { user: 'plain' })).toBe(false);
    expect(await isEncrypted('', { user: 'plain' })).toBe(false);
    expect(await isEncrypted('sslmode=prefer', { at: withoutTls })).toBe(false);
  });

  it('is refused when the authority is not the one named, also under require', async () => {
    for (const mode of ['require', 'verify-ca', 'verify-full']) {
      expect(await refusal(`sslmode=${mode}&sslrootcert=${otherCa}`)).toMatch(
        /certificate is not trusted.*sslrootcert/,
      );
    }
    expect(await refusal('sslmode=verify-full')).toMatch(/certificate is not trusted/);
  });

  it('is refused by verify-full alone when the certificate is for another name', async () => {
    const where = { host: '127.0.0.1' };
    expect(await refusal(`sslmode=verify-full&sslrootcert=${ca}`, where)).toMatch(
      /certificate is for another name/,
    );
    expect(await isEncrypted(`sslmode=verify-ca&sslrootcert=${ca}`, where)).toBe(true);
  });

  it('shows the certificate of the client where the server asks for one', async () => {
    const carol = authority.issue('carol');
    const own = `sslcert=${file('carol.crt', carol.certificate)}&sslkey=${file('carol.key', carol.key)}`;

    expect(await isEncrypted(`sslmode=verify-full&sslrootcert=${ca}&${own}`, { user: 'carol' })).toBe(true);
    expect(await refusal(`sslmode=verify-full&sslrootcert=${ca}`, { user: 'carol' })).toMatch(/sslcert/);
  });

  it('uses no key that others may read', async () => {
    const carol = authority.issue('carol');
    const key = file('open.key', carol.key);
    const own = `sslcert=${file('open.crt', carol.certificate)}&sslkey=${key}`;
    chmodSync(key, 0o644);

    expect(await refusal(`sslmode=verify-full&sslrootcert=${ca}&${own}`, { user: 'carol' })).toMatch(
      /open to other users: .*open\.key\. Close it with chmod 600/,
    );
  });

  it('is not made without TLS where the URL demands it', async () => {
    const error = await failure('sslmode=require', { at: withoutTls });

    expect(reasonNotOpened(error)).toMatch(/as a server without TLS does.*sslmode=disable/);
  });
});
