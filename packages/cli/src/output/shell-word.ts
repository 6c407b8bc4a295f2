import { visibleText } from './terminal-text.ts';

/** Text as one word of a shell's line. */
export function shellWord(text: string): string {
  const safe = visibleText(text);
  return /^[A-Za-z0-9_.:=@/+-]+$/.test(safe) ? safe : `'${safe.replaceAll("'", String.raw`'\''`)}'`;
}
