import type { JsonObject } from '@weft/protocol';
import { advertised } from '../../requirements/gates.ts';
import type { Check, CheckContext } from '../../suite/check.ts';
import { objectOf, objectsOf } from '../../suite/json-shapes.ts';
import { errorOf } from '../events/log.ts';
import { type JsonRpc, openJsonRpc, pathOfOwn } from './json-rpc.ts';

const TASK = 'conformance-a2a-task-roundtrip';
const VERSION = { 'a2a-version': '1.0' };

/** The run that waits for a task in this state, once it has one of these statuses. */
async function withTask(
  { runs, peers, eventually }: CheckContext,
  state: string,
  ...statuses: string[]
): Promise<{ readonly runId: string; readonly snapshot: JsonObject }> {
  const { a2a } = peers;
  if (a2a === undefined) throw new Error('The check needs an agent.');
  return await a2a.inState(state, async () => {
    const before = a2a.begun();
    const runId = await runs.create(TASK);
    await eventually('the agent is given a task', () => Promise.resolve(a2a.begun() > before || undefined));
    return { runId, snapshot: await runs.reaches(runId, ...statuses) };
  });
}

/** What a task makes of its run; others may be `running`. */
const BY_STATE: readonly (readonly [state: string, ...statuses: string[]])[] = [
  ['WORKING', 'running'],
  ['INPUT_REQUIRED', 'waiting-input'],
  ['COMPLETED', 'completed'],
  ['FAILED', 'failed'],
  ['CANCELED', 'cancelled', 'failed'],
];
const ENDED = ['completed', 'failed', 'cancelled'];

export const A2A_CHECKS: readonly Check[] = [
  {
    id: 'peers/a2a-roundtrip',
    title: 'a task that asks for authentication leaves the run waiting, and one that is rejected fails it',
    proves: ['PEER-9'],
    needs: { fixtures: [TASK], peer: 'a2a' },
    async run(context) {
      const { runs, expect } = context;
      const { runId, snapshot: asking } = await withTask(context, 'AUTH_REQUIRED', 'waiting-input', ...ENDED);
      expect.equal(asking['status'], 'waiting-input', 'a task that asks for authentication waits for input');
      await runs.cancel(runId);

      const { snapshot: rejected } = await withTask(context, 'REJECTED', ...ENDED);

      expect.equal(rejected['status'], 'failed', 'a task that is rejected fails its run');
      expect.that(
        /reject/i.test(JSON.stringify(errorOf(rejected))),
        'the error says that the task was rejected',
        errorOf(rejected),
      );
    },
  },
  {
    id: 'peers/a2a-states-of-tasks',
    title: 'the state of a remote task is the status of the run that waits for it',
    proves: ['PEER-10'],
    needs: { fixtures: [TASK], peer: 'a2a' },
    async run(context) {
      const { runs, expect } = context;
      for (const [state, ...statuses] of BY_STATE) {
        const settles = state === 'WORKING' ? statuses : ['waiting-input', ...ENDED];

        const { runId, snapshot } = await withTask(context, state, ...settles);

        const { status } = snapshot;
        expect.that(
          statuses.includes(String(status)),
          `a task that is ${state} makes its run ${statuses.join(' or ')}`,
          status ?? 'nothing',
        );
        if (!ENDED.includes(String(status))) await runs.cancel(runId);
      }
    },
  },
  {
    id: 'peers/a2a-states-of-runs',
    title: 'the status of a run is the state of the task that another agent sees',
    proves: ['PEER-10'],
    needs: { fixtures: ['conformance-noop', 'conformance-failure', 'conformance-approval'] },
    async run(context) {
      const { discovery, expect, notApplicable } = context;
      if (objectOf(advertised(discovery, 'a2a'))['supported'] !== true)
        return notApplicable('the host is no agent for others');
      const agent = await openAgent(context);
      const states = [
        ['conformance-noop', 'TASK_STATE_COMPLETED'],
        ['conformance-failure', 'TASK_STATE_FAILED'],
        ['conformance-approval', 'TASK_STATE_INPUT_REQUIRED'],
      ] as const;
      if (!states.every(([skill]) => agent.skills.includes(skill)))
        return notApplicable('the host offers the fixtures as no skills');
      let waiting = '';
      for (const [skill, wanted] of states) {
        const { id, state } = await agent.send(skill);
        expect.equal(state, wanted, `a run of ${skill} is a task that is ${wanted}`);
        waiting = id;
      }

      const { result, error } = await agent.rpc.ask('CancelTask', { id: waiting });

      expect.equal(error ?? null, null, 'a task that waits can be cancelled');
      expect.equal(
        objectOf(objectOf(result)['status'])['state'],
        'TASK_STATE_CANCELED',
        'a run that is cancelled is a task that is TASK_STATE_CANCELED',
      );
    },
  },
];

interface Agent {
  readonly rpc: JsonRpc;
  readonly skills: readonly string[];
  send(skillId: string): Promise<{ readonly id: string; readonly state: string }>;
}

/** The host as an agent, as its card says. */
async function openAgent(context: CheckContext): Promise<Agent> {
  const { discovery, host, expect, unique } = context;
  const cardUrl = expect.string(advertised(discovery, 'a2a.agentCardUrl'), 'a2a.agentCardUrl is a text');
  const answer = await host.request('GET', pathOfOwn(cardUrl), { headers: VERSION });
  expect.status(answer, 200);
  const card = expect.object(answer.json, 'the agent card is an object');
  const spoken = objectsOf(card['supportedInterfaces']).find(
    ({ protocolBinding, protocolVersion }) => protocolBinding === 'JSONRPC' && protocolVersion === '1.0',
  );
  const { url } = expect.object(spoken, 'the card has an interface with JSON-RPC of A2A 1.0');
  const rpc = openJsonRpc(context, pathOfOwn(expect.string(url, 'an interface has a url')), VERSION);
  return {
    rpc,
    skills: objectsOf(card['skills']).map(({ id }) => String(id)),
    async send(skillId) {
      const message = {
        messageId: unique('message'),
        role: 'ROLE_USER',
        parts: [{ data: {} }],
        metadata: { skillId },
      };
      const { result } = await rpc.ask('SendMessage', { message });
      const task = expect.object(objectOf(result)['task'], 'a message is answered with a task');
      const id = expect.string(task['id'], 'a task has an id');
      return { id, state: String(objectOf(task['status'])['state']) };
    },
  };
}
