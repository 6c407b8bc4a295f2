import type { Readable } from 'node:stream';
import type { Log } from '@weft/engine';
import { shownName } from '@weft/protocol';
import { MCP_LIMITS } from './limits.ts';

const MINUTE = 60_000;

/** What a process writes on stderr goes to the log: lines of bounded length, and so many of them a minute. */
export function logStderr(stream: Readable, server: string, log: Log, mask: (text: string) => string): void {
  let begun = '';
  let minute = 0;
  let lines = 0;
  function take(line: string): void {
    const now = Math.floor(performance.now() / MINUTE);
    if (now !== minute) [minute, lines] = [now, 0];
    lines += 1;
    if (lines > MCP_LIMITS.stderrLines + 1) return;
    if (lines > MCP_LIMITS.stderrLines)
      return log(
        'warn',
        { server },
        'mcp: the server writes too much on stderr; the rest of the minute is left out',
      );
    log('info', { server, line: shownName(mask(line)) }, 'mcp: stderr');
  }
  stream.setEncoding('utf8');
  stream.on('data', (text: string) => {
    const parts = (begun + text).split('\n');
    begun = (parts.pop() ?? '').slice(0, MCP_LIMITS.stderrLine);
    for (const part of parts) if (part.trim() !== '') take(part.slice(0, MCP_LIMITS.stderrLine));
  });
  stream.on('end', () => {
    if (begun.trim() !== '') take(begun);
  });
}
