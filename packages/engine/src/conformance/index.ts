import type { NodeType } from '../model/node-type.ts';
import type { Conformance } from '../ports/conformance.ts';
import { costEmitNode } from './cost-emit.ts';
import { withConformanceSecrets } from './conformance-secrets.ts';
import { holdNode } from './hold.ts';
import { mockAgentNode } from './mock-agent.ts';
import { MOCK_PROVIDERS, mockProviderProblem, withMockModels } from './mock-models.ts';
import { probingIdentityNode } from './probing-identity.ts';
import { requiresMissingNode } from './requires-missing.ts';
import { secretEchoNode } from './secret-echo.ts';
import { selfTalkingGateNode } from './self-talking-gate.ts';
import { sideEffectNode } from './side-effect.ts';
import { suiteSupervisorNode } from './suite-supervisor.ts';

/** Types that live hosts do not have. */
export const CONFORMANCE_ONLY: readonly NodeType[] = [
  requiresMissingNode,
  secretEchoNode,
  costEmitNode,
  mockAgentNode,
  holdNode,
  sideEffectNode,
];

/** Given to `createHost`, it makes a test host. Nothing else in this package imports from this folder. */
export const CONFORMANCE: Conformance = {
  nodes: [...CONFORMANCE_ONLY, selfTalkingGateNode, probingIdentityNode, suiteSupervisorNode],
  mockProviders: MOCK_PROVIDERS,
  mockProviderProblem,
  models: withMockModels,
  secrets: withConformanceSecrets,
};
