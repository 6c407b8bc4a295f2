import { describe, expect, it } from 'vitest';
import { lineOfPointer } from './json-lines.ts';

const TEXT = `{
  "id": "a\\"{",
  "nodes": [
    { "id": "x", "config": {} },
    {
      "id": "y",
      "config": { "a/b": 1,
        "c~d": [1, 2,
          3] }
    }
  ],
  "edges": []
}`;

describe('lineOfPointer', () => {
  it('finds members and elements however they are nested and escaped', () => {
    expect(lineOfPointer(TEXT, '')).toBe(1);
    expect(lineOfPointer(TEXT, '/id')).toBe(2);
    expect(lineOfPointer(TEXT, '/nodes/0/config')).toBe(4);
    expect(lineOfPointer(TEXT, '/nodes/1/id')).toBe(6);
    expect(lineOfPointer(TEXT, '/nodes/1/config/a~1b')).toBe(7);
    expect(lineOfPointer(TEXT, '/nodes/1/config/c~0d/2')).toBe(9);
    expect(lineOfPointer(TEXT, '/edges')).toBe(12);
  });

  it('falls back to the nearest parent of what is not there', () => {
    expect(lineOfPointer(TEXT, '/nodes/1/missing')).toBe(5);
    expect(lineOfPointer(TEXT, '/nodes/7')).toBe(3);
    expect(lineOfPointer(TEXT, '/id/deeper')).toBe(2);
  });
});
