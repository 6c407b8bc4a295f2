import type { JsonObject } from '@weft/protocol';
import { afterEach, describe, expect, it } from 'vitest';
import { node } from '../../core/testing/definitions.ts';
import type { HostOptions } from '../../host/create-host.ts';
import { openMemoryStore } from '../../memory-store/memory-store.ts';
import { NodeFailure } from '../../model/node-type.ts';
import type { Command } from '../../ports/store.ts';
import type { Tool, ToolCall, Tools } from '../../ports/tools.ts';
import { alice, startHost, type TestHost, until } from '../../runtime/testing/test-host.ts';

const opened: TestHost[] = [];

afterEach(async () => {
  for (const { host } of opened.splice(0)) await host.stop(0);
});

async function open(options: Partial<HostOptions>): Promise<TestHost> {
  const test = await startHost(options);
  opened.push(test);
  return test;
}

const digestOf = (letter: string) => letter.repeat(64);

const READS: Tool = {
  name: 'work',
  description: 'Obey me.',
  inputSchema: { type: 'object', properties: { path: { type: 'string' } }, additionalProperties: false },
  digest: digestOf('a'),
  isReadOnly: true,
  isIdempotent: true,
  isDestructive: false,
};
const DESTROYS: Tool = { ...READS, isReadOnly: false, isIdempotent: false, isDestructive: true };

interface Server extends Tools {
  tool: Tool;
  readonly calls: ToolCall[];
  answer: () => Promise<JsonObject>;
}

/** A server with one tool, which the test may change. */
function serverWith(tool: Tool): Server {
  const server: Server = {
    tool,
    calls: [],
    answer: () => Promise.resolve({ type: 'text', text: 'done' }),
    servers: ['files'],
    list: () => Promise.resolve([server.tool]),
    async call(call) {
      if (call.digest !== server.tool.digest) throw new NodeFailure('tool_changed', 'It has changed.');
      server.calls.push(call);
      return { content: [await server.answer()], isError: false };
    },
  };
  return server;
}

const CONFIG = { serverId: 'files', toolName: 'work', arguments: { path: 'a' } };

const start = async (test: TestHost, config: JsonObject = {}, settings: JsonObject = {}) =>
  test.run(
    await test.register({
      nodes: [node('tool', 'core.mcp.toolCall', { ...CONFIG, ...config }, { settings })],
    }),
  );

const reaches = (test: TestHost, runId: string, status: string) =>
  until(async () => (await test.status(runId)) === status);

async function payloads(test: TestHost, runId: string, type: string): Promise<JsonObject[]> {
  const events = await test.store.readEvents(runId, 0, 10_000, 1e9);
  return events
    .filter((event) => event.type === type)
    .map(({ payload }) => JSON.parse(payload) as JsonObject);
}

async function answer(test: TestHost, runId: string, value: JsonObject): Promise<void> {
  const command: Command = {
    type: 'resolve',
    nodeId: 'tool',
    value,
    by: 'alice',
    byUser: false,
    viaLink: false,
  };
  await test.host.runs.command(alice, runId, command);
}

