import { createHash } from 'node:crypto';
import {
  canonicalJson,
  compileClientSchema,
  compileValidator,
  type DebugBundle,
  DebugBundleSchema,
  type Json,
  type JsonObject,
  WorkBudget,
} from '@weft/protocol';
import { publishedShapes } from '@weft/protocol/published-shapes';
import { afterEach, describe, expect, it } from 'vitest';
import { chain, node, variable, type WorkflowSpec } from '../../core/testing/definitions.ts';
import type { Host, NewRun } from '../../host/host.ts';
import { NodeFailure } from '../../model/node-type.ts';
import { alice, startHost, stranger, type TestHost, until } from '../testing/test-host.ts';
import { CONFORMANCE } from '../../conformance/index.ts';

const hosts: Host[] = [];
afterEach(async () => {
  for (const host of hosts.splice(0)) await host.stop(100);
});

async function start(options: Parameters<typeof startHost>[0] = {}): Promise<TestHost> {
  const test = await startHost(options);
  hosts.push(test.host);
  return test;
}

async function bundleText(host: Host, runId: string, maxEvents?: number): Promise<string> {
  const pieces = await host.bundles.text(alice, runId, maxEvents === undefined ? {} : { maxEvents });
  if (pieces === undefined) throw new Error('there is no such run');
  let text = '';
  for await (const piece of pieces) text += piece;
  return text;
}

async function bundleOf(host: Host, runId: string, maxEvents?: number): Promise<DebugBundle> {
  return JSON.parse(await bundleText(host, runId, maxEvents)) as DebugBundle;
}

async function finished(test: TestHost, spec: WorkflowSpec, request: Partial<NewRun> = {}): Promise<string> {
  const runId = await test.run(await test.register(spec), request);
  await until(async () => /completed|failed/.test((await test.status(runId)) ?? ''));
  return runId;
}

const THREE_NODES: WorkflowSpec = {
  nodes: [node('a'), node('b'), node('c')],
  edges: chain('a', 'b', 'c'),
};

/** One of every shape we know, all of them with the same tell-tale inside. */
const MARKER = 'CANARY7f3a91d2';
const CANARIES: Readonly<Record<string, string>> = {
  sk: `sk-${MARKER}abcdefghij0123456789`,
  bearer: `Bearer ${MARKER}.abcdef0123456789`,
  jwt: `eyJhbGciOi${MARKER}.eyJzdWIiOiIx${MARKER}.c2lnbmF0dXJl${MARKER}`,
  aws: 'AKIACANARY7F3A91D2XY',
  github: `ghp_${MARKER}abcdefghij0123456789`,
  githubFineGrained: `github_pat_${MARKER}abcdefghij0123456789`,
  slack: `xoxb-${MARKER}-0123456789`,
  google: `AIza${MARKER}0123456789abcdefghijk`,
  gitlab: `glpat-${MARKER}0123456789abc`,
  weft: `weft_live_${MARKER}`,
  url: `postgres://app:${MARKER}pw@db.internal/orders`,
  pem: `-----BEGIN PRIVATE KEY-----\n${MARKER}\n-----END PRIVATE KEY-----`,
};

const EVERYTHING = Object.values(CANARIES).join(' | ');
const ENCODED = {
  base64: btoa(EVERYTHING),
  url: encodeURIComponent(EVERYTHING),
  nested: [{ deep: { json: JSON.stringify({ first: 'line\n', CANARIES }) } }],
};

function leaks(text: string): string[] {
  const forms = [MARKER, 'CANARY7F3A91D2', btoa(EVERYTHING).slice(40, 80)];
  return forms.filter((form) => text.includes(form));
}

