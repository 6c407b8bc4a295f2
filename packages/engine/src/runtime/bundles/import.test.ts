import type { Json, JsonObject } from '@weft/protocol';
import { afterEach, describe, expect, it } from 'vitest';
import { foreignBundle, modern, TWO_NODES } from '../../core/import/testing/foreign-bundle.ts';
import { chain, node, variable, type WorkflowSpec } from '../../core/testing/definitions.ts';
import type { ForkRequest } from '../../host/host.ts';
import { alice, startHost, stranger, type TestHost, until } from '../testing/test-host.ts';

const opened: TestHost[] = [];

async function open(): Promise<TestHost> {
  const at = await startHost();
  opened.push(at);
  return at;
}

afterEach(async () => {
  for (const { host } of opened.splice(0)) await host.stop(1_000);
});

/** Greets, asks the outside, remembers the answer, then ends. */
const GREETING: WorkflowSpec = {
  nodes: [
    node('hello', 'core.setVariable', { name: 'greeting', expression: '"hello " + variables.who' }),
    node('ask', 'test.effect'),
    node('keep', 'core.setVariable', { name: 'kept', value: 'yes' }),
  ],
  edges: chain('hello', 'ask', 'keep'),
  variables: [variable('who', { defaultValue: 'you' }), variable('greeting'), variable('kept')],
};

async function finished(at: TestHost, inputs: JsonObject = {}): Promise<string> {
  const runId = await at.run(await at.register(GREETING), { inputs });
  const call = await until(() => at.effects.calls.at(-1));
  call.succeed();
  await until(async () => (await at.status(runId)) === 'completed');
  return runId;
}

async function bundleOf(at: TestHost, runId: string, maxEvents?: number): Promise<Json> {
  const pieces = await at.host.bundles.text(alice, runId, maxEvents === undefined ? {} : { maxEvents });
  let text = '';
  for await (const piece of pieces ?? []) text += piece;
  return JSON.parse(text) as Json;
}

async function fork(at: TestHost, runId: string, request: ForkRequest): Promise<string> {
  const made = await at.host.runs.fork(alice, runId, request);
  if (made === undefined || made.replayed) throw new Error('the fork was not made');
  return made.runId;
}

async function seqOf(at: TestHost, runId: string, type: string, nodeId: string): Promise<number> {
  const events = await at.store.readEvents(runId, 0, 1_000, 1e9);
  return events.find((event) => event.type === type && event.nodeId === nodeId)?.seq ?? -1;
}

describe('a bundle from here', () => {
  it('becomes a run elsewhere with the same log and state, marked as imported', async () => {
    const [near, far] = [await open(), await open()];
    const original = await finished(near);

    const imported = await far.host.imports.create(alice, await bundleOf(near, original));

    expect(imported).toMatchObject({
      created: true,
      sourceRunId: original,
      status: 'completed',
      verified: true,
      truncated: false,
      definition: 'present',
    });
    expect(await far.types(imported.runId)).toEqual(await near.types(original));
    const [there, here] = [
      await near.host.runs.snapshot(alice, original),
      await far.host.runs.snapshot(alice, imported.runId),
    ];
    expect(here?.snapshot.variables).toEqual(there?.snapshot.variables);
    expect(here?.snapshot['nodeStates']).toEqual(there?.snapshot['nodeStates']);
    expect(here?.snapshot['weft']).toMatchObject({ imported: { runId: original, verified: true } });
    expect(there?.snapshot['weft']).not.toHaveProperty('imported');
  });

  it('is imported once, however often, and by each tenant for itself', async () => {
    const at = await open();
    const bundle = await bundleOf(at, await finished(at));

    const first = await at.host.imports.create(alice, bundle);
    const [again, racing, theirs] = await Promise.all([
      at.host.imports.create(alice, bundle),
      at.host.imports.create(alice, bundle),
      at.host.imports.create(stranger, bundle),
    ]);

    expect(again).toEqual({ ...first, created: false });
    expect(racing).toEqual(again);
    expect(theirs.runId).not.toBe(first.runId);
    expect(await at.host.runs.snapshot(stranger, first.runId)).toBeUndefined();
  });

  it('differs in nothing from its run when nothing was masked', async () => {
    const at = await open();
    const original = await finished(at);
    const { runId } = await at.host.imports.create(alice, await bundleOf(at, original));

    const diff = await at.host.runs.diff(alice, original, runId, new AbortController().signal);

    expect(diff).toMatchObject({ divergedAtSeq: null, stateDiff: {}, truncated: false });
  });

  it('is not a workflow that a client could start', async () => {
    const [near, far] = [await open(), await open()];
    await far.host.imports.create(alice, await bundleOf(near, await finished(near)));

    expect((await far.host.workflows.list(alice, { limit: 10 })).rows).toEqual([]);
    expect(await far.host.workflows.get(alice, 'test-workflow')).toBeUndefined();
  });
});

