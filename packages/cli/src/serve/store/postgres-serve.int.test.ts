import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { testServer } from '@weft/storage/postgres-test-server';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { main } from '../../main.ts';
import { recordedIo } from '../../testing/recorded-io.ts';
import { type Served, serveHere, weft } from '../../testing/served.ts';

const EXAMPLES = new URL('../../../../../examples/workflows', import.meta.url).pathname;
const PASSWORD = 'correct-horse-battery';

const { server, newSchema, openSession } = testServer();
let folder: string;
let hosts: Served[] = [];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'weft-postgres-serve-'));
});

afterEach(async () => {
  for (const host of hosts) await host.stop();
  hosts = [];
  await rm(folder, { recursive: true, force: true });
});

async function serve(flags: readonly string[], env: Record<string, string> = {}): Promise<Served> {
  const host = await serveHere(folder, flags, env);
  hosts.push(host);
  return host;
}

/** The server's address with another user, password or database. */
function urlWith(parts: { user?: string; password?: string; path?: string; port?: string }): string {
  const url = new URL(server().url);
  if (parts.user !== undefined) url.username = parts.user;
  if (parts.password !== undefined) url.password = parts.password;
  if (parts.path !== undefined) url.pathname = parts.path;
  if (parts.port !== undefined) url.port = parts.port;
  return url.href;
}

function ownKeys(): Record<string, string> {
  const { privateKey } = generateKeyPairSync('ed25519');
  return {
    WEFT_API_KEY: `weft_live_${'p'.repeat(43)}`,
    WEFT_SECRETS_KEY: randomBytes(32).toString('base64url'),
    WEFT_AUDIT_KEY: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  };
}

describe('weft serve on PostgreSQL', () => {
  it('keeps runs over a restart, and shows the database without its password', async () => {
    const env = { WEFT_STORE: urlWith({ password: PASSWORD }), WEFT_STORE_SCHEMA: newSchema() };
    const first = await serve(['--workflows', EXAMPLES], env);
    const ran = await weft(folder, ['run', 'batch-totals', '--watch', '--json']);
    await first.stop();

    const second = await serve([], env);
    const listed = await weft(folder, ['runs', 'ls', '--json']);

    expect(ran.code).toBe(0);
    expect(listed.out).toContain('"batch-totals"');
    expect(second.io.out()).toMatch(/store +postgres:\/\/weft@127\.0\.0\.1:\d+\/postgres/);
    for (const { io } of [first, second]) expect(`${io.out()}${io.err()}`).not.toContain(PASSWORD);
    expect((await readdir(join(folder, '.weft'))).sort()).toEqual([
      'audit.key',
      'identity',
      'key',
      'secrets.key',
      'url',
    ]);
  });

  it('needs no folder when every key comes from outside', async () => {
    const host = await serve(['--store', server().url, '--store-schema', newSchema()], ownKeys());

    expect((await fetch(`${host.url}/ready`)).status).toBe(200);
    expect(await readdir(folder)).toEqual([]);
  });

  it('keeps an audit anchor per process, of which the highest tells what a database that was set back has lost', async () => {
    const schema = newSchema();
    const env = { ...ownKeys(), WEFT_STORE: server().url, WEFT_STORE_SCHEMA: schema };
    const lived = async (anchor: string): Promise<void> => {
      const host = await serve(['--audit-anchor', anchor], env);
      const made = await weft(
        folder,
        ['keys', 'create', 'ci', '--scope', 'runs:read', '--url', host.url],
        env,
      );
      expect(made.code).toBe(0);
      await host.stop();
    };
    await lived('one.anchor');
    await lived('two.anchor');
    const before = await serve([], env);
    const verify = (url: string, anchors: string) =>
      weft(folder, ['audit', 'verify', '--audit-anchor', anchors, '--url', url], env);
    const whole = await verify(before.url, 'one.anchor,two.anchor');
    await before.stop();
    // As it was before the second process.
    const session = openSession();
    await session.unsafe(`ALTER TABLE ${schema}.audit DISABLE TRIGGER ALL`);
    await session.unsafe(
      `DELETE FROM ${schema}.documents WHERE collection IN ('audit-checkpoint', 'audit-link') AND id <> '0'`,
    );
    const [batch] = await session.unsafe(
      `SELECT body FROM ${schema}.documents WHERE collection = 'audit-link'`,
    );
    const { links } = JSON.parse(String(batch?.['body'])) as { links: { id: number }[] };
    await session.unsafe(`DELETE FROM ${schema}.audit WHERE id > ${links.at(-1)?.id}`);

    const refused = await weft(folder, ['serve', '--port', '0', '--audit-anchor', 'two.anchor'], env);
    const unaware = await serve(['--audit-anchor', 'one.anchor'], env);
    const found = await verify(unaware.url, 'one.anchor,two.anchor');
    await unaware.stop();
    const reason = ['--reason', 'failed over to a replica that lagged behind'];
    const reanchored = await weft(
      folder,
      ['audit', 'reanchor', '--audit-anchor', 'two.anchor', ...reason],
      env,
    );
    const after = await serve(['--audit-anchor', 'two.anchor'], env);

    expect(whole).toMatchObject({ code: 0, out: expect.stringContaining('intact') });
    expect(refused).toMatchObject({
      code: 4,
      err: expect.stringContaining('does not hold what was anchored'),
    });
    expect(found).toMatchObject({ code: 1, out: expect.stringContaining('does not hold what was anchored') });
    expect(reanchored).toMatchObject({
      code: 0,
      out: expect.stringContaining('two.anchor  now at checkpoint'),
    });
    expect(await verify(after.url, 'two.anchor')).toMatchObject({ code: 0 });
  });

  it('leaves a shared folder to the process that still listens', async () => {
    const flags = ['--store', server().url, '--store-schema', newSchema()];
    const first = await serve(flags);
    const second = await serve(flags);

    await first.stop();

    expect((await readFile(join(folder, '.weft', 'url'), 'utf8')).trim()).toBe(second.url);
  });

  it('waits for a server that comes up later', async () => {
    await server().stop('SIGINT');
    const io = recordedIo({ cwd: folder, env: ownKeys() });
    const ended = main(
      [
        'serve',
        '--port',
        '0',
        '--store',
        server().url,
        '--store-schema',
        newSchema(),
        '--log-format',
        'json',
      ],
      io,
    );
    await io.waitFor('waiting for the database');

    await server().start();

    await io.waitFor('is listening at');
    io.signal('SIGTERM');
    expect(await ended).toBe(0);
  });
});

