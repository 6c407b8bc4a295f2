import type { PureNodeType } from '../model/node-type.ts';
import { supervisorNode } from '../nodes/children/supervisor.ts';
import { isSuiteWorkflow } from './suite-workflows.ts';

/** What a supervisor decides in workflows of the suite that leave it out. */
const SUITE_PLAN = [{ kind: 'next-worker', nextWorkerIds: ['conformance-noop'] }, { kind: 'terminate' }];
const DECIDED_BY = ['decide', 'mockDecisions', 'mockDispatchPlan', 'mockPendingDecision'];

export const suiteSupervisorNode: PureNodeType = {
  ...supervisorNode,
  prepare: (config, tools) => {
    const isOpen = isSuiteWorkflow(tools.workflowId) && !DECIDED_BY.some((key) => Object.hasOwn(config, key));
    return supervisorNode.prepare?.(isOpen ? { ...config, mockDecisions: SUITE_PLAN } : config, tools);
  },
};
