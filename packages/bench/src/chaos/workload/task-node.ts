import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Performance } from '../checking/history.ts';
import { TASK_TYPE } from './workflows.ts';

/** The node type that workers serve: it calls the service once, and writes down when each performance began and ended. */

const NODE = (servicePort: number, file: string) => `
import { appendFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { defineNode, NodeError, Type } from '@weft/sdk/nodes';

const note = (entry) => appendFileSync(${JSON.stringify(file)}, JSON.stringify(entry) + '\\n');
let count = 0;

export const task = defineNode({
  typeId: '${TASK_TYPE}',
  version: '1.0.0',
  inputs: { tag: Type.String(), index: Type.String(), ms: Type.Number() },
  outputs: { performance: Type.String(), call: Type.String() },
  async run({ inputs, nodeId, invocationId, attempt, signal, emit }) {
    // First of all: the lease was checked in this turn of the event loop.
    const begunAt = Date.now();
    const call = JSON.stringify({ tag: inputs.tag, node: nodeId, index: inputs.index });
    const performance = process.pid + '-' + (count += 1);
    note({ performance, pid: process.pid, call, invocationId, attempt, begunAt });
    let isOver = false;
    const over = () => {
      if (!isOver) note({ performance, endedAt: Date.now() });
      isOver = true;
    };
    signal.addEventListener('abort', over);
    try {
      emit('working ');
      const headers = { 'idempotency-key': invocationId };
      const response = await fetch('http://127.0.0.1:${servicePort}/', { method: 'POST', body: call, headers, signal });
      await response.text();
      if (!response.ok) throw new NodeError('busy', 'The service is busy.', { retryable: true });
      await pause(inputs.ms, undefined, { signal });
      return { performance, call };
    } catch (error) {
      if (error instanceof NodeError) throw error;
      throw new NodeError('unreachable', 'The service hung up.', { retryable: true });
    } finally {
      over();
    }
  },
});
`;

export interface TaskNode {
  /** The folder that workers serve. */
  readonly folder: string;
  performances(): Performance[];
}

export function writeTaskNode(folder: string, servicePort: number): TaskNode {
  const nodes = join(folder, 'nodes');
  const file = join(folder, 'performances.jsonl');
  mkdirSync(nodes, { recursive: true });
  writeFileSync(join(nodes, 'task.mjs'), NODE(servicePort, file));
  return { folder: nodes, performances: () => read(file) };
}

function read(file: string): Performance[] {
  if (!existsSync(file)) return [];
  const found = new Map<string, Performance>();
  for (const line of readFileSync(file, 'utf8').split('\n')) {
    if (line === '') continue;
    const entry = JSON.parse(line) as Performance;
    found.set(entry.performance, { ...found.get(entry.performance), ...entry });
  }
  return [...found.values()];
}
