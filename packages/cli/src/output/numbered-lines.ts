import { visibleText } from './terminal-text.ts';

/** A text of others over several lines, none of which could pass for one of ours: each has its number. */
export function numberedLines(text: string): string {
  const lines = text.split('\n');
  const width = String(lines.length).length;
  return lines.map((line, index) => `${String(index + 1).padStart(width)}  ${visibleText(line)}`).join('\n');
}
