import { useState } from 'react';
import { isJsonObject, type Json } from '@weft/protocol/plain';
import { controlsShown } from './shown-text.ts';

const OPEN_DEPTH = 3;
const PAGE = 100;
const LONG = 2_000;

/** A value as a tree. Everything in it is text: nothing of it is ever read as markup. */
export function JsonView({
  value,
  depth = 0,
  name,
}: {
  readonly value: Json;
  readonly depth?: number;
  readonly name?: string;
}) {
  return <div className={depth === 0 ? 'json' : undefined}>{entry(value, depth, name)}</div>;
}

function entry(value: Json, depth: number, name: string | undefined) {
  const label = name === undefined ? null : <span className="name">{controlsShown(name)}: </span>;
  if (Array.isArray(value) || isJsonObject(value))
    return <Branch value={value} depth={depth} label={label} />;
  return (
    <div>
      {label}
      <Leaf value={value} />
    </div>
  );
}

interface BranchProps {
  readonly value: Json & object;
  readonly depth: number;
  readonly label: React.ReactNode;
}

function Branch({ value, depth, label }: BranchProps) {
  const [isOpen, setOpen] = useState(depth < OPEN_DEPTH);
  const [shown, setShown] = useState(PAGE);
  const entries = Array.isArray(value)
    ? value.map((item, index): [string, Json | undefined] => [String(index), item])
    : Object.entries(value);
  const brackets = Array.isArray(value) ? `[${entries.length}]` : `{${entries.length}}`;
  if (entries.length === 0)
    return (
      <div>
        {label}
        <span className="null">{Array.isArray(value) ? '[]' : '{}'}</span>
      </div>
    );
  const members = (
    <>
      {entries.slice(0, shown).map(([name, member]) => (
        <JsonView key={name} name={name} value={member ?? null} depth={depth + 1} />
      ))}
      {entries.length > shown && (
        <button type="button" className="button tiny plain" onClick={() => setShown(shown + PAGE)}>
          {entries.length - shown} more
        </button>
      )}
    </>
  );
  // The outermost braces say nothing.
  if (depth === 0) return members;
  return (
    <details open={isOpen} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        {label}
        <span className="null">{brackets}</span>
      </summary>
      {isOpen && <div className="members">{members}</div>}
    </details>
  );
}

function Leaf({ value }: { readonly value: Json }) {
  const [isWhole, setWhole] = useState(false);
  if (typeof value !== 'string')
    return <span className={value === null ? 'null' : typeof value}>{String(value)}</span>;
  if (value.length <= LONG || isWhole) return <span className="string">“{controlsShown(value)}”</span>;
  return (
    <>
      <span className="string">“{controlsShown(value.slice(0, LONG))}…”</span>{' '}
      <button type="button" className="button tiny plain" onClick={() => setWhole(true)}>
        all {value.length.toLocaleString('en')} characters
      </button>
    </>
  );
}
