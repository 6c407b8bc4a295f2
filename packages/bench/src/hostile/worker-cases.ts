import { setTimeout as pause } from 'node:timers/promises';
import { HOSTILE_SCHEMAS } from '@weft/engine/hostile-texts';
import type { Json, JsonObject } from '@weft/protocol';
import type { Answer, Attacker } from './attacker.ts';
import type { HostileCase } from './corpus.ts';
import { workflow } from './definitions.ts';
import { statusesOf } from './statuses.ts';

/** What a worker can do to its host. */

const WORKERS = '/v1/host/weft/workers';
const TYPE = {
  typeId: 'hostile.work',
  version: '1.0.0',
  inputs: { type: 'object', properties: { text: { type: 'string' } } },
};
const HELD_MS = 3_000;

function register(attacker: Attacker, more: JsonObject = {}): Promise<Answer> {
  return attacker.ask('POST', WORKERS, { name: 'hostile', capacity: 1_000, types: [TYPE], ...more });
}

/** In groups: the attacker shares its machine with the host. */
async function many<Result>(count: number, act: (at: number) => Promise<Result>): Promise<Result[]> {
  const results: Result[] = [];
  for (let from = 0; from < count; from += 100)
    results.push(
      ...(await Promise.all(Array.from({ length: Math.min(100, count - from) }, (_, at) => act(from + at)))),
    );
  return results;
}

/** Sessions end with the case, so that the next one finds room. */
async function close(attacker: Attacker, answers: readonly Answer[]): Promise<string> {
  const workers = answers.flatMap(({ json }) =>
    typeof json['workerId'] === 'string' ? [json['workerId']] : [],
  );
  await many(workers.length, (at) => attacker.ask('DELETE', `${WORKERS}/${workers[at]}`));
  return statusesOf(answers);
}

function openStream({ key, socket }: Attacker, { json }: Answer) {
  return socket(
    `GET ${WORKERS}/${String(json['workerId'])}/tasks HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${key}\r\n\r\n`,
  );
}

/** Runs that need a worker, each with inputs of so many characters. */
async function startTasks(attacker: Attacker, count: number, characters: number): Promise<Answer[]> {
  const inputs = { text: { type: 'variable', variableName: 'text' } };
  const workflowId = await attacker.registers(
    workflow([{ id: 'n', typeId: TYPE.typeId, inputs }], {
      variables: [{ name: 'text', type: 'string', defaultValue: 'x'.repeat(characters) }],
    }),
  );
  return await many(count, () => attacker.ask('POST', '/v1/runs', { workflowId }));
}

async function reporting(
  attacker: Attacker,
  count: number,
  bodyOf: (workerId: string, at: number) => string | Json,
): Promise<string> {
  const worker = await register(attacker);
  const workerId = String(worker.json['workerId']);
  const answers = await many(count, (at) =>
    attacker.ask('POST', `${WORKERS}/${workerId}/reports`, bodyOf(workerId, at)),
  );
  await close(attacker, [worker]);
  return statusesOf(answers);
}

const strangeResults = Array.from({ length: 1_000 }, (_, at) => ({
  ...{ taskId: `01a1edb4-c777-7000-862f-3517420fd6f8:n.${at}`, lease: at + 1 },
  outputs: { of: 'another' },
}));

const BODIES: readonly (readonly [name: string, body: string | Json])[] = [
  ['results for tasks of others', { results: strangeResults }],
  [
    'results larger than a body',
    JSON.stringify({ results: [{ taskId: 't', lease: 1, outputs: { x: 'x'.repeat(3_000_000) } }] }),
  ],
  ['lists inside lists', `{"results":[{"taskId":"t","lease":1,"outputs":{"a":${'['.repeat(400_000)}`],
  [
    'members of prototypes',
    '{"results":[{"taskId":"__proto__","lease":1,"outputs":{"__proto__":{"a":1},"constructor":{}}}]}',
  ],
  ['fifty thousand members', `{${Array.from({ length: 50_000 }, (_, at) => `"k${at}":1`).join(',')}}`],
];

export const WORKER_CASES: readonly HostileCase[] = [
  {
    kind: 'worker',
    name: 'ten thousand registrations',
    attack: async (attacker) => close(attacker, await many(10_000, () => register(attacker))),
  },
  {
    kind: 'worker',
    name: 'a new version with every registration',
    attack: async (attacker) =>
      close(
        attacker,
        await many(2_500, (at) =>
          register(attacker, { types: [{ ...TYPE, typeId: 'hostile.many', version: `1.0.${at}` }] }),
        ),
      ),
  },
  {
    kind: 'worker',
    name: 'schemas of the corpus as node types',
    attack: async (attacker) =>
      close(
        attacker,
        await many(HOSTILE_SCHEMAS.length, (at) =>
          register(attacker, {
            types: [
              {
                typeId: `hostile.schema${at}`,
                version: '1.0.0',
                inputs: { type: 'object', properties: { text: HOSTILE_SCHEMAS[at]?.schema as Json } },
              },
            ],
          }),
        ),
      ),
  },
  {
    kind: 'worker',
    name: 'a thousand idle workers',
    attack: async (attacker) => {
      const workers = await many(1_000, () => register(attacker));
      await many(workers.length, (at) => openStream(attacker, workers[at] as Answer));
      await pause(HELD_MS);
      return close(attacker, workers);
    },
  },
  {
    kind: 'worker',
    name: 'a flood of reports',
    attack: (attacker) => reporting(attacker, 4_000, () => ({})),
  },
  ...BODIES.map(
    ([name, body]): HostileCase => ({
      kind: 'worker',
      name: `reports: ${name}`,
      attack: (attacker) => reporting(attacker, 40, () => body),
    }),
  ),
  {
    kind: 'worker',
    name: 'a stream of tasks that is never read',
    attack: async (attacker) => {
      const worker = await register(attacker);
      (await openStream(attacker, worker)).pause();
      const answers = await startTasks(attacker, 300, 100_000);
      await pause(HELD_MS);
      await close(attacker, [worker]);
      return statusesOf(answers);
    },
  },
  {
    kind: 'worker',
    name: 'tasks that are taken and never answered',
    attack: async (attacker) => {
      const worker = await register(attacker);
      (await openStream(attacker, worker)).resume();
      const answers = await startTasks(attacker, 1_000, 10);
      await pause(HELD_MS);
      await close(attacker, [worker]);
      return statusesOf(answers);
    },
  },
];
