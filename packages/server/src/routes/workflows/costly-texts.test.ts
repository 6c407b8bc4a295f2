import type { Json, JsonObject } from '@weft/protocol';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Harness, openHarness } from '../../testing/harness.ts';
import { NOOP } from '../../testing/definitions.ts';

let at: Harness;

beforeAll(async () => {
  at = await openHarness();
});
afterAll(async () => at.close());

const numbers = (count: number): number[] => Array.from({ length: count }, (_, index) => index);
/** Small enough for a request, and too much for any budget. */
const COSTLY: JsonObject = { items: { oneOf: numbers(900).map((index) => ({ const: index })) } };
const MANY: Json = numbers(20_000);

async function register(id: string, rest: JsonObject): Promise<void> {
  const answer = await at.call('POST', '/v1/host/weft/workflows', { body: { ...NOOP, id, ...rest } });
  expect(answer.status, answer.text).toBe(201);
}

describe('a text that costs too much', () => {
  it('is named by the check of a definition, with limit and observed', async () => {
    const edges = [
      {
        id: 'e',
        sourceNodeId: 'noop',
        targetNodeId: 'noop',
        condition: { type: 'regex', left: 'x', right: '(a{1000}){1000}' },
      },
    ];
    const { json } = await at.call('POST', '/v1/host/weft/workflows:check', { body: { ...NOOP, edges } });

    expect(json.errors?.[0]).toMatchObject({
      path: '/edges/0/condition/right',
      code: 'pattern_too_costly',
      details: { limit: 4000, observed: 1_000_001 },
    });
  });

  it('refuses a registration, with the code among the details', async () => {
    const body = { ...NOOP, id: 'large', configurableSchema: { anyOf: numbers(5000).map(() => ({})) } };
    const { status, json } = await at.call('POST', '/v1/host/weft/workflows', { body });

    expect(status).toBe(400);
    expect(json.details?.problems?.[0]).toMatchObject({ code: 'schema_too_large', details: { limit: 4000 } });
  });

  it('refuses the options of a run with 422', async () => {
    await register('options', { configurableSchema: { properties: { x: COSTLY } } });

    const { status, json } = await at.call('POST', '/v1/runs', {
      body: { workflowId: 'options', configurable: { x: MANY } },
    });

    expect([status, json.error]).toEqual([422, 'schema_too_large']);
    expect(json.details).toMatchObject({ limit: 1_000_000 });
  });

  it('refuses an answer with 422, and the question stays open', async () => {
    const questions = [{ id: 'q', question: 'why?', schema: COSTLY }];
    const gate = {
      ...(NOOP['nodes'] as JsonObject[])[0],
      id: 'ask',
      typeId: 'core.clarificationGate',
      config: { questions },
    };
    await register('asks', { nodes: [gate] });
    const { runId } = await at.start('asks');
    await at.reaches(runId, 'waiting-input');

    const answer = (value: Json) =>
      at.call('POST', `/v1/runs/${runId}/interrupts/ask`, {
        body: { resumeValue: { answers: { q: value } } },
      });
    const { status, json } = await answer(MANY);

    expect([status, json.error]).toEqual([422, 'schema_too_large']);
    expect((await answer([1, 2])).status).toBe(200);
  });

  it('fails the run that evaluates it, and no other', async () => {
    const costly = `[${numbers(700).map(() => 0)}].all(x, [${numbers(700).map(() => 0)}].all(y, x + y == 0))`;
    const node = {
      ...(NOOP['nodes'] as JsonObject[])[0],
      inputs: { x: { type: 'expression', expression: costly } },
    };
    await register('burns', { nodes: [node] });

    const [burning, calm] = await Promise.all([at.start('burns'), at.start('noop')]);
    await at.reaches(burning.runId, 'failed');
    await at.reaches(calm.runId, 'completed');

    const { json } = await at.call('GET', `/v1/runs/${burning.runId}`);
    expect(json.error).toMatchObject({ code: 'expression_budget_exceeded' });
  });
});
