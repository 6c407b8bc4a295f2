import type { Log, LogLevel } from '@weft/engine';
import type { Sink } from '../io.ts';
import type { Style } from '../output/style.ts';
import { visibleText } from '../output/terminal-text.ts';

const RANK: Readonly<Record<LogLevel, number>> = { debug: 0, info: 1, warn: 2, error: 3 };

export interface LogOptions {
  readonly level: LogLevel;
  readonly format: 'json' | 'text';
  readonly style: Style;
  readonly now?: () => number;
}

/** JSON lines for collectors, short lines for people. */
export function createLog(sink: Sink, options: LogOptions): Log {
  const now = options.now ?? Date.now;
  return (level, fields, message) => {
    if (RANK[level] < RANK[options.level]) return;
    const time = new Date(now()).toISOString();
    if (options.format === 'json') {
      sink.write(`${JSON.stringify({ time, level, message, ...fields })}\n`);
      return;
    }
    sink.write(
      `${options.style.dim(time.slice(11, 23))} ${label(options.style, level)} ${message}${shown(fields)}\n`,
    );
  };
}

function label(style: Style, level: LogLevel): string {
  const text = level.padEnd(5);
  if (level === 'error') return style.red(text);
  if (level === 'warn') return style.yellow(text);
  return level === 'info' ? style.cyan(text) : style.dim(text);
}

function shown(fields: Parameters<Log>[1]): string {
  const parts = Object.entries(fields).filter((field) => field[1] !== undefined);
  return parts
    .map(
      ([name, value]) => ` ${name}=${visibleText(typeof value === 'string' ? value : JSON.stringify(value))}`,
    )
    .join('');
}
