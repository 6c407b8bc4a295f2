import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { PACK_CODES } from './pack-error.ts';

describe('the guide to packs', () => {
  it('lists every code with which a pack is refused, and no other', () => {
    const page = readFileSync(new URL('../../../docs/guide/packs.md', import.meta.url), 'utf8');
    const table = page.slice(page.indexOf('## When a pack is refused'));

    const rows = [...table.matchAll(/^\| `(\w+)` +\| (.+?) +\|$/gm)].map(([, code, when]) => [code, when]);

    expect(Object.fromEntries(rows)).toEqual(PACK_CODES);
  });
});
