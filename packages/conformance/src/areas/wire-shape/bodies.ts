import type { JsonObject } from '@weft/protocol';

/** Requests for runs as the documents show them: each must pass, on paper and on a host. */
export const DOCUMENTED_BODIES: readonly JsonObject[] = [
  { workflowId: 'conformance-noop' },
  { workflowId: 'conformance-noop', inputs: { payload: { nested: [1, true, null] } } },
  { workflowId: 'conformance-noop', configurable: { recursionLimit: 5 } },
  { workflowId: 'conformance-noop', tags: ['nightly', 'team:search'], metadata: { ticket: 'T-1' } },
  { workflowId: 'conformance-noop', tenantId: 'tenant', scopeId: 'scope' },
  { workflowId: 'conformance-noop', callbackUrl: 'https://example.com/callback' },
  {
    workflowId: 'conformance-noop',
    inputs: {},
    scopeId: 'scope',
    configurable: { model: 'any', temperature: 0.5 },
    tags: [],
    metadata: { 'acme.note': {} },
  },
];

/** No document has it. */
export const UNDECLARED_BODY: JsonObject = { workflowId: 'conformance-noop', weftUndeclared: true };
