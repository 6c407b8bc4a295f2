import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { RUNTIMES } from './vocabulary.ts';

const SOURCE = new URL('../', import.meta.url);

describe('the projector', () => {
  it('names no runtime outside its one table (16)', () => {
    const files = readdirSync(SOURCE, { recursive: true, encoding: 'utf8' }).filter(
      (file) => file.endsWith('.ts') && !file.endsWith('.test.ts') && !file.includes('testing'),
    );

    const naming = files.filter((file) => {
      const text = readFileSync(new URL(file, SOURCE), 'utf8');
      return RUNTIMES.some((runtime) => text.includes(runtime));
    });

    expect(files.length).toBeGreaterThan(30);
    expect(naming).toEqual(['contract/vocabulary.ts']);
  });
});
