import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, it } from 'vitest';

/** An agent in a real process that is killed with SIGKILL, at a place of which no one can say that the log is ahead or behind. */

const HOST = fileURLToPath(new URL('../../dist/testing/agent-host.js', import.meta.url));
const folders: string[] = [];

afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

interface Ended {
  readonly status: string;
  /** Places the agent came to, in order, with their invocation ids. */
  readonly calls: readonly (readonly [place: string, invocationId: string])[];
  /** Of the tenant. */
  readonly costs: unknown;
  readonly events: readonly { readonly type: string; readonly payload: Record<string, unknown> }[];
}

async function killedAt(place: string, safety: 'SAFE' | 'UNSAFE'): Promise<Ended> {
  const folder = mkdtempSync(join(tmpdir(), 'weft-agent-kill-'));
  folders.push(folder);
  const run = async (): Promise<unknown[]> => {
    const host = spawn(process.execPath, [HOST, folder, place, safety], { stdio: 'inherit' });
    return (await once(host, 'exit')) as unknown[];
  };
  expect(await run()).toEqual([null, 'SIGKILL']);
  expect(existsSync(join(folder, 'events.json'))).toBe(false);
  expect(await run()).toEqual([0, null]);
  const events = JSON.parse(readFileSync(join(folder, 'events.json'), 'utf8')) as Ended['events'];
  const calls = readFileSync(join(folder, 'calls.log'), 'utf8').trim().split('\n');
  return {
    status: events.at(-1)?.type ?? '',
    costs: JSON.parse(readFileSync(join(folder, 'costs.json'), 'utf8')) as unknown,
    calls: calls.map((line) => line.split(' ') as [string, string]),
    events,
  };
}

const EVERY_PLACE = Array.from({ length: 9 }, (_, index) => [`turn-${index + 1}`, `call-${index + 1}`])
  .flat()
  .slice(0, -1);

describe('an agent whose host is killed', () => {
  it.each(['turn-7', 'call-7'])(
    'in %s continues there: nothing on record happens again, what was cut off comes again under the same id, and all is counted once (E-32, S-21)',
    async (place) => {
      const { status, calls, events, costs } = await killedAt(place, 'SAFE');

      expect(status).toBe('run.completed');
      const at = EVERY_PLACE.indexOf(place);
      expect(calls.map(([where]) => where)).toEqual(EVERY_PLACE.toSpliced(at, 0, place));
      expect(new Set(calls.map(([, id]) => id)).size).toBe(EVERY_PLACE.length);
      const streamed = events.filter(({ type }) => type === 'output.chunk');
      expect(streamed.map(({ payload }) => payload['chunk'])).toEqual(
        Array.from({ length: 9 }, (_, index) => `turn ${index + 1}`),
      );
      expect(costs).toEqual({ calls: 9, tokens: { input: 45, output: 9 }, unpricedCalls: 9 });
    },
    60_000,
  );

  it('in a call that must not be made twice fails, and does not make it again', async () => {
    const { status, calls, events } = await killedAt('call-7', 'UNSAFE');

    expect(status).toBe('run.failed');
    expect(calls.filter(([where]) => where === 'call-7')).toHaveLength(1);
    expect(events.at(-1)?.payload).toMatchObject({ error: { code: 'effect_outcome_unknown' } });
  }, 60_000);
});