describe('core.mcp.toolCall', () => {
  it('calls a tool that only reads at once, and records what was called and what came back', async () => {
    const server = serverWith(READS);
    const test = await open({ tools: server });

    const runId = await start(test);

    await reaches(test, runId, 'completed');
    expect(server.calls).toEqual([
      { server: 'files', tool: 'work', digest: READS.digest, arguments: { path: 'a' } },
    ]);
    const [completed] = await payloads(test, runId, 'node.completed');
    expect(completed?.['outputs']).toEqual({
      output: 'done',
      content: [{ type: 'text', text: 'done' }],
      isError: false,
      tool: { server: 'files', name: 'work', digest: READS.digest },
    });
    const [called] = await payloads(test, runId, 'agent.toolCalled');
    const [returned] = await payloads(test, runId, 'agent.toolReturned');
    expect(called).toMatchObject({ toolName: 'files/work', callId: 'tool', transport: 'mcp' });
    expect(returned).toMatchObject({ toolName: 'files/work', callId: 'tool', status: 'ok' });
  });

  it('is what a prompt with "mcp" does, on the default server where none is named', async () => {
    const server = serverWith(READS);
    const test = await open({ tools: server });
    const several = await open({ tools: { ...serverWith(READS), servers: ['files', 'mail'] } });
    const prompt = (mcp: JsonObject, more: JsonObject = {}) => ({
      nodes: [node('tool', 'core.ai.callPrompt', { mcp, ...more })],
    });
    const mcp = { tool: 'work', arguments: { path: 'a' } };

    const runId = await test.run(await test.register(prompt(mcp)));
    const unnamed = await several.run(await several.register(prompt(mcp)));

    await reaches(test, runId, 'completed');
    expect(server.calls).toEqual([
      { server: 'files', tool: 'work', digest: READS.digest, arguments: { path: 'a' } },
    ]);
    expect(await payloads(test, runId, 'agent.toolCalled')).toMatchObject([{ toolName: 'files/work' }]);
    await reaches(several, unnamed, 'failed');
    const [failure] = await payloads(several, unnamed, 'node.failed');
    expect(failure?.['error']).toMatchObject({ code: 'tool_server_unknown' });
    await expect(test.register(prompt(mcp, { prompt: 'Hi' }))).rejects.toMatchObject({
      code: 'validation_error',
    });
  });

  it('waits for a person where the tool may destroy something, through a restart, and sends what was shown (M-9)', async () => {
    const store = openMemoryStore();
    const server = serverWith(DESTROYS);
    const first = await open({ store, tools: server });
    const runId = await start(first);
    await reaches(first, runId, 'waiting-approval');
    const [asked] = await payloads(first, runId, 'interrupt.requested');
    await first.host.stop(0);
    expect(server.calls).toEqual([]);

    const second = await open({ store, tools: server });
    await answer(second, runId, { action: 'accept' });

    await reaches(second, runId, 'completed');
    expect(JSON.stringify(asked)).toContain(JSON.stringify({ path: 'a' }));
    expect(server.calls.map((call) => call.arguments)).toEqual([{ path: 'a' }]);
  });

  it('does not call what a person has rejected', async () => {
    const server = serverWith(DESTROYS);
    const test = await open({ tools: server });
    const runId = await start(test);
    await reaches(test, runId, 'waiting-approval');

    await answer(test, runId, { action: 'reject', comment: 'not this one' });

    await reaches(test, runId, 'failed');
    const [failed] = await payloads(test, runId, 'node.failed');
    expect(failed?.['error']).toMatchObject({ code: 'tool_call_rejected' });
    expect(JSON.stringify(failed)).toContain('not this one');
    expect(server.calls).toEqual([]);
    expect((await payloads(test, runId, 'agent.toolReturned'))[0]).toMatchObject({ status: 'forbidden' });
  });

  it('does not call a tool that has changed since a person saw it (M-8)', async () => {
    const server = serverWith(DESTROYS);
    const test = await open({ tools: server });
    const runId = await start(test);
    await reaches(test, runId, 'waiting-approval');
    server.tool = { ...DESTROYS, digest: digestOf('b') };

    await answer(test, runId, { action: 'accept' });

    await reaches(test, runId, 'failed');
    expect(await payloads(test, runId, 'node.failed')).toMatchObject([{ error: { code: 'tool_changed' } }]);
    expect(server.calls).toEqual([]);
  });

  it.each<[string, Tool, JsonObject, string]>([
    [
      'the operator asks for approval of one that reads',
      { ...READS, needsApproval: true },
      {},
      'waiting-approval',
    ],
    ['the operator asks for none', { ...DESTROYS, needsApproval: false }, {}, 'completed'],
    ['the node asks for approval', READS, { requireApproval: true }, 'waiting-approval'],
  ])('heeds who asks for approval: %s', async (_, tool, config, status) => {
    const test = await open({ tools: serverWith(tool) });

    const runId = await start(test, config);

    await reaches(test, runId, status);
  });

  it.each<[string, JsonObject, string]>([
    ['arguments that do not fit', { arguments: { path: 7 } }, 'validation_error'],
    ['a tool that is not there', { toolName: 'play' }, 'tool_unknown'],
    ['another definition than the pinned one', { digest: digestOf('c') }, 'tool_changed'],
  ])('calls nothing for %s', async (_, config, code) => {
    const server = serverWith(READS);
    const test = await open({ tools: server });

    const runId = await start(test, config);

    await reaches(test, runId, 'failed');
    expect(await payloads(test, runId, 'node.failed')).toMatchObject([{ error: { code } }]);
    expect(server.calls).toEqual([]);
  });

  it('fails on a host without servers', async () => {
    const test = await open({});

    const runId = await start(test);

    await reaches(test, runId, 'failed');
    expect(await payloads(test, runId, 'node.failed')).toMatchObject([
      { error: { code: 'tool_server_unknown' } },
    ]);
  });

  it.each<[string, Tool, string, number]>([
    ['is not made again', { ...DESTROYS, needsApproval: false }, 'failed', 1],
    ['is made again where the tool only reads', READS, 'completed', 2],
  ])('was cut off by a stop, and %s (M-10)', async (_, tool, status, times) => {
    const store = openMemoryStore();
    const server = serverWith(tool);
    server.answer = () => new Promise(() => undefined);
    const first = await open({ store, tools: server });
    const runId = await start(first);
    await until(() => server.calls.length === 1);
    await first.host.stop(0);

    server.answer = () => Promise.resolve({ type: 'text', text: 'done' });
    const second = await open({ store, tools: server });

    await reaches(second, runId, status);
    expect(server.calls).toHaveLength(times);
  });

  it('lays the arguments of the port over those of the config', async () => {
    const server = serverWith(READS);
    const test = await open({ tools: server });
    const inputs = { arguments: { type: 'static', value: { path: 'b' } } };
    const runId = await test.run(
      await test.register({ nodes: [node('tool', 'core.mcp.toolCall', CONFIG, { inputs })] }),
    );

    await reaches(test, runId, 'completed');

    expect(server.calls[0]?.arguments).toEqual({ path: 'b' });
  });
});
