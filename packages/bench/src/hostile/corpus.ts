import { setTimeout as pause } from 'node:timers/promises';
import {
  HOSTILE_EXPRESSIONS,
  HOSTILE_PATTERNS,
  HOSTILE_PIECES,
  HOSTILE_SCHEMAS,
  HOSTILE_SOURCES,
  type HostileExpression,
} from '@weft/engine/hostile-texts';
import type { JsonObject } from '@weft/protocol';
import type { Answer, Attacker } from './attacker.ts';
import { calling, configured, evaluating, matching, repeated, workflow } from './definitions.ts';
import { TRIGGER_CASES } from './trigger-cases.ts';
import { INSTALLED_CASES } from './installed-cases.ts';
import { PACK_CASES } from './pack-cases.ts';
import { HOSTILE_ANSWERS } from './hostile-service.ts';
import { statusesOf } from './statuses.ts';
import { WORKER_CASES } from './worker-cases.ts';

/** One thing that a tenant with an ordinary key can do to a host. */
export interface HostileCase {
  readonly kind:
    | 'expression'
    | 'pattern'
    | 'schema'
    | 'text'
    | 'graph'
    | 'body'
    | 'socket'
    | 'tenant'
    | 'worker'
    | 'pack'
    | 'trigger';
  readonly name: string;
  /** A word that must be in what the host made of it, such as a code. */
  readonly ends?: string;
  /** Says in a few words what the host made of it. */
  attack(attacker: Attacker): Promise<string>;
}

type Attack = HostileCase['attack'];
type Row<Input> = readonly [name: string, input: Input];

function cases<Input>(
  kind: HostileCase['kind'],
  rows: readonly Row<Input>[],
  attackWith: (input: Input) => Attack,
): HostileCase[] {
  return rows.map(([name, input]) => ({ kind, name, attack: attackWith(input) }));
}

const LONG_TEXT = 200_000;

/** The same texts whose work is counted by tests, sent to a host. */
const expressions: HostileCase[] = [...HOSTILE_SOURCES, ...HOSTILE_EXPRESSIONS].map(
  ({ name, expression, inputs }: HostileExpression) => ({
    kind: 'expression',
    name,
    attack: (attacker) => attacker.runs(evaluating(expression), { inputs: inputs?.() ?? {} }),
  }),
);

const patterns: HostileCase[] = HOSTILE_PATTERNS.map(({ name, pattern, text = () => 'a' }) => ({
  kind: 'pattern',
  name,
  // What an edge looks at is an output, and those are shorter than inputs may be.
  attack: (attacker) =>
    text().length > LONG_TEXT
      ? attacker.runs(evaluating(`inputs.text.matches(${JSON.stringify(pattern)})`), {
          inputs: { text: text() },
        })
      : attacker.runs(matching(pattern, text())),
}));

const schemas: HostileCase[] = HOSTILE_SCHEMAS.map(({ name, schema, value }) => ({
  kind: 'schema',
  name,
  attack: (attacker) =>
    value === undefined
      ? attacker.runs(configured(schema))
      : attacker.runs(configured({ properties: { x: schema } }), { configurable: { x: value() } }),
}));

/** Some of them take six times as much in a body. */
const INPUT_BYTES = 150_000;

