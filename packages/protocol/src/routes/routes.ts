import type { ErrorCode } from '../errors/errors.ts';
import { AGENT_ROUTES } from './agent-routes.ts';
import { AUDIT_ROUTES } from './audit-routes.ts';
import { CLUSTER_ROUTES } from './cluster-routes.ts';
import { type Endpoint, ENDPOINTS, type OperationId } from './endpoints.ts';
import { FORK_ROUTES } from './fork-routes.ts';
import { HOST_ROUTES } from './host-routes.ts';
import { MCP_ROUTES } from './mcp-routes.ts';
import { PROBE_ROUTES } from './probe-routes.ts';
import { PROTOCOL_ROUTES } from './protocol-routes.ts';
import type { RouteDescription } from './route-description.ts';
import { A2A_ROUTES } from './a2a-routes.ts';
import { PEER_ROUTES } from './peer-routes.ts';
import { PROMPT_ROUTES } from './prompt-routes.ts';
import { TOOL_ROUTES } from './tool-routes.ts';
import { COST_ROUTES } from './cost-routes.ts';
import { MODEL_ROUTES } from './model-routes.ts';
import { WORKER_ROUTES } from './worker-routes.ts';
import { SCHEDULE_ROUTES, TRIGGER_SUBSCRIPTION_ROUTES } from './schedule-routes.ts';
import { DELIVERY_ROUTES, WEBHOOK_ROUTES } from './webhook-routes.ts';

export interface Route extends Endpoint, RouteDescription {
  readonly operationId: OperationId;
}

const DESCRIPTIONS: Readonly<Record<OperationId, RouteDescription>> = {
  ...PROTOCOL_ROUTES,
  ...FORK_ROUTES,
  ...AUDIT_ROUTES,
  ...WEBHOOK_ROUTES,
  ...HOST_ROUTES,
  ...PROBE_ROUTES,
  ...DELIVERY_ROUTES,
  ...CLUSTER_ROUTES,
  ...MODEL_ROUTES,
  ...COST_ROUTES,
  ...WORKER_ROUTES,
  ...MCP_ROUTES,
  ...TRIGGER_SUBSCRIPTION_ROUTES,
  ...SCHEDULE_ROUTES,
  ...A2A_ROUTES,
  ...PEER_ROUTES,
  ...TOOL_ROUTES,
  ...PROMPT_ROUTES,
  ...AGENT_ROUTES,
};

/** Every operation of the HTTP surface, in the order of its documents. */
export const ROUTES: readonly Route[] = (Object.keys(ENDPOINTS) as OperationId[]).map(route);

export function route(operationId: OperationId): Route {
  const description = DESCRIPTIONS[operationId];
  const endpoint: Endpoint = ENDPOINTS[operationId];
  return { operationId, ...endpoint, ...description, errors: errorsOf(endpoint, description) };
}

/** What is asked for in the path may be no id at all, and a run may have been removed. */
function errorsOf({ path }: Endpoint, { errors }: RouteDescription): readonly ErrorCode[] {
  if (!path.includes('{')) return errors;
  const ofRun: ErrorCode[] = path.includes('{runId}') ? ['run_expired'] : [];
  return [...new Set<ErrorCode>([...errors, 'validation_error', ...ofRun])];
}

/** The name under which Idempotency-Keys of an operation are kept: its method and its path. */
export function operationOf({ method, path }: Endpoint): string {
  return `${method} ${path}`;
}
