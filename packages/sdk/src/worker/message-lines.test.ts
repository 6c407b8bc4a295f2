import { describe, expect, it } from 'vitest';
import { messageLines } from './message-lines.ts';

async function linesOf(chunks: readonly Uint8Array[]): Promise<string[]> {
  const lines: string[] = [];
  for await (const some of messageLines(ReadableStream.from(chunks))) lines.push(...some);
  return lines;
}

describe('the lines of a stream', () => {
  it('are the same wherever the bytes were cut', async () => {
    const bytes = new TextEncoder().encode('{"a":"ä€😀"}\n\n{"b":1}\n{"unfinished"');

    for (let at = 0; at <= bytes.length; at += 1) {
      expect(await linesOf([bytes.slice(0, at), bytes.slice(at)])).toEqual(['{"a":"ä€😀"}', '', '{"b":1}']);
    }
    expect(await linesOf(Array.from(bytes, (byte) => Uint8Array.of(byte)))).toEqual([
      '{"a":"ä€😀"}',
      '',
      '{"b":1}',
    ]);
  });

  it('have an end', async () => {
    const endless = Array.from({ length: 40 }, () => new Uint8Array(1024 * 1024).fill(120));

    await expect(linesOf(endless)).rejects.toThrow('a line of more than');
  });
});