const texts: HostileCase[] = [
  ...HOSTILE_ANSWERS.map(
    ({ name }, index): HostileCase => ({
      kind: 'text',
      name: `an answer from outside: ${name}`,
      attack: (attacker) => attacker.runs(calling(`${attacker.serviceUrl}/hostile/${index}`)),
    }),
  ),
  ...cases<string>(
    'text',
    HOSTILE_PIECES.map(({ name, piece }) => [`inputs: ${name}`, repeated(piece, INPUT_BYTES)]),
    (input) => (attacker) =>
      attacker.runs(
        workflow([
          { id: 's', typeId: 'core.start' },
          { id: 'n', typeId: 'core.identity' },
        ]),
        {
          inputs: { text: input },
        },
      ),
  ),
  ...cases<string>(
    'text',
    [
      ['a name that ends at NUL', 'd\u0000x'],
      ['a name with half a character', 'd\ud800'],
      ['a name with another half', 'd\udbff'],
      ['a name that turns the line around', 'd\u202ex'],
    ],
    (name) => async (attacker) => {
      const first = await attacker.runs(workflow([{ id: name, typeId: 'core.noop' }]));
      const workflowId = await attacker.registers(workflow([{ id: 'n', typeId: 'core.noop' }]));
      const tagged = await attacker.ask('POST', '/v1/runs', { workflowId, tags: [name] });
      return `${first}; tag ${tagged.status}`;
    },
  ),
  {
    kind: 'text',
    name: 'sensitive values that nearly occur everywhere',
    attack: (attacker) =>
      attacker.runs(
        workflow(
          [
            {
              id: 'c',
              typeId: 'core.identity',
              inputs: {
                output: { type: 'static', value: Array.from({ length: 3_000 }, () => 'a'.repeat(60)) },
              },
            },
          ],
          {
            variables: [
              {
                name: 'secret',
                type: 'array',
                sensitive: true,
                defaultValue: Array.from({ length: 64 }, (_, at) => `${'a'.repeat(at)}b`),
              },
            ],
          },
        ),
      ),
  },
  {
    kind: 'text',
    name: 'a sensitive value that repeats itself',
    attack: (attacker) =>
      attacker.runs(
        workflow(
          [
            {
              id: 'c',
              typeId: 'core.identity',
              inputs: { output: { type: 'static', value: repeated('ab', 200_000) } },
            },
          ],
          {
            variables: [
              { name: 'secret', type: 'string', sensitive: true, defaultValue: repeated('ab', 20_000) },
            ],
          },
        ),
      ),
  },
];

const WIDTH = 3_000;

const graphs: HostileCase[] = [
  {
    kind: 'graph',
    name: 'twenty thousand nodes, checked',
    attack: async (attacker) => {
      const nodes = Array.from({ length: 20_000 }, (_, at) => ({ id: `n${at}`, typeId: 'core.noop' }));
      const { status } = await attacker.ask('POST', '/v1/host/weft/workflows:check', workflow(nodes));
      return `check ${status}`;
    },
  },
  {
    kind: 'graph',
    name: 'a fan of nodes',
    attack: (attacker) => attacker.runs(fan(WIDTH)),
  },
  {
    kind: 'graph',
    name: 'every node to every other',
    attack: (attacker) => {
      const nodes = Array.from({ length: 120 }, (_, at) => ({ id: `n${at}`, typeId: 'core.noop' }));
      const edges = nodes.flatMap((_, from) =>
        nodes.slice(from + 1).map((target) => ({
          id: `e${from}-${target.id}`,
          sourceNodeId: `n${from}`,
          targetNodeId: target.id,
        })),
      );
      return attacker.runs(workflow(nodes, { edges }));
    },
  },
  {
    kind: 'graph',
    name: 'a loop over a long list',
    attack: (attacker) =>
      attacker.runs(
        workflow(
          [
            {
              id: 'loop',
              typeId: 'core.loop',
              config: { items: 'variables.list', body: ['step'], maxIterations: 5_000 },
            },
            { id: 'step', typeId: 'core.noop' },
          ],
          {
            variables: [
              { name: 'list', type: 'array', defaultValue: Array.from({ length: 5_000 }, (_, at) => at) },
            ],
          },
        ),
      ),
  },
  {
    kind: 'graph',
    name: 'children of children',
    attack: async (attacker) => {
      const child = workflow([
        { id: 'sub', typeId: 'core.subWorkflow', config: { workflowId: 'matryoshka' } },
      ]);
      await attacker.ask('POST', '/v1/host/weft/workflows', { ...child, id: 'matryoshka' });
      return attacker.runs(child);
    },
  },
  {
    kind: 'graph',
    name: 'a thousand questions at once',
    attack: async (attacker) => {
      const answers = await Promise.all(
        Array.from({ length: 50 }, () =>
          attacker.runs(
            workflow([{ id: 'ask', typeId: 'core.approvalGate' }], { settings: { timeout: 500 } }),
          ),
        ),
      );
      return `${answers.length} runs, ${answers[0]}`;
    },
  },
];

function fan(width: number): JsonObject {
  const nodes = Array.from({ length: width }, (_, at) => ({ id: `n${at}`, typeId: 'core.noop' }));
  return workflow([{ id: 'root', typeId: 'core.noop' }, ...nodes], {
    edges: nodes.map(({ id }) => ({ id: `e${id}`, sourceNodeId: 'root', targetNodeId: id })),
  });
}

