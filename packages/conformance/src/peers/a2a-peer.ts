import { isJsonObject, type Json, type JsonObject } from '@weft/protocol';
import { type PeerAnswer, type PeerRequest, startLoopbackServer } from './loopback-server.ts';

/** An agent with the one skill `echo`, whose tasks are in the state that a check says. Plain endpoints below `/tasks`, and a card. */
export interface A2aPeer {
  readonly address: string;
  /** The next task that is begun has this state, and keeps it until a message comes. Checks take turns: one's task is never another's. */
  inState<Result>(state: string, work: () => Promise<Result>): Promise<Result>;
  /** How many tasks were begun so far. */
  begun(): number;
  stop(): Promise<void>;
}

interface Task {
  state: string;
  readonly messages: Json[];
}

const CARD = {
  protocolVersion: '0.3.0',
  name: 'weft-conformance-a2a',
  description: 'An agent whose tasks are in the state that a check says.',
  version: '1.0.0',
  capabilities: { streaming: false },
  defaultInputModes: ['application/json'],
  defaultOutputModes: ['application/json'],
  skills: [{ id: 'echo', name: 'Echo', description: 'Answers with what it is given.', tags: ['echo'] }],
};

/** The oldest are forgotten first. */
const MAX_TASKS = 1_000;

export async function startA2aPeer(port: number): Promise<A2aPeer> {
  const tasks = new Map<string, Task>();
  let count = 0;
  let next: string | undefined;
  let turn: Promise<unknown> = Promise.resolve();

  function begin(message: Json): PeerAnswer {
    count += 1;
    const taskId = `task-${count}`;
    const task: Task = { state: next ?? 'SUBMITTED', messages: [message] };
    next = undefined;
    tasks.set(taskId, task);
    const [oldest] = tasks.keys();
    if (tasks.size > MAX_TASKS && oldest !== undefined) tasks.delete(oldest);
    return answer(200, { taskId, state: task.state });
  }

  function continued(task: Task, taskId: string, message: Json): PeerAnswer {
    task.messages.push(message);
    task.state = 'COMPLETED';
    return answer(200, { taskId, state: task.state });
  }

  const server = await startLoopbackServer(port, (request) => {
    const { method, path } = request;
    if (method === 'GET' && path === '/agent.json')
      return answer(200, { ...CARD, url: `http://${server.address}` });
    if (method === 'POST' && path === '/tasks') return begin(messageOf(request));
    const [, taskId = '', said] = /^\/tasks\/([^/]+)(\/messages)?$/.exec(path) ?? [];
    const task = tasks.get(taskId);
    if (task === undefined) return answer(404, { error: 'not_found' });
    if (method === 'POST' && said !== undefined) return continued(task, taskId, messageOf(request));
    return answer(200, { taskId, ...task, messages: [...task.messages] });
  });

  return {
    address: server.address,
    inState(state, work) {
      const mine = turn.then(() => {
        next = state;
        return work();
      });
      turn = mine.catch(() => undefined);
      return mine;
    },
    begun: () => count,
    stop: () => server.stop(),
  };
}

function answer(status: number, body: JsonObject): PeerAnswer {
  return { status, headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
}

function messageOf({ body }: PeerRequest): Json {
  const message = JSON.parse(body.toString('utf8')) as Json;
  return isJsonObject(message) ? message : {};
}
