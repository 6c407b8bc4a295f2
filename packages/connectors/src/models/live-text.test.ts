import type { OutputChunk } from '@weft/engine';
import { describe, expect, it } from 'vitest';
import { gatherChunks } from './gathered-chunks.ts';
import { createLiveText } from './live-text.ts';

function speaking() {
  const emitted: OutputChunk[] = [];
  const chunks = gatherChunks((chunk) => void emitted.push(chunk));
  return { live: createLiveText(chunks), texts: () => emitted.map(({ chunk }) => chunk), chunks };
}

describe('text that is emitted before the library says it', () => {
  it('is not emitted again, wherever the library cuts it', () => {
    const { live, texts, chunks } = speaking();
    live.given('one ');
    live.said('one ');

    expect(live.emit('two ')).toBe(true);
    expect(live.emit('three ')).toBe(true);
    live.given('two three ');
    live.given('four');
    for (const piece of ['tw', 'o three fo', 'ur']) live.said(piece);
    chunks.end({});

    expect(texts().join('')).toBe('one two three four');
    expect(texts().slice(0, 2)).toEqual(['one two ', 'three ']);
  });

  it('waits for the library, which is still at what came before', () => {
    const { live, texts } = speaking();
    live.given('one ');

    expect(live.emit('two ')).toBe(false);
    live.given('two ');
    live.said('one two ');

    expect(live.emit('three')).toBe(true);
    expect(texts()).toEqual(['one two three']);
  });

  it('is left to a library that says something else than it was given', () => {
    for (const said of ['', 'one, indeed ']) {
      const { live } = speaking();
      live.given('one ');
      live.said(said);

      expect(live.emit('two ')).toBe(false);
    }
  });
});
