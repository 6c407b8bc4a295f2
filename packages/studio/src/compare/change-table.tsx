import type { FieldChange } from '@weft/engine/compare';
import { useState } from 'react';
import { oneLine } from '../ui/shown-text.ts';

interface ChangeTableProps {
  readonly changes: readonly FieldChange[];
  /** What the two sides are called. */
  readonly a: string;
  readonly b: string;
}

const PAGE = 200;
const WIDTH = 600;

/** Field by field: where two values differ, and what each has there. */
export function ChangeTable({ changes, a, b }: ChangeTableProps) {
  const [shown, setShown] = useState(PAGE);
  if (changes.length === 0) return <p className="muted">No difference.</p>;
  return (
    <>
      <table className="table changes">
        <thead>
          <tr>
            <th scope="col">Field</th>
            <th scope="col" className="a-side">
              {a}
            </th>
            <th scope="col" className="b-side">
              {b}
            </th>
          </tr>
        </thead>
        <tbody>
          {changes.slice(0, shown).map((change) => (
            <tr key={change.path}>
              <td className="mono">{change.path === '' ? 'whole value' : change.path}</td>
              <td className="mono a-side">
                {change.a === undefined ? <span className="muted">absent</span> : oneLine(change.a, WIDTH)}
              </td>
              <td className="mono b-side">
                {change.b === undefined ? <span className="muted">absent</span> : oneLine(change.b, WIDTH)}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {changes.length > shown && (
        <button type="button" className="button tiny" onClick={() => setShown(shown + PAGE)}>
          {changes.length - shown} more
        </button>
      )}
    </>
  );
}
