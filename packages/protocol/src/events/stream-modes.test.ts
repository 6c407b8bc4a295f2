import { describe, expect, it } from 'vitest';
import { HostError } from '../errors/errors.ts';
import { admits, parseStreamModes, triggersSnapshot } from './stream-modes.ts';

describe('the stream mode', () => {
  it('is updates by default', () => {
    expect(parseStreamModes(undefined)).toEqual(['updates']);
  });

  it('can be a list', () => {
    expect(parseStreamModes('updates,messages,updates')).toEqual(['updates', 'messages']);
  });

  it.each(['', 'all', 'updates,', 'updates,all', 'values,updates', ' updates', 'Updates'])(
    'refuses %j',
    (text) => {
      const refusal = () => parseStreamModes(text);

      expect(refusal).toThrow(HostError);
      expect(refusal).toThrow(
        expect.objectContaining({
          code: 'unsupported_stream_mode',
          details: { supported: ['values', 'updates', 'messages', 'debug'] },
        }),
      );
    },
  );
});

describe('what a mode shows', () => {
  it.each([
    ['updates', 'run.started', true],
    ['updates', 'node.started', false],
    ['updates', 'node.cancelled', true],
    ['updates', 'node.resumed', false],
    ['updates', 'variable.changed', false],
    ['messages', 'output.chunk', true],
    ['messages', 'run.completed', false],
    ['debug', 'node.started', true],
    ['debug', 'acme.thing', true],
    ['updates', 'acme.thing', false],
  ] as const)('%s: %s is %s', (mode, type, shown) => {
    expect(admits([mode], type)).toBe(shown);
  });

  it('is the union of a list of modes', () => {
    expect(admits(['updates', 'messages'], 'output.chunk')).toBe(true);
    expect(admits(['updates', 'messages'], 'run.completed')).toBe(true);
  });

  it('sends a snapshot after updates and after node.started', () => {
    expect(triggersSnapshot('node.started')).toBe(true);
    expect(triggersSnapshot('run.failed')).toBe(true);
    expect(triggersSnapshot('log.appended')).toBe(false);
    expect(triggersSnapshot('acme.thing')).toBe(false);
  });
});
