import type { Json, JsonObject } from '@weft/protocol';
import { eventId } from '@weft/protocol';
import { describe, expect, it } from 'vitest';
import { encodeState } from '../fold/checkpoint.ts';
import { chain, node } from '../testing/definitions.ts';
import { fold, simulate, type Simulation } from '../testing/simulation.ts';

const LIST_OF_TEXTS = { type: 'array', items: { type: 'string' } };

/** Writes `first`, waits for an effect, then writes or reads. */
function withChannel(log: JsonObject, first: Json, next: 'write' | 'read' = 'write'): Simulation {
  const second =
    next === 'write'
      ? node('next', 'core.channelWrite', { channelName: 'log', value: 'second' })
      : node('next', 'weft.channel.read', { channelName: 'log' });
  return simulate({
    nodes: [
      node('first', 'core.channelWrite', { channelName: 'log', value: first }),
      node('gate', 'test.effect'),
      second,
    ],
    edges: chain('first', 'gate', 'next'),
    channels: { log: { reducer: 'append', ...log } },
  });
}

/** A run of one version of the workflow continues under another, as a branch does. */
function continued(
  before: JsonObject,
  after: JsonObject,
  first: Json,
  next: 'write' | 'read' = 'write',
): Simulation {
  const source = withChannel(before, first, next);
  source.start();
  const branch = withChannel(after, first, next);
  branch.log.push(...source.log);
  branch.crash();
  branch.succeed('gate');
  return branch;
}

describe('a channel that was written under another version of its schema', () => {
  it('is folded as it is when the version is the same or a higher one (E-16)', () => {
    const same = continued({ schemaVersion: 2 }, { schemaVersion: 2 }, 'a');
    const higher = continued({ schemaVersion: 3 }, { schemaVersion: 2, schema: LIST_OF_TEXTS }, 'a');

    expect(same.run.state.channels.get('log')).toEqual(['a', 'second']);
    expect(higher.run.state.channels.get('log')).toEqual(['a', 'second']);
    expect(higher.run.state.channelVersions.get('log')).toEqual([
      [3, 2],
      [2, 7],
    ]);
  });

  it.each(['write', 'read'] as const)(
    'that is lower and listed, takes a %s when its entries fit the schema (E-17)',
    (next) => {
      const declared = { schemaVersion: 2, compatibleWith: [1], schema: LIST_OF_TEXTS };

      const fits = continued({}, declared, 'a', next);
      const fitsNot = continued({}, declared, 1, next);

      expect(fits.run.state.status).toBe('completed');
      expect(fitsNot.run.state.error).toMatchObject({
        code: 'channel_schema_breaking_change',
        details: { channel: 'log', currentSchemaVersion: 2, incompatibleEventVersion: 1 },
      });
    },
  );

  it.each(['write', 'read'] as const)(
    'that is lower and not listed, refuses a %s and says what to do (E-17)',
    (next) => {
      const run = continued({ schemaVersion: 2 }, { schemaVersion: 3, compatibleWith: [1] }, 'a', next);

      expect(run.run.state.error).toMatchObject({
        code: 'channel_schema_breaking_change',
        details: {
          channel: 'log',
          currentSchemaVersion: 3,
          incompatibleEventVersion: 2,
          incompatibleEventId: eventId(run.record.runId, 2),
          migrationHint: expect.stringContaining('compatibleWith'),
        },
      });
    },
  );

  it('is left behind when its value has been replaced', () => {
    const run = continued(
      { reducer: 'replace' },
      { reducer: 'replace', schemaVersion: 2, compatibleWith: [1] },
      'a',
    );

    expect(run.run.state.status).toBe('completed');
    expect(run.run.state.channelVersions.get('log')).toEqual([[2, 7]]);
  });

  it('is remembered by the fold', () => {
    const run = continued({}, { schemaVersion: 2, compatibleWith: [1] }, 'a');

    expect(encodeState(fold(run.plan, run.record, run.log))).toBe(encodeState(run.run.state));
  });
});

describe('a channel without a write', () => {
  it('reads as what its reducer begins with', () => {
    const run = simulate({
      nodes: [node('read', 'weft.channel.read', { channelName: 'log' })],
      channels: { log: { reducer: 'append' } },
    });

    run.start();

    expect(run.run.state.nodes.get('read')?.outputs).toEqual({ output: [] });
  });
});
