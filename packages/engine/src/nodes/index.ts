import type { NodeType } from '../node-type.ts';
import { approvalGateNode } from './approval-gate.ts';
import { callPromptNode } from './call-prompt.ts';
import { channelReadNode } from './channel-read.ts';
import { channelWriteNode } from './channel-write.ts';
import { clarificationGateNode } from './clarification-gate.ts';
import { conditionalNode } from './conditional.ts';
import { conversationGateNode } from './conversation-gate.ts';
import { delayNode } from './delay.ts';
import { dispatchNode } from './dispatch.ts';
import { endNode } from './end.ts';
import { failNode } from './fail.ts';
import { getVariableNode } from './get-variable.ts';
import { httpRequestNode } from './http-request.ts';
import { identityNode } from './identity.ts';
import { interruptNode } from './interrupt.ts';
import { loopNode } from './loop.ts';
import { memoryListNode } from './memory-list.ts';
import { memoryWriteNode } from './memory-write.ts';
import { mergeNode } from './merge.ts';
import { mockAgentNode } from './mock-agent.ts';
import { noopNode } from './noop.ts';
import { parallelNode } from './parallel.ts';
import { requiresMissingNode } from './requires-missing.ts';
import { secretEchoNode } from './secret-echo.ts';
import { setVariableNode } from './set-variable.ts';
import { startNode } from './start.ts';
import { subWorkflowNode } from './sub-workflow.ts';
import { supervisorNode } from './supervisor.ts';

/** Every node type this host brings along, by type id. */
export const BUILTIN_NODE_TYPES: readonly NodeType[] = [
  requiresMissingNode,
  secretEchoNode,
  callPromptNode,
  approvalGateNode,
  channelWriteNode,
  clarificationGateNode,
  conditionalNode,
  mockAgentNode,
  conversationGateNode,
  delayNode,
  dispatchNode,
  endNode,
  failNode,
  getVariableNode,
  httpRequestNode,
  identityNode,
  interruptNode,
  loopNode,
  mergeNode,
  noopNode,
  supervisorNode,
  parallelNode,
  setVariableNode,
  startNode,
  subWorkflowNode,
  channelReadNode,
  memoryListNode,
  memoryWriteNode,
];
