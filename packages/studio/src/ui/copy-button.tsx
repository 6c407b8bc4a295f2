import { useState } from 'react';
import { Icon } from './icons.tsx';

export function CopyButton({ label, text }: { readonly label: string; readonly text: () => string }) {
  const [said, setSaid] = useState<string>();
  const copy = (): void => {
    navigator.clipboard.writeText(text()).then(
      () => setSaid('Copied'),
      () => setSaid('Not allowed here'),
    );
    setTimeout(() => setSaid(undefined), 1_500);
  };
  return (
    <button type="button" className="button tiny" onClick={copy}>
      <Icon name="copy" size={12} />
      <span aria-live="polite">{said ?? label}</span>
    </button>
  );
}
