import { type ReactNode, useState } from 'react';
import { Icon, type IconName } from '../ui/icons.tsx';
import { useRoute, useSigned } from './hooks.ts';
import { applyTheme, nextTheme, storedTheme } from './theme.ts';

interface Place {
  readonly path: string;
  readonly name: string;
  readonly icon: IconName;
}

/** Where one can go. Schedules, workers, keys and the rest of a host get their places here. */
const PLACES: readonly Place[] = [
  { path: 'runs', name: 'Runs', icon: 'list' },
  { path: 'inbox', name: 'Inbox', icon: 'inbox' },
  { path: 'workflows', name: 'Workflows', icon: 'graph' },
  { path: 'compare', name: 'Compare', icon: 'columns' },
];

interface ShellProps {
  readonly children: ReactNode;
  readonly onSignOut: () => void;
  readonly inboxCount: number | undefined;
}

export function Shell({ children, onSignOut, inboxCount }: ShellProps) {
  const { path } = useRoute();
  const { session } = useSigned();
  return (
    <div className="shell">
      <a className="skip-link" href="#main" onClick={focusMain}>
        Skip to the content
      </a>
      <nav className="sidebar" aria-label="Main">
        <a className="brand" href="#/runs">
          <svg viewBox="0 0 32 32" width="22" height="22" aria-hidden="true">
            <rect width="32" height="32" rx="7" fill="var(--accent)" />
            <path
              d="M8 7c0 6 5 4 5 9s-5 4-5 9M19 7c0 6 5 4 5 9s-5 4-5 9"
              stroke="var(--accent-ink)"
              strokeWidth="2.6"
              fill="none"
              strokeLinecap="round"
            />
          </svg>
          <span>Weft</span>
        </a>
        <ul>
          {PLACES.map((place) => (
            <li key={place.path}>
              <a href={`#/${place.path}`} aria-current={isAt(path, place) ? 'page' : undefined}>
                <Icon name={place.icon} size={16} />
                <span>{place.name}</span>
                {place.path === 'inbox' && inboxCount !== undefined && inboxCount > 0 && (
                  <span className="count">
                    {inboxCount}
                    <span className="visually-hidden"> open</span>
                  </span>
                )}
              </a>
            </li>
          ))}
        </ul>
        <div className="sidebar-end">
          <ThemeButton />
          <button
            type="button"
            className="button plain"
            onClick={onSignOut}
            title={`${session.principal} of ${session.tenant}`}
          >
            <Icon name="leave" size={16} />
            <span>Sign out</span>
          </button>
        </div>
      </nav>
      <main id="main" tabIndex={-1}>
        {children}
      </main>
    </div>
  );
}

function isAt(path: readonly string[], place: Place): boolean {
  return (path[0] ?? 'runs') === place.path;
}

/** The fragment is the place in the page, so the link must not change it. */
function focusMain(event: { preventDefault(): void }): void {
  event.preventDefault();
  document.getElementById('main')?.focus();
}

function ThemeButton() {
  const [theme, setTheme] = useState(storedTheme);
  const change = (): void => {
    const next = nextTheme(theme);
    applyTheme(next);
    setTheme(next);
  };
  return (
    <button type="button" className="button plain" onClick={change}>
      <Icon name={theme === 'light' ? 'sun' : 'moon'} size={16} />
      <span>{{ system: 'System theme', light: 'Light theme', dark: 'Dark theme' }[theme]}</span>
    </button>
  );
}
