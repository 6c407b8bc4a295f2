import { useEffect, useRef } from 'react';

interface TabsProps<Name extends string> {
  readonly label: string;
  readonly names: Readonly<Record<Name, string>>;
  readonly chosen: Name;
  readonly onChoose: (name: Name) => void;
}

/** Arrow keys move between the tabs, as readers of screens expect it. */
export function Tabs<Name extends string>({ label, names, chosen, onChoose }: TabsProps<Name>) {
  const list = useRef<HTMLDivElement>(null);
  // On a phone there are more of them than fit: the chosen one is always in sight.
  useEffect(() => {
    const tab = list.current?.querySelector('[aria-selected="true"]');
    tab?.scrollIntoView({ block: 'nearest', inline: 'center' });
  }, [chosen]);
  const all = Object.entries<string>(names) as [Name, string][];
  const move = (by: number): void => {
    const index = all.findIndex(([name]) => name === chosen);
    const next = all[(index + by + all.length) % all.length];
    if (next !== undefined) onChoose(next[0]);
  };
  return (
    <div
      ref={list}
      className="tabs"
      role="tablist"
      aria-label={label}
      onKeyDown={(event) => {
        if (event.key === 'ArrowRight') move(1);
        if (event.key === 'ArrowLeft') move(-1);
      }}
    >
      {all.map(([name, text]) => (
        <button
          key={name}
          type="button"
          role="tab"
          aria-selected={name === chosen}
          tabIndex={name === chosen ? 0 : -1}
          ref={(element) => {
            if (name === chosen && element?.parentElement?.contains(document.activeElement) === true)
              element.focus();
          }}
          onClick={() => onChoose(name)}
        >
          {text}
        </button>
      ))}
    </div>
  );
}
