import { generateKeyPairSync } from 'node:crypto';
import type { Json, JsonObject } from '@weft/protocol';
import { afterEach, describe, expect, it } from 'vitest';
import { keyFingerprint } from '../../core/bundle/signature.ts';
import { dated, foreignBundle, TWO_NODES } from '../../core/import/testing/foreign-bundle.ts';
import { chain, node, variable, type WorkflowSpec } from '../../core/testing/definitions.ts';
import type { HostOptions } from '../../host/host-options.ts';
import { publicKeyText } from '../../crypto/ed25519.ts';
import { alice, startHost, type TestHost, until } from '../testing/test-host.ts';

/** What comes with a bundle in addition to its log: a signature, masks, annotations; and how an imported run is exported again. */

const CANARY = 'canary-41c7';
const opened: TestHost[] = [];

async function open(options: Partial<HostOptions> = {}): Promise<TestHost> {
  const at = await startHost(options);
  opened.push(at);
  return at;
}

afterEach(async () => {
  for (const { host } of opened.splice(0)) await host.stop(1_000);
});

const greeting = (maskingMode = 'mask'): WorkflowSpec => ({
  nodes: [
    node('hello', 'core.setVariable', { name: 'greeting', expression: '"hello " + variables.who' }),
    node('keep', 'core.setVariable', { name: 'kept', value: 'yes' }),
  ],
  edges: chain('hello', 'keep'),
  variables: [variable('who'), variable('greeting'), variable('kept')],
  metadata: { complianceClass: 'pii', complianceConfig: { maskingMode } },
});

async function finished(at: TestHost, spec = greeting()): Promise<string> {
  const runId = await at.run(await at.register(spec), { inputs: { who: 'Braunschweig' } });
  await until(async () => (await at.status(runId)) === 'completed');
  return runId;
}

async function bundleOf(at: TestHost, runId: string, maxEvents?: number): Promise<JsonObject> {
  const pieces = await at.host.bundles.text(alice, runId, maxEvents === undefined ? {} : { maxEvents });
  let text = '';
  for await (const piece of pieces ?? []) text += piece;
  return JSON.parse(text) as JsonObject;
}

const extrasOf = (bundle: JsonObject): JsonObject => bundle['weft'] as JsonObject;
const maskedIn = (bundle: JsonObject): string[] => (extrasOf(bundle)['masked'] as string[]).toSorted();

describe('a bundle of a host that has a key', () => {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  const fingerprint = keyFingerprint(publicKeyText(publicKey));

  it('is signed, and the import names the key', async () => {
    const [near, far] = [await open({ auditKey: privateKey }), await open()];
    const bundle = await bundleOf(near, await finished(near));

    const summary = await far.host.imports.create(alice, bundle);
    const again = await far.host.imports.create(alice, bundle);

    expect(summary).toMatchObject({ verified: true, signedBy: fingerprint });
    expect(again).toEqual({ ...summary, created: false });
    expect((await far.host.runs.snapshot(alice, summary.runId))?.snapshot['weft']).toMatchObject({
      imported: { verified: true, signedBy: fingerprint },
    });
    const [entry] = (await far.store.readAudit(0, 100)).filter(({ action }) => action === 'run.import');
    expect(entry?.details).toMatchObject({ signedBy: fingerprint });
  });

  it('is refused when its list of masked values was changed, which the digest does not cover', async () => {
    const [near, far] = [await open({ auditKey: privateKey }), await open()];
    const bundle = await bundleOf(near, await finished(near));

    const outcome = far.host.imports.create(alice, { ...bundle, weft: { ...extrasOf(bundle), masked: [] } });

    await expect(outcome).rejects.toMatchObject({
      code: 'bundle_invalid',
      details: { field: '/weft/signature' },
    });
    expect((await far.host.runs.list(alice, {}, { limit: 10 })).rows).toEqual([]);
  });

  it('is not signed where the host has none', async () => {
    const at = await open();
    const bundle = await bundleOf(at, await finished(at));

    const summary = await at.host.imports.create(alice, bundle);

    expect(extrasOf(bundle)).not.toHaveProperty('signature');
    expect(summary.verified).toBe(true);
    expect(summary).not.toHaveProperty('signedBy');
  });
});

describe('a bundle of an imported run', () => {
  it.each(['mask', 'omit', 'hash'])('lists what was masked before it came here (%s)', async (mode) => {
    const keyed = { secretsKey: new Uint8Array(32) };
    const [near, far, third] = [await open(keyed), await open(keyed), await open(keyed)];
    const bundle = await bundleOf(near, await finished(near, greeting(mode)));
    const { runId } = await far.host.imports.create(alice, bundle);

    const second = await bundleOf(far, runId);

    expect(maskedIn(second)).toEqual(maskedIn(bundle));
    expect(extrasOf(second)['totals']).toMatchObject({ masked: maskedIn(bundle).length });
    const carried = await third.host.imports.create(alice, second);
    const fork = (at: TestHost, from: string) =>
      at.host.runs.fork(alice, from, { mode: 'branch', fromSeq: 4 }).catch((error: unknown) => error);
    const refused = await fork(third, carried.runId);
    expect(refused).toMatchObject({ code: 'values_missing' });
    expect(refused).toEqual(await fork(far, runId));
  });

  it('tells what another host’s marks were, and that names may be missing', async () => {
    const at = await open();
    const events = dated(TWO_NODES).map((event, index) =>
      index === 3 ? { ...event, data: { nodeId: 'fetch', outputs: { page: '***' } } } : event,
    );
    const { runId } = await at.host.imports.create(alice, foreignBundle({ redactionMode: 'mask' }, events));
    const silent = await at.host.imports.create(alice, foreignBundle({ redactionMode: 'omit' }));

    const [marked, omitted] = [await bundleOf(at, runId), await bundleOf(at, silent.runId)];

    expect(maskedIn(marked)).toEqual(['/events/3/data/outputs/page', '/events/3/payload/outputs/page']);
    expect(maskedIn(omitted)).toContain('/run/inputs');
  });
});

