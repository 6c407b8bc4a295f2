import { isJsonObject, type Json, type JsonObject, type SseEvent } from '@weft/protocol';
import { answered, run } from '../../mutants/answers.ts';
import type { Mutant, MutantMemory, ProxiedRequest } from '../../mutants/mutant.ts';
import { SNAPSHOT } from '../../mutants/targets.ts';
import { objectOf } from '../../suite/json-shapes.ts';

const MCP = { method: 'POST', path: /^\/v1\/mcp/ } as const;
const A2A = { method: 'POST', path: /^\/v1\/a2a/ } as const;

/** What was asked for under an id of JSON-RPC. */
function remembersRequest(request: ProxiedRequest, memory: MutantMemory): ProxiedRequest {
  const asked = JSON.parse(request.body) as JsonObject;
  memory.set(String(asked['id']), asked);
  return request;
}

/** Changes the answers to one method. */
function answers(method: string, change: (answer: JsonObject, params: JsonObject) => JsonObject) {
  return (event: SseEvent, memory: MutantMemory): readonly SseEvent[] => {
    const message = objectOf(JSON.parse(event.data) as Json);
    const asked = objectOf(memory.get(String(message['id'])));
    if (asked['method'] !== method) return [event];
    return [{ ...event, data: JSON.stringify(change(message, objectOf(asked['params']))) }];
  };
}

const succeeds = ({ id }: JsonObject): JsonObject => ({
  jsonrpc: '2.0',
  id: id ?? null,
  result: { content: [{ type: 'text', text: 'done' }], isError: false },
});

/** Changes the state of each task in an answer. */
const tasks = (change: (state: string) => string) =>
  answered((body) => {
    const { result } = body;
    if (!isJsonObject(result)) return body;
    const moved = (task: JsonObject): JsonObject => {
      const status = objectOf(task['status']);
      return { ...task, status: { ...status, state: change(String(status['state'])) } };
    };
    const inside = isJsonObject(result['task']) ? { ...result, task: moved(result['task']) } : moved(result);
    return { ...body, result: inside };
  });

const inStatus = (from: string, to: string) =>
  run((snapshot) => (snapshot['status'] === from ? { ...snapshot, status: to } : snapshot));

export const AGENT_MUTANTS: readonly Mutant[] = [
  {
    id: 'peers/mcp-without-tools',
    breaks: 'a host serves MCP and offers no workflow',
    caughtBy: ['peers/mcp-server'],
    says: /at least one tool/,
    on: MCP,
    request: remembersRequest,
    frame: answers('tools/list', (answer) => ({ ...answer, result: { tools: [] } })),
  },
  {
    id: 'peers/mcp-any-arguments',
    breaks: 'a tool runs whatever it is given',
    caughtBy: ['peers/mcp-server'],
    says: /wrong arguments is refused/,
    on: MCP,
    request: remembersRequest,
    frame: answers('tools/call', (answer, { name, arguments: given }) =>
      String(name).startsWith('conformance-') && objectOf(given)['nonce'] === undefined
        ? succeeds(answer)
        : answer,
    ),
  },
  {
    id: 'peers/mcp-starts-first',
    breaks: 'arguments are checked after the run was started',
    caughtBy: ['peers/mcp-server'],
    says: /starts no run/,
    on: MCP,
    request: remembersRequest,
    frame: answers('tools/call', (answer, { name }) =>
      String(name).startsWith('conformance-') && answer['error'] !== undefined
        ? { ...answer, error: { ...objectOf(answer['error']), data: { runId: 'run-1' } } }
        : answer,
    ),
  },
  {
    id: 'peers/mcp-any-tool',
    breaks: 'a tool that does not exist can be called',
    caughtBy: ['peers/mcp-server'],
    says: /unknown tool is refused/,
    on: MCP,
    request: remembersRequest,
    frame: answers('tools/call', (answer, { name }) =>
      String(name).startsWith('conformance-') ? answer : succeeds(answer),
    ),
  },
  {
    id: 'peers/mcp-tools-fail',
    breaks: 'no tool can be called',
    caughtBy: ['peers/mcp-server'],
    says: /right arguments runs the workflow/,
    on: MCP,
    request: remembersRequest,
    frame: answers('tools/call', (answer) => ({ ...answer, result: { content: [], isError: true } })),
  },
  {
    id: 'peers/a2a-auth-fails',
    breaks: 'a task that asks for authentication fails its run',
    caughtBy: ['peers/a2a-roundtrip', 'peers/a2a-states-of-tasks'],
    says: /authentication waits for input/,
    on: SNAPSHOT,
    answer: inStatus('waiting-input', 'failed'),
  },
  {
    id: 'peers/a2a-rejected-completes',
    breaks: 'a task that is rejected completes its run',
    caughtBy: ['peers/a2a-roundtrip', 'peers/a2a-states-of-tasks'],
    says: /rejected fails its run/,
    on: SNAPSHOT,
    answer: inStatus('failed', 'completed'),
  },
  {
    id: 'peers/a2a-rejected-silently',
    breaks: 'nothing says that a task was rejected',
    caughtBy: ['peers/a2a-roundtrip'],
    says: /says that the task was rejected/,
    on: SNAPSHOT,
    answer: run((snapshot) =>
      snapshot['error'] === undefined
        ? snapshot
        : { ...snapshot, error: { code: 'node_failed', message: 'No.' } },
    ),
  },
  {
    id: 'peers/a2a-completed-fails',
    breaks: 'a task that is completed fails its run',
    caughtBy: ['peers/a2a-states-of-tasks'],
    says: /COMPLETED makes its run completed/,
    on: SNAPSHOT,
    answer: inStatus('completed', 'failed'),
  },
  {
    id: 'peers/a2a-failures-hidden',
    breaks: 'a run that fails is a task that is completed',
    caughtBy: ['peers/a2a-states-of-runs'],
    says: /conformance-failure is a task/,
    on: A2A,
    answer: tasks((state) => (state === 'TASK_STATE_FAILED' ? 'TASK_STATE_COMPLETED' : state)),
  },
  {
    id: 'peers/a2a-questions-hidden',
    breaks: 'a run that waits for an approval is a task at work',
    caughtBy: ['peers/a2a-states-of-runs'],
    says: /conformance-approval is a task/,
    on: A2A,
    answer: tasks((state) => (state === 'TASK_STATE_INPUT_REQUIRED' ? 'TASK_STATE_WORKING' : state)),
  },
  {
    id: 'peers/a2a-cancels-nothing',
    breaks: 'a task that was cancelled is said to be at work',
    caughtBy: ['peers/a2a-states-of-runs'],
    says: /cancelled is a task/,
    on: A2A,
    answer: tasks((state) => (state === 'TASK_STATE_CANCELED' ? 'TASK_STATE_WORKING' : state)),
  },
];
