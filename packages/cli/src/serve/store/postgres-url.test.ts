import { describe, expect, it } from 'vitest';
import { shownUrl } from './postgres-url.ts';

describe('a database URL that is shown', () => {
  it.each([
    ['postgres://weft:hunter2@db:5432/weft', 'postgres://weft@db:5432/weft'],
    ['postgresql://weft:p@ss/word@db/weft', 'postgresql://weft@db/weft'],
    ['postgres://weft@db/weft?password=hunter2&sslmode=require', 'postgres://weft@db/weft'],
    ['postgres://weft:a:b@one:5432,two:5432/weft', 'postgres://weft@one:5432,two:5432/weft'],
    ['postgres://db', 'postgres://db'],
  ])('has no password', (url, shown) => {
    expect(shownUrl(url)).toBe(shown);
  });
});
