import { describe, expect, it } from 'vitest';
import { OPENAI_ANSWERS } from './answer-formats.ts';
import { condenseEvents } from './condensed-events.ts';
import { pacedBody } from './paced-body.ts';
import { createStreamPace, MOST_PER_TURN } from './stream-pace.ts';

const STREAMS = 120;
const PIECES = 40;

/** A model that says a word every five milliseconds, at the same moments as all others. */
async function* speech(): AsyncGenerator<Uint8Array> {
  const encoder = new TextEncoder();
  for (let piece = 0; piece < PIECES; piece += 1) {
    yield encoder.encode(`data: ${JSON.stringify({ choices: [{ delta: { content: `${piece} ` } }] })}\n\n`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

function textIn(body: string): string {
  return body
    .split('\n\n')
    .filter((event) => event !== '')
    .map((event) => (JSON.parse(event.slice('data:'.length)) as Said).choices[0].delta.content)
    .join('');
}

interface Said {
  readonly choices: readonly [{ readonly delta: { readonly content: string } }];
}

describe('the bodies of many streamed answers', () => {
  it('come in few pieces, a few streams in one turn, and whole', async () => {
    const pace = createStreamPace();
    let mostInTurn = 0;
    let inTurn = 0;
    let pieces = 0;
    async function listen(): Promise<string> {
      const decoder = new TextDecoder();
      let text = '';
      let count = 0;
      for await (const bytes of pacedBody(speech(), condenseEvents(OPENAI_ANSWERS), pace)) {
        inTurn += 1;
        text += textIn(decoder.decode(bytes));
        count += 1;
      }
      pieces += count;
      return text;
    }

    let isOver = false;
    setImmediate(function tick() {
      mostInTurn = Math.max(mostInTurn, inTurn);
      inTurn = 0;
      if (!isOver) setImmediate(tick);
    });
    const texts = await Promise.all(Array.from({ length: STREAMS }, listen));
    isOver = true;

    const whole = Array.from({ length: PIECES }, (_, piece) => `${piece} `).join('');
    expect(texts.filter((text) => text !== whole)).toEqual([]);
    expect(mostInTurn).toBeLessThanOrEqual(MOST_PER_TURN);
    expect(pieces).toBeLessThan((STREAMS * PIECES) / 4);
  });
});
