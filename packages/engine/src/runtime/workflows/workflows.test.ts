import type { HostError, JsonObject } from '@weft/protocol';
import { afterEach, describe, expect, it } from 'vitest';
import { CREDENTIAL_EXAMPLES } from '../../core/redaction/scan/testing/credential-examples.ts';
import { chain, definition, node } from '../../core/testing/definitions.ts';
import { alice, newRun, startHost, stranger, type TestHost } from '../testing/test-host.ts';
import { CONFORMANCE } from '../../conformance/index.ts';

const opened: TestHost[] = [];

async function open(options: Parameters<typeof startHost>[0] = {}): Promise<TestHost> {
  const test = await startHost(options);
  opened.push(test);
  return test;
}

afterEach(async () => {
  for (const { host } of opened.splice(0)) await host.stop(0);
});

const LAX = { strict: false, dev: false };
const one = definition({ nodes: [node('a')] });
const changed: JsonObject = { ...one, name: 'Changed' };

describe('registering a workflow', () => {
  it('keeps the definition as it came', async () => {
    const { host } = await open();

    const registered = await host.workflows.register(alice, one, LAX);

    expect(registered).toMatchObject({ id: 'test-workflow', version: '1.0', created: true, warnings: [] });
    expect(registered.digest).toMatch(/^[0-9a-f]{64}$/);
    expect(await host.workflows.get(alice, 'test-workflow')).toEqual(one);
    expect(await host.workflows.get(stranger, 'test-workflow')).toBeUndefined();
    expect((await host.workflows.list(alice, { limit: 10 })).rows).toMatchObject([
      { id: 'test-workflow', version: '1.0', name: 'Test workflow', nodes: 1 },
    ]);
  });

  it('takes the same content again, in any order of keys, and other content under another version only', async () => {
    const { host } = await open();
    const first = await host.workflows.register(alice, one, LAX);
    const reordered = Object.fromEntries(Object.entries(one).reverse());

    const again = await host.workflows.register(alice, reordered, LAX);

    expect(again).toMatchObject({ created: false, digest: first.digest });
    await expect(host.workflows.register(alice, changed, LAX)).rejects.toMatchObject({
      code: 'workflow_version_exists',
      details: { field: 'version' },
    });
    expect(await host.workflows.register(alice, { ...changed, version: '1.1' }, LAX)).toMatchObject({
      created: true,
    });
  });

  it('registers changed content in addition to the old one under dev, also when it changes back', async () => {
    const { host } = await open();
    const dev = { strict: false, dev: true };
    await host.workflows.register(alice, one, dev);

    const edited = await host.workflows.register(alice, changed, dev);
    expect(edited.version).toBe(`1.0+${edited.digest.slice(0, 8)}`);
    expect(await host.workflows.get(alice, 'test-workflow')).toMatchObject({ name: 'Changed' });
    await host.workflows.register(alice, one, dev);

    expect(await host.workflows.get(alice, 'test-workflow')).toMatchObject({ name: 'Test workflow' });
  });

  it('refuses with every problem at once', async () => {
    const { host } = await open({ limits: { maxDefinitionBytes: 5_000 } });
    const broken = definition({ nodes: [node('a', 'core.nope'), node('b', 'core.neither')] });

    await expect(host.workflows.register(alice, broken, LAX)).rejects.toMatchObject({
      code: 'validation_error',
      details: { count: 2 },
    });
    await expect(host.workflows.register(alice, undefined, LAX)).rejects.toMatchObject({
      code: 'validation_error',
    });
    await expect(
      host.workflows.register(alice, { ...one, description: 'x'.repeat(6_000) }, LAX),
    ).rejects.toMatchObject({ details: { limit: 5_000 } });
    expect((await host.workflows.check(broken)).errors).toHaveLength(2);
  });

  it('warns of a trigger that does not fire, and refuses it when strict', async () => {
    const { host } = await open();
    const scheduled = { ...one, triggers: [{ id: 't', type: 'schedule' }] };

    await expect(
      host.workflows.register(alice, scheduled, { strict: true, dev: false }),
    ).rejects.toMatchObject({
      code: 'validation_error',
    });
    const registered = await host.workflows.register(alice, scheduled, LAX);

    expect(registered.warnings).toMatchObject([{ code: 'trigger_not_served' }]);
  });
});

