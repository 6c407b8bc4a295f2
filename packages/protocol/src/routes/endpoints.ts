export interface Endpoint {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** Parameters in braces; verbs follow a colon. */
  readonly path: string;
  /** Served as well, and not documented. */
  readonly alias?: string;
  /** A write that takes no Idempotency-Key. All others do, so that a client may repeat them. */
  readonly unkeyed?: true;
}

/**
 * Where each operation is served. Paths are written here and nowhere else: the server registers its handlers by these ids, the SDK
 * builds its requests from them, and ROUTES describes each of them. No schemas, so a client that only asks loads none.
 */
export const ENDPOINTS = {
  getCapabilities: { method: 'GET', path: '/.well-known/openwop' },
  getOpenApiSpec: { method: 'GET', path: '/v1/openapi.json' },
  getAsyncApiSpec: { method: 'GET', path: '/v1/asyncapi.json' },
  getProto: { method: 'GET', path: '/v1/openwop.proto' },
  getSchema: { method: 'GET', path: '/v1/schemas/{schemaName}.json' },
  getWorkflow: { method: 'GET', path: '/v1/workflows/{workflowId}' },
  createRun: { method: 'POST', path: '/v1/runs' },
  getRun: { method: 'GET', path: '/v1/runs/{runId}' },
  diffRun: { method: 'GET', path: '/v1/runs/{runId}:diff' },
  // Some documents write the verb like its siblings.
  cancelRun: { method: 'POST', path: '/v1/runs/{runId}/cancel', alias: '/v1/runs/{runId}:cancel' },
  bulkCancelRuns: { method: 'POST', path: '/v1/runs:bulk-cancel' },
  pauseRun: { method: 'POST', path: '/v1/runs/{runId}:pause' },
  resumeRun: { method: 'POST', path: '/v1/runs/{runId}:resume' },
  resolveInterruptByRun: { method: 'POST', path: '/v1/runs/{runId}/interrupts/{nodeId}' },
  resolveApproval: { method: 'POST', path: '/v1/runs/{runId}/approvals/{nodeId}' },
  inspectInterruptByToken: { method: 'GET', path: '/v1/interrupts/{token}' },
  resolveInterruptByToken: { method: 'POST', path: '/v1/interrupts/{token}' },
  streamRunEvents: { method: 'GET', path: '/v1/runs/{runId}/events' },
  pollRunEvents: { method: 'GET', path: '/v1/runs/{runId}/events/poll' },
  getArtifact: { method: 'GET', path: '/v1/runs/{runId}/artifacts/{artifactId}' },
  getDebugBundle: { method: 'GET', path: '/v1/runs/{runId}/debug-bundle' },
  createAnnotation: { method: 'POST', path: '/v1/runs/{runId}/annotations' },
  listAnnotations: { method: 'GET', path: '/v1/runs/{runId}/annotations' },
  forkRun: { method: 'POST', path: '/v1/runs/{runId}:fork' },
  getRunAncestry: { method: 'GET', path: '/v1/runs/{runId}/ancestry' },
  forkRunWith: { method: 'POST', path: '/v1/host/weft/runs/{runId}:fork' },
  getRunState: { method: 'GET', path: '/v1/host/weft/runs/{runId}/state' },
  verifyAuditLog: { method: 'GET', path: '/v1/audit/verify' },
  exportAudit: { method: 'GET', path: '/v1/host/weft/audit' },
  registerWebhook: { method: 'POST', path: '/v1/webhooks' },
  unregisterWebhook: { method: 'DELETE', path: '/v1/webhooks/{webhookId}' },
  registerWorkflow: { method: 'POST', path: '/v1/host/weft/workflows' },
  listWorkflows: { method: 'GET', path: '/v1/host/weft/workflows' },
  getWorkflowVersion: { method: 'GET', path: '/v1/host/weft/workflows/{workflowId}' },
  checkWorkflow: { method: 'POST', path: '/v1/host/weft/workflows:check', unkeyed: true },
  listRuns: { method: 'GET', path: '/v1/host/weft/runs' },
  countRuns: { method: 'GET', path: '/v1/host/weft/runs:counts' },
  explainRun: { method: 'GET', path: '/v1/host/weft/runs/{runId}/why' },
  releaseRun: { method: 'POST', path: '/v1/host/weft/runs/{runId}:release', unkeyed: true },
  importBundle: { method: 'POST', path: '/v1/host/weft/imports', unkeyed: true },
  listInterrupts: { method: 'GET', path: '/v1/host/weft/interrupts' },
  readQuestionLink: { method: 'GET', path: '/v1/host/weft/interrupts/{token}' },
  setSecret: { method: 'POST', path: '/v1/host/weft/secrets' },
  listSecrets: { method: 'GET', path: '/v1/host/weft/secrets' },
  removeSecret: { method: 'DELETE', path: '/v1/host/weft/secrets/{secretId}' },
  listArtifacts: { method: 'GET', path: '/v1/host/weft/runs/{runId}/artifacts' },
  createKey: { method: 'POST', path: '/v1/host/weft/keys' },
  listKeys: { method: 'GET', path: '/v1/host/weft/keys' },
  revokeKey: { method: 'DELETE', path: '/v1/host/weft/keys/{keyId}' },
  createSignInCode: { method: 'POST', path: '/v1/host/weft/sessions/codes', unkeyed: true },
  openSession: { method: 'POST', path: '/v1/host/weft/sessions', unkeyed: true },
  getSession: { method: 'GET', path: '/v1/host/weft/sessions/current' },
  endSession: { method: 'DELETE', path: '/v1/host/weft/sessions/current', unkeyed: true },
  rotateLinkKey: { method: 'POST', path: '/v1/host/weft/link-keys:rotate' },
  readStats: { method: 'GET', path: '/v1/host/weft/stats' },
  readMetrics: { method: 'GET', path: '/metrics' },
  removeRun: { method: 'DELETE', path: '/v1/host/weft/runs/{runId}' },
  eraseRun: { method: 'POST', path: '/v1/host/weft/runs/{runId}:erase' },
  getRetention: { method: 'GET', path: '/v1/host/weft/retention' },
  setRetention: { method: 'POST', path: '/v1/host/weft/retention', unkeyed: true },
  resetRetention: { method: 'DELETE', path: '/v1/host/weft/retention', unkeyed: true },
  backUp: { method: 'POST', path: '/v1/host/weft/backup', unkeyed: true },
  proveIdentity: { method: 'GET', path: '/v1/host/weft/identity' },
  health: { method: 'GET', path: '/health' },
  ready: { method: 'GET', path: '/ready' },
  listWebhooks: { method: 'GET', path: '/v1/host/weft/webhooks' },
  readCallbackSecret: { method: 'GET', path: '/v1/host/weft/callback-secret' },
  listDeliveries: { method: 'GET', path: '/v1/host/weft/deliveries' },
  replayDelivery: { method: 'POST', path: '/v1/host/weft/deliveries/{deliveryId}:replay' },
  registerTrigger: { method: 'POST', path: '/v1/trigger-subscriptions' },
  createSchedule: { method: 'POST', path: '/v1/host/weft/schedules' },
  listSchedules: { method: 'GET', path: '/v1/host/weft/schedules' },
  getSchedule: { method: 'GET', path: '/v1/host/weft/schedules/{scheduleName}' },
  removeSchedule: { method: 'DELETE', path: '/v1/host/weft/schedules/{scheduleName}' },
  pauseSchedule: { method: 'POST', path: '/v1/host/weft/schedules/{scheduleName}:pause', unkeyed: true },
  resumeSchedule: { method: 'POST', path: '/v1/host/weft/schedules/{scheduleName}:resume', unkeyed: true },
  triggerSchedule: { method: 'POST', path: '/v1/host/weft/schedules/{scheduleName}:trigger' },
  backfillSchedule: {
    method: 'POST',
    path: '/v1/host/weft/schedules/{scheduleName}:backfill',
    unkeyed: true,
  },
  createTrigger: { method: 'POST', path: '/v1/host/weft/triggers' },
  listTriggers: { method: 'GET', path: '/v1/host/weft/triggers' },
  getTrigger: { method: 'GET', path: '/v1/host/weft/triggers/{triggerId}' },
  removeTrigger: { method: 'DELETE', path: '/v1/host/weft/triggers/{triggerId}' },
  pauseTrigger: { method: 'POST', path: '/v1/host/weft/triggers/{triggerId}:pause', unkeyed: true },
  resumeTrigger: { method: 'POST', path: '/v1/host/weft/triggers/{triggerId}:resume', unkeyed: true },
  testTrigger: { method: 'POST', path: '/v1/host/weft/triggers/{triggerId}:test', unkeyed: true },
  ingestDelivery: { method: 'POST', path: '/v1/host/weft/ingest/{triggerId}', unkeyed: true },
  listDeadLetters: { method: 'GET', path: '/v1/host/weft/dead-letters' },
  replayDeadLetter: { method: 'POST', path: '/v1/host/weft/dead-letters/{letterId}:replay', unkeyed: true },
  removeDeadLetter: { method: 'DELETE', path: '/v1/host/weft/dead-letters/{letterId}', unkeyed: true },
  listPrompts: { method: 'GET', path: '/v1/prompts' },
  createPrompt: { method: 'POST', path: '/v1/prompts', unkeyed: true },
  getPrompt: { method: 'GET', path: '/v1/prompts/{templateId}' },
  updatePrompt: { method: 'PUT', path: '/v1/prompts/{templateId}', unkeyed: true },
  removePrompt: { method: 'DELETE', path: '/v1/prompts/{templateId}', unkeyed: true },
  renderPrompt: { method: 'POST', path: '/v1/prompts:render', unkeyed: true },
  listAgents: { method: 'GET', path: '/v1/agents' },
  getAgent: { method: 'GET', path: '/v1/agents/{agentId}' },
  listNodes: { method: 'GET', path: '/v1/host/weft/cluster/nodes' },
  drainNode: { method: 'POST', path: '/v1/host/weft/cluster/nodes/{node}:drain', unkeyed: true },
  registerWorker: { method: 'POST', path: '/v1/host/weft/workers', unkeyed: true },
  listWorkers: { method: 'GET', path: '/v1/host/weft/workers' },
  closeWorker: { method: 'DELETE', path: '/v1/host/weft/workers/{workerId}', unkeyed: true },
  streamTasks: { method: 'GET', path: '/v1/host/weft/workers/{workerId}/tasks' },
  reportTasks: { method: 'POST', path: '/v1/host/weft/workers/{workerId}/reports', unkeyed: true },
  listNodeTypes: { method: 'GET', path: '/v1/host/weft/node-types' },
  getAgentCard: {
    method: 'GET',
    path: '/.well-known/agent-card.json',
    alias: '/v1/a2a/agent.json',
  },
  sendA2aMessage: { method: 'POST', path: '/v1/a2a', unkeyed: true },
  sendMcpMessage: { method: 'POST', path: '/v1/mcp', unkeyed: true },
  streamMcpMessages: { method: 'GET', path: '/v1/mcp' },
  endMcpSession: { method: 'DELETE', path: '/v1/mcp', unkeyed: true },
  listModels: { method: 'GET', path: '/v1/host/weft/models' },
  testModel: { method: 'POST', path: '/v1/host/weft/models:test', unkeyed: true },
  getCosts: { method: 'GET', path: '/v1/host/weft/costs' },
  listPrices: { method: 'GET', path: '/v1/host/weft/prices' },
  setPrices: { method: 'POST', path: '/v1/host/weft/prices', unkeyed: true },
  removePrices: { method: 'DELETE', path: '/v1/host/weft/prices/{priceList}', unkeyed: true },
  mapNodeType: { method: 'POST', path: '/v1/host/weft/node-types/{typeId}:map', unkeyed: true },
  listPeers: { method: 'GET', path: '/v1/host/weft/peers' },
  testPeer: { method: 'POST', path: '/v1/host/weft/peers/{peer}:test', unkeyed: true },
  listToolServers: { method: 'GET', path: '/v1/host/weft/mcp' },
  testToolServer: { method: 'POST', path: '/v1/host/weft/mcp/{server}:test', unkeyed: true },
  callTool: { method: 'POST', path: '/v1/host/weft/mcp/{server}:call', unkeyed: true },
} as const satisfies Readonly<Record<string, Endpoint>>;

