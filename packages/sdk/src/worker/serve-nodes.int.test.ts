import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { defineNode, NodeError, Type } from '../nodes/index.ts';
import { type Deferred, deferred } from './deferred.ts';
import { type NodeWorker, serveNodes, type ServeNodesOptions } from './serve-nodes.ts';
import { type ScriptedHost, startScriptedHost } from './testing/scripted-host.ts';
import { taskMessage } from './testing/task-message.ts';

let host: ScriptedHost;
let worker: NodeWorker | undefined;
let begun: string[];
let reasons: Record<string, unknown>;
let gates: Map<string, Deferred<void>>;

/** Does what its input says. */
const work = defineNode({
  typeId: 'acme.work',
  version: '1.0.0',
  inputs: { do: Type.String() },
  outputs: { done: Type.Unknown() },
  async run({ inputs, signal, emit, heartbeat, log, invocationId }) {
    const name = invocationId.slice('inv-'.length);
    begun.push(name);
    signal.addEventListener('abort', () => {
      reasons[name] = signal.reason;
    });
    switch (inputs.do) {
      case 'wait':
        await gateOf(name).promise;
        break;
      case 'talk':
        emit('Hel');
        emit('lo');
        heartbeat({ at: 1 });
        log('info', 'talking', { tone: 'low' });
        break;
      case 'flood':
        for (let index = 0; index < 1_000_000; index += 1) emit('x'.repeat(1_000));
        break;
      case 'date':
        return { done: new Date() };
      case 'huge':
        return { done: 'x'.repeat(2_000_000) };
      case 'declined':
        throw new NodeError('card_declined', 'No.', { retryable: true, retryAfterMs: 5 });
      case 'broken':
        throw new RangeError('too far');
      case 'heartbeat':
        await new Promise((resolve) => signal.addEventListener('abort', resolve));
        try {
          heartbeat();
        } catch (error) {
          reasons[`${name} heartbeat`] = error;
        }
    }
    return { done: inputs.do };
  },
});

function gateOf(name: string): Deferred<void> {
  const gate = gates.get(name) ?? deferred();
  gates.set(name, gate);
  return gate;
}

async function serve(options: ServeNodesOptions = {}): Promise<NodeWorker> {
  worker = serveNodes([work], {
    url: host.url,
    apiKey: 'k',
    log: () => undefined,
    graceMs: 5_000,
    ...options,
  });
  await host.until(() => host.registrations.length > 0);
  host.say({ type: 'ping' });
  return worker;
}

function give(taskId: string, what: string, lease = 1): void {
  host.say(taskMessage(taskId, { do: what }, lease));
}

const results = () => host.reports.flatMap((report) => report.results ?? []);
const resultOf = (taskId: string) => results().find((result) => result.taskId === taskId);

async function tasksStream(): Promise<void> {
  await host.until(() => host.streamCount > 0);
}

beforeEach(async () => {
  host = await startScriptedHost();
  begun = [];
  reasons = {};
  gates = new Map();
});

afterEach(async () => {
  host.answer = { leaseMs: 60_000 };
  for (const gate of gates.values()) gate.resolve();
  host.release();
  await worker?.stop().catch(() => undefined);
  worker = undefined;
  await host.stop();
});