describe('an imported run', () => {
  it('is never moved: not claimed, not answered, not cancelled', async () => {
    const [near, far] = [await open(), await open()];
    const asking = await near.run(
      await near.register({ nodes: [node('gate', 'core.approvalGate', { title: 'Ship?' })] }),
    );
    await until(async () => (await near.status(asking)) === 'waiting-approval');

    const { runId, status } = await far.host.imports.create(alice, await bundleOf(near, asking));

    expect(status).toBe('waiting-approval');
    expect((await far.host.interrupts.list(alice, { limit: 10 })).rows).toEqual([]);
    expect((await far.store.readRun(runId, 'default'))?.head.wakeAt).toBeNull();
    await expect(far.host.runs.command(alice, runId, { type: 'cancel' })).rejects.toMatchObject({
      code: 'conflict',
    });
    expect((await far.host.runs.explain(alice, runId))?.waitingFor).toBe('nothing');
    const page = await far.host.runs.events(alice, runId, -1, 100);
    expect(page?.complete).toBe(true);
  });

  it('of a cut bundle knows that it is cut, and is forked inside what there is', async () => {
    const [near, far] = [await open(), await open()];
    const original = await finished(near);
    const whole = (await near.types(original)).length;

    const { runId, ...summary } = await far.host.imports.create(alice, await bundleOf(near, original, 3));

    expect(summary).toMatchObject({ truncated: true, events: 3, totalEvents: whole, status: 'running' });
    await expect(fork(far, runId, { mode: 'branch', fromSeq: 3 })).rejects.toMatchObject({
      code: 'fork_out_of_range',
    });
  });
});

describe('a fork of an imported run', () => {
  it('continues here from any sequence when nothing was masked', async () => {
    const [near, far] = [await open(), await open()];
    const original = await finished(near);
    const { runId } = await far.host.imports.create(alice, await bundleOf(near, original));
    const cut = await seqOf(far, runId, 'node.started', 'keep');

    const forked = await fork(far, runId, { mode: 'branch', fromSeq: cut });

    await until(async () => (await far.status(forked)) === 'completed');
    expect((await far.host.runs.snapshot(alice, forked))?.snapshot['weft']).not.toHaveProperty('imported');
    expect(far.effects.calls).toEqual([]);
  });

  it('replays by the record when nothing was masked', async () => {
    const [near, far] = [await open(), await open()];
    const { runId } = await far.host.imports.create(alice, await bundleOf(near, await finished(near)));

    const replay = await fork(far, runId, { mode: 'replay' });

    await until(async () => (await far.status(replay)) === 'completed');
    const diff = await far.host.runs.diff(alice, runId, replay, new AbortController().signal);
    expect(diff?.divergedAtSeq).toBeNull();
  });

  it('asks for what was masked by name, and does not exist until it has it', async () => {
    const [near, far] = [await open(), await open()];
    const original = await finished(near, { who: 'Braunschweig' });
    const { runId } = await far.host.imports.create(alice, await bundleOf(near, original));
    const cut = await seqOf(far, runId, 'node.started', 'keep');
    const request: ForkRequest = { mode: 'branch', fromSeq: cut };

    const refused = await far.host.runs.fork(alice, runId, request).catch((error: unknown) => error);

    expect(refused).toMatchObject({
      code: 'values_missing',
      details: { missing: expect.arrayContaining(['who', 'greeting']) },
    });
    expect((await far.host.runs.list(alice, {}, { limit: 10 })).rows).toHaveLength(1);
  });

  it('runs with the values that it was given, which stay out of its public log', async () => {
    const [near, far] = [await open(), await open()];
    const original = await finished(near, { who: 'Braunschweig' });
    const { runId } = await far.host.imports.create(alice, await bundleOf(near, original));
    const cut = await seqOf(far, runId, 'node.started', 'keep');
    const missing = await missingOf(far, runId, cut);

    expect(missing).toEqual(['who', 'greeting']);
    const values = { who: 'Wolfenbüttel', greeting: 'given greeting' };
    const forked = await fork(far, runId, { mode: 'branch', fromSeq: cut, values });

    await until(async () => (await far.status(forked)) === 'completed');
    expect((await far.host.runs.snapshot(alice, forked))?.snapshot.variables).toMatchObject({
      who: 'Wolfenbüttel',
      greeting: 'given greeting',
      kept: 'yes',
    });
    const prefix = await far.host.runs.events(alice, forked, -1, cut);
    expect(prefix?.events.map(({ document }) => document).join()).not.toContain('given greeting');
  });

  it('asks for outputs by their path while a later node could read them', async () => {
    const [near, far] = [await open(), await open()];
    const { runId } = await far.host.imports.create(alice, await bundleOf(near, await finished(near)));
    const cut = await seqOf(far, runId, 'node.started', 'ask');

    const missing = await missingOf(far, runId, cut);
    const values = { 'nodes.hello.outputs': { output: 'given' } };
    await fork(far, runId, { mode: 'branch', fromSeq: cut, values });

    const call = await until(() => far.effects.calls.at(-1));
    expect(missing).toEqual(['nodes.hello.outputs']);
    expect(call.input.inputs).toMatchObject({ input: 'given' });
  });

  it('of such a fork, further back, has what that one was given', async () => {
    const [near, far] = [await open(), await open()];
    const { runId } = await far.host.imports.create(
      alice,
      await bundleOf(near, await finished(near, { who: 'you' })),
    );
    const forked = await fork(far, runId, { mode: 'branch', fromSeq: 0, values: { who: 'me' } });
    const call = await until(() => far.effects.calls.at(-1));
    call.succeed();
    await until(async () => (await far.status(forked)) === 'completed');

    const second = await fork(far, forked, { mode: 'branch', fromSeq: 0 });

    await until(() => far.effects.calls[1]);
    expect((await far.host.runs.snapshot(alice, second))?.snapshot.variables).toMatchObject({
      greeting: 'hello me',
    });
  });

  it('does not replay what the record has only masked', async () => {
    const [near, far] = [await open(), await open()];
    const { runId } = await far.host.imports.create(
      alice,
      await bundleOf(near, await finished(near, { who: 'you' })),
    );

    await expect(fork(far, runId, { mode: 'replay' })).rejects.toMatchObject({ code: 'values_missing' });
  });

  it('refuses a value for a place where nothing was masked', async () => {
    const [near, far] = [await open(), await open()];
    const { runId } = await far.host.imports.create(alice, await bundleOf(near, await finished(near)));

    const values = { 'nodes.unknown.outputs.x': 1 };

    await expect(fork(far, runId, { mode: 'branch', fromSeq: 1, values })).rejects.toMatchObject({
      code: 'validation_error',
      details: { field: 'values' },
    });
  });

  async function missingOf(at: TestHost, runId: string, cut: number): Promise<string[]> {
    const error = await at.host.runs
      .fork(alice, runId, { mode: 'branch', fromSeq: cut })
      .catch((thrown: unknown) => thrown);
    return (error as { details: { missing: string[] } }).details.missing;
  }
});

