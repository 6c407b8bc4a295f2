import type { JsonObject } from '@weft/protocol';
import { afterEach, describe, expect, it } from 'vitest';
import { privatePayload } from '../../core/fold/overlay.ts';
import { chain, node, type NodeSpec, variable, type WorkflowSpec } from '../../core/testing/definitions.ts';
import { openMemoryStore } from '../../memory-store/memory-store.ts';
import type { EgressRequest } from '../../model/node-type.ts';
import type { ModelProvider } from '../../ports/models.ts';
import { alice, startHost, type TestHost, until } from '../testing/test-host.ts';
import { NO_STREAMS } from '../testing/no-streams.ts';

/** Every place where others read something of a run, and one sensitive input that goes through all of them. */

const PIN = '4719';
const MADE = `made-${PIN}-of-it`;

const opened: TestHost[] = [];

async function open(options: Parameters<typeof startHost>[0] = {}): Promise<TestHost & { logged: string[] }> {
  const logged: string[] = [];
  const test = await startHost({
    log: (level, fields, message) => void logged.push(JSON.stringify([level, fields, message])),
    ...options,
  });
  opened.push(test);
  return { ...test, logged };
}

afterEach(async () => {
  for (const { host } of opened.splice(0)) await host.stop(0);
});

const MAKE = '"made-" + vars.pin + "-of-it"';
const given = (expression: string, port = 'content'): Partial<NodeSpec> => ({
  inputs: { [port]: { type: 'expression', expression } },
});

async function ended(test: TestHost, runId: string): Promise<void> {
  await until(async () => /completed|failed/.test((await test.status(runId)) ?? ''));
}

async function textOf(pieces: AsyncIterable<string> | undefined): Promise<string> {
  let text = '';
  if (pieces !== undefined) for await (const piece of pieces) text += piece;
  return text;
}

/** All that the host tells of a run. */
async function surfacesOf(
  test: TestHost & { logged: string[] },
  runId: string,
): Promise<Record<string, string>> {
  const { host } = test;
  const { signal } = new AbortController();
  const cursor = await host.runs.follow(alice, runId, {
    afterSeq: -1,
    keepaliveMs: 20,
    snapshots: true,
    signal,
  });
  const followed: unknown[] = [];
  for (let next = await cursor?.next(); next !== undefined && next.length > 0; next = await cursor?.next())
    followed.push(...next.map(({ event, snapshot: at }) => [event.document, at]));
  cursor?.close();
  const artifacts: string[] = [];
  for (const { artifactId } of (await host.artifacts.list(alice, runId, { limit: 10 }))?.rows ?? []) {
    const artifact = await host.artifacts.open(alice, runId, artifactId);
    for await (const bytes of artifact?.read() ?? []) artifacts.push(Buffer.from(bytes).toString('utf8'));
  }
  const shown = {
    events: (await host.runs.events(alice, runId, -1, 10_000))?.events.map(({ document }) => document),
    snapshot: (await host.runs.snapshot(alice, runId))?.snapshot,
    followed,
    interrupts: await host.interrupts.list(alice, { limit: 10 }),
    bundle: await textOf(await host.bundles.text(alice, runId)),
    annotations: await host.annotations.list(alice, runId),
    artifacts,
    spans: (await host.operations.runSpans(runId, 1_000))?.spans,
    logged: test.logged,
  };
  return Object.fromEntries(Object.entries(shown).map(([surface, what]) => [surface, JSON.stringify(what)]));
}

/** Surfaces on which a text is seen. */
/** Ids and digests are random, and may hold four digits by chance. */
const RANDOM = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-f]{32,}/g;

function seenOn(surfaces: Readonly<Record<string, string>>, text: string): string[] {
  return Object.keys(surfaces).filter((surface) => surfaces[surface]?.replaceAll(RANDOM, '').includes(text));
}