describe('a worker', () => {
  it('registers its types, performs tasks and reports their outputs', async () => {
    await serve({ concurrency: 7, name: 'till', dev: true });
    await tasksStream();

    give('a', 'this');
    give('b', 'that');
    await host.until(() => results().length >= 2);

    expect(host.registrations[0]).toMatchObject({
      name: 'till',
      capacity: 7,
      dev: true,
      types: [{ typeId: 'acme.work' }],
    });
    expect(resultOf('a')).toEqual({ taskId: 'a', lease: 1, outputs: { done: 'this' } });
    expect(resultOf('b')).toEqual({ taskId: 'b', lease: 1, outputs: { done: 'that' } });
  });

  it('sends what ends while reports are on their way in one report', async () => {
    await serve();
    await tasksStream();
    host.answer.reports = 'hold';
    for (const name of ['a', 'b', 'c', 'd']) {
      give(name, 'at once');
      await host.until(() => resultOf(name) !== undefined);
    }

    for (let index = 0; index < 50; index += 1) give(`more-${index}`, 'later');
    await host.until(() => begun.includes('more-49'));
    const before = host.reports.length;
    delete host.answer.reports;
    host.release();
    await host.until(() => resultOf('more-49') !== undefined);

    expect(host.reports.slice(before).map(({ results: sent = [] }) => sent.length)).toEqual([50]);
  });

  it('streams text, progress and logs before the result, in order (V-1)', async () => {
    await serve();
    await tasksStream();

    give('a', 'talk');
    await host.until(() => resultOf('a') !== undefined);

    const said = host.reports.find(({ chunks = [] }) => chunks.length > 0);
    expect(said?.chunks).toEqual([{ taskId: 'a', lease: 1, index: 0, text: 'Hello' }]);
    expect(said?.progress).toEqual([{ taskId: 'a', lease: 1, details: { at: 1 } }]);
    expect(said?.logs).toEqual([
      { taskId: 'a', lease: 1, level: 'info', message: 'talking', fields: { tone: 'low' } },
    ]);
  });

  it.each([
    ['declined', { code: 'card_declined', message: 'No.', retryable: true, retryAfterMs: 5 }],
    ['broken', { code: 'node_failed', message: 'too far', details: { name: 'RangeError' } }],
    ['date', { code: 'output_invalid', message: expect.stringContaining('outputs.done is a value of Date') }],
    ['huge', { code: 'output_too_large', message: expect.stringContaining('2000011 characters') }],
    ['flood', { code: 'reports_too_fast', message: expect.stringContaining('Await something') }],
  ])('reports an error of a function: %s', async (what, error) => {
    await serve();
    await tasksStream();

    give('a', what);
    await host.until(() => resultOf('a') !== undefined);

    expect(resultOf('a')).toMatchObject({ error });
  });

  it('answers a task of a type that it does not serve', async () => {
    await serve();
    await tasksStream();

    host.say({ ...taskMessage('a', {}), typeId: 'acme.other' });
    await host.until(() => resultOf('a') !== undefined);

    expect(resultOf('a')?.error).toMatchObject({ code: 'node_type_not_served' });
  });

  it('aborts a cancelled function with the reason, and drops what it returns (V-2)', async () => {
    await serve();
    await tasksStream();
    give('a', 'heartbeat');
    await host.until(() => begun.includes('a'));

    host.say({ type: 'cancel', taskId: 'a', lease: 1, reason: 'timeout' });
    await host.until(() => reasons['a heartbeat'] !== undefined);
    give('b', 'after');
    await host.until(() => resultOf('b') !== undefined);

    expect(reasons['a']).toMatchObject({ name: 'NodeError', code: 'timeout', retryable: true });
    expect(reasons['a heartbeat']).toBe(reasons['a']);
    expect(resultOf('a')).toBeUndefined();
  });

  it('tells the host of one place less while a cancelled function does not end (V-3)', async () => {
    await serve({ concurrency: 4 });
    await tasksStream();
    give('a', 'wait');
    await host.until(() => begun.includes('a'));

    host.say({ type: 'cancel', taskId: 'a', lease: 1, reason: 'cancelled' });
    await host.until(() => host.reports.some(({ capacity }) => capacity === 3));
    gateOf('a').resolve();
    await host.until(() => host.reports.at(-1)?.capacity === 4);

    expect(resultOf('a')).toBeUndefined();
  });

  it('sends heartbeats when it has nothing else to say', async () => {
    host.answer.leaseMs = 300;
    await serve();

    await host.until(() => host.reports.filter((report) => Object.keys(report).length === 0).length >= 3);

    expect(host.registrations).toHaveLength(1);
  });

  it('stops its tasks when the lease has passed, drops their results, and connects again without them (V-6)', async () => {
    host.answer.leaseMs = 400;
    await serve();
    await tasksStream();
    give('a', 'wait');
    await host.until(() => begun.includes('a'));

    host.answer.reports = 'forget';
    await host.until(() => reasons['a'] !== undefined);
    gateOf('a').resolve();
    delete host.answer.reports;
    await host.until(() => host.registrations.length === 2);
    host.answer.leaseMs = 60_000;

    expect(reasons['a']).toMatchObject({ code: 'lease_lost' });
    expect(host.registrations[1]?.resume).toBeUndefined();
    expect(resultOf('a')).toBeUndefined();
  });

  it('begins no task and sends no report after its lease (V-4, V-7)', async () => {
    host.answer.leaseMs = 200;
    await serve();
    await tasksStream();
    host.answer.reports = 'forget';
    give('a', 'wait');
    await host.until(() => begun.includes('a'));

    // The event loop stands still, as in a frozen process, while the lease passes and the stream has a task.
    give('b', 'after the lease');
    const until = performance.now() + 300;
    while (performance.now() < until);
    gateOf('a').resolve();
    await host.until(() => host.registrations.length === 2);

    expect(begun).not.toContain('b');
    expect(resultOf('a')).toBeUndefined();
  });

  it('keeps its tasks over a lost connection, and names them to the host', async () => {
    host.answer.resumed = true;
    await serve();
    await tasksStream();
    give('a', 'wait', 5);
    await host.until(() => begun.includes('a'));

    host.cut();
    await host.until(() => host.registrations.length === 2);
    gateOf('a').resolve();
    await host.until(() => resultOf('a') !== undefined);

    expect(host.registrations[1]?.resume).toEqual([{ taskId: 'a', lease: 5 }]);
    expect(begun.filter((name) => name === 'a')).toHaveLength(1);
    expect(reasons['a']).toBeUndefined();
  });

  it('stops tasks that the host does not let it keep', async () => {
    host.answer.resumed = false;
    await serve();
    await tasksStream();
    give('a', 'wait');
    await host.until(() => begun.includes('a'));

    host.cut();
    await host.until(() => reasons['a'] !== undefined);

    expect(reasons['a']).toMatchObject({ code: 'lease_lost' });
  });

  it('closes a session in which the host has leased it a task that it dropped meanwhile (V-9)', async () => {
    host.answer = { leaseMs: 300, resumed: true };
    await serve();
    await tasksStream();
    give('a', 'wait');
    await host.until(() => begun.includes('a'));

    host.answer.register = 'hold';
    host.cut();
    await host.until(() => host.registrations.length === 2);
    await host.until(() => reasons['a'] !== undefined);
    host.answer = { leaseMs: 60_000, resumed: true };
    host.release();
    await host.until(() => host.closed.length > 0);

    expect(host.registrations.map(({ resume }) => resume)).toEqual([
      undefined,
      [{ taskId: 'a', lease: 1 }],
      undefined,
    ]);
    expect(host.closed).toEqual(['w2']);
  });

  it('sends a report again until it is answered (V-5)', async () => {
    await serve();
    await tasksStream();
    host.answer.reports = 503;
    give('a', 'this');
    await host.until(() => begun.includes('a'));

    delete host.answer.reports;
    await host.until(() => resultOf('a') !== undefined);

    expect(host.registrations).toHaveLength(1);
  });

  it('registers again when the host does not know its session', async () => {
    host.answer.resumed = true;
    await serve();
    await tasksStream();
    give('a', 'wait');
    await host.until(() => begun.includes('a'));

    host.answer.reports = 404;
    gateOf('a').resolve();
    await host.until(() => host.registrations.length === 2);
    delete host.answer.reports;
    await host.until(() => resultOf('a') !== undefined);

    expect(host.registrations[1]?.resume).toEqual([{ taskId: 'a', lease: 1 }]);
  });

  it('gives up what the host refuses for its size, and nothing else', async () => {
    await serve();
    await tasksStream();
    host.answer.reports = ({ results = [] }) =>
      results.some(({ outputs }) => outputs?.['done'] === 'this') ? 413 : undefined;

    give('a', 'this');
    give('b', 'that');
    await host.until(() => resultOf('b') !== undefined && resultOf('a') !== undefined);

    expect(resultOf('a')?.error).toMatchObject({ code: 'output_too_large' });
    expect(resultOf('b')?.outputs).toEqual({ done: 'that' });
  });

  it('drops what the host refuses as stale', async () => {
    await serve();
    await tasksStream();
    host.answer.refuse = true;

    give('a', 'this');
    await host.until(() => resultOf('a') !== undefined);
    host.answer.refuse = false;
    give('b', 'that');
    await host.until(() => resultOf('b') !== undefined);

    expect(results().filter(({ taskId }) => taskId === 'a')).toHaveLength(1);
  });

  it.each([401, 403, 409])('ends with the error when the host refuses it for good: %i', async (status) => {
    host.answer.register = status;

    const { ended } = serveNodes([work], { url: host.url, apiKey: 'k', log: () => undefined });

    await expect(ended).rejects.toMatchObject({ name: 'ApiError', status });
  });

  it('ends when its key is revoked', async () => {
    const { ended } = await serve();
    await tasksStream();

    host.say({ type: 'close', reason: 'revoked' });

    await expect(ended).rejects.toThrow('revoked');
  });

  it('waits for a host that is not there yet', async () => {
    host.answer.register = 503;
    worker = serveNodes([work], { url: host.url, apiKey: 'k', log: () => undefined });

    delete host.answer.register;
    await host.until(() => host.registrations.length === 1);

    expect(worker.running).toBe(0);
  });

  it('drains: takes nothing new, waits for what is running, and leaves', async () => {
    const { stop } = await serve();
    await tasksStream();
    give('a', 'wait');
    await host.until(() => begun.includes('a'));

    const stopped = stop();
    await host.until(() => host.reports.some(({ capacity }) => capacity === 0));
    give('b', 'too late');
    await host.until(() =>
      host.reports.some(({ returned = [] }) => returned.some(({ taskId }) => taskId === 'b')),
    );
    gateOf('a').resolve();
    await stopped;

    expect(begun).not.toContain('b');
    expect(resultOf('a')?.outputs).toEqual({ done: 'wait' });
    expect(host.closed).toEqual(['w1']);
  });

  it('leaves to others what does not end in time', async () => {
    const { stop } = await serve({ graceMs: 20 });
    await tasksStream();
    give('a', 'wait', 3);
    await host.until(() => begun.includes('a'));

    await stop();

    expect(reasons['a']).toMatchObject({ code: 'shutdown' });
    expect(host.closed).toEqual(['w1']);
  });

  it('stops by the signal it was given', async () => {
    const controller = new AbortController();
    const { ended } = await serve({ signal: controller.signal });

    controller.abort();

    await expect(ended).resolves.toBeUndefined();
  });

  it('refuses what it cannot serve', () => {
    expect(() => serveNodes([], { url: host.url })).toThrow('at least one node type');
    expect(() => serveNodes([work, work], { url: host.url })).toThrow('acme.work 1.0.0 is defined twice');
    expect(() => serveNodes([work], { url: host.url, concurrency: 0 })).toThrow('from 1 to 1000, not 0');
  });
});