export type OperationId = keyof typeof ENDPOINTS;

/** What every operation of the protocol and of this host's extension begins with. */
export const API_PREFIX = '/v1/';

/** What those begin with that the protocol leaves to hosts. */
export const HOST_PREFIX = '/v1/host/';

/** Below it a host that is a registry serves packs. Clients of a registry ask for it to learn whether there is one. */
export const PACKS_PATH = '/v1/packs';

/** What a registry says about itself. */
export const REGISTRY_PATH = '/.well-known/openwop-registry';

/** The names in the braces of a path. */
export type NamesIn<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? Name | NamesIn<Rest>
  : never;

/** Exactly the parameters of the operation's path: no argument for a path without any. */
export type PathValues<Id extends OperationId> = [NamesIn<(typeof ENDPOINTS)[Id]['path']>] extends [never]
  ? []
  : [values: Readonly<Record<NamesIn<(typeof ENDPOINTS)[Id]['path']>, string>>];

/** Each path cut at its parameters: texts, and between them names. Cut once, because the answer to every new run contains its paths. */
const PARTS = new Map(Object.entries(ENDPOINTS).map(([id, { path }]) => [id, path.split(/\{(\w+)\}/)]));

/** The path of an operation with its parameters filled in, percent-encoded. */
export function pathOf<Id extends OperationId>(id: Id, ...given: PathValues<Id>): string {
  const [values = {}] = given as readonly Readonly<Record<string, string>>[];
  const parts = PARTS.get(id) ?? [];
  let path = parts[0] ?? '';
  for (let index = 1; index < parts.length; index += 2)
    path += encodeURIComponent(String(values[parts[index] ?? ''])) + (parts[index + 1] ?? '');
  return path;
}

/** The same with its method: what a client asks. */
export function endpointOf<Id extends OperationId>(id: Id, ...given: PathValues<Id>): Endpoint {
  const { method, unkeyed }: Endpoint = ENDPOINTS[id];
  return { method, path: pathOf(id, ...given), ...(unkeyed && { unkeyed }) };
}

export function takesIdempotencyKey({ method, unkeyed }: Endpoint): boolean {
  return method !== 'GET' && unkeyed !== true;
}

/** Names in braces, in order. */
export function pathParameters(path: string): string[] {
  return [...path.matchAll(/\{(\w+)\}/g)].flatMap((match) => match[1] ?? []);
}
