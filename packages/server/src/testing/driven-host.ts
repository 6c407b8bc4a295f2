import { randomBytes } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import {
  type EffectNodeType,
  type Host,
  type OfferedAgent,
  openMemoryStore,
  type Peers,
  type Tool,
  type Tools,
} from '@weft/engine';
import type { DeadDelivery, Json, JsonObject, OperationId } from '@weft/protocol';
import { Type } from 'typebox';
import { type Harness, type Loose, openHarness } from './harness.ts';

/** What makes a request of an operation, in addition to its method and path. */
const PRICES = {
  name: 'invented',
  date: '2026-01-01',
  licence: 'CC0-1.0',
  currency: 'USD',
  models: { 'echo/any': { inputPerMillion: '1.5', outputPerMillion: '6' } },
};

export interface Call {
  readonly path?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: Json;
  readonly headers?: Readonly<Record<string, string>>;
  /** In place of that of the host. */
  readonly key?: string;
}

/** A host on a port of its own that has everything some operation needs, and a request that succeeds for each of them. */
export interface DrivenHost {
  readonly at: Harness;
  readonly url: string;
  readonly calls: Readonly<Record<OperationId, () => Call | Promise<Call>>>;
  waiting(): Promise<string>;
}

const WORKER = { name: 'a test', capacity: 1, types: [{ typeId: 'acme.noop', version: '1.0.0' }] };
const MCP_HEADERS = { accept: 'application/json, text/event-stream' };
const INITIALIZE = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'test', version: '1' } },
};
const NONCE = 'abcdefghijklmnop';

export const produce: EffectNodeType = {
  kind: 'effect',
  typeId: 'test.produce',
  title: 'Produce',
  summary: 'Writes an artifact.',
  config: Type.Object({}, { additionalProperties: false }),
  perform: async (_input, { artifacts }) => {
    const bytes = Buffer.from('{"some":"bytes"}');
    const { artifactId } = await artifacts.put({ name: 'report.json', mediaType: 'application/json', bytes });
    return { outputs: { artifactId } };
  },
};

/** A tool server that repeats what it is given. */
const ECHO: Tools = {
  servers: ['echo'],
  list: () => Promise.resolve([ECHO_TOOL]),
  call: ({ arguments: { text = '' } }) =>
    Promise.resolve({ content: [{ type: 'text', text }], isError: false }),
  status: () => ({ transport: 'stdio', state: 'ready', serverName: 'echo', tools: [ECHO_TOOL] }),
};

/** An agent that repeats its input. */
const PEER: Peers = {
  names: ['echo'],
  addressOf: () => 'http://127.0.0.1:9/',
  card: () =>
    Promise.resolve({
      agentName: 'echo',
      protocolVersion: '1.0',
      skills: [{ id: 'echo', name: 'Echo', description: '', digest: '0'.repeat(64) }],
      takesRepeats: false,
    }),
  send: ({ content }) => Promise.resolve({ state: 'COMPLETED', message: [{ data: content }] }),
  follow: ({ taskId }) => Promise.resolve({ taskId, state: 'COMPLETED' }),
  cancel: ({ taskId }) => Promise.resolve({ taskId, state: 'CANCELED' }),
};

const ECHO_TOOL: Tool = {
  name: 'echo',
  inputSchema: { type: 'object' },
  digest: '0'.repeat(64),
  isReadOnly: true,
  isIdempotent: true,
  isDestructive: false,
};

export function workflow(id: string, typeId: string): JsonObject {
  return {
    id,
    name: id,
    version: '1',
    nodes: [{ id: 'only', typeId, name: 'only', position: { x: 0, y: 0 }, config: {}, inputs: {} }],
    edges: [],
    triggers: [{ id: 'manual', type: 'manual', enabled: true }],
    variables: [],
    metadata: { tags: [] },
    settings: { timeout: 60_000 },
  };
}

