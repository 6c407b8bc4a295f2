import type { NodeType } from '../node-type.ts';
import { approvalGateNode } from './approval-gate.ts';
import { channelWriteNode } from './channel-write.ts';
import { clarificationGateNode } from './clarification-gate.ts';
import { conditionalNode } from './conditional.ts';
import { delayNode } from './delay.ts';
import { endNode } from './end.ts';
import { failNode } from './fail.ts';
import { getVariableNode } from './get-variable.ts';
import { httpRequestNode } from './http-request.ts';
import { identityNode } from './identity.ts';
import { interruptNode } from './interrupt.ts';
import { loopNode } from './loop.ts';
import { mergeNode } from './merge.ts';
import { noopNode } from './noop.ts';
import { parallelNode } from './parallel.ts';
import { requiresMissingNode } from './requires-missing.ts';
import { setVariableNode } from './set-variable.ts';
import { startNode } from './start.ts';

/** Every node type this host brings along, by type id. */
export const BUILTIN_NODE_TYPES: readonly NodeType[] = [
  requiresMissingNode,
  approvalGateNode,
  channelWriteNode,
  clarificationGateNode,
  conditionalNode,
  delayNode,
  endNode,
  failNode,
  getVariableNode,
  httpRequestNode,
  identityNode,
  interruptNode,
  loopNode,
  mergeNode,
  noopNode,
  parallelNode,
  setVariableNode,
  startNode,
];