describe('annotations of a bundle', () => {
  const said = {
    signal: { kind: 'label', label: 'odd' },
    target: { nodeId: 'hello' },
    note: 'Look here.',
  } as const;

  it('come along, marked as imported, and do not count as made here', async () => {
    const [near, far] = [await open(), await open()];
    const original = await finished(near);
    await near.host.annotations.create(alice, original, { ...said, target: { eventId: `${original}-2` } });
    const { runId } = await far.host.imports.create(alice, await bundleOf(near, original));
    await far.host.annotations.create(alice, runId, { signal: { kind: 'flag' } });

    const listed = await far.host.annotations.list(alice, runId);

    expect(listed).toMatchObject([
      {
        target: { runId, eventId: `${runId}-2` },
        signal: { kind: 'label', label: 'odd' },
        actor: { principalRef: 'imported:alice' },
        note: 'Look here.',
      },
      { actor: { principalRef: 'alice' }, signal: { kind: 'flag' } },
    ]);
    const own = await far.store.listDocuments('default', 'annotation', runId, { limit: 10 });
    expect(own.rows).toHaveLength(1);
  });

  it('are carried into the run’s next bundle, marked once', async () => {
    const [near, far, third] = [await open(), await open(), await open()];
    const original = await finished(near);
    await near.host.annotations.create(alice, original, said);
    const first = await far.host.imports.create(alice, await bundleOf(near, original));

    const { runId } = await third.host.imports.create(alice, await bundleOf(far, first.runId));

    expect(await third.host.annotations.list(alice, runId)).toMatchObject([
      { actor: { principalRef: 'imported:alice' }, target: { runId, nodeId: 'hello' }, note: 'Look here.' },
    ]);
  });
});

describe('an imported run without an end', () => {
  it('is removed with all that came with it', async () => {
    const [near, far] = [await open(), await open()];
    const original = await finished(near);
    await near.host.annotations.create(alice, original, { signal: { kind: 'flag' } });
    const { runId, status } = await far.host.imports.create(alice, await bundleOf(near, original, 3));

    const isRemoved = await far.host.operations.purge(alice, runId);

    expect({ status, isRemoved }).toEqual({ status: 'running', isRemoved: true });
    await expect(far.host.runs.snapshot(alice, runId)).rejects.toMatchObject({ code: 'run_expired' });
    for (const collection of ['import-masks', 'import-annotations'])
      expect((await far.store.listDocuments('default', collection, runId, { limit: 9 })).rows).toEqual([]);
  });

  it('is erased', async () => {
    const [near, far] = [await open(), await open()];
    const { runId } = await far.host.imports.create(alice, await bundleOf(near, await finished(near), 3));

    expect(await far.host.operations.erase(alice, runId)).toBe(true);
    expect(await far.status(runId)).toBe('running');
  });
});

describe('a fork that was given values', () => {
  it('has them no longer once it is erased, neither in the store nor in what it shows', async () => {
    const [near, far] = [await open(), await open()];
    const { runId } = await far.host.imports.create(alice, await bundleOf(near, await finished(near)));
    const values: JsonObject = { who: CANARY, greeting: CANARY, 'nodes.hello.outputs': { output: CANARY } };
    const forked = await forkWith(far, runId, values);
    await until(async () => (await far.status(forked)) === 'completed');
    const shown = async (): Promise<Json> =>
      (await far.host.runs.snapshot(alice, forked))?.snapshot.variables as Json;
    expect(await shown()).toMatchObject({ greeting: CANARY });

    await far.host.operations.erase(alice, forked);

    expect(JSON.stringify(await shown())).not.toContain(CANARY);
    expect(JSON.stringify(await far.store.readRun(forked, 'default'))).not.toContain(CANARY);
  });

  /** With as many of the values as are asked for. */
  async function forkWith(at: TestHost, runId: string, values: JsonObject): Promise<string> {
    const request = { mode: 'branch', fromSeq: await startOf(at, runId, 'keep') } as const;
    const refused = await at.host.runs.fork(alice, runId, request).catch((error: unknown) => error);
    const { missing } = (refused as { details: { missing: string[] } }).details;
    const given = Object.fromEntries(missing.map((name) => [name, values[name] ?? CANARY]));
    const made = await at.host.runs.fork(alice, runId, { ...request, values: given });
    if (made === undefined || made.replayed) throw new Error('the fork was not made');
    return made.runId;
  }

  async function startOf(at: TestHost, runId: string, nodeId: string): Promise<number> {
    const events = await at.store.readEvents(runId, 0, 1_000, 1e9);
    return events.find((event) => event.type === 'node.started' && event.nodeId === nodeId)?.seq ?? -1;
  }
});