describe('discovery', () => {
  it('lists runnable fixtures of the default tenant and stays the same object until something changes', async () => {
    const { host } = await open();
    const before = host.capabilities();
    expect(before.fixtures).toEqual([]);
    expect(host.capabilities()).toBe(before);

    await host.workflows.register(alice, { ...one, id: 'conformance-noop' }, LAX);
    await host.workflows.register(alice, { ...one, id: 'mine' }, LAX);
    await host.workflows.register(stranger, { ...one, id: 'conformance-theirs' }, LAX);

    const after = host.capabilities();
    expect(after.fixtures).toEqual(['conformance-noop']);
    expect(host.capabilities()).toBe(after);
    expect(after.capabilities).toMatchObject({ fixtures: ['conformance-noop'], limits: after.limits });
  });

  it('lists all of many that are registered at once', async () => {
    const { host } = await open();
    const ids = Array.from({ length: 20 }, (_, index) => `conformance-${index + 10}`);

    await Promise.all(ids.map((id) => host.workflows.register(alice, { ...one, id }, LAX)));

    expect(host.capabilities().fixtures).toEqual(ids);
  });

  it('lists what another process registered, once it is registered here too', async () => {
    const { host, store } = await open();
    const other = await open({ store });
    const fixture = { ...one, id: 'conformance-noop' };
    await other.host.workflows.register(alice, fixture, LAX);
    const before = host.capabilities().fixtures;

    const { created } = await host.workflows.register(alice, fixture, LAX);

    expect([before, created]).toEqual([[], false]);
    expect(host.capabilities().fixtures).toEqual(['conformance-noop']);
  });

  it('offers what is for testing on a test host only', async () => {
    const live = await open();
    const test = await open({ conformance: CONFORMANCE, limits: { maxRunDurationMs: 60_000 } });

    expect(live.host.capabilities().testing).toBeUndefined();
    expect(live.host.capabilities().agents).not.toHaveProperty('reasoning');
    expect(live.host.capabilities().configurable).not.toHaveProperty('reasoningVerbosity');
    expect(test.host.capabilities().agents).toHaveProperty('reasoning');
    expect(live.host.capabilities().limits).not.toHaveProperty('maxRunDurationMs');
    expect(test.host.capabilities().testing).toMatchObject({ testKeyPrefix: 'weft_test_' });
    expect(test.host.capabilities().limits.maxRunDurationMs).toBe(60_000);
  });
});

describe('a run', () => {
  it('keeps the definition it was created with', async () => {
    const { host, effects, run } = await open();
    const first = definition({ nodes: [node('call', 'test.effect')] });
    await host.workflows.register(alice, first, LAX);
    const runId = await run('test-workflow');
    await host.workflows.register(alice, { ...one, version: '2.0' }, LAX);

    const snapshot = (await host.runs.snapshot(alice, runId))?.snapshot;

    expect(snapshot?.['weft']).toMatchObject({ workflowVersion: '1.0' });
    expect(effects.calls.length).toBeLessThanOrEqual(1);
    expect(await host.runs.create(alice, newRun('test-workflow'))).toMatchObject({ replayed: false });
  });
});

describe('a definition with a credential in it', () => {
  const { text: key } = CREDENTIAL_EXAMPLES['Stripe key'] ?? { text: '' };
  const { hidden: awsKey = '' } = CREDENTIAL_EXAMPLES['AWS secret key'] ?? {};
  const guilty = definition({
    nodes: [
      node('a', 'core.http.request', {
        url: 'https://api.example/',
        headers: { Authorization: `Bearer ${key}` },
      }),
      node('b', 'core.setVariable', {
        name: 'n',
        value: { [`x ${key}`]: [btoa(key)], aws_secret_access_key: awsKey },
      }),
    ],
    edges: chain('a', 'b'),
  });
  const PLACES = [
    '/nodes/0/config/headers/Authorization',
    '/nodes/1/config/value/x [REDACTED]',
    '/nodes/1/config/value/x [REDACTED]/0',
    '/nodes/1/config/value/aws_secret_access_key',
  ];

  it('is refused with the places and kinds of all of them, and none of their values', async () => {
    const { host } = await open();

    const refused: unknown = await host.workflows
      .register(alice, guilty, LAX)
      .catch((error: unknown) => error);
    const checked = await host.workflows.check(guilty);

    expect(refused).toMatchObject({ code: 'validation_error', details: { field: PLACES[0], count: 4 } });
    expect(checked.errors.map(({ path }) => path)).toEqual(PLACES);
    expect(checked.errors[0]).toMatchObject({ code: 'credential_in_definition' });
    expect(checked.errors[3]?.message).toContain('AWS secret key');
    const said = JSON.stringify([(refused as HostError).message, (refused as HostError).details, checked]);
    for (const value of [key, btoa(key).slice(0, 20), awsKey]) expect(said).not.toContain(value);
    expect(await host.workflows.get(alice, 'test-workflow')).toBeUndefined();
  });

  it('is taken by a test host, with a warning', async () => {
    const { host } = await open({ conformance: CONFORMANCE });

    const registered = await host.workflows.register(alice, guilty, LAX);

    expect(registered.created).toBe(true);
    expect(registered.warnings.map(({ path }) => path)).toEqual(PLACES);
  });
});

describe('a workflow that starts another', () => {
  const parent = definition({ nodes: [node('call', 'core.subWorkflow', { workflowId: 'child' })] });
  const strict = { strict: true, dev: false };

  it('is registered with a warning while that one is missing, and refused when strict', async () => {
    const { host } = await open();

    const { warnings } = await host.workflows.register(alice, parent, LAX);

    expect(warnings).toMatchObject([{ path: '/nodes/0/config/workflowId', code: 'workflow_missing' }]);
    await expect(host.workflows.register(alice, { ...parent, version: '2' }, strict)).rejects.toMatchObject({
      details: { field: '/nodes/0/config/workflowId' },
    });
  });

  it('is right when that one is registered, or comes along', async () => {
    const { host } = await open();
    const alongside = new Set(['child']);

    const before = await host.workflows.register(alice, parent, { ...strict, alongside });
    await host.workflows.register(alice, { ...one, id: 'child' }, LAX);

    expect(before.warnings).toEqual([]);
    expect((await host.workflows.check(parent, alice.tenant)).warnings).toEqual([]);
    expect((await host.workflows.check(parent, stranger.tenant)).warnings).toHaveLength(1);
  });
});
