import { control, visibleText } from './terminal-text.ts';

/** Text of one line in colour, or the same text without. */
export interface Style {
  readonly bold: (text: string) => string;
  readonly dim: (text: string) => string;
  readonly red: (text: string) => string;
  readonly green: (text: string) => string;
  readonly yellow: (text: string) => string;
  readonly cyan: (text: string) => string;
}

export const PLAIN: Style = {
  bold: visibleText,
  dim: visibleText,
  red: visibleText,
  green: visibleText,
  yellow: visibleText,
  cyan: visibleText,
};

export const COLOURED: Style = {
  bold: ansi(1, 22),
  dim: ansi(2, 22),
  red: ansi(31, 39),
  green: ansi(32, 39),
  yellow: ansi(33, 39),
  cyan: ansi(36, 39),
};

/** Colours only on a terminal, and never against NO_COLOR (any value but the empty one) or a dumb terminal. */
export function styleFor(isTTY: boolean, env: Readonly<Record<string, string | undefined>>): Style {
  const refused = (env['NO_COLOR'] ?? '') !== '' || env['TERM'] === 'dumb';
  return isTTY && !refused ? COLOURED : PLAIN;
}

function ansi(open: number, close: number): (text: string) => string {
  return (text) => `${control(`[${open}m`)}${visibleText(text)}${control(`[${close}m`)}`;
}

/** Paints a run's or a node's status in the colour people expect. */
export function paintStatus(style: Style, status: string): string {
  if (status === 'completed') return style.green(status);
  if (status === 'failed') return style.red(status);
  if (status === 'running' || status === 'pending') return style.cyan(status);
  if (status === 'skipped') return style.dim(status);
  return style.yellow(status);
}
