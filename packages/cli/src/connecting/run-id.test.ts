import type { Client, Listing, RunFilter, RunSummary } from '@weft/sdk';
import { ApiError } from '@weft/sdk';
import { describe, expect, it } from 'vitest';
import { resolveRunId } from './run-id.ts';

const IDS = [
  '01a1ec45-40cb-7000-829b-c504ea61fe89',
  '01a1ec45-3eaa-7000-9e0a-5c7634d24a0d',
  '01a1ec45-3eaa-7001-9769-26166269a903',
  '01a1e1cd-927b-7000-9769-26166269a903',
  'c0ffee00-0000-8000-8000-000000000000', // of an import: from a digest, not from a time
];

/** Lists as a host does: newest first, by time, in pages of two. */
function clientWith(ids: readonly string[], seen: RunFilter[] = []): Client {
  const timeOf = (id: string): number =>
    id.startsWith('01') ? Number.parseInt(id.slice(0, 13).replace('-', ''), 16) : 0;
  const list = async (filter: RunFilter = {}): Promise<Listing<RunSummary>> => {
    seen.push(filter);
    const found = ids.filter((id) => {
      const at = new Date(timeOf(id)).toISOString();
      return at >= (filter.since ?? '') && at < (filter.until ?? '9');
    });
    const start = Number(filter.cursor ?? 0);
    const end = start + Math.min(2, filter.limit ?? 2);
    const items = found.slice(start, end).map((runId) => ({ runId }) as RunSummary);
    return { items, ...(end < found.length && { nextCursor: String(end) }) };
  };
  return { runs: { list } } as unknown as Client;
}

describe('a run id as it is typed', () => {
  it('is taken as it is when it is whole, or not like ours', async () => {
    const seen: RunFilter[] = [];

    for (const id of [IDS[3] ?? '', 'run_42', 'RUN', 'ab', 'no-such-run'])
      expect(await resolveRunId(clientWith(IDS, seen), id)).toBe(id);
    expect(seen).toEqual([]);
  });

  it('may be its first characters, with or without dashes and in capitals', async () => {
    for (const prefix of ['01a1e1cd', '01a1e1', '01a1e1cd927b', '01A1E1CD-9', '01a1e1cd-927b-7000-9'])
      expect(await resolveRunId(clientWith(IDS), prefix)).toBe(IDS[3]);
    expect(await resolveRunId(clientWith(IDS), 'c0ff')).toBe(IDS[4]);
  });

  it('is ambiguous with its candidates when several begin so', async () => {
    await expect(resolveRunId(clientWith(IDS), '01a1ec45-3')).rejects.toMatchObject({
      exitCode: 2,
      code: 'ambiguous_run_id',
      message: expect.stringContaining(`${IDS[1]}\n  ${IDS[2]}`),
      details: { candidates: [IDS[1], IDS[2]] },
    });
  });

  it('is asked of the host as it is when none begins so, or the host has no list', async () => {
    const listless = {
      runs: { list: () => Promise.reject(new ApiError({ status: 404, code: 'not_found', message: 'no' })) },
    } as unknown as Client;

    expect(await resolveRunId(clientWith(IDS), 'deadbeef')).toBe('deadbeef');
    expect(await resolveRunId(listless, '01a1e1cd')).toBe('01a1e1cd');
  });

  it('@last is the newest run, if there is one', async () => {
    expect(await resolveRunId(clientWith(IDS), '@last')).toBe(IDS[0]);
    await expect(resolveRunId(clientWith([]), '@last')).rejects.toMatchObject({
      exitCode: 4,
      code: 'no_runs',
    });
    await expect(resolveRunId(clientWith(IDS), '@lst')).rejects.toMatchObject({
      exitCode: 2,
      message: expect.stringContaining('@last'),
    });
  });
});
