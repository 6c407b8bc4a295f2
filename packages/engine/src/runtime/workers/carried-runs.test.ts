import type { Json } from '@weft/protocol';
import { afterEach, describe, expect, it } from 'vitest';
import { chain, node } from '../../core/testing/definitions.ts';
import type { ForkRequest } from '../../host/host.ts';
import { alice, startHost, type TestHost, until } from '../testing/test-host.ts';
import { connectWorker, servedType, type TestWorker } from './testing/test-worker.ts';

/** Runs whose nodes workers have performed, repeated, compared and carried away: their events say the same, and no worker is asked again. */

const hosts: TestHost[] = [];
const FLOW = {
  nodes: [node('start'), node('first', 'test.served'), node('second', 'test.served')],
  edges: chain('start', 'first', 'second'),
};

async function open(): Promise<TestHost> {
  const test = await startHost({ nodes: [servedType()] });
  hosts.push(test);
  return test;
}

afterEach(async () => {
  await Promise.all(hosts.splice(0).map(({ host }) => host.stop(0)));
});

/** Text, a log line, and outputs of every shape of JSON; the first attempt of each node fails. */
async function perform(worker: TestWorker): Promise<void> {
  const failing = await worker.next();
  await worker.fail(failing, { code: 'busy', message: 'Not now.', retryable: true });
  const { taskId, lease, nodeId } = await worker.next();
  await worker.report({
    chunks: [
      { taskId, lease, index: 0, text: `${nodeId} says ` },
      { taskId, lease, index: 1, text: 'hello 😀' },
    ],
    logs: [{ taskId, lease, level: 'info', message: 'halfway', fields: { share: 0.5 } }],
  });
  const outputs = { id: `${nodeId}-1`, nested: { list: [1, 2.5, null, true, 'ü'] } };
  await worker.report({ results: [{ taskId, lease, outputs }] });
}

async function finished(test: TestHost, worker: TestWorker, workflowId: string): Promise<string> {
  const runId = await test.run(workflowId);
  await perform(worker);
  await perform(worker);
  await ended(test, runId);
  return runId;
}

async function ended(test: TestHost, runId: string): Promise<void> {
  await until(async () => (await test.status(runId)) === 'completed');
}

async function events(test: TestHost, runId: string): Promise<unknown[]> {
  const polled = await test.host.runs.events(alice, runId, -1, 1_000);
  return (polled?.events ?? []).map(({ document }) => {
    const { type, nodeId, payload } = JSON.parse(document) as Record<string, unknown>;
    // Pieces of text name their run, copied ones that of the source.
    const { runId: _named, ...said } = payload as Record<string, unknown>;
    return { type, nodeId, said };
  });
}

async function differences(test: TestHost, a: string, b: string): Promise<unknown[]> {
  const found: unknown[] = [];
  const diff = await test.host.runs.diff(alice, a, b, new AbortController().signal);
  for await (const difference of diff?.differences ?? []) found.push(difference);
  return found;
}

async function fork(test: TestHost, runId: string, request: ForkRequest): Promise<string> {
  const made = await test.host.runs.fork(alice, runId, request);
  if (made === undefined || made.replayed) throw new Error('the fork was not made');
  return made.runId;
}

async function served(): Promise<{ test: TestHost; worker: TestWorker; workflowId: string; runId: string }> {
  const test = await open();
  const worker = await connectWorker(test.host);
  const retrying = FLOW.nodes.map((each) => ({
    ...each,
    settings: { retry: { maxAttempts: 2, initialMs: 1, maxMs: 1 } },
  }));
  const workflowId = await test.register({ ...FLOW, nodes: retrying });
  return { test, worker, workflowId, runId: await finished(test, worker, workflowId) };
}

describe('a run of worker nodes', () => {
  it('says the same in a replay from every sequence, and no worker performs anything (E-26)', async () => {
    const { test, worker, runId } = await served();
    const source = await events(test, runId);
    const performed = worker.tasks().length;

    for (let fromSeq = 0; fromSeq < source.length; fromSeq += 1) {
      const replay = await fork(test, runId, { mode: 'replay', fromSeq });
      await ended(test, replay);
      expect(await events(test, replay), `from ${fromSeq}`).toEqual(source);
      expect(await differences(test, runId, replay)).toEqual([]);
    }

    expect(worker.tasks()).toHaveLength(performed);
  });

  it('is equal to another one with the same outcomes, and its branch performs what comes after the cut', async () => {
    const { test, worker, workflowId, runId } = await served();
    const again = await finished(test, worker, workflowId);
    const source = await events(test, runId);
    const cut = source.findIndex((event) => (event as { nodeId?: string }).nodeId === 'second');

    const branch = await fork(test, runId, { mode: 'branch', fromSeq: cut });
    await perform(worker);
    await ended(test, branch);

    expect(await differences(test, runId, again)).toEqual([]);
    expect(await events(test, branch)).toEqual(source);
  });

  it('is carried to another host as a bundle, event by event', async () => {
    const { test, runId } = await served();
    const far = await open();
    let text = '';
    for await (const piece of (await test.host.bundles.text(alice, runId, {})) ?? []) text += piece;

    const imported = await far.host.imports.create(alice, JSON.parse(text) as Json);

    expect(await events(far, imported.runId)).toEqual(await events(test, runId));
  });
});
