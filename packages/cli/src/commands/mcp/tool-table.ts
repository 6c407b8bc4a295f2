import type { ToolEntry, ToolServerEntry } from '@weft/sdk';
import type { Style } from '../../output/style.ts';
import { renderTable } from '../../output/table.ts';
import { shown, visibleText } from '../../output/terminal-text.ts';

/** The tools of one server, and what cannot be offered. */
export function renderTools(style: Style, { tools = [], leftOut = [] }: ToolServerEntry): string {
  const table =
    tools.length === 0
      ? 'It has no tools that may be called.'
      : renderTable<ToolEntry>(style, COLUMNS, tools);
  const notes = leftOut.map((reason) => shown`Left out: ${reason}\n`);
  return `${table}\n${notes.join('')}`;
}

const DESCRIPTION_LENGTH = 60;

const COLUMNS = [
  { title: 'TOOL', value: ({ name }: ToolEntry) => name },
  { title: 'KIND', value: kindOf },
  { title: 'APPROVAL', value: ({ needsApproval }: ToolEntry) => (needsApproval ? 'needed' : '') },
  { title: 'DIGEST', value: ({ digest }: ToolEntry) => digest.slice(0, 12) },
  { title: 'DESCRIPTION', value: ({ description = '' }: ToolEntry) => shortened(description) },
];

function kindOf({ readOnly, destructive, idempotent }: ToolEntry): string {
  if (readOnly) return 'reads';
  return [destructive ? 'destructive' : 'writes', ...(idempotent ? ['idempotent'] : [])].join(', ');
}

function shortened(text: string): string {
  const line = visibleText(text.replaceAll(/\s+/g, ' ').trim());
  return line.length <= DESCRIPTION_LENGTH ? line : `${line.slice(0, DESCRIPTION_LENGTH - 1)}…`;
}