describe('a sensitive value and what is made from it', () => {
  it('are shown nowhere: memory, artifacts, streams, snapshots, bundles, annotations, logs', async () => {
    const sent: EgressRequest[] = [];
    const echo = {
      async fetch(request: EgressRequest) {
        sent.push(request);
        const body = `you said ${request.body ?? ''} (${Buffer.from(request.body ?? '').toString('base64')})`;
        return {
          status: 200,
          headers: { 'content-type': 'text/plain' },
          body: new TextEncoder().encode(body),
        };
      },
    };
    const test = await open({ egress: { ...NO_STREAMS, ...echo } });
    const post = { url: 'https://api.example/', method: 'POST' };
    const id = await test.register({
      nodes: [
        node('remember', 'weft.memory.write', { memoryRef: 'notes' }, given(MAKE)),
        node('recall', 'weft.memory.list', { memoryRef: 'notes' }),
        node('call', 'core.http.request', post, given(MAKE, 'body')),
        node('save', 'core.http.request', { ...post, saveAs: { name: 'answer' } }, given(MAKE, 'body')),
        node('ask', 'core.approvalGate', { title: 'Pay?' }, given(MAKE, 'artifactData')),
        node('last', 'core.end'),
      ],
      edges: chain('remember', 'recall', 'call', 'save', 'ask', 'last'),
      variables: [variable('pin', { sensitive: true })],
    });

    const runId = await test.run(id, { inputs: { pin: PIN } });
    await until(async () => (await test.status(runId)) === 'waiting-approval');
    const waiting = await surfacesOf(test, runId);
    await test.host.runs.command(alice, runId, {
      type: 'resolve',
      nodeId: 'ask',
      value: { action: 'accept', comment: `it was ${MADE}` },
      by: 'alice',
      byUser: true,
      viaLink: false,
    });
    await ended(test, runId);
    await test.host.annotations.create(alice, runId, {
      signal: { kind: 'label', label: PIN },
      note: `${MADE} and ${btoa(PIN)}`,
    });

    expect(sent.map(({ body }) => body)).toEqual([MADE, MADE]);
    for (const surfaces of [waiting, await surfacesOf(test, runId)]) {
      expect(seenOn(surfaces, PIN)).toEqual([]);
      for (const encoded of [btoa(MADE).slice(0, 16), btoa(PIN)])
        expect(seenOn(surfaces, encoded)).toEqual([]);
      expect(seenOn(surfaces, '[REDACTED]')).toEqual(
        expect.arrayContaining(['events', 'snapshot', 'bundle']),
      );
    }
    const recalled = (await test.store.readEvents(runId, 0, 1_000, 1e9)).find(
      ({ type, nodeId }) => type === 'node.completed' && nodeId === 'recall',
    );
    expect(recalled && (privatePayload(recalled) ?? recalled.payload)).toContain('"content":"[REDACTED]"');
  });

  it('stay hidden when a model repeats them, in its questions and in its answer', async () => {
    const asks = {
      type: 'clarification.request',
      payload: { questions: [{ id: 'q', question: `Is it ${MADE}?` }] },
    };
    const call: ModelProvider['call'] = async ({ messages }, { emit }) => {
      const isFirst = !messages.some(({ role }) => role === 'assistant');
      const text = isFirst ? JSON.stringify(asks) : `It is ${MADE}.`;
      emit({ chunk: text, isLast: true });
      const usage = { promptTokens: 1, completionTokens: 1, totalTokens: 2 };
      return { text, model: 'parrot-1', finishReason: 'stop', usage };
    };
    const test = await open({ models: { providerFor: () => ({ id: 'parrot', call }) } });
    const id = await test.register({
      nodes: [node('say', 'core.ai.callPrompt', { prompt: 'Repeat.' }, given(MAKE, 'input'))],
      variables: [variable('pin', { sensitive: true })],
    });

    const runId = await test.run(id, { inputs: { pin: PIN } });
    await until(async () => (await test.status(runId)) === 'waiting-input');
    const waiting = await surfacesOf(test, runId);
    const by = { by: 'alice', byUser: true, viaLink: false };
    const value = { answers: { q: 'yes' } };
    await test.host.runs.command(alice, runId, { type: 'resolve', nodeId: 'say', value, ...by });
    await ended(test, runId);

    for (const surfaces of [waiting, await surfacesOf(test, runId)])
      expect(seenOn(surfaces, PIN)).toEqual([]);
  });

  it('are kept as they are where the author says that they are not sensitive', async () => {
    const test = await open();
    const id = await test.register({
      nodes: [
        node('remember', 'weft.memory.write', { memoryRef: 'notes', sensitive: false }, given(MAKE)),
        node('recall', 'weft.memory.list', { memoryRef: 'notes' }, { outputSensitivity: { output: false } }),
      ],
      edges: chain('remember', 'recall'),
      variables: [variable('pin', { sensitive: true })],
    });

    const runId = await test.run(id, { inputs: { pin: PIN } });
    await ended(test, runId);

    const shown = await test.host.runs.snapshot(alice, runId);
    expect(shown?.snapshot['outputs']).toMatchObject({ output: [{ content: MADE }] });
  });

  it('are shown neither by a child run nor by its parent, nor by forks of them', async () => {
    const test = await open();
    const child: WorkflowSpec = {
      nodes: [
        node('0'),
        node('make', 'core.setVariable', { name: 'made', expression: '"made-" + vars.code + "-of-it"' }),
        node('call', 'test.effect', {}, { inputs: { made: { type: 'variable', variableName: 'made' } } }),
      ],
      edges: chain('0', 'make', 'call'),
      variables: [variable('code')],
    };
    await test.register(child, 'child');
    const id = await test.register(
      {
        nodes: [
          node('0'),
          node('sub', 'core.subWorkflow', {
            workflowId: 'child',
            inputMapping: { code: 'pin' },
            outputMapping: { back: 'made' },
          }),
          node('after', 'core.setVariable', { name: 'twice', expression: 'vars.back + vars.back' }),
        ],
        edges: chain('0', 'sub', 'after'),
        variables: [variable('pin', { sensitive: true })],
      },
      'parent',
    );

    const runId = await test.run(id, { inputs: { pin: PIN } });
    const call = await until(() => test.effects.calls[0]);
    call.succeed({ outputs: { output: { echo: call.input.inputs['made'] ?? null, fine: 'yes' } } });
    await ended(test, runId);

    const snapshot = (await test.host.runs.snapshot(alice, runId))?.snapshot as unknown as JsonObject;
    const [{ runId: childId } = { runId: '' }] = snapshot['childRuns'] as unknown as { runId: string }[];
    const fork = await test.host.runs.fork(alice, childId, { mode: 'replay' });
    const forkId = fork !== undefined && !fork.replayed ? fork.runId : '';
    await ended(test, forkId);
    expect(call.input.inputs['made']).toBe(MADE);
    for (const each of [runId, childId, forkId]) {
      expect(seenOn(await surfacesOf(test, each), PIN)).toEqual([]);
    }
    expect(seenOn(await surfacesOf(test, childId), '"yes"')).not.toEqual([]);
    const diff = await test.host.runs.diff(alice, childId, forkId, new AbortController().signal);
    expect(diff).toMatchObject({ stateDiff: {} });
  });

  it('are written as a keyed hash where the workflow asks for that, one that differs between tenants', async () => {
    const spec: WorkflowSpec = {
      nodes: [node('0'), node('make', 'core.setVariable', { name: 'made', expression: 'vars.pin' })],
      edges: chain('0', 'make'),
      variables: [variable('pin', { sensitive: true })],
      metadata: { complianceConfig: { maskingMode: 'hash' } },
    };
    const marks: string[] = [];
    for (const secretsKey of [new Uint8Array(32), new Uint8Array(32), new Uint8Array(32).fill(1)]) {
      const test = await open({ secretsKey, store: openMemoryStore() });
      const runId = await test.run(await test.register(spec), { inputs: { pin: PIN } });
      await ended(test, runId);
      const shown = await test.host.runs.snapshot(alice, runId);
      const variables = shown?.snapshot['variables'] as JsonObject;
      expect(variables['made']).toBe(variables['pin']);
      marks.push(String(variables['pin']));
    }

    expect(marks[0]).toMatch(/^sha256:[0-9a-f]{64}$/);
    expect(marks[1]).toBe(marks[0]);
    expect(marks[2]).not.toBe(marks[0]);
  });
});
