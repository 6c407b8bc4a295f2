import type { Json, JsonObject } from '@weft/protocol';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type ChannelWrite, reduce } from './reducers.ts';
import { renderSnapshot } from '../fold/snapshot.ts';
import { chain, node } from '../testing/definitions.ts';
import { fold, simulate } from '../testing/simulation.ts';

const write = (id: string, config: JsonObject) =>
  node(id, 'core.channelWrite', { channelName: 'log', ...config });
const declared = (reducer: string, values: Json[], rest: JsonObject = {}) => {
  const ids = values.map((_, index) => `w${index}`);
  const run = simulate({
    nodes: values.map((value, index) => write(`w${index}`, { value })),
    edges: chain(...ids),
    channels: { log: { reducer, ...rest } },
  });
  run.start();
  return run;
};
const held = (reducer: string, values: Json[], rest: JsonObject = {}) =>
  declared(reducer, values, rest).run.state.channels.get('log');

describe('reducers', () => {
  it('fold writes as their names say', () => {
    expect(held('replace', [1, 2])).toBe(2);
    expect(held('append', ['a', 'b', 'a'])).toEqual(['a', 'b', 'a']);
    expect(held('merge', [{ a: 1, b: 1 }, { b: 2 }])).toEqual({ a: 1, b: 2 });
    expect(held('counter', [2, 3, -1])).toBe(4);
    expect(held('votes', [vote('ada', 'yes'), vote('bob', 'no'), vote('ada', 'no')])).toEqual([
      vote('bob', 'no'),
      vote('ada', 'no'),
    ]);
    expect(held('feedback', [{ feedback: 'more' }])).toEqual([{ feedback: 'more' }]);
    expect(
      held('message', [
        { messageId: 'm', n: 1 },
        { messageId: 'm', n: 2 },
      ]),
    ).toEqual([{ messageId: 'm', n: 1 }]);
  });

  it('start from the declared default', () => {
    expect(held('append', ['b'], { default: ['a'] })).toEqual(['a', 'b']);
  });

  it('drop the oldest entries over maxSize', () => {
    expect(held('append', [1, 2, 3], { maxSize: 2 })).toEqual([2, 3]);
  });

  const wrong: [string, Json, JsonObject][] = [
    ['merge', 1, {}],
    ['counter', 'x', {}],
    ['votes', { action: 'yes' }, {}],
    ['message', {}, {}],
    ['replace', [1, 2, 3], { maxSize: 2 }],
    ['append', 1, { schema: { type: 'array', items: { type: 'string' } } }],
  ];
  it.each(wrong)('of kind %s refuse %j and change nothing', (reducer, value, rest) => {
    const run = declared(reducer, [value], rest);

    expect(run.run.state.error?.code).toBe('validation_error');
    expect(run.story()).not.toContain('channel.written w0');
  });

  it('give the same for every split of the log: folding is associative over prefixes', () => {
    const writes = fc.array(
      fc.record({ value: fc.jsonValue().map((value) => value as Json), step: fc.nat(50) }),
    );
    fc.assert(
      fc.property(writes, fc.nat(), (list, cut) => {
        let at = 0;
        const all = list.map(({ value, step }): ChannelWrite => {
          at += step;
          return { reducer: 'append', value, at, ttlMs: 60, maxSize: 5 };
        });
        const from = (start: Json | undefined, some: ChannelWrite[]) =>
          some.reduce<Json | undefined>(reduce, start);
        const split = cut % (all.length + 1);

        expect(from(from(undefined, all.slice(0, split)), all.slice(split))).toEqual(from(undefined, all));
      }),
    );
  });

  it('take a message once, however often and in whatever order it comes', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom('a', 'b', 'c'), { maxLength: 20 }), (ids) => {
        const result = ids.reduce<Json | undefined>(
          (current, messageId) => reduce(current, { reducer: 'message', value: { messageId }, at: 0 }),
          undefined,
        );

        expect(((result as JsonObject[] | undefined) ?? []).map(({ messageId }) => messageId)).toEqual([
          ...new Set(ids),
        ]);
      }),
    );
  });
});

describe('a channel with a time to live', () => {
  const ageing = () =>
    simulate({
      nodes: [
        write('a', { value: 'old', reducer: 'append', ttlMs: 200 }),
        node('wait', 'core.delay', { ms: 300 }),
        write('b', { value: 'new', reducer: 'append', ttlMs: 200 }),
      ],
      edges: chain('a', 'wait', 'b'),
    });

  it('drops what is too old with the next write, and keeps the age of each entry', () => {
    const run = ageing();
    run.start();
    run.passTime();

    expect(run.run.state.variables.get('log')).toEqual([{ value: 'new', _ts: run.now }]);
    expect(run.payload('channel.written')).toMatchObject({ value: { value: 'old', _ts: run.now - 300 } });
  });

  it('holds the same when the log is folded much later', () => {
    const run = ageing();
    run.start();
    run.passTime();

    expect(fold(run.plan, run.record, run.log).variables.get('log')).toEqual(
      run.run.state.variables.get('log'),
    );
  });
});

describe('access and secrecy', () => {
  it('lets only the named writers write', () => {
    const allowed = declared('append', [1], { access: { writers: ['core.channel*'] } });
    const denied = declared('append', [1], { access: 'private' });

    expect(allowed.run.state.status).toBe('completed');
    expect(denied.run.state.error).toMatchObject({
      code: 'channel_access_denied',
      details: { allowed: 'writers' },
    });
  });

  it('masks a sensitive channel in events and snapshots, not in the fold', () => {
    const run = declared('append', ['very-private-value'], { sensitive: true });

    const shown = JSON.stringify(
      renderSnapshot(run.plan, run.record, run.run.state, { status: 'completed' }),
    );
    expect(run.log.map((event) => event.payload).join() + shown).not.toContain('very-private-value');
    expect(run.run.state.channels.get('log')).toEqual(['very-private-value']);
  });

  it('shows declared channels on the snapshot, and undeclared ones among the variables', () => {
    const run = declared('append', ['a']);
    const undeclared = simulate({ nodes: [write('w', { value: 'a', reducer: 'append' })] });
    undeclared.start();

    expect(renderSnapshot(run.plan, run.record, run.run.state, { status: 'completed' })).toMatchObject({
      channels: { log: ['a'] },
    });
    expect(undeclared.run.state.variables.get('log')).toEqual(['a']);
  });
});

function vote(userId: string, action: string): JsonObject {
  return { userId, action };
}
