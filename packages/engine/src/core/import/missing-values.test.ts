import type { JsonObject } from '@weft/protocol';
import { describe, expect, it } from 'vitest';
import type { StoredEvent } from '../../ports/store.ts';
import { initialState } from '../fold/evolve.ts';
import { chain, node, variable } from '../testing/definitions.ts';
import { simulate } from '../testing/simulation.ts';
import { fillValues, type Needs } from './fill-values.ts';
import { createMarkedFold, type NeededSlot, withValue } from './missing-values.ts';

const { plan, record } = simulate({
  nodes: [node('a'), node('b'), node('c')],
  edges: chain('a', 'b', 'c'),
  variables: [variable('who')],
});

type Entry = readonly [type: string, nodeId: string, payload: JsonObject, ...slots: string[]];

function needed(...entries: readonly Entry[]): NeededSlot[] {
  const fold = createMarkedFold(plan, initialState(record, plan));
  entries.forEach(([type, nodeId, payload, ...slots], seq) => {
    const event: StoredEvent = {
      seq,
      type,
      at: seq,
      nodeId,
      payload: JSON.stringify({ nodeId, ...payload }),
    };
    fold.add(event, slots);
  });
  return fold.needed();
}

const names = (...entries: readonly Entry[]): string[] => needed(...entries).map(({ name }) => name);

const started = (nodeId: string): Entry => ['node.started', nodeId, { typeId: 'core.noop', attempt: 0 }];

describe('what a fork needs', () => {
  it('is a variable as long as nothing known has replaced it', () => {
    const hidden: Entry = ['variable.changed', 'a', { name: 'who' }, '/next', '/previous'];

    expect(names(started('a'), hidden)).toEqual(['who']);
    expect(names(started('a'), hidden, ['variable.changed', 'a', { name: 'who', next: 'known' }])).toEqual(
      [],
    );
  });

  it('is an output until everything behind it has settled', () => {
    const hidden: Entry = ['node.completed', 'a', { outputs: { plain: 1 } }, '/outputs/token'];
    const done: Entry = ['node.completed', 'b', { outputs: {} }];

    expect(names(started('a'), hidden)).toEqual(['nodes.a.outputs.token']);
    expect(names(started('a'), hidden, started('b'))).toEqual(['nodes.a.outputs.token']);
    expect(names(started('a'), hidden, started('b'), done)).toEqual([]);
  });

  it('is what the run itself amounts to', () => {
    const last: Entry = ['node.completed', 'c', {}, '/outputs'];

    expect(names(started('c'), last)).toEqual(['nodes.c.outputs']);
  });

  it('is every write that a channel has worked into its value', () => {
    const write = (reducer: string): Entry => ['channel.written', 'a', { channel: 'sum', reducer }, '/value'];

    expect(names(started('a'), write('counter'), write('merge'))).toEqual([
      'events.1.value',
      'events.2.value',
    ]);
    expect(names(started('a'), write('replace'), write('replace'))).toEqual(['events.2.value']);
  });

  it('is whatever decides how the log is read', () => {
    expect(names(['node.started', 'a', { typeId: 'core.noop' }, '/attempt'])).toEqual(['events.0.attempt']);
  });

  it('is no text that only people read', () => {
    const failed: Entry = ['node.failed', 'a', { error: { code: 'x', message: '[REDACTED]' } }, '/error'];

    expect(names(started('a'), failed)).toEqual([]);
  });
});

describe('values that are given', () => {
  const nothing: Needs = { inputs: [], configurable: [], slots: [], recorded: [] };

  it('go where they belong', () => {
    const slots = needed(
      started('a'),
      ['variable.changed', 'a', { name: 'who' }, '/next'],
      ['node.completed', 'a', {}, '/outputs/x'],
    );

    const filled = fillValues(
      { ...nothing, inputs: ['city'], slots },
      { city: 'B', who: 'me', 'nodes.a.outputs.x': 7 },
      {},
    );

    expect(filled).toEqual({
      inputs: { city: 'B', who: 'me' },
      events: { 1: { '/next': 'me' }, 2: { '/outputs/x': 7 } },
    });
    expect(withValue({ outputs: { y: 1 } }, '/outputs/x', 7)).toEqual({ outputs: { y: 1, x: 7 } });
  });

  it('tell an input from the variable that was made of it', () => {
    const slots = needed(started('a'), ['variable.changed', 'a', { name: 'who' }, '/next']);
    const needs = { ...nothing, inputs: ['who'], slots };

    expect(() => fillValues(needs, { who: 'me' }, {})).toThrow(
      expect.objectContaining({ code: 'values_missing', details: { missing: ['variables.who'], count: 1 } }),
    );
    expect(fillValues(needs, { who: 'me', 'variables.who': 'you' }, {})).toMatchObject({
      inputs: { who: 'me' },
      events: { 1: { '/next': 'you' } },
    });
  });

  it('of options are given with the options', () => {
    const needs = { ...nothing, configurable: ['model'] };

    expect(() => fillValues(needs, { model: 'small' }, {})).toThrow(
      expect.objectContaining({ details: { missing: ['configurable.model'], count: 1 } }),
    );
    expect(fillValues(needs, {}, { model: 'small' })).toEqual({ inputs: {}, events: {} });
  });
});