const bodies = cases<string>(
  'body',
  [
    ['lists inside lists', `{"workflowId":"x","inputs":{"a":${'['.repeat(400_000)}`],
    ['objects inside objects', `{"workflowId":"x","inputs":${'{"a":'.repeat(150_000)}`],
    ['the same member twice', '{"workflowId":"a","workflowId":"b"}'],
    ['fifty thousand members', `{${Array.from({ length: 50_000 }, (_, at) => `"k${at}":1`).join(',')}}`],
    ['a number without end', `{"workflowId":"x","inputs":{"n":1${'0'.repeat(900_000)}}}`],
    ['escapes without end', `{"workflowId":"x","inputs":{"n":"${'\\u0061'.repeat(150_000)}"}}`],
    ['members of prototypes', '{"workflowId":"x","__proto__":{"admin":true},"constructor":{"prototype":{}}}'],
    ['more than a body may have', `{"workflowId":"${'x'.repeat(2_000_000)}"}`],
  ],
  (body) => async (attacker) => {
    const answers = await Promise.all(
      Array.from({ length: 5 }, () => attacker.ask('POST', '/v1/runs', body)),
    );
    return statusesOf(answers);
  },
);

/** Takes twenty times its bytes once it is read. */
const OBJECTS = `[${'{},'.repeat(300_000)}{}]`;
const manySchemas = (): JsonObject =>
  workflow([{ id: 'n', typeId: 'core.noop' }], {
    channels: Object.fromEntries(
      Array.from({ length: 10 }, (_, at) => [
        `c${at}`,
        {
          reducer: 'replace',
          schema: { anyOf: Array.from({ length: 1_900 }, (_branch, value) => ({ const: value })) },
        },
      ]),
    ),
  });

const HEAD = 'POST /v1/runs HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n';

const sockets: HostileCase[] = [
  ...cases<string>(
    'socket',
    [
      ['five hundred half-sent headers', 'GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: '],
      ['five hundred half-sent bodies', `${HEAD}Content-Length: 1000\r\n\r\n{"workflowId"`],
      ['five hundred connections that say nothing', ''],
      ['bytes that are no request', '\u0016\u0003\u0001\u0002\u0000\u0001\u0000'],
      ['requests without a host', 'GET /v1/openapi.json HTTP/1.1\r\n\r\n'],
    ],
    (bytes) => async (attacker) => {
      for (let opened = 0; opened < 500; opened += 50)
        await Promise.all(Array.from({ length: 50 }, () => attacker.socket(bytes)));
      await pause(1_000);
      return '500 opened';
    },
  ),
  {
    kind: 'socket',
    name: 'streams that are never read',
    attack: async (attacker) => {
      await attacker.runs(fan(500));
      const request = `GET /v1/runs:stream HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${attacker.key}\r\n\r\n`;
      await Promise.all(Array.from({ length: 300 }, () => attacker.socket(request)));
      await pause(1_000);
      return '300 opened';
    },
  },
];

