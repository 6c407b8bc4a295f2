import { describe, expect, it } from 'vitest';
import { currentVersions } from './versions.ts';

const version = (id: string, text: string, registeredAt: string, more: object = {}) => ({
  id,
  version: text,
  name: id.toUpperCase(),
  digest: '',
  registeredAt,
  nodes: 1,
  ...more,
});

describe('the list of workflows', () => {
  it('has a row for each, with the version that is current, else the newest', () => {
    const rows = currentVersions([
      version('b', '1', '2026-01-01', { current: true }),
      version('b', '2', '2026-01-02', { current: false }),
      version('a', '1', '2026-01-01'),
      version('a', '2', '2026-01-02'),
    ]);

    expect(rows.map(({ current, versions }) => [current.id, current.version, versions])).toEqual([
      ['a', '2', 2],
      ['b', '1', 2],
    ]);
  });
});