describe('a debug bundle', () => {
  it('has the whole run: snapshot, events as they are polled, spans, metrics, definition', async () => {
    const test = await start();
    const runId = await finished(test, THREE_NODES);

    const bundle = await bundleOf(test.host, runId);

    const polled = await test.host.runs.events(alice, runId, -1, 1_000);
    const documents = polled?.events.map((event) => JSON.parse(event.document) as { payload: Json });
    expect(bundle.events).toEqual(documents?.map((document) => ({ ...document, data: document.payload })));
    expect(bundle.metrics).toEqual({ eventCount: bundle.events.length, nodeCount: 3, openwopCost: null });
    expect(bundle.spans).toHaveLength(4);
    expect(bundle).toMatchObject({
      bundleVersion: '1.0',
      host: { name: 'weft', version: '0.0.0-test', vendor: 'weft' },
      run: { runId, status: 'completed', error: null, inputs: {} },
      redactionApplied: true,
      redactionMode: 'mask',
      annotations: [],
      weft: { masked: [], totals: { events: bundle.events.length, spans: 4 } },
    });
    expect(bundle.run).toHaveProperty('completedAt', bundle.run.endedAt);
    expect(bundle).not.toHaveProperty('truncated');
    expect(compileValidator(DebugBundleSchema)(bundle)).toEqual([]);
  });

  it('is its own canonical form, with a digest over everything but our member', async () => {
    const test = await start();
    const runId = await finished(test, THREE_NODES, {
      inputs: { Zoë: 'grüße', a: { z: 1, b: [2.5, 1e21] } },
      tags: ['ünïcode', '\u{1F600}'],
    });

    const text = await bundleText(test.host, runId);

    const bundle = JSON.parse(text) as DebugBundle;
    expect(canonicalJson(bundle as unknown as Json)).toBe(text);
    const { weft, ...rest } = bundle;
    const digest = createHash('sha256')
      .update(canonicalJson(rest as unknown as Json))
      .digest('hex');
    expect(weft?.digest).toBe(digest);
    const definition = createHash('sha256')
      .update(canonicalJson(weft?.definition as Json))
      .digest('hex');
    expect(weft?.definitionDigest).toBe(definition);
  });

  it('keeps the names of inputs and masks their values, also in what was seeded from them', async () => {
    const test = await start();
    const runId = await finished(
      test,
      { ...THREE_NODES, variables: [variable('city'), variable('plain', { defaultValue: 'shown' })] },
      { inputs: { city: 'Braunschweig', small: 7 }, tags: ['to Braunschweig'] },
    );

    const bundle = await bundleOf(test.host, runId);

    expect(bundle.run).toMatchObject({
      inputs: { city: '[REDACTED]', small: '[REDACTED]' },
      variables: { city: '[REDACTED]', small: '[REDACTED]', plain: 'shown' },
      tags: ['to [REDACTED]'],
    });
    expect(bundle.weft?.masked).toEqual(
      expect.arrayContaining(['/run/inputs/city', '/run/variables/small', '/run/tags/0']),
    );
    expect(JSON.stringify(bundle)).not.toContain('Braunschweig');
  });

  it('does not blur the shape of the log when an input equals one of its words', async () => {
    const test = await start();
    const runId = await finished(test, THREE_NODES, {
      inputs: { a: 'nodeId', b: 'core.noop', c: 'completed', d: 'typeId', e: 'attempt' },
    });

    const { events, run } = await bundleOf(test.host, runId);

    expect(events.filter(({ type }) => type === 'node.started').map(({ payload }) => payload)).toEqual(
      ['a', 'b', 'c'].map((nodeId) => ({ nodeId, typeId: 'core.noop', attempt: 0 })),
    );
    expect(run).toMatchObject({ status: 'completed', nodeStates: { a: { status: 'completed' } } });
  });

  it.each([
    ['mask', '[REDACTED]'],
    ['omit', null],
    ['hash', expect.stringMatching(/^sha256:[0-9a-f]{64}$/)],
  ])('masks inputs in the mode of the workflow: %s', async (maskingMode, mark) => {
    const test = await start({ secretsKey: new Uint8Array(32) });
    const runId = await finished(
      test,
      { ...THREE_NODES, metadata: { complianceConfig: { maskingMode } } },
      { inputs: { city: 'Braunschweig' } },
    );

    const bundle = await bundleOf(test.host, runId);

    expect(bundle.run.inputs).toEqual({ city: mark });
    expect(bundle).toMatchObject({ redactionApplied: true, redactionMode: maskingMode });
    expect(bundle.weft?.masked).toContain('/run/inputs/city');
  });

  it('says passthrough only when nothing had to be masked', async () => {
    const test = await start();
    const spec = { ...THREE_NODES, metadata: { complianceConfig: { maskingMode: 'passthrough' } } };

    const bare = await bundleOf(test.host, await finished(test, spec));
    const tagged = await bundleOf(test.host, await finished(test, spec, { tags: [CANARIES['sk'] ?? ''] }));

    expect(bare).toMatchObject({ redactionApplied: false, redactionMode: 'passthrough' });
    expect(tagged).toMatchObject({ redactionApplied: true, redactionMode: 'mask' });
  });

  it('is a strict prefix with the total number of events when fewer are asked for', async () => {
    const test = await start();
    const runId = await finished(test, THREE_NODES);
    const whole = await bundleOf(test.host, runId);

    const two = await bundleOf(test.host, runId, 2);
    const none = await bundleOf(test.host, runId, 0);
    const more = await bundleOf(test.host, runId, 1_000);

    expect(two.events).toEqual(whole.events.slice(0, 2));
    expect(two).toMatchObject({ truncated: true, truncatedReason: 'events_truncated_to_max_events' });
    expect(two.metrics).toEqual(whole.metrics);
    expect(none).toMatchObject({ events: [], truncated: true, metrics: whole.metrics });
    expect(more.events).toEqual(whole.events);
    expect(more).not.toHaveProperty('truncated');
  });

  it('does not exist for another tenant', async () => {
    const test = await start();
    const runId = await finished(test, THREE_NODES);

    expect(await test.host.bundles.text(stranger, runId)).toBeUndefined();
    expect(await test.host.bundles.text(alice, 'no-such-run')).toBeUndefined();
  });

  it('carries no link that answers an open question', async () => {
    const test = await start();
    const runId = await test.run(await test.register({ nodes: [node('gate', 'core.approvalGate')] }));
    await until(async () => (await test.status(runId)) === 'waiting-approval');

    const bundle = await bundleOf(test.host, runId);

    expect(bundle.run).toMatchObject({ status: 'waiting-approval', currentNodeId: 'gate', endedAt: null });
    expect(JSON.stringify(bundle)).not.toContain('interruptToken');
  });
});

