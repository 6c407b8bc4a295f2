import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createSseParser, type SseEvent, sseComment, sseFrame } from './sse.ts';

function read(...chunks: string[]): SseEvent[] {
  const events: SseEvent[] = [];
  const parser = createSseParser((event) => events.push(event));
  for (const chunk of chunks) parser.push(chunk);
  return events;
}

const streams: [string, string, SseEvent[]][] = [
  [
    'frames of the host',
    sseFrame({ id: 3, event: 'run.started', data: '{"a":1}' }) +
      sseComment('keepalive') +
      sseFrame({ event: 'x', data: '2' }),
    [
      { id: '3', event: 'run.started', data: '{"a":1}' },
      { id: '3', event: 'x', data: '2' },
    ],
  ],
  [
    'CRLF',
    'id: 1\r\nevent: a\r\ndata: x\r\n\r\ndata: y\r\n\r\n',
    [
      { id: '1', event: 'a', data: 'x' },
      { id: '1', event: 'message', data: 'y' },
    ],
  ],
  [
    'CR',
    'event: a\rdata: x\r\rdata: y\r\r',
    [
      { event: 'a', data: 'x' },
      { event: 'message', data: 'y' },
    ],
  ],
  ['several data lines', 'data: a\ndata:\ndata:  b\n\n', [{ event: 'message', data: 'a\n\n b' }]],
  [
    'a byte order mark, comments and unknown fields',
    '\uFEFF:hello\nretry: 5\nfoo\ndata: x\n\n',
    [{ event: 'message', data: 'x' }],
  ],
  [
    'events without data, and one that is cut off',
    'event: a\n\nid: 7\n\ndata: x\n\ndata: lost\n',
    [{ id: '7', event: 'message', data: 'x' }],
  ],
];

describe('the parser of server-sent events', () => {
  it.each(streams)('reads %s in one piece', (_, text, events) => {
    expect(read(text)).toEqual(events);
  });

  it.each(streams)('reads %s cut at every position', (_, text, events) => {
    for (let cut = 0; cut <= text.length; cut++)
      expect(read(text.slice(0, cut), text.slice(cut))).toEqual(events);
    expect(read(...text.split(''))).toEqual(events);
  });

  it('reads back what the host writes, cut anywhere', () => {
    const frame = fc.record({
      id: fc.nat(),
      event: fc.stringMatching(/^[a-z][a-z.]{0,9}$/),
      data: fc.json(),
    });
    fc.assert(
      fc.property(
        fc.array(frame, { maxLength: 4 }),
        fc.array(fc.nat(200), { maxLength: 4 }),
        (frames, cuts) => {
          const text = frames.map(sseFrame).join(sseComment('keepalive'));
          const edges = [
            0,
            ...cuts.filter((cut) => cut < text.length).toSorted((a, b) => a - b),
            text.length,
          ];
          const chunks = edges.slice(1).map((edge, index) => text.slice(edges[index], edge));

          expect(read(...chunks)).toEqual(frames.map((sent) => ({ ...sent, id: String(sent.id) })));
        },
      ),
    );
  });
});