/** The memory store has no backup of its own. */
function createStore() {
  const bytes = Buffer.from('a backup');
  return {
    ...openMemoryStore(),
    openBackup: async () => ({
      size: bytes.length,
      async *read() {
        yield bytes;
      },
      close: async () => undefined,
    }),
  };
}

const DEAD: DeadDelivery = {
  deliveryId: 'wh_1.0199e0a0-0000-7000-8000-000000000000.3',
  kind: 'webhook',
  webhookId: 'wh_1',
  runId: '0199e0a0-0000-7000-8000-000000000000',
  sequence: 3,
  attempts: 8,
  reason: 'status_500',
  failedAt: '2030-01-01T00:00:00.000Z',
};

/** A delivery takes hours to become dead. */
function withDeadDelivery(host: Host): Host {
  const webhooks: Host['webhooks'] = {
    ...host.webhooks,
    deadDeliveries: async () => ({ rows: [DEAD] }),
    replay: async (_caller, deliveryId) => deliveryId === DEAD.deliveryId,
  };
  const deadLetters: Host['deadLetters'] = {
    ...host.deadLetters,
    replay: async (_caller, _source, id) => (id.startsWith('schedule-') ? { runId: DEAD.runId } : undefined),
  };
  return { ...host, webhooks, deadLetters };
}

const AGENT: OfferedAgent = {
  agentId: 'vendor.acme.support.triage',
  persona: 'Triage',
  label: 'Triage',
  modelClass: 'general',
  packName: 'vendor.acme.support',
  packVersion: '1.0.0',
  toolAllowlist: [],
  systemPrompt: 'Sort what comes in.',
};

