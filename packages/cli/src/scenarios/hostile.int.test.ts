import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Json, JsonObject } from '@weft/protocol';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Served, serveHere } from '../testing/served.ts';

/** What one client sends must not be felt by another: each case runs while a second client asks for the health of the host. */

const API_KEY = `weft_live_${'h'.repeat(43)}`;
const LONG = 'a'.repeat(100_000);
/** Far above what any of these may take, far below what an unbounded one would. */
const PATIENCE_MS = 2_000;

let folder: string;
let host: Served;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'weft-hostile-'));
  host = await serveHere(folder, [], { WEFT_API_KEY: API_KEY });
});
afterAll(async () => {
  await host?.stop();
  await rm(folder, { recursive: true, force: true });
});

async function post(path: string, body: string): Promise<{ status: number; json: JsonObject }> {
  const response = await fetch(`${host.url}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${API_KEY}`, 'content-type': 'application/json' },
    body,
  });
  return { status: response.status, json: (await response.json()) as JsonObject };
}

/** Does the work; gives its result, and the longest that the second client had to wait meanwhile. */
async function measured<Result>(work: () => Promise<Result>): Promise<{ result: Result; longestMs: number }> {
  let isOver = false;
  let longestMs = 0;
  const second = (async () => {
    while (!isOver) {
      const asked = performance.now();
      await (await fetch(`${host.url}/health`)).text();
      longestMs = Math.max(longestMs, performance.now() - asked);
      await pause(5);
    }
  })();
  try {
    return { result: await work(), longestMs };
  } finally {
    isOver = true;
    await second;
  }
}

let count = 0;
const workflow = (nodes: JsonObject[], edges: JsonObject[] = [], rest: JsonObject = {}): JsonObject => ({
  id: `hostile-${(count += 1)}`,
  name: 'hostile',
  version: '1',
  nodes: nodes.map((node) => ({ name: 'n', position: { x: 0, y: 0 }, config: {}, inputs: {}, ...node })),
  edges,
  triggers: [],
  variables: [{ name: 'text', type: 'string', defaultValue: `${LONG}!` }],
  metadata: {},
  settings: {},
  ...rest,
});
const echo: JsonObject = {
  id: 'a',
  typeId: 'core.identity',
  inputs: { output: { type: 'variable', variableName: 'text' } },
};
const target: JsonObject = { id: 'b', typeId: 'core.noop' };
const edge = (condition: JsonObject): JsonObject => ({
  id: 'e',
  sourceNodeId: 'a',
  targetNodeId: 'b',
  condition,
});
const conditional = (condition: string): JsonObject => ({
  id: 'c',
  typeId: 'core.conditional',
  config: { condition },
});

describe('definitions that are refused', () => {
  const cases: [string, JsonObject][] = [
    ['an expression without end', workflow([conditional(`${'('.repeat(1500)}true${')'.repeat(1500)}`)])],
    ['an expression that is too long', workflow([conditional(`true${' && true'.repeat(2000)}`)])],
    [
      'comprehensions inside comprehensions',
      workflow([conditional('[1].all(a, [1].all(b, [1].all(c, [1].all(d, true))))')]),
    ],
    [
      'a back-reference',
      workflow([echo, target], [edge({ type: 'regex', left: 'output', right: '(a)\\1' })]),
    ],
    [
      'a remote schema',
      workflow([target], [], { configurableSchema: { $ref: 'https://example.invalid/schema' } }),
    ],
    ['a schema that is too deep', workflow([target], [], { configurableSchema: nest(200) })],
  ];
  it.each(cases)('%s', async (_name, definition) => {
    const { result, longestMs } = await measured(() =>
      post('/v1/host/weft/workflows', JSON.stringify(definition)),
    );

    expect([result.status, result.json['error']], JSON.stringify(result.json)).toEqual([
      400,
      'validation_error',
    ]);
    expect(longestMs).toBeLessThan(PATIENCE_MS);
  });
});

