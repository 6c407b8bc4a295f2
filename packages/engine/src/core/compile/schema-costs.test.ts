import type { Json, JsonObject } from '@weft/protocol';
import { describe, expect, it } from 'vitest';
import { HOSTILE_SCHEMAS } from '../testing/hostile-texts.ts';
import { compile, simulate } from '../testing/simulation.ts';

const RUNNING = HOSTILE_SCHEMAS.filter(({ value, code }) => value !== undefined && code !== undefined);
const LIMITS = { maxPayloadBytes: 10_000_000, maxStateBytes: 40_000_000 };
const costs = { limit: expect.any(Number) as number, observed: expect.any(Number) as number };

describe('a value whose schema costs too much', () => {
  it.each(RUNNING)('is not written to a channel: $name', ({ schema, value, code }) => {
    const simulation = simulate(
      {
        nodes: [
          { id: 'a', typeId: 'core.start' },
          { id: 'w', typeId: 'core.channelWrite', config: { channelName: 'c' } },
        ],
        edges: [{ from: 'a', to: 'w', sourceOutput: 'value', targetInput: 'value' }],
        channels: { c: { reducer: 'replace', schema } },
      },
      { inputs: { value: value?.() ?? null }, limits: LIMITS },
    );
    simulation.start();

    expect(simulation.payload('node.failed', 'w')?.['error']).toMatchObject({
      code,
      retryable: false,
      details: costs,
    });
    expect(simulation.payload('channel.written')).toBeUndefined();
  });

  it.each(RUNNING)('is not taken for an answer: $name', ({ schema, value, code }) => {
    const questions: Json[] = [{ id: 'q', question: 'why?', schema }];
    const simulation = simulate({
      nodes: [{ id: 'c', typeId: 'core.clarificationGate', config: { questions } }],
    });
    simulation.start();

    const step = simulation.answer('c', { answers: { q: value?.() ?? null } });

    expect(step.commandResult).toMatchObject({
      applied: false,
      refusal: { code, details: { ...costs, field: 'resumeValue.answers.q' } },
    });
    expect(simulation.payload('interrupt.resolved')).toBeUndefined();
  });

  it.each(RUNNING)('is not taken for an option of a run: $name', ({ schema, value, code }) => {
    const plan = compile({ nodes: [{ id: 'a' }], configurableSchema: { properties: { x: schema } } });

    expect(() => plan.checkConfigurable({ x: value?.() ?? null })).toThrow(
      expect.objectContaining({ code, details: expect.objectContaining(costs) as JsonObject }),
    );
  });
});
