import { mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { startHost, until, alice, stranger, newRun } from '../testing/test-host.ts';
import { definition, node } from '../../core/testing/definitions.ts';
import { type FakeNameServer, startFakeNameServer, type Zone } from '../testing/fake-name-server.ts';
import { createEgress } from './egress.ts';
import type { Resolve } from './policy.ts';
import { createResolver } from './resolver.ts';
import { createSystemFile } from './system-file.ts';

const cleanUp: (() => unknown)[] = [];

afterEach(async () => {
  for (const each of cleanUp.splice(0).reverse()) await each();
});

function file(text: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'weft-resolver-'));
  cleanUp.push(() => rmSync(folder, { recursive: true }));
  const path = join(folder, 'file');
  writeFileSync(path, text);
  return path;
}

async function open(
  zone: Zone,
  { hosts = '', config = '' } = {},
): Promise<{ server: FakeNameServer; resolve: Resolve }> {
  const server = await startFakeNameServer(zone);
  cleanUp.push(() => server.close());
  const resolve = createResolver({
    servers: [server.address],
    hostsPath: file(hosts),
    configPath: file(config),
  });
  return { server, resolve };
}

const { signal } = new AbortController();

describe('the resolver', () => {
  it('asks the name server for both kinds of addresses', async () => {
    const { server, resolve } = await open({ 'api.test': ['192.0.2.1', '192.0.2.2'] });

    expect(await resolve('api.test', signal)).toEqual([
      { address: '192.0.2.1', family: 4 },
      { address: '192.0.2.2', family: 4 },
    ]);

    expect(server.asked.map(({ type }) => type).sort()).toEqual(['A', 'AAAA']);
  });

  it('finds nothing where there is nothing, and says what went wrong otherwise', async () => {
    const { resolve } = await open({ 'broken.test': 'broken' });

    expect(await resolve('missing.test', signal)).toEqual([]);
    await expect(resolve('broken.test', signal)).rejects.toMatchObject({ code: 'ESERVFAIL' });
  });

  it('takes the hosts file first, and knows itself without one', async () => {
    const { server, resolve } = await open({ 'db.corp': ['192.0.2.1'] }, { hosts: '10.1.2.3 db.corp\n' });

    expect(await resolve('db.corp', signal)).toEqual([{ address: '10.1.2.3', family: 4 }]);
    expect(await resolve('x.localhost', signal)).toMatchObject([
      { address: '127.0.0.1' },
      { address: '::1' },
    ]);

    expect(server.asked).toEqual([]);
  });

  it('tries the search domains of the system', async () => {
    const { resolve } = await open({ 'api.b.svc': ['192.0.2.7'] }, { config: 'search a.svc b.svc' });

    expect(await resolve('api', signal)).toMatchObject([{ address: '192.0.2.7' }]);
  });

  it('stops asking when it is aborted', async () => {
    const { server, resolve } = await open({ 'dead.test': 'silent' });
    const control = new AbortController();
    const answer = resolve('dead.test', control.signal);
    await until(() => server.asked.length === 2);

    control.abort();

    await expect(answer).rejects.toMatchObject({ code: 'ECANCELLED' });
  });
});

describe('a file of the system', () => {
  it('is read again when it has changed, and at most once per second', () => {
    const path = file('one');
    let now = 0;
    let parsed = 0;
    const read = createSystemFile({
      path,
      parse(text) {
        parsed += 1;
        return text;
      },
      monotonic: () => now,
    });
    expect(read()).toBe('one');
    writeFileSync(path, 'three');
    utimesSync(path, 1, 1);
    expect(read()).toBe('one');

    now = 1_000;
    expect(read()).toBe('three');
    now = 2_000;
    expect(read()).toBe('three');
    rmSync(path);
    now = 3_000;

    expect(read()).toBe('');
    expect(parsed).toBe(4);
  });

  it('that is not there is empty', () => {
    expect(createSystemFile({ path: '/nowhere/at/all', parse: (text) => text.length })()).toBe(0);
  });
});

describe('sixty names without an answer', () => {
  it('keep their own tenant waiting, and no other', async () => {
    const dead = Object.fromEntries(
      Array.from({ length: 60 }, (_, index) => [`dead${index}.test`, 'silent' as const]),
    );
    const { server, resolve } = await open({ ...dead, 'alive.test': ['127.0.0.1'] });
    const egress = createEgress({ allow: [], connectTimeoutMs: 60_000, resolve });
    const { host } = await startHost({ egress });
    cleanUp.push(() => host.stop(0));
    const call = (id: string, url: string): unknown => ({
      ...definition({ nodes: [node('call', 'core.http.request', { url })] }),
      id,
    });
    for (let index = 0; index < 60; index += 1) {
      await host.workflows.register(alice, call(`dead${index}`, `http://dead${index}.test/`), {
        strict: false,
        dev: false,
      });
      await host.runs.create(alice, newRun(`dead${index}`));
    }
    await until(() => server.asked.length >= 32);

    await host.workflows.register(stranger, call('alive', 'http://alive.test/'), {
      strict: false,
      dev: false,
    });
    const accepted = await host.runs.create(stranger, newRun('alive'));
    const runId = accepted.replayed ? '' : accepted.runId;
    const { snapshot } = await until(async () => {
      const view = await host.runs.snapshot(stranger, runId);
      return view?.snapshot.status === 'failed' ? view : undefined;
    });

    // Its name was looked up, and what it leads to was refused by the policy.
    expect(JSON.stringify(snapshot)).toContain('egress_denied');
    expect(new Set(server.asked.map(({ name }) => name)).size).toBe(17);
  });
});