const tenants: HostileCase[] = [
  {
    kind: 'tenant',
    name: 'inputs of nothing but empty objects',
    attack: async (attacker) => {
      const workflowId = await attacker.registers(workflow([{ id: 'n', typeId: 'core.noop' }]));
      const body = `{"workflowId":"${workflowId}","inputs":{"a":${OBJECTS}}}`;
      return statusesOf(
        await Promise.all(Array.from({ length: 60 }, () => attacker.ask('POST', '/v1/runs', body))),
      );
    },
  },
  {
    kind: 'tenant',
    name: 'bodies that are sent and left',
    attack: async (attacker) => {
      const workflowId = await attacker.registers(workflow([{ id: 'n', typeId: 'core.noop' }]));
      const body = `{"workflowId":"${workflowId}","inputs":{"a":${OBJECTS}}}`;
      const head = `${HEAD}Authorization: Bearer ${attacker.key}\r\nContent-Length: ${body.length}\r\n\r\n`;
      // Made once: the other tenant lives in this process, too.
      const bytes = Buffer.from(head + body);
      for (let sent = 0; sent < 400; sent += 10)
        await Promise.all(Array.from({ length: 10 }, () => sendAndLeave(attacker, bytes)));
      return '400 sent';
    },
  },
  {
    kind: 'tenant',
    name: 'large definitions checked all at once',
    attack: async (attacker) => {
      const definition = JSON.stringify(manySchemas());
      const answers = await Promise.all(
        Array.from({ length: 100 }, () => attacker.ask('POST', '/v1/host/weft/workflows:check', definition)),
      );
      return statusesOf(answers);
    },
  },
  {
    kind: 'tenant',
    name: 'two thousand runs at once',
    attack: async (attacker) => {
      const workflowId = await attacker.registers(workflow([{ id: 'n', typeId: 'core.noop' }]));
      return flood(attacker, 2_000, (at) => ({ workflowId, tags: [`t${at}`] }));
    },
  },
  {
    kind: 'tenant',
    name: 'calls that never answer',
    attack: async (attacker) => {
      const config = { url: `${attacker.serviceUrl}/never`, method: 'GET' };
      const nodes = Array.from({ length: 8 }, (_, at) => ({
        id: `c${at}`,
        typeId: 'core.http.request',
        config,
      }));
      const workflowId = await attacker.registers(workflow(nodes));
      return flood(attacker, 200, () => ({ workflowId }));
    },
  },
  {
    kind: 'tenant',
    name: 'runs with large inputs that wait',
    attack: async (attacker) => {
      const wait = { id: 'd', typeId: 'core.delay', config: { ms: 8_000 } };
      const workflowId = await attacker.registers(workflow([wait]));
      const inputs = { blob: 'x'.repeat(900_000) };
      return flood(attacker, 300, () => ({ workflowId, inputs }), 20);
    },
  },
  {
    kind: 'tenant',
    name: 'large runs, listed and read again and again',
    attack: async (attacker) => {
      const lists = Array.from({ length: 40 }, () => attacker.ask('GET', '/v1/host/weft/runs?limit=500'));
      const interrupts = Array.from({ length: 40 }, () =>
        attacker.ask('GET', '/v1/host/weft/interrupts?limit=500'),
      );
      const answers = await Promise.all([...lists, ...interrupts]);
      return statusesOf(answers);
    },
  },
  {
    kind: 'tenant',
    name: 'long polls without end',
    attack: async (attacker) => {
      const workflowId = await attacker.registers(workflow([{ id: 'ask', typeId: 'core.approvalGate' }]));
      const { json } = await attacker.ask('POST', '/v1/runs', { workflowId });
      const path = `/v1/runs/${String(json['runId'])}/events/poll?lastSequence=1000&timeout=3`;
      return statusesOf(await Promise.all(Array.from({ length: 1_500 }, () => attacker.ask('GET', path))));
    },
  },
  {
    kind: 'tenant',
    name: 'definitions checked without pause',
    attack: async (attacker) => {
      const definition = fan(2_000);
      const answers = await Promise.all(
        Array.from({ length: 30 }, () => attacker.ask('POST', '/v1/host/weft/workflows:check', definition)),
      );
      return statusesOf(answers);
    },
  },
  {
    kind: 'tenant',
    name: 'wrong keys by the thousand',
    attack: async (attacker) => {
      let refused = 0;
      for (let round = 0; round < 20; round += 1) {
        const answers = await Promise.all(
          Array.from({ length: 100 }, (_, at) =>
            fetch(`http://127.0.0.1:${attacker.port}/v1/host/weft/runs`, {
              headers: { authorization: `Bearer weft_live_${round}-${at}` },
            }).then(
              async (response) => {
                await response.text();
                return response.status;
              },
              () => 0,
            ),
          ),
        );
        refused += answers.filter((status) => status === 401 || status === 429).length;
      }
      return `${refused} refused`;
    },
  },
];

async function sendAndLeave(attacker: Attacker, bytes: Buffer): Promise<void> {
  const socket = await attacker.socket('');
  await new Promise<void>((resolve) => {
    socket.once('close', () => resolve());
    socket.end(bytes, () => socket.destroy());
  });
}

async function flood(
  attacker: Attacker,
  count: number,
  request: (at: number) => JsonObject,
  together = 100,
): Promise<string> {
  const answers: Answer[] = [];
  for (let from = 0; from < count; from += together) {
    const size = Math.min(together, count - from);
    const asked = Array.from({ length: size }, (_, at) =>
      attacker.ask('POST', '/v1/runs', request(from + at)),
    );
    answers.push(...(await Promise.all(asked)));
  }
  return statusesOf(answers);
}

export const CORPUS: readonly HostileCase[] = [
  ...expressions,
  ...patterns,
  ...schemas,
  ...texts,
  ...graphs,
  ...bodies,
  ...sockets,
  ...tenants,
  ...WORKER_CASES,
  ...TRIGGER_CASES,
  ...PACK_CASES,
  ...INSTALLED_CASES,
];
