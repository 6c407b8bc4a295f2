import type { NodeType } from '../model/node-type.ts';
import { approvalGateNode } from './people/approval-gate.ts';
import { agentNode } from './agents/agent.ts';
import { callPromptNode } from './agents/call-prompt.ts';
import { channelReadNode } from './data/channel-read.ts';
import { channelWriteNode } from './data/channel-write.ts';
import { clarificationGateNode } from './people/clarification-gate.ts';
import { conditionalNode } from './control/conditional.ts';
import { conversationGateNode } from './people/conversation-gate.ts';
import { delayNode } from './control/delay.ts';
import { dispatchNode } from './children/dispatch.ts';
import { endNode } from './control/end.ts';
import { failNode } from './control/fail.ts';
import { getVariableNode } from './data/get-variable.ts';
import { httpRequestNode } from './http/http-request.ts';
import { identityNode } from './control/identity.ts';
import { interruptNode } from './people/interrupt.ts';
import { loopNode } from './control/loop.ts';
import { memoryListNode } from './memory/memory-list.ts';
import { memoryWriteNode } from './memory/memory-write.ts';
import { mergeNode } from './control/merge.ts';
import { noopNode } from './control/noop.ts';
import { parallelNode } from './control/parallel.ts';
import { setVariableNode } from './data/set-variable.ts';
import { startNode } from './control/start.ts';
import { subWorkflowNode } from './children/sub-workflow.ts';
import { supervisorNode } from './children/supervisor.ts';
import { invokePeerNode } from './peers/invoke.ts';
import { toolCallNode } from './tools/tool-call.ts';

/** Every node type this host brings along, by type id. */
export const BUILTIN_NODE_TYPES: readonly NodeType[] = [
  invokePeerNode,
  callPromptNode,
  approvalGateNode,
  channelWriteNode,
  clarificationGateNode,
  conditionalNode,
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
  toolCallNode,
  mergeNode,
  noopNode,
  supervisorNode,
  parallelNode,
  setVariableNode,
  startNode,
  subWorkflowNode,
  agentNode,
  channelReadNode,
  memoryListNode,
  memoryWriteNode,
];