export async function openDrivenHost(): Promise<DrivenHost> {
  const store = createStore();
  const at = await openHarness({ identity: randomBytes(32) }, withDeadDelivery, undefined, {
    store,
    nodes: [produce],
    tools: ECHO,
    peers: PEER,
    limits: { parkAfterMs: 0 },
  });
  const owner = await at.host.authenticate(at.key);
  if (owner.state === 'ok') await at.host.agents.install(owner.caller, [AGENT]);
  await at.app.listen({ host: '127.0.0.1', port: 0 });
  const { port } = at.app.server.address() as AddressInfo;

  const read = async (url: string): Promise<Loose> => (await at.call('GET', url)).json;
  const post = async (url: string, body: Json): Promise<Loose> => (await at.call('POST', url, { body })).json;
  const startUntil = async (workflowId: string, status: string): Promise<string> => {
    const { runId } = await at.start(workflowId);
    await at.reaches(runId, status);
    return runId;
  };
  const ended = () => startUntil('noop', 'completed');
  const running = () => startUntil('wait', 'running');
  const waiting = () => startUntil('gate', 'waiting-approval');
  const ofRun =
    (run: () => Promise<string>, more: Call = {}) =>
    async () => ({
      path: { runId: await run() },
      ...more,
    });
  const answer = { resumeValue: { action: 'accept' } };
  const token = async (): Promise<string> =>
    String((await read(`/v1/runs/${await waiting()}`)).interrupt?.interruptToken);
  const quarantined = async (): Promise<string> => {
    const runId = await waiting();
    for (const until = Date.now() + 10_000; (await store.readRun(runId, undefined))?.holder !== undefined; ) {
      if (Date.now() > until) throw new Error('The run stays held.');
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    const since = Date.UTC(2030, 0, 1);
    const suspicion = { reason: 'A test.', since, seq: 0, quarantinedAt: since };
    await store.commit([{ kind: 'suspicion', batchId: 'q'.repeat(22), runId, suspicion }]);
    return runId;
  };
  await post('/v1/host/weft/workflows', workflow('produces', 'test.produce'));
  const produced = await startUntil('produces', 'completed');
  let registered = 0;
  const worker = async (): Promise<string> => String((await post('/v1/host/weft/workers', WORKER)).workerId);
  let named = 0;
  const scheduled = async (): Promise<string> => {
    const name = `schedule-${(named += 1)}`;
    await post('/v1/host/weft/schedules', { name, workflowId: 'noop', cron: '0 9 * * *' });
    return name;
  };
  const ofSchedule =
    (more: Call = {}) =>
    async () => ({ path: { scheduleName: await scheduled() }, ...more });
  const secret = 'a secret of the test';
  const triggered = async (more: JsonObject = {}): Promise<string> =>
    String(
      (await post('/v1/host/weft/triggers', { workflowId: 'noop', scheme: 'shared-secret', secret, ...more }))
        .id,
    );
  const ofTrigger =
    (more: Call = {}) =>
    async () => ({ path: { triggerId: await triggered() }, ...more });
  const deadLetter = async () => {
    const triggerId = await triggered({ inputMapping: { a: 'body.missing' } });
    const url = `/v1/host/weft/ingest/${triggerId}`;
    const { json } = await at.call('POST', url, { body: {}, headers: { 'x-weft-secret': secret } });
    return { path: { letterId: String(json.deadLetterId) }, query: { source: `trigger:${triggerId}` } };
  };

  const prompted = async (): Promise<string> => {
    const templateId = `made-${(named += 1)}`;
    await post('/v1/prompts', { templateId, version: '1.0.0', kind: 'user', text: 'Hello {{who}}.' });
    return templateId;
  };

  const sessionKey = async (): Promise<string> => {
    const { code } = await post('/v1/host/weft/sessions/codes', {});
    return String((await post('/v1/host/weft/sessions', { code: String(code) })).key);
  };

  const mcpSession = async () => {
    const opened = await fetch(`http://127.0.0.1:${port}/v1/mcp`, {
      method: 'POST',
      headers: { ...MCP_HEADERS, authorization: `Bearer ${at.key}`, 'content-type': 'application/json' },
      body: JSON.stringify(INITIALIZE),
    });
    await opened.text();
    return { ...MCP_HEADERS, 'mcp-session-id': opened.headers.get('mcp-session-id') ?? '' };
  };

  const calls: DrivenHost['calls'] = {
    getCapabilities: () => ({}),
    getOpenApiSpec: () => ({}),
    getAsyncApiSpec: () => ({}),
    getProto: () => ({}),
    getSchema: () => ({ path: { schemaName: 'run-snapshot' } }),
    getWorkflow: () => ({ path: { workflowId: 'noop' } }),
    createRun: () => ({ body: { workflowId: 'noop' } }),
    getRun: ofRun(waiting),
    diffRun: async () => ({ path: { runId: await ended() }, query: { against: await ended() } }),
    cancelRun: ofRun(running, { body: { reason: 'a test' } }),
    bulkCancelRuns: async () => ({ body: { runIds: [await running(), 'unknown'] } }),
    pauseRun: ofRun(running),
    resumeRun: async () => {
      const runId = await running();
      await post(`/v1/runs/${runId}:pause`, { drainPolicy: 'immediate' });
      await at.reaches(runId, 'paused');
      return { path: { runId } };
    },
    resolveInterruptByRun: async () => ({ path: { runId: await waiting(), nodeId: 'gate' }, body: answer }),
    resolveApproval: async () => ({
      path: { runId: await waiting(), nodeId: 'gate' },
      body: answer.resumeValue,
    }),
    inspectInterruptByToken: async () => ({ path: { token: await token() } }),
    resolveInterruptByToken: async () => ({ path: { token: await token() }, body: answer }),
    streamRunEvents: ofRun(ended),
    pollRunEvents: ofRun(ended),
    getArtifact: async () => {
      const { artifacts } = await read(`/v1/host/weft/runs/${produced}/artifacts`);
      return { path: { runId: produced, artifactId: String(artifacts?.[0]?.artifactId) } };
    },
    getDebugBundle: ofRun(ended),
    createAnnotation: ofRun(ended, { body: { signal: { kind: 'rating', rating: 5 }, note: 'good' } }),
    listAnnotations: async () => {
      const runId = await ended();
      await post(`/v1/runs/${runId}/annotations`, { signal: { kind: 'flag' } });
      return { path: { runId } };
    },
    forkRun: ofRun(ended, { body: { mode: 'replay' } }),
    getRunAncestry: ofRun(ended),
    forkRunWith: ofRun(ended, { body: { mode: 'branch', fromSeq: 1 } }),
    getRunState: ofRun(ended, { query: { at: '0' } }),
    verifyAuditLog: () => ({ query: { fromSeq: '0', toSeq: '100' } }),
    exportAudit: () => ({}),
    registerWebhook: () => ({ body: { url: 'https://hooks.example.com/weft', events: ['*'] } }),
    unregisterWebhook: async () => {
      const body = { url: 'https://hooks.example.com/weft', events: ['run.completed'] };
      return { path: { webhookId: String((await post('/v1/webhooks', body)).webhookId) } };
    },
    registerWorkflow: () => ({ body: workflow(`registered-${(registered += 1)}`, 'core.noop') }),
    listWorkflows: () => ({ query: { limit: '2' } }),
    getWorkflowVersion: () => ({ path: { workflowId: 'noop' }, query: { version: '1.0' } }),
    checkWorkflow: () => ({ body: { id: 'half a workflow' } }),
    listRuns: () => ({ query: { status: 'completed', limit: '2' } }),
    countRuns: () => ({ query: { bucket: '1h', since: new Date(Date.now() - 3_600_000).toISOString() } }),
    explainRun: ofRun(waiting),
    releaseRun: ofRun(quarantined),
    importBundle: async () => ({
      body: JSON.parse((await at.call('GET', `/v1/runs/${await ended()}/debug-bundle`)).text) as Json,
    }),
    listInterrupts: () => ({}),
    readQuestionLink: async () => ({ path: { token: await token() } }),
    setSecret: () => ({ body: { id: 'token', value: 'a value to keep' } }),
    listSecrets: () => ({}),
    removeSecret: async () => {
      await post('/v1/host/weft/secrets', { id: 'removed', value: 'a value to remove' });
      return { path: { secretId: 'removed' } };
    },
    listArtifacts: () => ({ path: { runId: produced } }),
    createKey: () => ({ body: { principal: 'tester', kind: 'service', scopes: ['runs:read'] } }),
    listKeys: () => ({}),
    revokeKey: async () => ({ path: { keyId: (await at.createKey({ scopes: ['runs:read'] })).keyId } }),
    createSignInCode: () => ({}),
    openSession: async () => {
      const { code } = await post('/v1/host/weft/sessions/codes', {});
      return { body: { code: String(code) } };
    },
    getSession: () => ({}),
    endSession: async () => ({ key: await sessionKey() }),
    rotateLinkKey: () => ({}),
    readStats: () => ({}),
    readMetrics: () => ({}),
    removeRun: ofRun(ended),
    eraseRun: ofRun(ended),
    getRetention: () => ({}),
    setRetention: () => ({ body: { keepForSeconds: 86_400 } }),
    resetRetention: () => ({}),
    backUp: () => ({}),
    proveIdentity: () => ({ query: { nonce: NONCE } }),
    health: () => ({}),
    ready: () => ({}),
    listWebhooks: () => ({}),
    readCallbackSecret: () => ({}),
    listDeliveries: () => ({}),
    replayDelivery: () => ({ path: { deliveryId: DEAD.deliveryId } }),
    registerTrigger: () => ({ body: { source: 'webhook', workflowId: 'noop' } }),
    listPrompts: () => ({ query: { limit: '2' } }),
    createPrompt: () => ({
      body: { templateId: `made-${(named += 1)}`, version: '1.0.0', kind: 'user', text: 'Hello.' },
    }),
    getPrompt: async () => ({ path: { templateId: await prompted() } }),
    updatePrompt: async () => ({
      path: { templateId: await prompted() },
      body: { version: '1.1.0', kind: 'user', text: 'Good day, {{who}}.' },
    }),
    removePrompt: async () => ({ path: { templateId: await prompted() } }),
    renderPrompt: async () => ({ body: { ref: `prompt:${await prompted()}`, variables: { who: 'Ada' } } }),
    createSchedule: () => ({ body: { name: `made-${(named += 1)}`, workflowId: 'noop', everyMs: 60_000 } }),
    listSchedules: () => ({ query: { limit: '2' } }),
    getSchedule: ofSchedule(),
    removeSchedule: ofSchedule(),
    pauseSchedule: ofSchedule(),
    resumeSchedule: ofSchedule(),
    triggerSchedule: ofSchedule(),
    backfillSchedule: ofSchedule({ body: { from: '2026-01-01T00:00:00Z', to: '2026-01-03T00:00:00Z' } }),
    createTrigger: () => ({ body: { workflowId: 'noop', scheme: 'github' } }),
    listTriggers: () => ({ query: { limit: '2' } }),
    getTrigger: ofTrigger(),
    removeTrigger: ofTrigger(),
    pauseTrigger: ofTrigger(),
    resumeTrigger: ofTrigger(),
    testTrigger: ofTrigger({ body: { body: { a: 1 } } }),
    ingestDelivery: ofTrigger({ body: { a: 1 }, headers: { 'x-weft-secret': secret } }),
    listDeadLetters: async () => ({ query: (await deadLetter()).query }),
    replayDeadLetter: async () => {
      const schedule = await scheduled();
      return { path: { letterId: schedule }, query: { source: `schedule:${schedule}` } };
    },
    removeDeadLetter: deadLetter,
    listNodes: () => ({}),
    registerWorker: () => ({ body: WORKER }),
    listWorkers: () => ({}),
    streamTasks: async () => {
      const workerId = await worker();
      // A stream of tasks ends with its session.
      setTimeout(() => void at.call('DELETE', `/v1/host/weft/workers/${workerId}`), 50);
      return { path: { workerId } };
    },
    reportTasks: async () => ({ path: { workerId: await worker() }, body: { capacity: 2 } }),
    closeWorker: async () => ({ path: { workerId: await worker() } }),
    getCosts: () => ({ query: { by: 'model' } }),
    listPrices: () => ({}),
    setPrices: () => ({ body: PRICES }),
    removePrices: async () => {
      await post('/v1/host/weft/prices', { ...PRICES, name: 'removed' });
      return { path: { priceList: 'removed' } };
    },
    listModels: () => ({}),
    testModel: () => ({ body: { model: 'echo/any' } }),
    listNodeTypes: () => ({}),
    mapNodeType: async () => {
      await worker();
      return { path: { typeId: 'acme.noop' }, body: { version: '1.0.0' } };
    },
    sendMcpMessage: () => ({ body: INITIALIZE, headers: MCP_HEADERS }),
    streamMcpMessages: async () => {
      const headers = await mcpSession();
      // The stream ends with its session.
      setTimeout(() => void at.call('DELETE', '/v1/mcp', { headers }), 50);
      return { headers };
    },
    endMcpSession: async () => ({ headers: await mcpSession() }),
    getAgentCard: () => ({}),
    sendA2aMessage: () => ({
      headers: { 'a2a-version': '1.0' },
      body: { jsonrpc: '2.0', id: 1, method: 'ListTasks', params: {} },
    }),
    listAgents: () => ({}),
    getAgent: () => ({ path: { agentId: AGENT.agentId } }),
    listPeers: () => ({}),
    testPeer: () => ({ path: { peer: 'echo' } }),
    listToolServers: () => ({}),
    testToolServer: () => ({ path: { server: 'echo' } }),
    callTool: () => ({ path: { server: 'echo' }, body: { tool: 'echo', arguments: { text: 'hi' } } }),
    drainNode: async () => ({
      path: { node: String((await read('/v1/host/weft/cluster/nodes')).nodes?.[0]?.name) },
    }),
  };
  return { at, url: `http://127.0.0.1:${port}`, calls, waiting };
}