describe('weft serve says what is wrong with the database', () => {
  const start = (flags: readonly string[], env: Record<string, string> = ownKeys()) =>
    weft(folder, ['serve', '--port', '0', ...flags], env);

  it('when the server does not answer, after a bounded time and without the password', async () => {
    const url = urlWith({ password: PASSWORD, port: '1' });

    const { code, err } = await start(['--store', url], { ...ownKeys(), WEFT_STORE_WAIT_MS: '400' });

    expect(code).toBe(3);
    expect(err).toContain('ECONNREFUSED');
    expect(err).toContain('Is the server running there?');
    expect(err).not.toContain(PASSWORD);
  });

  it('when the password is wrong, at once and without an echo', async () => {
    const session = openSession();
    const [{ file } = { file: '' }] = await session<
      { file: string }[]
    >`SELECT current_setting('hba_file') AS file`;
    await session.unsafe(`CREATE ROLE guarded LOGIN PASSWORD 'another'`);
    await session.unsafe(`COPY (SELECT unnest(ARRAY['host all guarded 127.0.0.1/32 scram-sha-256',
      'host all all 127.0.0.1/32 trust'])) TO '${file}'`);
    await session.unsafe('SELECT pg_reload_conf()');

    const { code, err } = await start(['--store', urlWith({ user: 'guarded', password: PASSWORD })]);

    expect(code).toBe(3);
    expect(err).toContain('refuses the user name or the password');
    expect(err).not.toContain(PASSWORD);
  });

  it('when there is no such database, and when the schema is newer than the program', async () => {
    const schema = newSchema();
    const session = openSession();
    await session.unsafe(`CREATE SCHEMA ${schema}`);
    await session.unsafe(`CREATE TABLE ${schema}.schema_versions (version integer)`);
    await session.unsafe(`INSERT INTO ${schema}.schema_versions VALUES (999)`);

    const missing = await start(['--store', urlWith({ path: '/nowhere' })]);
    const newer = await start(['--store', server().url, '--store-schema', schema]);

    expect([missing.code, newer.code]).toEqual([3, 3]);
    expect(missing.err).toContain('no database of this name');
    expect(newer.err).toContain('Upgrade the program');
  });

  it('when its settings would lose acknowledged writes', async () => {
    const session = openSession();
    await session.unsafe('CREATE DATABASE narrow ENCODING SQL_ASCII TEMPLATE template0');

    const { code, err } = await start(['--store', urlWith({ path: '/narrow' })]);

    expect(code).toBe(3);
    expect(err).toContain('encoding is SQL_ASCII');
  });

  it('when another host on it has other keys, or another mode', async () => {
    const flags = ['--store', server().url, '--store-schema', newSchema()];
    const env = ownKeys();
    await serve(flags, env);

    const otherKey = await start(flags, { ...env, WEFT_SECRETS_KEY: randomBytes(32).toString('base64url') });
    const otherMode = await start([...flags, '--conformance'], env);

    expect([otherKey.code, otherMode.code]).toEqual([4, 4]);
    expect(otherKey.err).toContain('used with another WEFT_SECRETS_KEY');
    expect(otherMode.err).toContain('is a live store (permanent)');
  });

  it('when --store is no URL of a database, without repeating it', async () => {
    const { code, err } = await start(['--store', `mysql://weft:${PASSWORD}@db/weft`]);

    expect(code).toBe(2);
    expect(err).toContain('--store takes a URL such as postgres://');
    expect(err).not.toContain(PASSWORD);
  });
});

describe('weft doctor on PostgreSQL', () => {
  it('says that all is well, and finds a log that is not', async () => {
    const schema = newSchema();
    const flags = ['--store', server().url, '--store-schema', schema];
    const host = await serve([...flags, '--workflows', EXAMPLES]);
    await weft(folder, ['run', 'batch-totals', '--watch']);

    const well = await weft(folder, ['doctor', '--deep', ...flags]);
    await host.stop();
    await openSession().unsafe(`DELETE FROM ${schema}.events WHERE seq = 1`);
    const broken = await weft(folder, ['doctor', '--deep', ...flags]);
    const away = await weft(folder, ['doctor', '--store', urlWith({ password: PASSWORD, port: '1' })]);

    expect(well.code, well.out).toBe(0);
    expect(well.out).toContain('every log is in order');
    expect(broken.code).toBe(1);
    expect(broken.out).toContain('the log has a gap');
    expect(away.code).toBe(1);
    expect(`${away.out}${away.err}`).not.toContain(PASSWORD);
  });
});
