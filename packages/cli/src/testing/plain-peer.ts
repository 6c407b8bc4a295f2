import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** The fake peer of a conformance suite: its states advance only as a test says. */
export interface PlainPeer {
  readonly url: string;
  /** Of tasks, and of what is said in them, one after the other; then `SUBMITTED` and `COMPLETED`. */
  readonly states: string[];
  /** Method and path of each request about a task. */
  readonly asked: string[];
  close(): Promise<void>;
}

export async function openPlainPeer(): Promise<PlainPeer> {
  const states: string[] = [];
  const asked: string[] = [];
  const tasks = new Map<string, string>();
  const server = createServer((request, response) => {
    request.resume().once('end', () => {
      const { method = '', url = '' } = request;
      const answer = (status: number, body: object) =>
        response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
      if (url === '/agent.json')
        return answer(200, {
          protocolVersion: '0.3.0',
          name: 'fake',
          version: '1',
          skills: [{ id: 'echo' }],
        });
      asked.push(`${method} ${url}`);
      const taskId =
        method === 'POST' && url === '/tasks' ? `task-${tasks.size + 1}` : (url.split('/')[2] ?? '');
      if (method === 'POST')
        tasks.set(taskId, states.shift() ?? (tasks.has(taskId) ? 'COMPLETED' : 'SUBMITTED'));
      const state = tasks.get(taskId);
      return state === undefined
        ? answer(404, { error: 'not_found' })
        : answer(200, { taskId, state, messages: [] });
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    states,
    asked,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
