import { describe, expect, it } from 'vitest';
import { PLAIN } from '../output/style.ts';
import { createLog } from './log.ts';

function logged(format: 'json' | 'text'): string {
  let text = '';
  const sink = { write: (line: string) => (text += line) };
  const log = createLog(sink, { level: 'info', format, style: PLAIN, now: () => 0 });
  log('debug', {}, 'not shown');
  log('warn', { runId: 'r1', skipped: undefined, ms: 3 }, 'slow commit');
  return text;
}

describe('the log of serve', () => {
  it('is one JSON object per line for collectors', () => {
    expect(JSON.parse(logged('json'))).toEqual({
      time: '1970-01-01T00:00:00.000Z',
      level: 'warn',
      message: 'slow commit',
      runId: 'r1',
      ms: 3,
    });
  });

  it('is one short line for people', () => {
    expect(logged('text')).toBe('00:00:00.000 warn  slow commit runId=r1 ms=3\n');
  });
});
