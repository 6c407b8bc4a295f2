import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { type Caller, createHost, type Models, type Tools } from '@weft/engine';
import { ALL_SCOPES } from '@weft/protocol';
import { openSqliteStore } from '@weft/storage';

/**
 * A host in a process of its own, with an agent that takes nine turns, each with a call of a tool. The process ends itself with SIGKILL
 * the first time it comes to the given place; started again, it continues. Every call of the model and of the tool is noted in a file
 * before it is answered.
 *
 *   node agent-host.js FOLDER PLACE SAFE|UNSAFE
 */
const [folder = '', place = '', safety = 'SAFE'] = process.argv.slice(2);
const LAST_TURN = 9;

const caller: Caller = {
  tenant: 'default',
  principal: 'test',
  keyId: 'key-test',
  kind: 'service',
  test: false,
  scopes: new Set(ALL_SCOPES),
};

/** Notes the call; ends the process if this is the place, once. */
function come(where: string, invocationId: string): void {
  appendFileSync(join(folder, 'calls.log'), `${where} ${invocationId}\n`);
  const mark = join(folder, 'killed');
  if (where !== place || existsSync(mark)) return;
  writeFileSync(mark, '');
  process.kill(process.pid, 'SIGKILL');
}

const models: Models = {
  providerFor: () => ({
    id: 'script',
    call({ messages }, { emit, invocationId }) {
      const turn = 1 + messages.filter(({ role }) => role === 'assistant').length;
      emit({ chunk: `turn ${turn}`, isLast: true });
      come(`turn-${turn}`, invocationId);
      const call = { id: `call-${turn}`, name: 'files__note', arguments: JSON.stringify({ turn }) };
      return Promise.resolve({
        text: `turn ${turn}`,
        model: 'script-1',
        finishReason: turn < LAST_TURN ? 'tool_calls' : 'stop',
        usage: { promptTokens: turn, completionTokens: 1, totalTokens: turn + 1 },
        ...(turn < LAST_TURN && { toolCalls: [call] }),
      });
    },
  }),
};

const tools: Tools = {
  servers: ['files'],
  list: () =>
    Promise.resolve([
      {
        name: 'note',
        inputSchema: { type: 'object' },
        digest: 'note-1',
        isReadOnly: false,
        isIdempotent: safety === 'SAFE',
        isDestructive: false,
      },
    ]),
  call({ arguments: given }, { invocationId }) {
    come(`call-${String(given['turn'])}`, invocationId);
    return Promise.resolve({ content: [{ type: 'text', text: 'noted' }], isError: false });
  },
};

const store = openSqliteStore({ path: join(folder, 'weft.db') });
const host = createHost({ store, version: '0.0.0-test', models, tools, limits: { pollMs: 10 } });
await host.start();
const runFile = join(folder, 'run');
if (!existsSync(runFile)) writeFileSync(runFile, await begin());
const runId = readFileSync(runFile, 'utf8');

for (;;) {
  const status = (await host.runs.snapshot(caller, runId))?.snapshot.status;
  if (status === 'completed' || status === 'failed') break;
  await pause(5);
}
const events = (await store.readEvents(runId, 0, 10_000, 1e9)).map(({ type, payload }) => ({
  type,
  payload: JSON.parse(payload) as unknown,
}));
const { total } = await host.costs.report(caller, { by: 'run', limit: 1 });
writeFileSync(join(folder, 'costs.json'), JSON.stringify(total));
writeFileSync(join(folder, 'events.json'), JSON.stringify(events));
await host.stop(1_000);

async function begin(): Promise<string> {
  const node = {
    id: 'agent',
    typeId: 'weft.ai.agent',
    name: 'Agent',
    position: { x: 0, y: 0 },
    config: { instructions: 'Take notes.', prompt: 'Begin.', tools: ['mcp:files/*'] },
    inputs: {},
  };
  const definition = {
    ...{ id: 'notes', name: 'Notes', version: '1', nodes: [node], edges: [], variables: [] },
    ...{ triggers: [{ id: 'manual', type: 'manual' }], metadata: {}, settings: {} },
  };
  await host.workflows.register(caller, definition, { strict: false, dev: false });
  const request = { workflowId: 'notes', inputs: {}, configurable: {}, tags: [], metadata: {} };
  const accepted = await host.runs.create(caller, { ...request, exclusiveScope: false });
  return 'runId' in accepted ? accepted.runId : '';
}
