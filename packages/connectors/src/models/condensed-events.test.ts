import { describe, expect, it } from 'vitest';
import { ANTHROPIC_ANSWERS, type AnswerFormat, GEMINI_ANSWERS, OPENAI_ANSWERS } from './answer-formats.ts';
import { condenseEvents } from './condensed-events.ts';
import { ANTHROPIC_FORMAT } from './testing/anthropic-format.ts';
import { GEMINI_FORMAT } from './testing/gemini-format.ts';
import { OPENAI_FORMAT } from './testing/openai-format.ts';
import { type Script, sse, type WireFormat } from './testing/wire-server.ts';

const FORMATS: readonly { name: string; answers: AnswerFormat; wire: WireFormat }[] = [
  { name: 'OpenAI', answers: OPENAI_ANSWERS, wire: OPENAI_FORMAT },
  { name: 'Anthropic', answers: ANTHROPIC_ANSWERS, wire: ANTHROPIC_FORMAT },
  { name: 'Gemini', answers: GEMINI_ANSWERS, wire: GEMINI_FORMAT },
];

const SCRIPT: Script = {
  text: ['Once', ' upon', ' a “time”\n'],
  toolCalls: [{ id: 'call-1', name: 'look_up', arguments: '{"id":"7"}' }],
  usage: { input: 11, output: 5 },
};

const eventsIn = (text: string): string[] =>
  text
    .replaceAll('\r', '')
    .split('\n\n')
    .filter((event) => event !== '');

describe.each(FORMATS)('a stream in the format of $name', ({ answers, wire }) => {
  const before = wire.begin('fable-1', SCRIPT);
  const pieces = (SCRIPT.text ?? []).map((text) => wire.piece(text));
  const after = [...wire.toolCalls(SCRIPT), ...wire.end('fable-1', SCRIPT)];
  const stream = [...before, ...pieces, ...after].join('');

  it('has one event for the pieces of a text, and all others as they were', () => {
    const condensed = condenseEvents(answers).take(stream);

    const whole = wire.piece((SCRIPT.text ?? []).join(''));
    expect(eventsIn(condensed)).toEqual(eventsIn([...before, whole, ...after].join('')));
  });

  it('gives the same in all, wherever it is cut and however its lines end', () => {
    for (const text of [stream, stream.replaceAll('\n', '\r\n')]) {
      for (let at = 1; at < text.length; at += 29) {
        const events = condenseEvents(answers);
        const given = events.take(text.slice(0, at)) + events.take(text.slice(at)) + events.rest();
        const again = condenseEvents(answers).take(given);

        expect(eventsIn(again)).toEqual(eventsIn(condenseEvents(answers).take(stream)));
        expect(events.usage()).toMatchObject({ promptTokens: 11, completionTokens: 5, totalTokens: 16 });
      }
    }
  });

  it('is emitted piece by piece while text only continues, and given as one event when something else comes', () => {
    const emitted: string[] = [];
    const given: string[] = [];
    const live = {
      emit: (text: string) => emitted.push(text) > 0,
      given: (text: string) => void given.push(text),
      said: () => undefined,
    };
    const events = condenseEvents(answers, live);
    const [first = '', ...more] = pieces;

    const atFirst = events.take([...before, first].join(''));
    const meanwhile = more.map((piece) => events.take(piece)).join('');
    const atLast = events.take(after.join(''));

    expect(eventsIn(atFirst)).toEqual(eventsIn([...before, first].join('')));
    expect([meanwhile, emitted]).toEqual(['', SCRIPT.text?.slice(1)]);
    const rest = wire.piece((SCRIPT.text ?? []).slice(1).join(''));
    expect(eventsIn(atLast)).toEqual(eventsIn([rest, ...after].join('')));
    expect(given.join('')).toBe(SCRIPT.text?.join(''));
  });

  it('is given as it comes where it may not be emitted', () => {
    const events = condenseEvents(answers, {
      emit: () => false,
      given: () => undefined,
      said: () => undefined,
    });

    const given = [...before, ...pieces].map((piece) => events.take(piece));

    expect(given.join('')).toBe([...before, ...pieces].join(''));
  });

  it('is given before too much is kept', () => {
    const events = condenseEvents(answers, {
      emit: () => true,
      given: () => undefined,
      said: () => undefined,
    });
    events.take([...before, ...pieces].join(''));

    const given = Array.from({ length: 100 }, () => events.take(wire.piece('x'.repeat(2_000))));

    const lengths = given.filter((text) => text !== '').map((text) => text.length);
    expect(lengths.length).toBe(3);
    expect(Math.max(...lengths)).toBeLessThan(70_000);
  });

  it('has what was kept at its end', () => {
    const events = condenseEvents(answers, {
      emit: () => true,
      given: () => undefined,
      said: () => undefined,
    });
    for (const piece of [...before, ...pieces]) events.take(piece);

    expect(eventsIn(events.rest())).toEqual(eventsIn(wire.piece((SCRIPT.text ?? []).slice(1).join(''))));
    expect(events.rest()).toBe('');
  });

  it('says of tokens what was said so far, and nothing before', () => {
    const events = condenseEvents(answers);
    expect(events.usage()).toBeUndefined();

    events.take([...before, ...pieces].join(''));

    expect(events.usage()?.promptTokens).toBe(answers === ANTHROPIC_ANSWERS ? 11 : undefined);
  });
});

describe('events of a stream', () => {
  it.each([
    ['another index', { index: 1, delta: { content: 'b' } }],
    ['an end', { index: 0, delta: { content: 'b' }, finish_reason: 'stop' }],
    ['something in addition to the text', { index: 0, delta: { content: 'b', tool_calls: [{ index: 0 }] } }],
    ['another kind of text', { index: 0, delta: { reasoning_content: 'b' } }],
  ])('stay apart with %s', (_what, choice) => {
    const text = sse({ choices: [{ index: 0, delta: { content: 'a' } }] }) + sse({ choices: [choice] });

    expect(condenseEvents(OPENAI_ANSWERS).take(text)).toBe(text);
  });

  it('are passed on unread when they are none', () => {
    const events = condenseEvents(OPENAI_ANSWERS);
    const garbage = 'data: {"half":\n\ndata: [DONE]\n\n: note\n\n';

    expect(events.take(garbage)).toBe(garbage);
    expect(events.take('x'.repeat(2 * 1024 * 1024)).length).toBe(2 * 1024 * 1024);
    expect(events.take('left') + events.rest()).toBe('left');
  });

  it('carry the newest count of tokens', () => {
    const said = (text: string, tokens: number) =>
      sse({
        candidates: [{ content: { parts: [{ text }] } }],
        usageMetadata: { promptTokenCount: 4, candidatesTokenCount: tokens, thoughtsTokenCount: 2 },
      });
    const events = condenseEvents(GEMINI_ANSWERS);

    expect(eventsIn(events.take(said('a', 1) + said('b', 2)))).toEqual(eventsIn(said('ab', 2)));
    expect(events.usage()).toMatchObject({ promptTokens: 4, completionTokens: 4, totalTokens: 8 });
  });
});
