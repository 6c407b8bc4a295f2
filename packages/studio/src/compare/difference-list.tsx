import { useState } from 'react';
import { JsonView } from '../ui/json-view.tsx';
import type { AlignedRow } from './comparison.ts';
import { ChangeTable } from './change-table.tsx';
import { oneLine } from '../ui/shown-text.ts';

const PAGE = 100;
const OP_TEXT = { same: 'same', changed: 'changed', added: 'only in b', removed: 'only in a' } as const;

export function DifferenceList({
  rows,
  empty,
}: {
  readonly rows: readonly AlignedRow[];
  readonly empty: string;
}) {
  const [shown, setShown] = useState(PAGE);
  if (rows.length === 0) return <p className="notice">{empty}</p>;
  return (
    <>
      <ul className="pair-list">
        {rows.slice(0, shown).map((row, index) => (
          <li key={`${row.aEvent?.sequence ?? ''}/${row.bEvent?.sequence ?? ''}`}>
            <Pair row={row} isFirst={index === 0} />
          </li>
        ))}
      </ul>
      {rows.length > shown && (
        <button type="button" className="button" onClick={() => setShown(shown + PAGE)}>
          {(rows.length - shown).toLocaleString('en')} more
        </button>
      )}
    </>
  );
}

function Pair({ row, isFirst }: { readonly row: AlignedRow; readonly isFirst: boolean }) {
  const [isOpen, setOpen] = useState(isFirst);
  const { op, place, type, aEvent, bEvent, changes } = row;
  return (
    <details className={`pair ${op}`} open={isOpen} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        <span className="op">{OP_TEXT[op]}</span>
        <span className="muted mono">{sequences(row)}</span>
        <span className="truncate">{place ?? 'the run itself'}</span>
        <span className="truncate">
          <strong>{type}</strong>{' '}
          <span className="muted">
            {op === 'changed'
              ? changes
                  .slice(0, 3)
                  .map((change) => `${change.path}: ${oneLine(change.a, 24)} → ${oneLine(change.b, 24)}`)
                  .join(', ')
              : ''}
          </span>
        </span>
      </summary>
      {isOpen && (
        <div className="inside">
          {op === 'changed' ? (
            <ChangeTable changes={changes} a="a" b="b" />
          ) : (
            <JsonView value={aEvent?.payload ?? bEvent?.payload ?? null} />
          )}
        </div>
      )}
    </details>
  );
}

function sequences({ aEvent, bEvent }: AlignedRow): string {
  const [a, b] = [aEvent?.sequence, bEvent?.sequence];
  if (a === undefined) return `#${b}`;
  return b === undefined || a === b ? `#${a}` : `#${a} / #${b}`;
}
