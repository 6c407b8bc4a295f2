import type { Check } from './rules.ts';

/** Turns and calls of agents: what the log says has ended does not begin or end again in the same execution of the node. */
export function stepsOnce({ runs, fact, report }: Check): void {
  for (const { runId, events } of runs.values()) {
    const ended = new Map<string, Set<string>>();
    for (const { type, nodeId = '', payload } of events) {
      const node = `${nodeId}${JSON.stringify(payload['iteration'] ?? [])}`;
      if (type === 'node.started') ended.delete(node);
      if (!type.startsWith('weft.step.')) continue;
      const step = String(payload['step']);
      const known = ended.get(node) ?? new Set<string>();
      if (known.has(step)) report('C32', `${step} of ${nodeId} had ended, and then ${type}`, runId);
      if (type !== 'weft.step.completed' && type !== 'weft.step.failed') continue;
      fact('C32');
      ended.set(node, known.add(step));
    }
  }
}
