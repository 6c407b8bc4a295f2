import type { Json } from '../json/json.ts';
import type { OperationId } from '../routes/endpoints.ts';

/** Where an example that is made from the schema would say too little. */
export interface HttpExample {
  /** As it stands in the URL. */
  readonly query?: string;
  readonly body?: Json;
}

const DEFINITION: Json = {
  id: 'hello',
  name: 'Hello',
  version: '1.0.0',
  nodes: [
    { id: 'start', typeId: 'core.start', name: 'Start', position: { x: 0, y: 0 }, config: {}, inputs: {} },
  ],
  edges: [],
  triggers: [],
  variables: [],
  metadata: {},
  settings: {},
};

export const HTTP_EXAMPLES: Readonly<Partial<Record<OperationId, HttpExample>>> = {
  createRun: {
    body: {
      workflowId: 'order-fulfilment',
      inputs: { orderId: 'A-17', quantity: 2 },
      configurable: { 'weft.workflowVersion': '1.1.0', recursionLimit: 500 },
      tags: ['nightly'],
    },
  },
  diffRun: { query: 'against=01a1e1cd-1111-7000-8769-26166269a903' },
  streamRunEvents: { query: 'streamMode=updates' },
  pollRunEvents: { query: 'lastSequence=12&timeout=10' },
  listRuns: { query: 'status=failed&limit=20' },
  getWorkflowVersion: { query: 'version=1.0.0' },
  registerWorkflow: { body: DEFINITION },
  checkWorkflow: { query: 'strict=true', body: DEFINITION },
  resolveApproval: { body: { action: 'accept' } },
  resolveInterruptByToken: { body: { resumeValue: { action: 'reject', feedback: 'no receipt' } } },
  createAnnotation: { body: { signal: { kind: 'rating', rating: 4 }, note: 'quick and right' } },
  forkRun: { body: { mode: 'branch', fromSeq: 5, runOptionsOverlay: { configurable: { model: 'small' } } } },
  forkRunWith: { body: { mode: 'branch', fromSeq: 5, values: { quantity: 2 } } },
  getRunState: { query: 'at=12' },
  registerWebhook: {
    body: { url: 'https://example.org/hooks/weft', events: ['run.completed', 'run.failed'] },
  },
  setSecret: { body: { id: 'orders-api', value: 'the value, which cannot be read again' } },
  setRetention: { body: { keepForSeconds: 2_592_000 } },
  resolveInterruptByRun: { body: { resumeValue: { action: 'accept', feedback: 'within budget' } } },
};
