import { describe, expect, it } from 'vitest';
import { filtersOf, hostFilter } from './run-filters.ts';

const NOW = Date.UTC(2026, 0, 2);

describe('the filters of the list', () => {
  it('are read from the address and asked of the host', () => {
    const filters = filtersOf({ status: 'waiting', workflow: 'w', within: '24h', tag: '', other: 'x' });

    expect(filters).toEqual({ status: 'waiting', workflow: 'w', within: '24h' });
    expect(hostFilter(filters, NOW)).toEqual({
      status: ['waiting-approval', 'waiting-input', 'waiting-external'],
      workflowId: 'w',
      since: '2026-01-01T00:00:00.000Z',
    });
  });

  it('leave out what the host would refuse', () => {
    expect(hostFilter({ status: 'sleepy', within: 'ever' }, NOW)).toEqual({});
    expect(hostFilter({ from: '1e99', until: '-1' }, NOW)).toEqual({});
    expect(hostFilter({ from: '0', until: String(NOW) }, NOW)).toEqual({
      since: '1970-01-01T00:00:00.000Z',
      until: '2026-01-02T00:00:00.000Z',
    });
    expect(hostFilter({ status: 'active', q: ' 01a ', error: 'broken' }, NOW)).toEqual({
      status: ['pending', 'running', 'paused'],
      q: '01a',
      errorCode: 'broken',
    });
  });
});