describe('a bundle of another host', () => {
  it('is shown as its events tell, unknown ones included', async () => {
    const at = await open();

    const { runId, ...summary } = await at.host.imports.create(alice, foreignBundle());

    expect(summary).toMatchObject({ verified: false, status: 'completed', definition: 'missing' });
    const { snapshot } = (await at.host.runs.snapshot(alice, runId)) ?? {};
    expect(snapshot).toMatchObject({
      workflowId: 'letters',
      status: 'completed',
      outputs: { sent: 1 },
      nodeStates: { fetch: { status: 'completed', typeId: 'acme.fetch' }, send: { status: 'completed' } },
      weft: { imported: { host: 'acme-flow 4.2', verified: false, definition: 'missing' } },
    });
    expect(await at.types(runId)).toContain('acme.cache.missed');
  });

  it('without a definition is not forked, until the request names one', async () => {
    const at = await open();
    await at.register({ nodes: [node('fetch'), node('send')], edges: chain('fetch', 'send') }, 'letters');
    const { runId } = await at.host.imports.create(alice, foreignBundle());

    await expect(fork(at, runId, { mode: 'branch', fromSeq: 1 })).rejects.toMatchObject({
      code: 'definition_missing',
    });

    const forked = await fork(at, runId, { mode: 'branch', fromSeq: 4, workflowVersion: '1.0' });
    await until(async () => (await at.status(forked)) === 'completed');
  });

  it('that leaves out names together with values makes every variable an open question', async () => {
    const at = await open();
    await at.register({ nodes: [node('fetch')], variables: [variable('who')] }, 'letters');
    const events = modern(TWO_NODES.slice(0, 2));
    const cut = foreignBundle({ truncated: true, metrics: { eventCount: 7 } }, events);
    const { runId } = await at.host.imports.create(alice, cut);

    const request: ForkRequest = { mode: 'branch', fromSeq: 1, workflowVersion: '1.0' };

    await expect(fork(at, runId, request)).rejects.toMatchObject({ details: { missing: ['who'] } });
  });

  it('that cannot be believed leaves nothing behind', async () => {
    const at = await open();

    const outcome = at.host.imports.create(
      alice,
      foreignBundle({}, modern(TWO_NODES.filter((_, index) => index !== 1))),
    );

    await expect(outcome).rejects.toMatchObject({ code: 'bundle_invalid' });
    expect((await at.host.runs.list(alice, {}, { limit: 10 })).rows).toEqual([]);
  });
});