describe('runs that would take for ever with an engine that backtracks', () => {
  const cases: [string, JsonObject][] = [
    ['a condition', workflow([echo, target], [edge({ type: 'regex', left: 'output', right: '(a+)+$' })])],
    ['an expression', workflow([conditional("variables.text.matches('(a|aa)+$')")])],
    ['a large comprehension', workflow([conditional('[1,2,3].all(x, variables.text.size() > x)')])],
  ];
  it.each(cases)('%s', async (_name, definition) => {
    const { result, longestMs } = await measured(async () => {
      const registered = await post('/v1/host/weft/workflows', JSON.stringify(definition));
      expect(registered.status, JSON.stringify(registered.json)).toBe(201);
      const run = await post('/v1/runs', JSON.stringify({ workflowId: definition['id'] as Json }));
      await fetch(`${host.url}/v1/runs/${String(run.json['runId'])}/events`, {
        headers: { authorization: `Bearer ${API_KEY}` },
      }).then((response) => response.text());
      return run.status;
    });

    expect(result).toBe(201);
    expect(longestMs).toBeLessThan(PATIENCE_MS);
  });

  it('a schema pattern', async () => {
    const configurableSchema = {
      type: 'object',
      properties: { text: { type: 'string', pattern: '^(a+)+$' } },
    };
    const definition = workflow([target], [], { configurableSchema });
    await post('/v1/host/weft/workflows', JSON.stringify(definition));

    const { result, longestMs } = await measured(() =>
      post(
        '/v1/runs',
        JSON.stringify({ workflowId: definition['id'] as Json, configurable: { text: `${LONG}!` } }),
      ),
    );

    expect(result.status).toBe(400);
    expect(longestMs).toBeLessThan(PATIENCE_MS);
  });
});

describe('bodies', () => {
  it.each([
    ['nested without end', `{"a":${'['.repeat(100_000)}`],
    ['with a key twice', `{"workflowId":"a","workflowId":"b"}`],
    ['with many members', `{${Array.from({ length: 50_000 }, (_, index) => `"k${index}":1`).join(',')}}`],
  ])('%s are refused', async (_name, body) => {
    const { result, longestMs } = await measured(() => post('/v1/runs', body));

    expect(result.status).toBe(400);
    expect(longestMs).toBeLessThan(PATIENCE_MS);
  });

  it('over the limit are refused with the limit', async () => {
    const { result } = await measured(() =>
      post('/v1/runs', JSON.stringify({ workflowId: 'x'.repeat(1_100_000) })),
    );

    expect([result.status, result.json['error']]).toEqual([413, 'payload_too_large']);
  });
});

function nest(depth: number): JsonObject {
  return depth === 0 ? { type: 'string' } : { type: 'object', properties: { a: nest(depth - 1) } };
}

describe('names that a database would take for one', () => {
  const fail = (code: string): JsonObject => ({ id: 'd', typeId: 'core.fail', config: { code } });

  it.each<[string, string, JsonObject, string]>([
    ['a node', '/v1/host/weft/workflows', workflow([{ ...target, id: 'd\0x' }]), '/nodes/0/id'],
    ['a code', '/v1/host/weft/workflows', workflow([fail('d\0x')]), '/nodes/0/config/code'],
    ['a version', '/v1/host/weft/workflows', workflow([target], [], { version: '1\0x' }), '/version'],
    ['a tag', '/v1/runs', { workflowId: 'hostile-names', tags: ['d\0x'] }, 'tags.0'],
    ['a scope', '/v1/runs', { workflowId: 'hostile-names', scopeId: 'd\0x' }, 'scopeId'],
    [
      'a tenant',
      '/v1/host/weft/keys',
      { tenant: 'default\0x', principal: 'p', kind: 'service', scopes: ['runs:read'] },
      'tenant',
    ],
  ])('are refused as %s, and every other write succeeds', async (_, path, body, field) => {
    await post('/v1/host/weft/workflows', JSON.stringify(workflow([fail('d')], [], { id: 'hostile-names' })));
    const run = { workflowId: 'hostile-names', tags: ['d'], scopeId: 'd' };

    const [refused, accepted] = await Promise.all([
      post(path, JSON.stringify(body)),
      post('/v1/runs', JSON.stringify(run)),
    ]);
    const afterwards = await post('/v1/runs', JSON.stringify(run));

    expect([refused.status, (refused.json['details'] as JsonObject)['field']]).toEqual([400, field]);
    expect([accepted.status, afterwards.status]).toEqual([201, 201]);
  });

  it('are refused with the body when they hold half of a surrogate pair', async () => {
    const { status, json } = await post(
      '/v1/runs',
      String.raw`{"workflowId":"hostile-names","tags":["d\ud800"]}`,
    );

    expect([status, json['error']]).toEqual([400, 'validation_error']);
    expect(json['details']).toMatchObject({ field: 'tags.0' });
  });
});
