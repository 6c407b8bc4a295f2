/** The parts of which reference pages are made. */

const GENERATED = '<!-- Generated from the tables in packages/protocol; change those. -->';

export function page(title: string, intro: string, ...sections: string[]): string {
  return `${[GENERATED, `# ${title}`, intro, ...sections].join('\n\n')}\n`;
}

export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}

export const code = (text: string) => `\`${text}\``;
export const codes = (texts: readonly string[]) => (texts.length === 0 ? '—' : texts.map(code).join(', '));
