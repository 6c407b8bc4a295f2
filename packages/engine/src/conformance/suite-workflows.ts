/** Probes play only in workflows of the protocol's suite: elsewhere their keys are unknown and refuse the definition. */
export function isSuiteWorkflow(workflowId: string): boolean {
  return workflowId.startsWith(SUITE_PREFIX);
}

export const SUITE_PREFIX = 'conformance-';
