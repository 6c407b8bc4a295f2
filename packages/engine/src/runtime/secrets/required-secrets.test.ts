import { randomBytes } from 'node:crypto';
import type { JsonObject } from '@weft/protocol';
import { describe, expect, it } from 'vitest';
import type { Egress } from '../../model/node-type.ts';
import { definition, node } from '../../core/testing/definitions.ts';
import { alice, startHost, until } from '../testing/test-host.ts';
import { NO_STREAMS } from '../testing/no-streams.ts';

const VALUE = 'sesame-open-now-1234';

const fetchEcho: Egress = {
  ...NO_STREAMS,
  async fetch({ headers }) {
    return {
      status: 200,
      headers: { 'content-type': 'application/json' },
      body: new TextEncoder().encode(JSON.stringify({ heard: headers })),
    };
  },
};

const call = node('call', 'core.http.request', {
  url: 'https://api.example/',
  secretHeaders: { 'X-Key': { secretId: 'key', prefix: 'k=' } },
});

function calling(): JsonObject {
  const plain = definition({ nodes: [call] });
  return {
    ...plain,
    nodes: (plain['nodes'] as JsonObject[]).map((each) => ({ ...each, credentialsRef: 'token' })),
  };
}

async function open(secretsKey: Uint8Array | undefined) {
  const test = await startHost({
    egress: fetchEcho,
    secretsKey,
  });
  const registered = await test.host.workflows.register(alice, calling(), { strict: true, dev: false });
  const ended = async () => {
    const runId = await test.run('test-workflow');
    await until(async () => ['completed', 'failed'].includes((await test.status(runId)) ?? ''));
    const events = await test.store.readEvents(runId, 0, 1000, 1e9);
    const snapshot = (await test.host.runs.snapshot(alice, runId))?.snapshot;
    return { snapshot, events };
  };
  return { ...test, registered, ended };
}

describe('a node that requires secrets', () => {
  it('is performed with them, and no event holds their values', async () => {
    const test = await open(randomBytes(32));
    for (const id of ['key', 'token'])
      await test.host.secrets.set(alice, { id, value: VALUE + id, scope: 'tenant' });

    const { snapshot, events } = await test.ended();

    expect(test.registered.warnings).toEqual([]);
    expect(snapshot?.status).toBe('completed');
    const text = JSON.stringify(events);
    expect(text).toContain('k=[REDACTED:key]');
    expect(text).toContain('Bearer [REDACTED:token]');
    expect(text).not.toContain(VALUE);
    await test.host.stop(0);
  });

  it('fails with credential_required, naming the first that is not set, before anything goes out', async () => {
    const test = await open(randomBytes(32));
    await test.host.secrets.set(alice, { id: 'token', value: VALUE, scope: 'tenant' });

    const { snapshot } = await test.ended();

    expect(snapshot).toMatchObject({
      status: 'failed',
      error: { code: 'credential_required', details: { requirement: 'key' } },
    });
    expect(snapshot?.error?.message).toContain('weft secrets set key');
    await test.host.stop(0);
  });

  it('fails with credential_unavailable on a host without secrets', async () => {
    const test = await open(undefined);

    const { snapshot } = await test.ended();

    expect(snapshot).toMatchObject({
      status: 'failed',
      error: { code: 'credential_unavailable', details: { capability: 'secrets' } },
    });
    await test.host.stop(0);
  });
});
