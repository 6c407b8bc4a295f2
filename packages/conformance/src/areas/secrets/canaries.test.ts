import { describe, expect, it } from 'vitest';
import { ALL_SHAPES, canary } from './canaries.ts';

describe('canaries', () => {
  it.each(ALL_SHAPES)('%s holds its marker, and no other does', (shape) => {
    const { value, marker } = canary(shape);

    const others = ALL_SHAPES.map(canary);

    expect(value).toContain(marker);
    for (const other of others) expect(other.value).not.toContain(marker);
  });

  it.each([
    ['google', /^AIza[\w-]{35}$/],
    ['github', /^ghp_[A-Za-z0-9]{36}$/],
    ['aws', /^AKIA[A-Z0-9]{16}$/],
    ['jwt', /^eyJ[\w-]+\.eyJ[\w-]+\.[\w-]+$/],
    ['openai', /^sk-[A-Za-z0-9]{20,}$/],
  ] as const)('%s has the length and the letters that scanners look for', (shape, pattern) => {
    expect(canary(shape).value).toMatch(pattern);
  });
});
