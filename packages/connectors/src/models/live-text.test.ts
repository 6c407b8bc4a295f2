import type { OutputChunk } from '@weft/engine';
import { describe, expect, it } from 'vitest';
import { gatherChunks } from './gathered-chunks.ts';
import { createLiveText } from './live-text.ts';

function speaking() {
  const emitted: OutputChunk[] = [];
  const chunks = gatherChunks((chunk) => void emitted.push(chunk));
  return { live: createLiveText(chunks), told: () => emitted.map(({ chunk }) => chunk), chunks };
}

describe('text that is told before the library says it', () => {
  it('is not told again, wherever the library cuts it', () => {
    const { live, told, chunks } = speaking();
    live.given('one ');
    live.said('one ');

    expect(live.tell('two ')).toBe(true);
    expect(live.tell('three ')).toBe(true);
    live.given('two three ');
    live.given('four');
    for (const piece of ['tw', 'o three fo', 'ur']) live.said(piece);
    chunks.end({});

    expect(told().join('')).toBe('one two three four');
    expect(told().slice(0, 2)).toEqual(['one two ', 'three ']);
  });

  it('waits for the library, which is still at what came before', () => {
    const { live, told } = speaking();
    live.given('one ');

    expect(live.tell('two ')).toBe(false);
    live.given('two ');
    live.said('one two ');

    expect(live.tell('three')).toBe(true);
    expect(told()).toEqual(['one two three']);
  });

  it('is left to a library that says something else than it was given', () => {
    for (const said of ['', 'one, indeed ']) {
      const { live } = speaking();
      live.given('one ');
      live.said(said);

      expect(live.tell('two ')).toBe(false);
    }
  });
});