describe('canaries of every known shape', () => {
  const SPEC: WorkflowSpec = {
    nodes: [
      node('echo', 'test.effect'),
      node('set', 'core.setVariable', { name: 'note', value: `by ${EVERYTHING}` }),
      node('fail', 'test.effect'),
    ],
    edges: chain('echo', 'set', 'fail'),
    variables: [
      variable('note'),
      variable('hidden', { sensitive: true, defaultValue: `inner-${MARKER}` }),
      variable('city'),
    ],
  };
  const INPUT = `plain-${MARKER}-words`;

  const ALL_INPUTS = { city: INPUT, nested: { list: [EVERYTHING] }, ...CANARIES, [CANARIES['sk'] ?? '']: 1 };

  async function planted(inputs: JsonObject = ALL_INPUTS): Promise<{ test: TestHost; runId: string }> {
    // Other hosts refuse a definition with credentials in it.
    const test = await start({ conformance: CONFORMANCE });
    const runId = await test.run(await test.register(SPEC), {
      inputs,
      tags: [CANARIES['github'] ?? ''],
      metadata: { owner: EVERYTHING, encoded: ENCODED },
      configurable: { custom: EVERYTHING, encoded: ENCODED },
    });
    const [echo] = await until(() => (test.effects.calls.length > 0 ? test.effects.calls : undefined));
    echo?.succeed({
      outputs: {
        output: EVERYTHING,
        encoded: ENCODED,
        inputAgain: { plain: INPUT, base64: btoa(`x${INPUT}y`), url: encodeURIComponent(INPUT) },
        hidden: `inner-${MARKER}`,
      },
    });
    const fail = await until(() => test.effects.calls[1]);
    fail.fail(new NodeFailure('broken', `refused ${EVERYTHING} for ${INPUT}`, { details: { ENCODED } }));
    await until(async () => (await test.status(runId)) === 'failed');
    return { test, runId };
  }

  it('do not appear in the raw text, wherever they were planted', async () => {
    const { test, runId } = await planted();
    await test.host.annotations.create(alice, runId, {
      signal: { kind: 'correction', correction: `was ${EVERYTHING} and ${INPUT}` },
      note: `${INPUT} ${ENCODED.base64} ${ENCODED.url}`,
    });

    const text = await bundleText(test.host, runId);

    expect(leaks(text)).toEqual([]);
    expect(JSON.parse(text)).toMatchObject({
      run: { status: 'failed', error: { code: 'broken' } },
      annotations: [{ signal: { kind: 'correction' } }],
    });
  });

  it('do not appear when they are not declared: their shape is enough', async () => {
    const { test, runId } = await planted({ city: INPUT });

    const text = await bundleText(test.host, runId);

    expect(leaks(text)).toEqual([]);
  });

  it('are pointed at, one by one, by pointers that lead somewhere', async () => {
    const { test, runId } = await planted();

    const bundle = await bundleOf(test.host, runId);

    const pointers = bundle.weft?.masked ?? [];
    expect(pointers.length).toBeGreaterThan(20);
    expect(bundle.weft?.totals.masked).toBe(pointers.length);
    const marked = pointers.filter((pointer) =>
      JSON.stringify(resolve(bundle, pointer))?.includes('[REDACTED]'),
    );
    expect(marked.length).toBeGreaterThan(20);
  });
});

function resolve(document: unknown, pointer: string): unknown {
  return pointer
    .split('/')
    .slice(1)
    .map((name) => name.replaceAll('~1', '/').replaceAll('~0', '~'))
    .reduce<unknown>((value, name) => (value as Record<string, unknown> | undefined)?.[name], document);
}

describe.each(publishedShapes('debug-bundle'))('against %s', (_, schema) => {
  it('bundles of ended and of truncated runs are valid', async () => {
    const validate = compileClientSchema(schema);
    const test = await start();
    const runId = await finished(test, THREE_NODES, { inputs: { city: 'Braunschweig' } });

    for (const maxEvents of [undefined, 0, 2]) {
      expect(validate((await bundleOf(test.host, runId, maxEvents)) as Json, new WorkBudget())).toEqual([]);
    }
  });
});
