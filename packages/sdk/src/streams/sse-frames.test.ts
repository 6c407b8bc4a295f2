import { describe, expect, it } from 'vitest';
import { createFrameParser } from './sse-frames.ts';

describe('the frame parser', () => {
  it('returns a frame once its blank line has arrived', () => {
    const parse = createFrameParser();

    const before = parse('id: 3\nevent: node.completed\nda');
    const after = parse('ta: {"a":1}\n\n');

    expect(before).toEqual([]);
    expect(after).toEqual([{ id: '3', event: 'node.completed', data: '{"a":1}' }]);
  });

  it('joins data lines and takes every line end, also one cut between two chunks', () => {
    const parse = createFrameParser();

    const frames = [...parse('data: a\r\ndata: b\r'), ...parse('\n\r\ndata:c\r\rdata: d\n\n')];

    expect(frames.map((frame) => frame.data)).toEqual(['a\nb', 'c', 'd']);
  });

  it('finds the same frames wherever the text is cut', () => {
    const text = 'id: 1\r\ndata: a\r\n\r\n:x\ndata: b\ndata: c\n\ndata: d\r\revent: e\ndata: f\n\n';
    const whole = createFrameParser()(text);
    expect(whole.map(({ data }) => data)).toEqual(['a', 'b\nc', 'd', 'f']);

    for (let cut = 1; cut < text.length; cut += 1) {
      const parse = createFrameParser();
      expect([...parse(text.slice(0, cut)), ...parse(text.slice(cut))]).toEqual(whole);
    }
    const byCharacter = createFrameParser();
    expect([...text].flatMap((character) => byCharacter(character))).toEqual(whole);
  });

  it('ignores comments and frames without data', () => {
    const parse = createFrameParser();

    const frames = parse(':keepalive\n\nid: 1\n\n: x\ndata: y\n\n');

    expect(frames).toEqual([{ id: undefined, event: 'message', data: 'y' }]);
  });
});
